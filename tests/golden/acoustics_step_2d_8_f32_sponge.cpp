// acoustics_staggered: step in 2D, order 2-8, array media, f32, absorbing
// hone emit acoustics_staggered kernel=step dimension=2 order=8 media=array absorbing=sponge levels=1 precision=f32 nx=512 ny=512 --target cpu --config x_block=2048,y_block=1,march=0,vector_bytes=64,bytes_ahead=1024,stores=plain,threads=all,binding=none
// The same text serves every size and pitch.
// per point: 55 operations, 36 bytes (compulsory)
#include <omp.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <type_traits>
#include <vector>
#if defined(__SSE2__)
#include <immintrin.h>
#endif

using real = float;
using wide = long long;  // a position in an array
constexpr int dimension = 2, half = 4;  // half: M, half the order in space
constexpr int ghost = 8, left = 32;  // rows (and planes) before the first cell, and words of its row
constexpr bool array_media = true, absorbing = true;
constexpr int x_block = 2048, y_block = 1;
constexpr int march = 0;  // layers of a tile; 0: all of a thread's
constexpr int vector_words = 16;
constexpr int strip_words = 256 / sizeof(real), words_ahead = 1024 / sizeof(real);
constexpr bool streaming_stores = false;

namespace {

// Of the values at distance m - 1/2 on both sides: exact for polynomials of degree 8.
constexpr real weight(int m) {
    if (m == 1) return 1.1962890625f;
    if (m == 2) return -0.079752604166666671f;
    if (m == 3) return 0.0095703125000000007f;
    return -0.00069754464285714287f;
}

// One factor for a whole row.
struct Everywhere {
    real factor;

    real operator[](int) const { return factor; }
};

// What waves are multiplied by where they are absorbed: a velocity by the factor of its own axis at its face, a pressure by those of all axes at its
// centre. Of every axis there are first the factors of the faces, then those of the centres.
class Damping {
  public:
    Damping() = default;
    Damping(int ny, int nz, int pitch, const real* x, const real* y, const real* z)
        : x_(x), y_(y), z_(z), centres_x_(pitch), centres_y_(ny + 2 * ghost), centres_z_(nz + 2 * ghost)
    {
    }
    const real* faces_x(int x) const { return absorbing ? x_ + left + x : nullptr; }
    const real* centres_x(int x) const { return absorbing ? x_ + centres_x_ + left + x : nullptr; }
    Everywhere face_y(int y) const { return {absorbing ? y_[ghost + y] : 1}; }
    Everywhere face_along(int layer) const { return dimension == 2 ? face_y(layer) : Everywhere{absorbing ? z_[ghost + layer] : 1}; }
    // Of the axes other than x.
    real centre(int y, int layer) const
    {
        if (!absorbing) return 1;
        return dimension == 2 ? y_[centres_y_ + ghost + layer] : y_[centres_y_ + ghost + y] * z_[centres_z_ + ghost + layer];
    }

  private:
    const real *x_ = nullptr, *y_ = nullptr, *z_ = nullptr;
    wide centres_x_ = 0, centres_y_ = 0, centres_z_ = 0;
};

// Asks for a strip of a row: it is in the caches when its turn comes. What the processor foresees itself breaks off at the end of every row.
// In place, and so is what calls it: a function that does nothing else is one that GCC leaves out, as it changes nothing.
[[gnu::always_inline]] inline void ask_for(const real* words)
{
    for (int n = 0; n < strip_words; n += 64 / static_cast<int>(sizeof(real))) __builtin_prefetch(words + n);
}

// Calls step(first, count) for the strips of a row: those of full length, which compilers then know, and what is left.
template <typename Step>
inline void in_strips(int words, const Step& step)
{
    int first = 0;
    for (; first + strip_words <= words; first += strip_words) step(first, std::integral_constant<int, strip_words>());
    if (first < words) step(first, words - first);
}

// Writes words that are in the caches to an array.
inline void keep(real* to, const real* from, int n)
{
    int x = 0;
#if defined(__SSE2__)
    if (streaming_stores) {
#if defined(__AVX512F__)
        using vector = __m512i;
        const auto copy = [](real* there, const real* here) { _mm512_stream_si512(reinterpret_cast<vector*>(there), _mm512_loadu_si512(here)); };
#elif defined(__AVX__)
        using vector = __m256i;
        const auto copy = [](real* there, const real* here) {
            _mm256_stream_si256(reinterpret_cast<vector*>(there), _mm256_loadu_si256(reinterpret_cast<const vector*>(here)));
        };
#else
        using vector = __m128i;
        const auto copy = [](real* there, const real* here) {
            _mm_stream_si128(reinterpret_cast<vector*>(there), _mm_loadu_si128(reinterpret_cast<const vector*>(here)));
        };
#endif
        constexpr int words = sizeof(vector) / sizeof(real);
        for (; x < n && reinterpret_cast<std::uintptr_t>(to + x) % sizeof(vector) != 0; ++x) to[x] = from[x];
        for (; x + words <= n; x += words) copy(to + x, from + x);
    }
#endif
    std::copy(from + x, from + n, to + x);
}

// Copies that went past the caches are seen by other threads afterwards.
inline void finish_stores()
{
#if defined(__SSE2__)
    if (streaming_stores) _mm_sfence();
#endif
}

// Rows whose words are asked for before their turn: `words_ahead` further on in the row, or else in the next one.
struct Asked {
    wide pitch;
    std::array<const real*, 4> rows = {};  // as many as are needed

    [[gnu::always_inline]] void operator()(int first, int n) const
    {
        if (words_ahead == 0) return;
        const wide at = first + words_ahead < n ? wide(first + words_ahead) : first + words_ahead - n + pitch;
        for (const real* const row : rows)
            if (row != nullptr) ask_for(row + at);
    }
};

// Where words of a row that is in the caches are to be kept: `n` from number `skipped` on, strip by strip.
struct Kept {
    real* to = nullptr;
    int skipped = 0, n = 0;

    void operator()(const real* row, int first, int count) const
    {
        if (to == nullptr) return;
        const int begin = std::max(first, skipped), end = std::min(first + count, skipped + n);
        if (begin < end) keep(to + begin - skipped, row + begin, end - begin);
    }
};

// New velocities of a row along an axis whose cells are `stride` apart. `to` may be `from`.
template <typename Factors>
inline void velocity_row(real* to, const real* from, const real* b, const real* p, int n, wide stride, Factors damping, const Asked& asked,
                         const Kept& kept = {})
{
    (void)damping;
    in_strips(n, [&](int first, auto count) {
        asked(first, n);
        #pragma omp simd simdlen(vector_words)
        for (int word = 0; word < count; ++word) {
            const int x = first + word;
            real sum = weight(1) * (p[x] - p[x - stride]);
            sum += weight(2) * (p[x + stride] - p[x - 2 * stride]);
            sum += weight(3) * (p[x + 2 * stride] - p[x - 3 * stride]);
            sum += weight(4) * (p[x + 3 * stride] - p[x - 4 * stride]);
            to[x] = damping[x] * (from[x] - b[x] * sum);
        }
        kept(to, first, count);
    });
}

// New pressures of a row. `across` are velocities along x, `rows` along y in rows that are `row_stride` apart, `along` those of the 2 M layers of
// faces around it. `damping`: factors along x; `across_damping` that of the other axes. `to` may be `p`.
inline void pressure_row(real* to, const real* p, const real* kappa, const real* across, const real* rows, wide row_stride, const real* const* along,
                         int n, const real* damping, real across_damping, const Asked& asked, const Kept& kept = {})
{
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
            sum += weight(1) * (along[4][x] - along[3][x]);
            sum += weight(2) * (along[5][x] - along[2][x]);
            sum += weight(3) * (along[6][x] - along[1][x]);
            sum += weight(4) * (along[7][x] - along[0][x]);
            to[x] = across_damping * damping[x] * (p[x] - kappa[x] * sum);
        }
        kept(to, first, count);
    });
}

// Cells that a thread takes at a time: a block of every layer, one layer after the other.
struct Tile {
    int x, n, y, rows, first, last;
};

// Where the cells lie.
struct Layout {
    wide pitch, plane;

    Layout(int ny, int row) : pitch(row), plane(wide(ny + 2 * ghost) * row) {}
    wide layer() const { return dimension == 2 ? pitch : plane; }
    // Of the first cell of a row of a tile's layer.
    wide position(const Tile& tile, int row, int layer_number) const
    {
        const wide y = dimension == 2 ? layer_number : tile.y + row;
        return (dimension == 2 ? 0 : (layer_number + ghost) * plane) + (y + ghost) * pitch + left + tile.x;
    }
};

// Calls step(tile) for all tiles of the layers [first, last), by all threads.
template <typename MakeStep>
void for_all_tiles(int nx, int ny, int first, int last, const MakeStep& make_step)
{
    #pragma omp parallel
    {
        const int share = (last - first + omp_get_num_threads() - 1) / omp_get_num_threads();
        const int layers = march > 0 ? march : share, all_rows = dimension == 2 ? 1 : ny;
        auto step = make_step();
        #pragma omp for collapse(3) schedule(static)
        for (int layer = first; layer < last; layer += layers)
            for (int y = 0; y < all_rows; y += y_block)
                for (int x = 0; x < nx; x += x_block)
                    step(Tile{x, std::min(x_block, nx - x), y, std::min(y_block, all_rows - y), layer, std::min(layer + layers, last)});
    }
}

// Rows that only the caches see begin and end on a line of them, whatever is needed of them: loops over whole vectors, without a remainder.
constexpr int line_words = 64 / sizeof(real);
constexpr int lines(int words) { return (words + line_words - 1) / line_words * line_words; }

// New velocities around the layer that a thread is at. Rows start on a line of the caches.
class Faces {
  public:
    Faces() : storage_((ring_rows + side_rows + 2) * row_words + line_words)
    {
        const auto address = reinterpret_cast<std::uintptr_t>(storage_.data());
        start_ = storage_.data() + (line_words - address / sizeof(real) % line_words) % line_words;
    }
    // Along the march, at a face number from 1 - M on.
    real* along(int face, int row) { return start_ + (wide((face + 2 * half) % (2 * half)) * tile_rows + row) * row_words; }
    // Along y, at the faces of a row from 1 - M on.
    real* rows(int row) { return start_ + wide(ring_rows + row + half - 1) * row_words; }
    // Along x, at the face of the row's first cell; lines before it and behind the last.
    real* across() { return start_ + wide(ring_rows + side_rows) * row_words + line_words; }
    real* pressures() { return start_ + wide(ring_rows + side_rows + 1) * row_words; }

  private:
    static constexpr wide row_words = 2048 + 2 * line_words, buffered_rows = 1;
    static constexpr wide tile_rows = dimension == 2 ? 1 : buffered_rows, ring_rows = 2 * half * tile_rows;
    static constexpr wide side_rows = dimension == 2 ? 0 : tile_rows + 2 * half - 1;
    std::vector<real> storage_;
    real* start_;
};

}  // namespace

// A whole step of the layers [first, last): rows in 2D, planes in 3D. A tile's new velocities stay in the caches until the pressures have them all.
extern "C" void acoustics_step(
    const real* __restrict__ p,
    const real* __restrict__ u,
    const real* __restrict__ v,
    const real* __restrict__ kappa,
    const real* __restrict__ bx,
    const real* __restrict__ by,
    const real* __restrict__ damping_x,
    const real* __restrict__ damping_y,
    real* __restrict__ p_next,
    real* __restrict__ u_next,
    real* __restrict__ v_next,
    int nx, int ny, int nz, int pitch, int first, int last
)
{
    (void)nz;
    const Damping damping{ny, nz, pitch, damping_x, damping_y, nullptr};
    const real* const along = v;
    real* const along_next = v_next;
    const real *b_x = bx, *b_y = by, *b_along = by;
    (void)b_y;
    const Layout layout(ny, pitch);
    const auto medium = [](wide at) { return array_media ? at : 0; };
    // The rows of a velocity and of its medium, and pressures if they are new to the caches.
    const auto with = [&](const real* velocity, const real* b, wide at, const real* pressures = nullptr) {
        return Asked{pitch, {velocity + at, array_media ? b + at : nullptr, pressures}};
    };
    const auto advance = [&](const Tile& tile, Faces& faces) {
        // The tile's own velocities along the march are read from their array again, unless they go past the caches.
        const auto new_along = [&](int face, int row) {
            const bool direct = !streaming_stores && face >= tile.first && face < tile.last;
            return direct ? along_next + layout.position(tile, row, face) : faces.along(face, row);
        };
        for (int face = tile.first + 1 - half; face < tile.last + half; ++face) {
            for (int row = 0; row < tile.rows; ++row) {
                const wide at = layout.position(tile, row, face);
                real* const to = new_along(face, row);
                const bool own = streaming_stores && face >= tile.first && face < tile.last;
                velocity_row(to, along + at, b_along + medium(at), p + at, tile.n, layout.layer(), damping.face_along(face),
                             with(along, b_along, at, p + at + (half - 1) * layout.layer()), {own ? along_next + at : nullptr, 0, tile.n});
            }
            const int layer = face - half;
            if (layer < tile.first) continue;
            if (dimension == 3)
                for (int row = 1 - half; row < tile.rows + half; ++row) {
                    const wide at = layout.position(tile, row, layer);
                    velocity_row(faces.rows(row), v + at, b_y + medium(at), p + at, tile.n, layout.pitch, damping.face_y(tile.y + row),
                                 with(v, b_y, at), {row >= 0 && row < tile.rows ? v_next + at : nullptr, 0, tile.n});
                }
            for (int row = 0; row < tile.rows; ++row) {
                const wide at = layout.position(tile, row, layer), before = at - line_words;
                const int after = std::min(lines(tile.n + half), pitch - left - tile.x);
                velocity_row(faces.across() - line_words, u + before, b_x + medium(before), p + before, line_words + after, 1,
                             damping.faces_x(tile.x - line_words), with(u, b_x, before), {u_next + at, line_words, tile.n});
                const real* around[2 * half];
                for (int k = 0; k < 2 * half; ++k) around[k] = new_along(layer + 1 - half + k, row);
                const wide row_stride = faces.rows(1) - faces.rows(0);
                real* const pressures = streaming_stores ? faces.pressures() : p_next + at;
                pressure_row(pressures, p + at, kappa + medium(at), faces.across(), faces.rows(row), row_stride, around, tile.n,
                             damping.centres_x(tile.x), damping.centre(tile.y + row, layer), {pitch, {array_media ? kappa + at : nullptr}},
                             {streaming_stores ? p_next + at : nullptr, 0, tile.n});
            }
        }
        finish_stores();
    };
    for_all_tiles(nx, ny, first, last, [&] { return [&advance, faces = Faces()](const Tile& tile) mutable { advance(tile, faces); }; });
}
