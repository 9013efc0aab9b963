// batched_gemv: y = alpha A^T x + beta y, 375 x 64, f64
// hone emit batched_gemv form=t x=each update=scale precision=f64 m=375 n=64 batch=100000 --target cuda --config
//     form=columns,width=1,matrices_per_block=1,split=32,threads=256,unroll=4,min_blocks=1
// The same text serves any number of matrices.
// per product: 48000 operations, 196024 bytes (compulsory)
using real = double;
constexpr int m = 375, n = 64;
constexpr long long stride_a = 24000, stride_x = 375, stride_y = 64;  // words from one to the next
constexpr int width = 1;  // words per load
constexpr int matrices_per_block = 1, threads_per_block = 256, blocks_per_multiprocessor = 1;
constexpr int lanes = 32;  // threads that share a column

// The result of a sum; C is not read where beta is 0, so that it may hold anything.
__device__ __forceinline__ void put(real* to, real sum, real alpha, real beta) {
    *to = beta == real(0) ? alpha * sum : alpha * sum + beta * *to;
}

// Neighbouring words of a column that a thread loads at once.
struct alignas(width * sizeof(real)) Vector {
    real value[width];
};

// y = A^T x. `lanes` threads share a column, which gives one word of y; neighbouring groups of them have neighbouring
// columns.
extern "C" __global__ void __launch_bounds__(threads_per_block, blocks_per_multiprocessor)
batched_gemv(const real* __restrict__ a, const real* __restrict__ x, real* __restrict__ y,
    const real* __restrict__ factors, int first, int last) {
    const real alpha = factors[0], beta = factors[1];
    const int block_first = first + blockIdx.x * matrices_per_block;
    const int present = min(matrices_per_block, last - block_first);
    constexpr int groups = threads_per_block / lanes;
    const int lane = threadIdx.x % lanes;
    // All threads run through all trips, because they exchange sums in each.
    #pragma unroll 4
    for (int start = 0; start < matrices_per_block * n; start += groups) {
        const int word = start + threadIdx.x / lanes;
        const int matrix = word / n, column = word % n;
        const bool there = word < matrices_per_block * n && matrix < present;
        real sum = 0;
        if (there) {
            const real* const own = a + (block_first + matrix) * stride_a + column * m;
            const real* const factor = x + (block_first + matrix) * stride_x;
            #pragma unroll 12
            for (int row = lane * width; row < m; row += lanes * width) {
                const Vector values = *reinterpret_cast<const Vector*>(own + row);
                #pragma unroll
                for (int i = 0; i < width; ++i) sum += values.value[i] * factor[row + i];
            }
        }
        #pragma unroll
        for (int distance = lanes / 2; distance > 0; distance /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, distance);
        if (there && lane == 0) {
            real* const to = y + (block_first + matrix) * stride_y + column;
            put(to, sum, alpha, beta);
        }
    }
}
