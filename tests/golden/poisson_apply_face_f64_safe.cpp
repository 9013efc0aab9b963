// poisson7: apply, face coefficients, neumann, f64
// hone emit poisson7 kernel=apply coefficients=face boundary=neumann precision=f64 nx=128 ny=128 nz=128 --target cpu --config y_block=16,z_block=8,vector_bytes=16,rows_together=1,planes_together=1,threads=all,binding=none
// The same text serves every nx, ny, nz and pitch.
// per update: 13 operations, 48 bytes (compulsory)
#include <algorithm>
#include <cstdint>
#include <vector>

using real = double;
using wide = long long;  // a position in an array
constexpr int y_block = 16, z_block = 8, vector_words = 2;
constexpr int rows_together = 1, planes_together = 1;  // updated at once

namespace {

// What the cells' updates take of the arguments.
struct Arrays {
    const real* p;
    const real* cx;
    const real* cy;
    const real* cz;
    const real* diagonal;
    real* w;
    int nx, ny, nz, pitch;
};

// Which of `cells` cells along an axis number n stands for, which may lie beyond them.
inline int source(int n, int cells) {
    return n < 0 ? 0 : n >= cells ? cells - 1 : n;
}
// Whether it is zero there instead.
inline bool is_zero(int n, int cells) {
    return false;
}

// a b + c, rounded once where the processor can: the compiler must not choose, or digits would differ between configurations.
inline real multiply_add(real a, real b, real c) {
    #if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
    return __builtin_fma(a, b, c);
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

// The rows that the stencil takes, which may lie one beyond the grid.
class Rows {
    const Arrays& a;
    std::vector<real> zeros = std::vector<real>(a.nx);

    public:
    explicit Rows(const Arrays& arrays) : a(arrays) {}

    void begin(int, int, int) {}
    void load(int) {}

    const real* row(int j, int k) {
        if (is_zero(j, a.ny) || is_zero(k, a.nz)) return zeros.data();
        return a.p + (wide(source(k, a.nz)) * a.ny + source(j, a.ny)) * a.pitch;
    }
};

// `rows` neighbouring rows from j on in `planes` planes from k on: what the stencils of their cells share is loaded once. `first_sums` are the columns'
// sums of row j, those of the next rows lie behind them.
template <int rows, int planes>
inline void update_rows(const Arrays& a, Rows& of, int j, int k, real* first_sums)
{
    const int nx = a.nx;
    const real* stencil[planes + 2][rows + 2];
    for (int q = 0; q < planes + 2; ++q)
        for (int t = 0; t < rows + 2; ++t) stencil[q][t] = of.row(j - 1 + t, k - 1 + q);
    const real* diagonal[planes][rows];
    real* w[planes][rows];
    const real *cx[planes][rows], *c_south[planes][rows], *c_north[planes][rows], *c_below[planes][rows], *c_above[planes][rows];
    for (int q = 0; q < planes; ++q) {
        for (int t = 0; t < rows; ++t) {
            const wide at = (wide(k + q) * a.ny + j + t) * a.pitch;
            diagonal[q][t] = a.diagonal + at, w[q][t] = a.w + at;
            const wide plane = wide(a.ny) * a.pitch;
            cx[q][t] = a.cx + at, c_south[q][t] = a.cy + at, c_below[q][t] = a.cz + at;
            c_north[q][t] = a.cy + at + (j + t + 1 < a.ny ? a.pitch : -wide(j + t) * a.pitch);
            c_above[q][t] = a.cz + at + (k + q + 1 < a.nz ? plane : -(k + q) * plane);
        }
    }
    // The cells at place i of these rows, the place behind them, whose faces are the first ones' for the last cells, and their neighbours along x.
    const auto update = [&](int i, int i_behind, const auto& west, const auto& east) {
        real new_w[planes][rows];
        for (int q = 0; q < planes; ++q) {
            for (int t = 0; t < rows; ++t) {
                const real here = stencil[q + 1][t + 1][i];
                const real south = stencil[q + 1][t][i], north = stencil[q + 1][t + 2][i];
                const real below = stencil[q][t + 1][i], above = stencil[q + 2][t + 1][i];
                const real in_row = multiply_add(cx[q][t][i_behind], east(q, t, i), cx[q][t][i] * west(q, t, i));
                const real in_plane = multiply_add(c_north[q][t][i], north, multiply_add(c_south[q][t][i], south, in_row));
                const real sum = multiply_add(c_above[q][t][i], above, multiply_add(c_below[q][t][i], below, in_plane));
                new_w[q][t] = multiply_add(diagonal[q][t][i], here, sum);
            }
        }
        for (int q = 0; q < planes; ++q)
            for (int t = 0; t < rows; ++t) w[q][t][i] = new_w[q][t];
    };
    const auto before = [&](int q, int t, int i) { return stencil[q + 1][t + 1][i - 1]; };
    const auto behind = [&](int q, int t, int i) { return stencil[q + 1][t + 1][i + 1]; };
    // Neighbours of the first and the last cells lie elsewhere: their vectors take them from copies.
    real copied[2][planes][rows][vector_words];
    const auto copy = [&](int q, int t, int count) {
        const real* const row = stencil[q + 1][t + 1];
        real *const west = copied[0][q][t], *const east = copied[1][q][t];
        west[0] = is_zero(-1, nx) ? 0 : row[source(-1, nx)], east[count - 1] = is_zero(nx, nx) ? 0 : row[source(nx, nx)];
        std::copy_n(row, count - 1, west + 1), std::copy_n(row + nx - count + 1, count - 1, east);
    };
    const bool whole_vectors = nx >= 2 * vector_words && nx % vector_words == 0;
    const int at_ends = whole_vectors ? vector_words : 1;
    for (int q = 0; q < planes; ++q)
        for (int t = 0; t < rows; ++t) whole_vectors ? copy(q, t, vector_words) : copy(q, t, 1);
    const auto copied_before = [&](int q, int t, int i) { return copied[0][q][t][i]; };
    const auto copied_behind = [&](int q, int t, int i) { return copied[1][q][t][i - (nx - at_ends)]; };
    if (nx == 1) {
        update(0, 0, copied_before, copied_behind);
        return;
    }
    if (whole_vectors) {
        #pragma omp simd simdlen(vector_words)
        for (int i = 0; i < vector_words; ++i) update(i, i + 1, copied_before, behind);
    }
    else
        update(0, 1, copied_before, behind);
    #pragma omp simd simdlen(vector_words)
    for (int i = at_ends; i < nx - at_ends; ++i) update(i, i + 1, before, behind);
    if (whole_vectors) {
        #pragma omp simd simdlen(vector_words)
        for (int i = nx - vector_words; i < nx - 1; ++i) update(i, i + 1, before, copied_behind);
    }
    update(nx - 1, 0, before, copied_behind);
}


}  // namespace

// The planes [first, last). A thread takes `y_block` rows at a time and goes up `z_block` planes with them.
extern "C" void poisson7(
    const real* __restrict__ p,
    const real* __restrict__ cx,
    const real* __restrict__ cy,
    const real* __restrict__ cz,
    const real* __restrict__ diagonal,
    real* __restrict__ w,
    int nx, int ny, int nz, int pitch, int first, int last
)
{
    const Arrays a{p, cx, cy, cz, diagonal, w, nx, ny, nz, pitch};
    #pragma omp parallel
    {
        Rows of(a);
        const auto sums_of_row = [](int) { return static_cast<real*>(nullptr); };
        #pragma omp for collapse(2) schedule(static)
        for (int z_begin = first; z_begin < last; z_begin += z_block)
            for (int y_begin = 0; y_begin < ny; y_begin += y_block) {
                const int z_end = std::min(z_begin + z_block, last), y_end = std::min(y_begin + y_block, ny);
                of.begin(y_begin, y_end, z_begin);
                for (int k = z_begin; k < z_end; k += planes_together) {
                    const int k_end = std::min(k + planes_together, z_end);
                    for (int above = k + 1; above <= k_end; ++above) of.load(above);
                    for (int j = y_begin; j < y_end; j += rows_together) {
                        const int j_end = std::min(j + rows_together, y_end);
                        if (j_end - j == rows_together && k_end - k == planes_together)
                            update_rows<rows_together, planes_together>(a, of, j, k, sums_of_row(j - y_begin));
                        else
                            for (int row = j; row < j_end; ++row)
                                for (int plane = k; plane < k_end; ++plane) update_rows<1, 1>(a, of, row, plane, sums_of_row(row - y_begin));
                    }
                }
            }
    }
}
