// batched_gemv: y = A x, 81 x 8, f32
// hone emit batched_gemv form=n x=each update=set precision=f32 m=81 n=8 batch=100000 --target cuda --config form=rows,
//     width=1,matrices_per_block=1,unroll=4,min_blocks=1
// The same text serves any number of matrices.
// per product: 1296 operations, 2948 bytes (compulsory)
using real = float;
constexpr int m = 81, n = 8;
constexpr long long stride_a = 648, stride_x = 8, stride_y = 81;  // words from one to the next
constexpr int width = 1;  // words per load
constexpr int matrices_per_block = 1, threads_per_block = 96, blocks_per_multiprocessor = 1;
constexpr int vectors = 81, splits = 1, threads_per_matrix = vectors * splits;

__device__ __forceinline__ void put(real* to, real sum) { *to = sum; }

// Neighbouring words of a column that a thread loads at once.
struct alignas(width * sizeof(real)) Vector {
    real value[width];
};

// y = A x. A thread owns `width` neighbouring rows of a matrix and takes every `splits`-th column, so that the threads
// of a matrix walk through it from the first word to the last side by side.
extern "C" __global__ void __launch_bounds__(threads_per_block, blocks_per_multiprocessor)
batched_gemv(const real* __restrict__ a, const real* __restrict__ x, real* __restrict__ y, int first, int last) {
    const int block_first = first + blockIdx.x * matrices_per_block;
    const int present = min(matrices_per_block, last - block_first);
    const int matrix = threadIdx.x / threads_per_matrix;
    const int row = threadIdx.x % vectors * width;
    const int split = threadIdx.x / vectors % splits;
    real sum[width] = {};
    if (matrix < present) {
        const real* const own = a + (block_first + matrix) * stride_a + row;
        const real* const factor = x + (block_first + matrix) * stride_x;
        #pragma unroll 4
        for (int column = split; column < n; column += splits) {
            const Vector values = *reinterpret_cast<const Vector*>(own + column * m);
            const real by = factor[column];
            #pragma unroll
            for (int i = 0; i < width; ++i) sum[i] += values.value[i] * by;
        }
    }
    if (matrix < present && split == 0) {
        real* const to = y + (block_first + matrix) * stride_y + row;
        #pragma unroll
        for (int i = 0; i < width; ++i) {
            put(to + i, sum[i]);
        }
    }
}
