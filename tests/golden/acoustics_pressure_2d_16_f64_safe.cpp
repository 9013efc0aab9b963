// acoustics_staggered: pressure in 2D, order 2-16, scalar media, f64
// hone emit acoustics_staggered kernel=pressure dimension=2 order=16 media=scalar absorbing=none update=apart levels=1
//     precision=f64 nx=512 ny=512 --target cpu --config form=tiles,x_block=2048,layers_per_block=0,vector_bytes=64,
//     prefetch_bytes=1024,threads=all,binding=none
// The same text serves every size and pitch.
// per point: 49 operations, 32 bytes (compulsory)
#include <omp.h>

using real = double;
using wide = long long;  // a position in an array
constexpr int dimension = 2, half = 8;  // half: M, half the order in space
constexpr int ghost = 16, left = 16;  // rows (and planes) before the first cell, and words of its row
constexpr bool array_media = false, absorbing = false;
constexpr int vector_words = 8;
constexpr int strip_words = 256 / sizeof(real);

namespace {

// What this needs of the standard library: its headers would take half of the time that the rest takes to compile.
template <typename Number>
constexpr Number lesser(Number a, Number b) { return b < a ? b : a; }
template <typename Number>
constexpr Number greater(Number a, Number b) { return a < b ? b : a; }

// `count` words, which begin as zeros.
template <typename Word>
class Words {
  public:
    explicit Words(long long count) : words_(new Word[count]()) {}
    ~Words() { delete[] words_; }
    Words(const Words&) = delete;
    Words& operator=(const Words&) = delete;
    Word* data() const { return words_; }
    Word& operator[](long long n) const { return words_[n]; }

  private:
    Word* const words_;
};

// Of the values at distance m - 1/2 on both sides: exact for polynomials of degree 16.
constexpr real weight(int m) {
    if (m == 1) return 1.2340910732746124;
    if (m == 2) return -0.10664984583854675;
    if (m == 3) return 0.023036366701126101;
    if (m == 4) return -0.0053423855985913959;
    if (m == 5) return 0.001077271170086331;
    if (m == 6) return -0.00016641887751492584;
    if (m == 7) return 1.7021711056049058e-05;
    return -8.5234642028808587e-07;
}

// Nothing is absorbed. The factors keep their types, by which compilers tell rows along x from others.
struct Everywhere {};
struct Damping {
    const real* centres_x(int) const { return nullptr; }
    real centre(int, int) const { return 1; }
};

// Asks for a strip of a row: it is in the caches when its turn comes. What the processor foresees itself breaks off at
// the end of every row. In place, and so is what calls it: a function that does nothing else is one that GCC leaves
// out, as it changes nothing.
[[gnu::always_inline]] inline void ask_for(const real* words) {
    for (int n = 0; n < strip_words; n += 64 / static_cast<int>(sizeof(real))) __builtin_prefetch(words + n);
}

// A length that compilers know.
template <int length>
struct Length {
    constexpr operator int() const { return length; }
};

// Calls step(first, count) for the strips of a row: those of full length, which compilers then know, and what is left.
template <typename Step>
inline void in_strips(int words, const Step& step) {
    int first = 0;
    for (; first + strip_words <= words; first += strip_words) step(first, Length<strip_words>());
    if (first < words) step(first, words - first);
}

// Rows whose words are asked for before their turn: so many words further on in the row, or else in the next one.
struct Asked {
    int words_ahead = 0;  // 0: nothing is asked for
    wide pitch = 0;
    const real* rows[4] = {};  // as many as are needed

    [[gnu::always_inline]] void operator()(int first, int n) const {
        if (words_ahead == 0) return;
        const wide at = first + words_ahead < n ? wide(first + words_ahead) : first + words_ahead - n + pitch;
        for (const real* const row : rows)
            if (row != nullptr) ask_for(row + at);
    }
};

// New pressures of a row. `across` are velocities along x, `rows` along y in rows that are `row_stride` apart, `along`
// those of the layers of faces around it. `damping`: factors along x; `across_damping` that of the other axes. `to` may
// be `p`.
inline void pressure_row(real* to, const real* p, const real* kappa, const real* across,
                         const real* rows, wide row_stride,
                         const real* const* along,
                         int n, const real* damping, real across_damping,
                         const Asked& asked) {
    const real kappa_everywhere = kappa[0];
    (void)rows, (void)row_stride, (void)damping, (void)across_damping;
    in_strips(n, [&](int first, auto count) {
        asked(first, n);
        #pragma omp simd simdlen(vector_words)
        for (int word = 0; word < count; ++word) {
            const int x = first + word;
            real sum = weight(1) * (across[x + 1] - across[x]);
            sum += weight(2) * (across[x + 2] - across[x - 1]);
            sum += weight(3) * (across[x + 3] - across[x - 2]);
            sum += weight(4) * (across[x + 4] - across[x - 3]);
            sum += weight(5) * (across[x + 5] - across[x - 4]);
            sum += weight(6) * (across[x + 6] - across[x - 5]);
            sum += weight(7) * (across[x + 7] - across[x - 6]);
            sum += weight(8) * (across[x + 8] - across[x - 7]);
            sum += weight(1) * (along[8][x] - along[7][x]);
            sum += weight(2) * (along[9][x] - along[6][x]);
            sum += weight(3) * (along[10][x] - along[5][x]);
            sum += weight(4) * (along[11][x] - along[4][x]);
            sum += weight(5) * (along[12][x] - along[3][x]);
            sum += weight(6) * (along[13][x] - along[2][x]);
            sum += weight(7) * (along[14][x] - along[1][x]);
            sum += weight(8) * (along[15][x] - along[0][x]);
            to[x] = p[x] - kappa_everywhere * sum;
        }
    });
}

// Cells that a thread takes at a time: a block of every layer, one layer after the other.
struct Tile {
    int x, n, y, rows, first, last;
};

// How large tiles are at most. Layers: 0 for all of a thread's.
struct Blocks {
    int x, y, layers;
};

// Where the cells lie.
struct Layout {
    wide pitch, plane;

    Layout(int ny, int row) : pitch(row), plane(wide(ny + 2 * ghost) * row) {}
    wide layer() const { return dimension == 2 ? pitch : plane; }
    // Of the first cell of a row of a tile's layer.
    wide position(const Tile& tile, int row, int layer_number) const {
        const wide y = dimension == 2 ? layer_number : tile.y + row;
        return (dimension == 2 ? 0 : (layer_number + ghost) * plane) + (y + ghost) * pitch + left + tile.x;
    }
};

// Calls step(tile) for all tiles of the layers [first, last), by all threads.
template <typename MakeStep>
void for_all_tiles(int nx, int ny, int first, int last, const Blocks& blocks, const MakeStep& make_step) {
    #pragma omp parallel
    {
        const int share = (last - first + omp_get_num_threads() - 1) / omp_get_num_threads();
        const int layers = blocks.layers > 0 ? blocks.layers : share, all_rows = dimension == 2 ? 1 : ny;
        auto step = make_step();
        #pragma omp for collapse(3) schedule(static)
        for (int layer = first; layer < last; layer += layers)
            for (int y = 0; y < all_rows; y += blocks.y)
                for (int x = 0; x < nx; x += blocks.x)
                    step(
                        Tile{x, lesser(blocks.x, nx - x), y, lesser(blocks.y, all_rows - y), layer,
                        lesser(layer + layers, last)});
    }
}

}  // namespace

// Pressures of the layers [first, last), in place: rows in 2D, planes in 3D.
extern "C" void acoustics_pressure(
    real* __restrict__ p, const real* __restrict__ u, const real* __restrict__ v,
    const real* __restrict__ kappa, int nx, int ny, int nz, int pitch, int first, int last, int x_block,
    int y_block, int layers_per_block, int words_ahead
) {
    (void)nz;
    const Damping damping;
    const real* const along = v;
    const Blocks blocks{x_block, y_block, layers_per_block};
    const Layout layout(ny, pitch);
    for_all_tiles(nx, ny, first, last, blocks, [&] {
        return [&](const Tile& tile) {
            for (int layer = tile.first; layer < tile.last; ++layer)
                for (int row = 0; row < tile.rows; ++row) {
                    const wide at = layout.position(tile, row, layer);
                    const real* faces[2 * half];
                    for (int k = 0; k < 2 * half; ++k) faces[k] = along + at + (k + 1 - half) * layout.layer();
                    const real* const newest = faces[2 * half - 1];
                    pressure_row(p + at, p + at, kappa + (array_media ? at : 0), u + at, v + at, layout.pitch, faces,
                        tile.n,
                                 damping.centres_x(tile.x), damping.centre(tile.y + row, layer),
                                 {words_ahead, pitch, {p + at, u + at, newest, array_media ? kappa + at : nullptr}});
                }
        };
    });
}
