// batched_gemm: C = alpha A^T B + beta C, 16 x 16 times 16 x 16, f32
// hone emit batched_gemm form=tn b=each update=scale precision=f32 m=16 n=16 k=16 batch=100000 --target cuda --config
//     form=tile,matrices_per_block=4,block_m=32,block_n=16,thread_m=4,thread_n=4,chunk=16,stages=1,epilogue=direct,
//     min_blocks=1
// The same text serves any number of matrices.
// per product: 8192 operations, 4096 bytes (compulsory); this form executes 8192 operations
using real = float;
constexpr int m = 16, n = 16, k = 16;
constexpr long long stride_a = 256, stride_b = 256, stride_c = 256;  // words from one matrix to the next
constexpr int a_row = 16, a_inner = 1;     // op(A)(row, l) lies at row * a_row + l * a_inner
constexpr int b_inner = 1, b_column = 16;  // op(B)(l, column) at l * b_inner + column * b_column
constexpr int matrices_per_block = 4, threads_per_block = 64, blocks_per_multiprocessor = 1;
constexpr int passes = 1;  // of a block over so many matrices, one after the other
constexpr bool stacked = false;  // the rows of all matrices of a block are one tile
constexpr int rows = 16, columns = 16, groups = 4;  // of a tile, and how many of them a block has
constexpr int tiles_along_columns = 1, tiles = 1;  // of a matrix
constexpr int chunk = 16;  // values along k that are staged at a time
constexpr int a_here_row = 20, a_here_inner = 1, a_group = 320;  // in shared memory
constexpr int a_width = 4, a_line_count = 64;  // words per copy, lines
constexpr int a_parts = 1, a_vectors = 4, a_lines = 16, a_unroll = 4;
constexpr int b_here_column = 20, b_here_inner = 1, b_group = 320;  // in shared memory
constexpr int b_width = 4, b_line_count = 64;  // words per copy, lines
constexpr int b_parts = 1, b_vectors = 4, b_lines = 16, b_unroll = 4;
constexpr int b_start = groups * a_group;
// rows and columns that a thread accumulates, and values along k at a time
constexpr int thread_m = 4, thread_n = 4, step = 4;
constexpr int threads_m = 4, threads_n = 4;  // along the rows and the columns of a tile

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
// Loads `count` neighbouring values, as many at once as 16 bytes and `count` allow.
template <int count>
__device__ __forceinline__ void load(real (&to)[count], const real* from) {
    constexpr int width = count % 4 == 0 ? 4 : count % 2 == 0 ? 2 : 1;
    struct alignas(width * sizeof(real)) Vector {
        real value[width];
    };
    #pragma unroll
    for (int i = 0; i < count / width; ++i) {
        const Vector vector = reinterpret_cast<const Vector*>(from)[i];
        #pragma unroll
        for (int j = 0; j < width; ++j) to[i * width + j] = vector.value[j];
    }
}

// The result of a sum; C is not read where beta is 0, so that it may hold anything.
__device__ __forceinline__ void put(real* to, real sum, real alpha, real beta) {
    *to = beta == real(0) ? alpha * sum : alpha * sum + beta * *to;
}

// Starts copying columns [start, start + chunk) of op(A) of the block's matrices into shared memory; no register holds
// them meanwhile. What lies beyond the matrices becomes zero.
// A thread keeps its place within lines, and takes every a_lines-th of them.
__device__ __forceinline__ void copy_a(real* to, const real* a, int tile_row, int start, int present) {
    const int first_line = threadIdx.x / a_vectors;
    #pragma unroll
    for (int part = 0; part < a_parts; ++part) {
        const int place = (threadIdx.x % a_vectors + part * a_vectors) * a_width;
        #pragma unroll a_unroll
        for (int i = 0; i < (a_line_count + a_lines - 1) / a_lines; ++i) {
            const int line = first_line + i * a_lines;
            const int l = place, s = line % rows, group = line / rows;
            const int matrix = group, row = tile_row + s;
            const bool there = matrix < present && row < m && (k % chunk == 0 || start + l < k);
            copy<a_width>(to + group * a_group + s * a_here_row + l * a_here_inner,
                            a + matrix * stride_a + row * a_row + (start + l) * a_inner, there);
        }
    }
}

// The same for rows of op(B); the block's matrices may share them.
__device__ __forceinline__ void copy_b(real* to, const real* b, int tile_column, int start, int present) {
    const int first_line = threadIdx.x / b_vectors;
    #pragma unroll
    for (int part = 0; part < b_parts; ++part) {
        const int place = (threadIdx.x % b_vectors + part * b_vectors) * b_width;
        #pragma unroll b_unroll
        for (int i = 0; i < (b_line_count + b_lines - 1) / b_lines; ++i) {
            const int line = first_line + i * b_lines;
            const int l = place, s = line % columns, group = line / columns;
            const int matrix = group, column = tile_column + s;
            const bool there = matrix < present && column < n && (k % chunk == 0 || start + l < k);
            copy<b_width>(to + group * b_group + s * b_here_column + l * b_here_inner,
                            b + matrix * stride_b + column * b_column + (start + l) * b_inner, there);
        }
    }
}

// A block computes a tile of rows x columns of C for each of its matrices; where they share B, their rows are stacked
// into one tile.
extern "C" __global__ void __launch_bounds__(threads_per_block, blocks_per_multiprocessor)
batched_gemm(const real* __restrict__ a, const real* __restrict__ b, real* __restrict__ c,
    const real* __restrict__ factors, int first, int last) {
    extern __shared__ __align__(16) unsigned char shared_memory[];
    real* const stage = reinterpret_cast<real*>(shared_memory);  // [stages](A, B), at last C
    const real alpha = factors[0], beta = factors[1];
    // Tiles of one matrix start one after the other, so that they find its words in the second cache.
    const size_t position = size_t(blockIdx.y) * gridDim.x + blockIdx.x;
    const int tile = int(position % tiles);
    const int tile_row = tile / tiles_along_columns * rows;
    const int tile_column = tile % tiles_along_columns * columns;
    const int block_first = first + int(position / tiles) * matrices_per_block * passes;
    const int present = min(matrices_per_block, last - block_first);
    a += block_first * stride_a;
    b += block_first * stride_b;
    c += block_first * stride_c;
    const int holder = threadIdx.x;
    const int group = holder / (threads_m * threads_n);
    // Values that a thread loads together are neighbours in shared memory: its rows where rows are, else values along
    // k.
    constexpr int row_step = threads_m;
    const int row = holder % threads_m;
    constexpr int column_step = threads_n;
    const int column = holder / threads_m % threads_n;

    real sum[thread_m][thread_n] = {};
    copy_a(stage, a, tile_row, 0, present);
    copy_b(stage + b_start, b, tile_column, 0, present);
    commit_copies();
    wait_for_copies<0>();
    __syncthreads();
    const real* const here = stage;
    // Where this thread's operands begin.
    const real* const a_now = here + group * a_group + row * a_here_row;
    const real* const b_now = here + b_start + group * b_group + column * b_here_column;
    #pragma unroll
    for (int l = 0; l < chunk; l += step) {
        real x[thread_m][step], y[thread_n][step];
        #pragma unroll
        for (int i = 0; i < thread_m; ++i) load(x[i], a_now + i * (row_step * a_here_row) + l);
        #pragma unroll
        for (int i = 0; i < thread_n; ++i) load(y[i], b_now + i * (column_step * b_here_column) + l);
        #pragma unroll
        for (int j = 0; j < step; ++j)
            #pragma unroll
            for (int i = 0; i < thread_m; ++i)
                #pragma unroll
                for (int p = 0; p < thread_n; ++p) sum[i][p] += x[i][j] * y[p][j];
    }

    #pragma unroll
    for (int j = 0; j < thread_n; ++j) {
        #pragma unroll
        for (int i = 0; i < thread_m; ++i) {
            const int s = row + i * row_step, t = column + j * column_step;
            const real value = sum[i][j];
            const int matrix = stacked ? s / m : group;
            const int i_row = stacked ? s % m : tile_row + s;
            if (matrix < present && i_row < m && tile_column + t < n)
                put(c + matrix * stride_c + (tile_column + t) * m + i_row, value, alpha, beta);
        }
    }
}
