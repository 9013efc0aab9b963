// poisson7: apply, face coefficients, neumann, f64
// hone emit poisson7 kernel=apply coefficients=face boundary=neumann precision=f64 nx=128 ny=128 nz=128 --target cpu --config y_block=16,z_block=8,vector_bytes=16,threads=all,binding=none
// The same text serves every nx, ny, nz and pitch.
// per update: 13 operations, 48 bytes (compulsory)
#include <algorithm>
#include <vector>

using real = double;
using wide = long long;  // a position in an array
constexpr int y_block = 16, z_block = 8, vector_words = 2;

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

// The rows that the stencil takes, which may lie one beyond the grid.
class Rows {
    const Arrays& a;
    std::vector<real> zeros = std::vector<real>(a.nx);

    public:
    explicit Rows(const Arrays& arrays) : a(arrays) {}

    void begin(int, int, int) {}
    void load(int) {}

    const real* row(int j, int k) const {
        if (is_zero(j, a.ny) || is_zero(k, a.nz)) return zeros.data();
        return a.p + (wide(source(k, a.nz)) * a.ny + source(j, a.ny)) * a.pitch;
    }
};

// Row j of plane k; `beside` are the rows that the stencil takes, `sums` the columns' sums of this row.
inline void update_row(const Arrays& a, const Rows& rows, int j, int k, real* sums)
{
    const wide at = (wide(k) * a.ny + j) * a.pitch;
    const int nx = a.nx;
    const real *here = rows.row(j, k), *south = rows.row(j - 1, k), *north = rows.row(j + 1, k), *below = rows.row(j, k - 1), *above = rows.row(j, k + 1);
    real* const w = a.w + at;
    const real* const diagonal = a.diagonal + at;
    const wide plane = wide(a.ny) * a.pitch;
    const real *const cx = a.cx + at, *const c_south = a.cy + at, *const c_below = a.cz + at;
    const real* const c_north = j + 1 < a.ny ? c_south + a.pitch : c_south - wide(j) * a.pitch;
    const real* const c_above = k + 1 < a.nz ? c_below + plane : c_below - k * plane;
    // The cell behind it, whose face is the first one's for the last cell, and its neighbours along x.
    const auto update = [&](int i, int i_east, real west, real east) {
        const real in_row = multiply_add(cx[i_east], east, cx[i] * west);
        const real in_plane = multiply_add(c_north[i], north[i], multiply_add(c_south[i], south[i], in_row));
        const real sum = multiply_add(c_above[i], above[i], multiply_add(c_below[i], below[i], in_plane));
        const real product = multiply_add(diagonal[i], here[i], sum);
        w[i] = product;
    };
    const real west_of_row = is_zero(-1, nx) ? 0 : here[source(-1, nx)], east_of_row = is_zero(nx, nx) ? 0 : here[source(nx, nx)];
    update(0, nx > 1 ? 1 : 0, west_of_row, nx > 1 ? here[1] : east_of_row);
    #pragma omp simd simdlen(vector_words)
    for (int i = 1; i < nx - 1; ++i) update(i, i + 1, here[i - 1], here[i + 1]);
    if (nx > 1) update(nx - 1, 0, here[nx - 2], east_of_row);
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
        Rows rows(a);
        const auto sums_of_row = [](int) { return static_cast<real*>(nullptr); };
        #pragma omp for collapse(2) schedule(static)
        for (int z_begin = first; z_begin < last; z_begin += z_block)
            for (int y_begin = 0; y_begin < ny; y_begin += y_block) {
                const int z_end = std::min(z_begin + z_block, last), y_end = std::min(y_begin + y_block, ny);
                rows.begin(y_begin, y_end, z_begin);
                for (int k = z_begin; k < z_end; ++k) {
                    rows.load(k + 1);
                    for (int j = y_begin; j < y_end; ++j) update_row(a, rows, j, k, sums_of_row(j - y_begin));
                }
            }
    }
}
