// gauss_seidel_27: variable stencil, f64
// hone emit gauss_seidel_27 stencil=variable precision=f64 nx=96 ny=96 nz=96 --target cuda --config form=points,
//     block_x=32,block_y=4,z_block=8,points_per_thread=1,stencil_in=streaming,edges=guarded,min_blocks=1,
//     layout=colour_split
// The same text serves every nx, ny, nz and pitch.
// per update: 53 operations, 240 bytes (compulsory)
using real = double;
using wide = long long;  // a position in an array
constexpr int block_x = 32, block_y = 4, block_z = 1;
constexpr int threads_per_block = block_x * block_y * block_z, min_blocks = 1;
constexpr int z_block = 8;            // planes that a block covers
constexpr int points_per_thread = 1;  // along x
constexpr bool clamped_loads = false;  // threads beyond the grid repeat the last point's loads, or have none

// Words of one coefficient of one colour in `packed`, whose rows start on 128 bytes.
__device__ __forceinline__ wide packed_stride(int nx, int ny, int nz) {
    const int row = ((nx + 1) / 2 + 16 - 1) / 16 * 16;
    return wide((nz + 1) / 2) * ((ny + 1) / 2) * row;
}

// First coefficient of point (x, y, z), counted from 1.
__device__ __forceinline__ wide packed_position(int x, int y, int z, int nx, int ny, int nz) {
    const int row = ((nx + 1) / 2 + 16 - 1) / 16 * 16;
    const int colour = (x - 1) % 2 + (y - 1) % 2 * 2 + (z - 1) % 2 * 4;
    return colour * 27 * packed_stride(nx, ny, nz) + (wide((z - 1) / 2) * ((ny + 1) / 2) + (y - 1) / 2) * row
        + (x - 1) / 2;
}

// A point's stencil. s[13] is the reciprocal of the centre coefficient.
struct Coefficients {
    const real* from;
    wide stride;

    __device__ __forceinline__ real operator[](int k) const { return __ldcs(from + k * stride); }
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
    real* u, const real* __restrict__ f, const real* __restrict__ stencil, const real* __restrict__ packed,
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
            const Coefficients s{packed + packed_position(x_read, y_read, z, nx, ny, nz), packed_stride(nx, ny, nz)};
            const wide here = z * wide(plane) + y_read * pitch + x_read;
            const real updated = relaxed(u + here, f[here], pitch, plane, s);
            if (inside) u[here] = updated;
        }
    }
}

// Packs the points of one colour together: [colour][27][slice][row][x], so that threads that own neighbouring points of
// a colour load neighbouring words, from the beginning of a line.
extern "C" __global__ void pack_stencil(
    real* u, const real* __restrict__ f, const real* __restrict__ stencil, real* __restrict__ packed,
    int nx, int ny, int nz, int pitch, int first, int last, int colour
) {
    const int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y, slice = blockIdx.z;
    const int x = 1 + (colour & 1) + 2 * column, y = 1 + (colour >> 1 & 1) + 2 * row, z = 1 + (colour >> 2) + 2 * slice;
    if (x > nx || y > ny || z > nz) return;
    const real* from = stencil + ((z - 1) * wide(ny) + y - 1) * pitch + x;
    real* to = packed + packed_position(x, y, z, nx, ny, nz);
    for (int k = 0; k < 27; ++k) to[k * packed_stride(nx, ny, nz)] = from[k * (nz * wide(ny) * pitch)];
}
