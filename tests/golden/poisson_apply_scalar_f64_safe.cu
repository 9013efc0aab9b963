// poisson7: apply, scalar coefficients, dirichlet, f64
// hone emit poisson7 kernel=apply coefficients=scalar boundary=dirichlet precision=f64 nx=128 ny=128 nz=128 --target
//     cuda --config form=points,block_x=32,block_y=4
// The same text serves every nx, ny, nz and pitch.
// per update: 10 operations, 16 bytes (compulsory)
using real = double;
using wide = long long;  // a position in an array
constexpr int block_x = 32, block_y = 4;
constexpr int chunk = 8;  // planes of a block

// The planes [first, last). A thread has the cells (i, j) of `chunk` planes, one after the other.
extern "C" __global__ void __launch_bounds__(block_x * block_y) poisson7(
    const real* __restrict__ p,
    const real* __restrict__ coefficients,
    real* __restrict__ w,
    int nx, int ny, int nz, int pitch, int first, int last
) {
    const int i = blockIdx.x * block_x + threadIdx.x, j = blockIdx.y * block_y + threadIdx.y;
    const bool inside = i < nx && j < ny;
    const int begin = first + blockIdx.z * chunk, end = inside ? min(begin + chunk, last) : begin;
    const real cx = coefficients[1], cy = coefficients[2], cz = coefficients[3], diagonal = coefficients[0];
    const auto position = [=](int i, int j, int k) { return wide(k) * ny * pitch + j * pitch + i; };
    // What the stencil acts on, of a cell that may lie one beyond the grid.
    const auto value = [=](int i, int j, int k) -> real {
        if (i < 0 || i >= nx || j < 0 || j >= ny || k < 0 || k >= nz) return 0;
        const wide at = position(i, j, k);
        return p[at];
    };
    real below = value(i, j, begin - 1), here = value(i, j, begin);
    for (int k = begin; k < end; ++k) {
        const wide at = position(i, j, k);
        const real above = value(i, j, k + 1);
        real sum = cx * (value(i - 1, j, k) + value(i + 1, j, k));
        sum = fma(cy, value(i, j - 1, k) + value(i, j + 1, k), sum);
        sum = fma(cz, below + above, sum);
        const real new_w = fma(diagonal, here, sum);
        w[at] = new_w;
        below = here, here = above;
    }
}
