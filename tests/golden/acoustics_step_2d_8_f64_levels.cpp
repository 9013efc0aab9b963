// acoustics_staggered: 2 steps in one pass in 2D, order 2-8, array media, f64, absorbing
// hone emit acoustics_staggered kernel=step dimension=2 order=8 media=array absorbing=sponge levels=2 precision=f64 nx=512 ny=512 --target cpu --config x_block=2048,y_block=1,march=0,vector_bytes=64,bytes_ahead=1024,stores=plain,threads=all,binding=none
// The same text serves every size and pitch.
// per point: 110 operations, 72 bytes (compulsory)
#include <omp.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <type_traits>
#include <vector>
#if defined(__SSE2__)
#include <immintrin.h>
#endif

using real = double;
using wide = long long;  // a position in an array
constexpr int dimension = 2, half = 4;  // half: M, half the order in space
constexpr int ghost = 16, left = 16;  // rows (and planes) before the first cell, and words of its row
constexpr bool array_media = true, absorbing = true;
constexpr int x_block = 2048, y_block = 1;
constexpr int march = 0;  // layers of a tile; 0: all of a thread's
constexpr int vector_words = 8;
constexpr int strip_words = 256 / sizeof(real), words_ahead = 1024 / sizeof(real);
constexpr bool streaming_stores = false;
constexpr int levels = 2;  // time steps of a pass

namespace {

// Of the values at distance m - 1/2 on both sides: exact for polynomials of degree 8.
constexpr real weight(int m) {
    if (m == 1) return 1.1962890625;
    if (m == 2) return -0.079752604166666671;
    if (m == 3) return 0.0095703125000000007;
    return -0.00069754464285714287;
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

// New velocities of a row along y, from the pressures of the 2 M rows around it.
template <typename Factors>
inline void velocity_between(real* to, const real* from, const real* b, const real* const* along, int n, Factors damping, const Asked& asked,
                             const Kept& kept)
{
    (void)damping;
    in_strips(n, [&](int first, auto count) {
        asked(first, n);
        #pragma omp simd simdlen(vector_words)
        for (int word = 0; word < count; ++word) {
            const int x = first + word;
            real sum = weight(1) * (along[4][x] - along[3][x]);
            sum += weight(2) * (along[5][x] - along[2][x]);
            sum += weight(3) * (along[6][x] - along[1][x]);
            sum += weight(4) * (along[7][x] - along[0][x]);
            to[x] = damping[x] * (from[x] - b[x] * sum);
        }
        kept(to, first, count);
    });
}

constexpr int behind = 2 * half - 1;     // rows by which a time step lags behind the one before
constexpr int reach = levels * behind;   // cells around a tile whose old values it needs

// What the time steps leave to each other: of every field as many rows as the next one looks back, modulo 2 M. Rows start on a line of the caches.
class Rings {
  public:
    Rings() : storage_(wide(3 * levels) * rows_kept * row_words + line_words)
    {
        const auto address = reinterpret_cast<std::uintptr_t>(storage_.data());
        start_ = storage_.data() + (line_words - address / sizeof(real) % line_words) % line_words;
    }
    // After `level` time steps, at the tile's first cell of a row that is not below -ghost.
    real* p(int level, int row) { return place(3 * level - 3, row); }
    real* u(int level, int row) { return place(3 * level - 2, row); }
    real* v(int level, int row) { return place(3 * level - 1, row); }

  private:
    static constexpr int rows_kept = 2 * half, side_words = lines(reach) + 2 * line_words;
    static constexpr wide row_words = 2048 + 2 * side_words;
    real* place(int field, int row) { return start_ + (wide(field) * rows_kept + (row + ghost) % rows_kept) * row_words + side_words; }

    std::vector<real> storage_;
    real* start_;
};

}  // namespace

// `levels` time steps of the rows [first, last) in one pass: when a row of pressures arrives, each time step advances one row and hands it to the next
// one, whose rows lie 2 M - 1 behind and are still in the caches. What lies around a tile is computed as far as the later time steps need it.
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
    (void)b_along, (void)along, (void)along_next;
    const Layout layout(ny, pitch);
    const auto medium = [](wide at) { return array_media ? at : 0; };
    // What the first time step asks for: the others find theirs, and the media, in the caches.
    const auto with = [&](int level, const real* velocity, const real* b, wide at, const real* pressures) {
        return level > 0 ? Asked{pitch} : Asked{pitch, {velocity + at, array_media ? b + at : nullptr, pressures}};
    };
    // Of one time step: the velocities along y at the newest face, then everything else of the row that these complete. Of every row so much `before`
    // its first cell and from there on.
    const auto advance = [&](const Tile& tile, Rings& rings, int level, int arrived) {
        const int around = (levels - 1 - level) * behind, before = lines(around), row_end = pitch - left - tile.x;
        const bool last_level = level + 1 == levels, direct = last_level && !streaming_stores;  // to the arrays, not by way of the caches
        const int n = before + (direct ? tile.n : std::min(lines(tile.n + around), row_end));
        const real* rows[2 * half];
        const auto new_v = [&](int face) {
            return direct && face >= tile.first && face < tile.last ? v_next + layout.position(tile, 0, face) : rings.v(level + 1, face);
        };
        const int face = arrived - (half - 1);
        if (face >= tile.first - around + 1 - half && face < tile.last + around + half) {
            const wide at = layout.position(tile, 0, face) - before;
            for (int k = 0; k < 2 * half; ++k)
                rows[k] = level == 0 ? p + at + (k - half) * wide(pitch) : rings.p(level, face + k - half) - before;
            const bool own = last_level && !direct && face >= tile.first && face < tile.last;
            velocity_between(new_v(face) - before, level == 0 ? v + at : rings.v(level, face) - before, b_y + medium(at), rows, n,
                             damping.face_y(face), with(level, v, b_y, at, rows[2 * half - 1]),
                             {own ? v_next + layout.position(tile, 0, face) : nullptr, before, tile.n});
        }
        const int row = arrived - behind;
        if (row < tile.first - around || row >= tile.last + around) return;
        const wide at = layout.position(tile, 0, row);
        const int faces_before = lines(around + half - 1), faces = faces_before + std::min(lines(tile.n + around + half), row_end);
        real* const across = rings.u(level + 1, row);
        const real* const old_p = level == 0 ? p + at : rings.p(level, row);
        velocity_row(across - faces_before, (level == 0 ? u + at : rings.u(level, row)) - faces_before, b_x + medium(at - faces_before),
                     old_p - faces_before, faces, 1, damping.faces_x(tile.x - faces_before), with(level, u, b_x, at - faces_before, nullptr),
                     {last_level ? u_next + at : nullptr, faces_before, tile.n});
        for (int k = 0; k < 2 * half; ++k) rows[k] = new_v(row + 1 - half + k) - before;
        real* const to = direct ? p_next + at : rings.p(level + 1, row);
        pressure_row(to - before, old_p - before, kappa + medium(at - before), across - before, nullptr, 0, rows, n,
                     damping.centres_x(tile.x - before), damping.centre(0, row),
                     {pitch, {array_media && level == 0 ? kappa + at - before : nullptr}},
                     {last_level && !direct ? p_next + at : nullptr, before, tile.n});
    };
    const auto advance_tile = [&](const Tile& tile, Rings& rings) {
        for (int arrived = tile.first - reach; arrived < tile.last + reach; ++arrived)
            for (int level = 0; level < levels; ++level) advance(tile, rings, level, arrived - level * behind);
        finish_stores();
    };
    for_all_tiles(nx, ny, first, last, [&] { return [&advance_tile, rings = Rings()](const Tile& tile) mutable { advance_tile(tile, rings); }; });
}
