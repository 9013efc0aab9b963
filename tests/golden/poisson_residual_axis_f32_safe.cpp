// poisson7: residual, axis coefficients, periodic, f32
// hone emit poisson7 kernel=residual coefficients=axis boundary=periodic precision=f32 nx=128 ny=128 nz=128 --target cpu --config y_block=16,z_block=16,vector_bytes=64,rows_ahead=2,stores=plain,threads=all,binding=none
// The same text serves every nx, ny, nz and pitch.
// per update: 21 operations, 20 bytes (compulsory)
#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <vector>

using real = float;
using wide = long long;  // a position in an array
constexpr int y_block = 16, z_block = 16, vector_words = 16;
constexpr int strip_words = 256 / sizeof(real), rows_ahead = 2;  // rows from asking for words to their turn
constexpr int sums = 3, chunk = 8, group_columns = 32;
constexpr int sums_per_block = 1024, sum_lanes = 256;
namespace scalar { enum { alpha, beta, gamma, delta, residual_square, mean, own_weight, neighbour_weight, mean_weight, breakdown, iterations }; }

namespace {

// What the cells' updates take of the arguments.
struct Arrays {
    const real* r_old;
    const real* w;
    const real* cx;
    const real* cy;
    const real* cz;
    const real* inverse_diagonal;
    real* r;
    real* z;
    int nx, ny, nz, pitch;
    real alpha;
    real mean;
    real own_weight;
    real neighbour_weight;
};

// Which of `cells` cells along an axis number n stands for, which may lie beyond them.
inline int source(int n, int cells) {
    return n < 0 ? cells - 1 : n >= cells ? 0 : n;
}
// Whether it is zero there instead.
inline bool is_zero(int n, int cells) {
    return false;
}

// a b + c, rounded once where the processor can: the compiler must not choose, or digits would differ between configurations.
inline real multiply_add(real a, real b, real c) {
    #if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
    return __builtin_fmaf(a, b, c);
    #else
    return a * b + c;
    #endif
}

// Words whose first lies at the start of a vector.
class Buffer {
    std::vector<real> words;

    public:
    explicit Buffer(wide count) : words(count + 64 / sizeof(real)) {}
    real* data() { return words.data() + (64 - reinterpret_cast<std::uintptr_t>(words.data()) % 64) % 64 / sizeof(real); }
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

// The new residual of a cell; a solid one has none.
inline real new_residual(const Arrays& a, real r_old, real w, real q) {
    const real r = multiply_add(-a.alpha, w, r_old) - a.mean;
    return q == 0 ? real(0) : r;
}

// The new residual over the diagonal.
inline real value(const Arrays& a, wide at, int i) {
    const real q = a.inverse_diagonal[at + i];
    return q * new_residual(a, a.r_old[at + i], a.w[at + i], q);
}

// The rows that the stencil takes, which may lie one beyond the grid.
class Rows {
    const Arrays& a;
    static constexpr int margin = 64 / sizeof(real), planes_kept = 3;
    wide row_words = (wide(a.nx) + 2 * margin + 15) / 16 * 16;
    Buffer planes = Buffer(planes_kept * (y_block + 2) * row_words);
    int y_first = 0, y_last = 0;

    wide position(int j, int k) const {
        return (wide(source(k, a.nz)) * a.ny + source(j, a.ny)) * a.pitch;
    }

    public:
    explicit Rows(const Arrays& arrays) : a(arrays) {}

    // Rows [y_begin, y_end), and those beside them, of the planes below z_begin and z_begin.
    void begin(int y_begin, int y_end, int z_begin) {
        y_first = y_begin - 1, y_last = y_end;
        load(z_begin - 1);
        load(z_begin);
    }

    // Meanwhile the row `rows_ahead` later is asked for, which may be one of the next plane.
    void load(int k) {
        for (int j = y_first; j <= y_last; ++j) {
            real* const to = row(j, k);
            if (is_zero(j, a.ny) || is_zero(k, a.nz)) {
                std::fill_n(to - 1, a.nx + 2, real(0));
                continue;
            }
            const wide at = position(j, k);
            const int later = j + rows_ahead;
            const wide later_at = later <= y_last ? position(later, k) : position(std::min(y_first + later - y_last - 1, y_last), k + 1);
            in_strips(a.nx, [&](int first, auto count) {
                ask_for(a.r_old + later_at + first);
                ask_for(a.w + later_at + first);
                ask_for(a.inverse_diagonal + later_at + first);
                #pragma omp simd simdlen(vector_words)
                for (int n = 0; n < count; ++n) to[first + n] = value(a, at, first + n);
            });
            to[-1] = is_zero(-1, a.nx) ? 0 : to[source(-1, a.nx)], to[a.nx] = is_zero(a.nx, a.nx) ? 0 : to[source(a.nx, a.nx)];
        }
    }

    real* row(int j, int k) {
        return planes.data() + margin + ((k + planes_kept) % planes_kept * (y_block + 2) + j - y_first) * row_words;
    }
};

inline wide groups_of_row(int nx) {
    return (nx + group_columns - 1) / group_columns;
}

// Row j of plane k. `first_sums` are its columns' sums. Meanwhile the row (later_j, later_k) is asked for.
inline void update_row(const Arrays& a, Rows& of, int j, int k, int later_j, int later_k, real* first_sums)
{
    const int nx = a.nx;
    const wide at = (wide(k) * a.ny + j) * a.pitch;
    const real *const row = of.row(j, k), *const south = of.row(j - 1, k), *const north = of.row(j + 1, k);
    const real *const below = of.row(j, k - 1), *const above = of.row(j, k + 1);
    const real* const inverse_diagonal = a.inverse_diagonal + at;
    const real* const r_old = a.r_old + at;
    const real* const w = a.w + at;
    real* const r = a.r + at;
    real* const z = a.z + at;
    const real* const cx = a.cx;
    const real cy = a.cy[j], cz = a.cz[k];
    const wide later_at = (wide(later_k) * a.ny + later_j) * a.pitch;
    const real* const asked[] = {a.r + later_at, a.z + later_at};
    real* const sums_0 = first_sums;
    real* const sums_1 = first_sums + 1 * y_block * groups_of_row(nx) * group_columns;
    real* const sums_2 = first_sums + 2 * y_block * groups_of_row(nx) * group_columns;
    // A strip, given what lies beside a cell along x.
    const auto strip = [&](int first, auto count, const auto& west, const auto& east) {
        for (const real* const words : asked) ask_for(words + first);
        real* const to_r = r + first;
        real* const to_z = z + first;
        #pragma omp simd simdlen(vector_words)
        for (int n = 0; n < count; ++n) {
            const int i = first + n;
            const real in_plane = multiply_add(cy, south[i] + north[i], cx[i] * (west(i) + east(i)));
            const real sum = multiply_add(cz, below[i] + above[i], in_plane);
            const real inverse = inverse_diagonal[i];
            const real new_r = new_residual(a, r_old[i], w[i], inverse);
            const real new_z = multiply_add(-(a.neighbour_weight * inverse), sum, a.own_weight * row[i]);
            sums_0[i] = multiply_add(new_z, new_r, sums_0[i]);
            sums_1[i] = multiply_add(new_r, new_r, sums_1[i]);
            sums_2[i] = sums_2[i] + new_r;
            to_r[n] = new_r, to_z[n] = new_z;
        }
    };
    const auto before = [=](int i) { return row[i - 1]; };
    const auto behind = [=](int i) { return row[i + 1]; };
    in_strips(nx, [&](int first, auto count) { strip(first, count, before, behind); });
}

inline wide groups_in_range(int nx, int ny, int first, int last)
{
    return wide((last - first + chunk - 1) / chunk) * ny * groups_of_row(nx);
}

// At the end of a chunk: the columns of a group in pairs of neighbours.
inline void add_up(real* columns, wide groups, real* to) {
    for (wide group = 0; group < groups; ++group, columns += group_columns) {
        real sum[group_columns / 2];
        for (int t = 0; t < 16; ++t) sum[t] = columns[2 * t] + columns[2 * t + 1];
        for (int t = 0; t < 8; ++t) sum[t] = sum[2 * t] + sum[2 * t + 1];
        for (int t = 0; t < 4; ++t) sum[t] = sum[2 * t] + sum[2 * t + 1];
        for (int t = 0; t < 2; ++t) sum[t] = sum[2 * t] + sum[2 * t + 1];
        for (int t = 0; t < 1; ++t) sum[t] = sum[2 * t] + sum[2 * t + 1];
        to[group] = sum[0];
        std::fill_n(columns, group_columns, real(0));
    }
}

}  // namespace

// The planes [first, last). A thread takes `y_block` rows at a time and goes up `z_block` planes with them.
extern "C" void poisson7(
    const real* __restrict__ r_old,
    const real* __restrict__ w,
    const real* __restrict__ cx,
    const real* __restrict__ cy,
    const real* __restrict__ cz,
    const real* __restrict__ inverse_diagonal,
    real* __restrict__ r,
    real* __restrict__ z,
    real* __restrict__ scalars,
    real* __restrict__ history,
    real* __restrict__ group_sums, double* __restrict__ block_sums,
    int nx, int ny, int nz, int pitch, int first, int last
)
{
    const Arrays a{r_old, w, cx, cy, cz, inverse_diagonal, r, z, nx, ny, nz, pitch, scalars[scalar::alpha], scalars[scalar::mean], scalars[scalar::own_weight], scalars[scalar::neighbour_weight]};
    #pragma omp parallel
    {
        Rows of(a);
        const wide groups = groups_in_range(nx, ny, first, last), row_groups = groups_of_row(nx);
        Buffer of_columns(sums * y_block * row_groups * group_columns);
        const auto sums_of_row = [&](int row) { return of_columns.data() + row * row_groups * group_columns; };
        #pragma omp for collapse(2) schedule(static)
        for (int z_begin = first; z_begin < last; z_begin += z_block)
            for (int y_begin = 0; y_begin < ny; y_begin += y_block) {
                const int z_end = std::min(z_begin + z_block, last), y_end = std::min(y_begin + y_block, ny);
                of.begin(y_begin, y_end, z_begin);
                for (int k = z_begin; k < z_end; ++k) {
                    of.load(k + 1);
                    for (int j = y_begin; j < y_end; ++j) {
                        // Of this plane while it lasts, then of the next.
                        const bool in_plane = j + rows_ahead < y_end;
                        const int later_j = in_plane ? j + rows_ahead : std::min(y_begin + j + rows_ahead - y_end, y_end - 1);
                        update_row(a, of, j, k, later_j, in_plane ? k : std::min(k + 1, z_end - 1), sums_of_row(j - y_begin));
                    }
                    if ((k + 1 - first) % chunk != 0 && k + 1 != z_end) continue;
                    for (int s = 0; s < sums; ++s)
                        for (int j = y_begin; j < y_end; ++j)
                            add_up(sums_of_row(s * y_block + j - y_begin), row_groups, group_sums + s * groups + (wide((k - first) / chunk) * ny + j) * row_groups);
                }
            }
    }
}

namespace {

// Sum of value(0) to value(count - 1): by number modulo `sum_lanes`, then these in pairs of neighbours.
template <typename Value>
double sum_in_lanes(wide count, Value value)
{
    double lanes[sum_lanes] = {};
    for (wide n = 0; n < count; ++n) lanes[n % sum_lanes] += value(n);
    for (int step = 1; step < sum_lanes; step *= 2)
        for (int lane = 0; lane < sum_lanes; lane += 2 * step) lanes[lane] += lanes[lane + step];
    return lanes[0];
}

}  // namespace

// The rest of the sums, the same whatever the configuration: blocks of groups' sums, then these, in double precision; and what follows from them.
extern "C" void finish(
    const real* __restrict__ r_old,
    const real* __restrict__ w,
    const real* __restrict__ cx,
    const real* __restrict__ cy,
    const real* __restrict__ cz,
    const real* __restrict__ inverse_diagonal,
    real* __restrict__ r,
    real* __restrict__ z,
    real* __restrict__ scalars,
    real* __restrict__ history,
    real* __restrict__ group_sums, double* __restrict__ block_sums,
    int nx, int ny, int nz, int pitch, int first, int last
)
{
    const wide groups = groups_in_range(nx, ny, first, last), blocks = (groups + sums_per_block - 1) / sums_per_block;
    double sum[sums];
    for (int s = 0; s < sums; ++s) {
        for (wide block = 0; block < blocks; ++block) {
            const real* const of_block = group_sums + s * groups + block * sums_per_block;
            block_sums[s * blocks + block] =
                sum_in_lanes(std::min<wide>(sums_per_block, groups - block * sums_per_block), [=](wide n) { return double(of_block[n]); });
        }
        sum[s] = sum_in_lanes(blocks, [=](wide n) { return block_sums[s * blocks + n]; }) / (double(nx) * ny * nz);
    }
    const double delta = sum[0], residual_square = sum[1], old_delta = scalars[scalar::delta];
    scalars[scalar::beta] = old_delta > 0 ? real(delta / old_delta) : real(0);
    scalars[scalar::delta] = real(delta);
    scalars[scalar::residual_square] = real(residual_square);
    scalars[scalar::mean] = real(sum[2] * double(scalars[scalar::mean_weight]));
    if (!(delta > 0) && residual_square > 0) scalars[scalar::breakdown] = 1;
    const int iteration = int(scalars[scalar::iterations]);
    history[iteration % 256] = real(residual_square);
    scalars[scalar::iterations] = real(iteration + 1);
}
