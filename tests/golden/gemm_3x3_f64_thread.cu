// batched_gemm: C = A B, 3 x 3 times 3 x 3, f64
// hone emit batched_gemm form=nn b=each update=set precision=f64 m=3 n=3 k=3 batch=100000 --target cuda --config
//     form=thread,matrices_per_block=128,epilogue=shared,min_blocks=1
// The same text serves any number of matrices.
// per product: 54 operations, 216 bytes (compulsory); this form executes 54 operations
using real = double;
constexpr int m = 3, n = 3, k = 3;
constexpr long long stride_a = 9, stride_b = 9, stride_c = 9;  // words from one matrix to the next
constexpr int a_row = 1, a_inner = 3;     // op(A)(row, l) lies at row * a_row + l * a_inner
constexpr int b_inner = 1, b_column = 3;  // op(B)(l, column) at l * b_inner + column * b_column
constexpr int threads_per_block = 128, blocks_per_multiprocessor = 1;
constexpr int width = 2;  // words in a load or store
constexpr int a_here = 9, b_here = 9, c_here = 9;  // distance of matrices in shared memory, odd against bank conflicts

// Neighbouring words that are loaded or stored at once.
struct alignas(width * sizeof(real)) Vector {
    real value[width];
};

__device__ __forceinline__ void put(real* to, real sum) { *to = sum; }

// Whether `words` words from `from` on can be moved as vectors, whatever the first matrix of the range is.
__device__ __forceinline__ bool in_vectors(const real* from, int words) {
    return reinterpret_cast<size_t>(from) % sizeof(Vector) == 0 && words % width == 0;
}

// Brings the matrices of a block, `words` each; all loads of a thread are in flight together.
template <int words, int distance>
__device__ __forceinline__ void bring(real* here, const real* from, int present) {
    constexpr int loads = (words + width - 1) / width;
    if (in_vectors(from, present * words)) {
        Vector vector[loads];
        #pragma unroll
        for (int i = 0; i < loads; ++i) {
            const int index = (threadIdx.x + i * threads_per_block) * width;
            if (index < present * words) vector[i] = reinterpret_cast<const Vector*>(from)[index / width];
        }
        #pragma unroll
        for (int i = 0; i < loads; ++i) {
            #pragma unroll
            for (int j = 0; j < width; ++j) {
                const int index = (threadIdx.x + i * threads_per_block) * width + j;
                if (index < present * words) here[index / words * distance + index % words] = vector[i].value[j];
            }
        }
    } else {
        for (int index = threadIdx.x; index < present * words; index += threads_per_block)
            here[index / words * distance + index % words] = from[index];
    }
}

// Takes the results of a block to memory.
__device__ __forceinline__ void take_away(real* to, const real* here, int present) {
    constexpr int words = m * n;
    if (in_vectors(to, present * words)) {
        for (int index = threadIdx.x * width; index < present * words; index += threads_per_block * width) {
            Vector vector;
            #pragma unroll
            for (int j = 0; j < width; ++j)
                put(vector.value + j, here[(index + j) / words * c_here + (index + j) % words]);
            *reinterpret_cast<Vector*>(to + index) = vector;
        }
    } else {
        for (int index = threadIdx.x; index < present * words; index += threads_per_block)
            put(to + index, here[index / words * c_here + index % words]);
    }
}

// Every thread computes the product of one matrix, whole.
extern "C" __global__ void __launch_bounds__(threads_per_block, blocks_per_multiprocessor)
batched_gemm(const real* __restrict__ a, const real* __restrict__ b, real* __restrict__ c, int first, int last) {
    const int block_first = first + blockIdx.x * threads_per_block;
    const int present = min(threads_per_block, last - block_first);
    a += block_first * stride_a;
    b += block_first * stride_b;
    c += block_first * stride_c;
    const int own = threadIdx.x;
    extern __shared__ __align__(16) unsigned char shared_memory[];
    real* const here = reinterpret_cast<real*>(shared_memory);  // A, then B; at last C
    bring<m * k, a_here>(here, a, present);
    bring<k * n, b_here>(here + threads_per_block * a_here, b, present);
    __syncthreads();
    real own_a[m * k];
    #pragma unroll
    for (int i = 0; i < m * k; ++i) own_a[i] = here[own * a_here + i];
    real own_b[k * n];
    #pragma unroll
    for (int i = 0; i < k * n; ++i) own_b[i] = here[threads_per_block * a_here + own * b_here + i];

    // The loops unroll wholly, so that every word of A, B and C has a register of its own.
    real sum[n][m];
    #pragma unroll
    for (int column = 0; column < n; ++column) {
        #pragma unroll
        for (int row = 0; row < m; ++row) {
            sum[column][row] = 0;
            #pragma unroll
            for (int l = 0; l < k; ++l)
                sum[column][row] += own_a[row * a_row + l * a_inner] * own_b[l * b_inner + column * b_column];
        }
    }

    __syncthreads();  // all have read what C replaces
    #pragma unroll
    for (int i = 0; i < m * n; ++i) here[own * c_here + i] = sum[i / m][i % m];
    __syncthreads();
    take_away(c, here, present);
}
