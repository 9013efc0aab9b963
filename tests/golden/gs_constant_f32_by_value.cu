// gauss_seidel_27: constant stencil, f32
// hone emit gauss_seidel_27 stencil=constant precision=f32 nx=96 ny=96 nz=96 --target cuda --config form=points,
//     block_x=32,block_y=4,z_block=16,points_per_thread=1,stencil_in=by_value,edges=guarded,min_blocks=1
// The same text serves every nx, ny, nz and pitch.
// per update: 53 operations, 12 bytes (compulsory)
using real = float;
using wide = long long;  // a position in an array
constexpr int block_x = 32, block_y = 4, block_z = 1;
constexpr int threads_per_block = block_x * block_y * block_z, min_blocks = 1;
constexpr int z_block = 16;            // planes that a block covers
constexpr int points_per_thread = 1;  // along x
constexpr bool clamped_loads = false;  // threads beyond the grid repeat the last point's loads, or have none

// A point's stencil. s[13] is the reciprocal of the centre coefficient.
struct Coefficients {
    real value[27];
    __device__ __forceinline__ real operator[](int k) const { return value[k]; }
};

// The new value of the point at `u`.
__device__ __forceinline__ real relaxed(const real* u, real f, int pitch, int plane, const Coefficients& s) {
    real sum = f;
    #pragma unroll
    for (int k = 0; k < 27; ++k)
        if (k != 13) sum = fma(-s[k], u[(k / 9 - 1) * plane + (k / 3 % 3 - 1) * pitch + (k % 3 - 1)], sum);
    return sum * s[13];
}

// One colour of the planes [first, last). A thread takes its points of one slice of the colour after the other in its
// block's `z_block` planes; everything it reads comes through the caches. Neighbours have other colours, so nobody
// writes what is read here.
extern "C" __global__ void __launch_bounds__(threads_per_block, min_blocks) gauss_seidel_27(
    real* u, const real* __restrict__ f, const real* __restrict__ stencil,
    const __grid_constant__ Coefficients s,
    int nx, int ny, int nz, int pitch, int first, int last, int colour
) {
    const int plane = (ny + 2) * pitch;
    const int x_parity = colour & 1, y_parity = colour >> 1 & 1, z_parity = colour >> 2;
    const int column = blockIdx.x * block_x * points_per_thread + threadIdx.x;
    const int y = 1 + y_parity + 2 * (blockIdx.y * block_y + threadIdx.y);
    const int y_read = min(y, ny);
    const int block_first = first + blockIdx.z * z_block;
    const int block_last = min(block_first + z_block, last);
    for (int z = 1 + block_first + (block_first + z_parity) % 2; z <= block_last; z += 2) {
        #pragma unroll
        for (int point = 0; point < points_per_thread; ++point) {
            const int x = 1 + x_parity + 2 * (column + point * block_x);
            const int x_read = min(x, nx);
            const bool inside = x <= nx && y <= ny;
            if (!clamped_loads && !inside) continue;
            const wide here = z * wide(plane) + y_read * pitch + x_read;
            const real updated = relaxed(u + here, f[here], pitch, plane, s);
            if (inside) u[here] = updated;
        }
    }
}
