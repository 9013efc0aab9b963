// batched_gemv: y = A^T x, 81 x 8, f64
// hone emit batched_gemv form=t x=each update=set precision=f64 m=81 n=8 batch=100000 --target cuda --config
//     form=staged,matrices_per_block=2,blocks_per_matrix=1,split=8,threads=128,min_blocks=1
// The same text serves any number of matrices.
// per product: 1296 operations, 5896 bytes (compulsory)
using real = double;
constexpr int m = 81, n = 8;
constexpr long long stride_a = 648, stride_x = 81, stride_y = 8;  // words from one to the next
// of a block, which has several matrices or a part of one
constexpr int matrices_per_block = 2, columns_per_block = 16;
constexpr int threads_per_block = 128, blocks_per_multiprocessor = 1;
constexpr int width = 2, lanes = 8;  // words per copy, threads that share a column

// Copies past the registers, from global to shared memory. What a thread copied since its last commit_copies is a
// group; it waits for groups in the order in which it committed them.
// Copies `words` neighbouring words, of 4, 8 or 16 bytes, or writes zeros.
template <int words>
__device__ __forceinline__ void copy(real* to, const real* from, bool there) {
    constexpr int bytes = words * sizeof(real);
    const unsigned target = static_cast<unsigned>(__cvta_generic_to_shared(to));
    if constexpr (bytes == 16)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(target), "l"(from), "r"(there ? 16 : 0)
            : "memory");
    else
        asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;"
            ::"r"(target), "l"(from), "n"(bytes), "r"(there ? bytes : 0) : "memory");
}

__device__ __forceinline__ void commit_copies() {
    asm volatile("cp.async.commit_group;" ::: "memory");
}

// Waits until no more than the last `groups` of this thread's groups are under way.
template <int groups>
__device__ __forceinline__ void wait_for_copies() {
    asm volatile("cp.async.wait_group %0;" ::"n"(groups) : "memory");
}
// y = A^T x. The columns of a block lie in memory in one piece, whichever matrices they belong to. They come into
// shared memory as they lie. Then `lanes` threads share a column, which gives one word of y.
extern "C" __global__ void __launch_bounds__(threads_per_block, blocks_per_multiprocessor)
batched_gemv(const real* __restrict__ a, const real* __restrict__ x, real* __restrict__ y, int first, int last) {
    extern __shared__ __align__(16) unsigned char shared_memory[];
    real* const stage = reinterpret_cast<real*>(shared_memory);  // [columns][m]
    const int block_first = first + blockIdx.x * matrices_per_block;
    const int first_column = blockIdx.y * columns_per_block;
    const int columns = min(columns_per_block, min(matrices_per_block, last - block_first) * n - first_column);
    const real* const from = a + block_first * stride_a + first_column * m;
    for (int word = threadIdx.x * width; word < columns * m; word += threads_per_block * width)
        copy<width>(stage + word, from + word, true);
    commit_copies();
    wait_for_copies<0>();
    __syncthreads();

    const int lane = threadIdx.x % lanes;
    // All threads run through all trips, because they exchange sums in each.
    for (int start = 0; start < columns; start += threads_per_block / lanes) {
        const int column = start + threadIdx.x / lanes;
        const int matrix = block_first + (first_column + column) / n;
        real sum = 0;
        if (column < columns) {
            const real* const factor = x + matrix * stride_x;
            #pragma unroll 11
            for (int row = lane; row < m; row += lanes) sum += stage[column * m + row] * factor[row];
        }
        #pragma unroll
        for (int distance = lanes / 2; distance > 0; distance /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, distance);
        if (column < columns && lane == 0) {
            real* const to = y + matrix * stride_y + (first_column + column) % n;
            *to = sum;
        }
    }
}
