// gauss_seidel_27: constant stencil, f32
// hone emit gauss_seidel_27 stencil=constant precision=f32 nx=96 ny=96 nz=96 --target cuda --config colours_per_pass=1,staging=shared,block_x=32,block_y=8,z_block=16,points_per_thread=1,stencil_in=registers,edges=guarded,min_blocks=1,layout=natural
// The same text serves every nx, ny, nz and pitch.
// per update: 53 operations, 12 bytes (compulsory)
using real = float;
using wide = long long;  // a position in an array
constexpr int block_x = 32, block_y = 8, block_z = 1;
constexpr int threads_per_block = block_x * block_y * block_z, min_blocks = 1;
constexpr int z_block = 16;            // planes that a block covers
constexpr bool clamped_loads = false;  // threads beyond the grid repeat the last point's loads, or have none
constexpr int tile_x = 2 * block_x, tile_y = 2 * block_y;  // points of all colours that a block owns in a plane

// A point's stencil. s[13] is the reciprocal of the centre coefficient.
struct Coefficients {
    real value[27];

    explicit __device__ __forceinline__ Coefficients(const real* from) {
        #pragma unroll
        for (int k = 0; k < 27; ++k) value[k] = from[k];
    }
    __device__ __forceinline__ real operator[](int k) const { return value[k]; }
};

// A plane's values in the block's columns and one point around them.
using Slice = real[tile_y + 2][tile_x + 2];

// Copies plane `u` of the grid around the block's first point (x_tile, y_tile).
__device__ __forceinline__ void load_slice(Slice& slice, const real* u, int x_tile, int y_tile, int nx, int ny, int pitch)
{
    for (int row = threadIdx.y; row < tile_y + 2; row += block_y)
        for (int column = threadIdx.x; column < tile_x + 2; column += block_x) {
            const int x = x_tile - 1 + column, y = y_tile - 1 + row;
            if (!clamped_loads && (x > nx + 1 || y > ny + 1)) continue;
            slice[row][column] = u[min(y, ny + 1) * pitch + min(x, nx + 1)];
        }
}

// The weighted sum of nine values of a slice, coefficients from number `k_first` on; the point itself does not count in its own plane.
__device__ __forceinline__ real layer_sum(const Slice& slice, int row, int column, const Coefficients& s, int k_first)
{
    real sum = 0;
    #pragma unroll
    for (int k = 0; k < 9; ++k)
        if (k_first + k != 13) sum += s[k_first + k] * slice[row + k / 3 - 1][column + k % 3 - 1];
    return sum;
}

// One colour of the planes [first, last), by Strobl's march: a block takes one plane after the other into one of two slices in shared memory,
// in turns, so that one barrier per slice suffices. A thread owns 2 x 2 points of a plane and updates the one that has the colour.
extern "C" __global__ void __launch_bounds__(threads_per_block, min_blocks) gauss_seidel_27(
    real* u, const real* __restrict__ f, const real* __restrict__ stencil,
    int nx, int ny, int nz, int pitch, int first, int last, int colour
)
{
    __shared__ Slice even, odd;  // planes of the colour; planes between them
    const int plane = (ny + 2) * pitch;
    const int x_parity = colour & 1, y_parity = colour >> 1 & 1, z_parity = colour >> 2;
    const int x_tile = 1 + blockIdx.x * tile_x, y_tile = 1 + blockIdx.y * tile_y;
    const int column = 1 + x_parity + 2 * threadIdx.x, row = 1 + y_parity + 2 * threadIdx.y;  // in the slice
    const int x = x_tile - 1 + column, y = y_tile - 1 + row;
    const int x_read = min(x, nx), y_read = min(y, ny);
    const bool inside = x <= nx && y <= ny;
    const int block_first = first + blockIdx.z * z_block;
    const int block_last = min(block_first + z_block, last);
    const int z_start = 1 + block_first + (block_first + z_parity) % 2;
    const Coefficients s{stencil};
    for (int z = z_start; z <= block_last; z += 2) {
        if (z == z_start) {
            load_slice(odd, u + (z - 1) * wide(plane), x_tile, y_tile, nx, ny, pitch);
            __syncthreads();
        }
        const wide here = z * wide(plane) + y_read * pitch + x_read;
        real sum = f[here] - layer_sum(odd, row, column, s, 0);
        load_slice(even, u + z * wide(plane), x_tile, y_tile, nx, ny, pitch);
        __syncthreads();
        sum -= layer_sum(even, row, column, s, 9);
        load_slice(odd, u + (z + 1) * wide(plane), x_tile, y_tile, nx, ny, pitch);
        __syncthreads();
        sum -= layer_sum(odd, row, column, s, 18);
        if (inside) u[here] = sum * s[13];
    }
}
