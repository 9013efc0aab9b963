// batched_gemm: C = A B, 81 x 64 times 64 x 8, f64, one B for all
// hone emit batched_gemm form=nn b=shared update=set precision=f64 m=81 n=8 k=64 batch=100000 --target cuda --config
//     form=mma,matrices_per_block=1,block_m=128,block_n=16,warp_m=1,warp_n=1,chunk=32,stages=2,depth=8,
//     epilogue=shared,batches_per_block=1,tiling=matrices,prefetch=0,min_blocks=1
// The same text serves any number of matrices.
// per product: 82944 operations, 46656 bytes and 4096 for all together (compulsory); this form executes 98304
// operations
using real = double;
constexpr int m = 81, n = 8, k = 64;
constexpr long long stride_a = 5184, stride_b = 0, stride_c = 648;  // words from one matrix to the next
constexpr int a_row = 1, a_inner = 81;     // op(A)(row, l) lies at row * a_row + l * a_inner
constexpr int b_inner = 1, b_column = 64;  // op(B)(l, column) at l * b_inner + column * b_column
constexpr int matrices_per_block = 1, threads_per_block = 192, blocks_per_multiprocessor = 1;
constexpr int passes = 1;  // of a block over so many matrices, one after the other
constexpr bool stacked = false;  // the rows of all matrices of a block are one tile
constexpr int rows = 96, columns = 8, groups = 1;  // of a tile, and how many of them a block has
constexpr int tiles_along_columns = 1, tiles = 1;  // of a matrix
constexpr int chunk = 32, stages = 2;  // values along k that are staged at a time, and how many chunks are on their way
constexpr int a_here_row = 1, a_here_inner = 100, a_group = 3200;  // in shared memory
constexpr int a_width = 1, a_length = 96, a_line_count = 32;  // words per copy, words of a line, lines
constexpr int a_parts = 1, a_vectors = 96, a_lines = 2, a_unroll = 16;
constexpr int b_here_column = 36, b_here_inner = 1, b_group = 288;  // in shared memory
constexpr int b_width = 2, b_length = 32, b_line_count = 8;  // words per copy, words of a line, lines
constexpr int b_parts = 1, b_vectors = 16, b_lines = 12, b_unroll = 1;
constexpr int stage_words = 3488, b_start = groups * a_group;
constexpr int c_here_column = 98;
// tiles of 16 rows and of 8 columns that a warp accumulates, and values along k at a time
constexpr int warp_m = 1, warp_n = 1, step = 8;
constexpr int warps_m = 6, warps_n = 1;  // along the rows and the columns of a tile

// Copies past the registers, from global to shared memory. What a thread copied since its last commit_copies is a
// group; it waits for groups in the order in which it committed them.
// Copies `words` neighbouring words, of 4, 8 or 16 bytes, or writes zeros.
template <int words>
__device__ __forceinline__ void copy(real* to, const real* from, bool there) {
    constexpr int bytes = words * sizeof(real);
    const unsigned target = static_cast<unsigned>(__cvta_generic_to_shared(to));
    if constexpr (bytes == 16)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(target), "l"(from),
            "r"(there ? 16 : 0) : "memory");
    else
        asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(target), "l"(from), "n"(bytes),
            "r"(there ? bytes : 0) : "memory");
}

__device__ __forceinline__ void commit_copies() {
    asm volatile("cp.async.commit_group;" ::: "memory");
}

// Waits until no more than the last `groups` of this thread's groups are under way.
template <int groups>
__device__ __forceinline__ void wait_for_copies() {
    asm volatile("cp.async.wait_group %0;" ::"n"(groups) : "memory");
}
// c += a b on the matrix units: a holds 16 rows, b 8 columns, and both as many values along k as the instruction's name
// says. They are spread over the warp as PTX prescribes.
__device__ __forceinline__ void multiply_add(real (&c)[4], const real (&a)[4], const real (&b)[2]) {
    asm("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
        : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(b[0]), "d"(b[1]));
}

__device__ __forceinline__ void put(real* to, real sum) { *to = sum; }

// Starts copying columns [start, start + chunk) of op(A) of the block's matrices into shared memory; no register holds
// them meanwhile. What lies beyond the matrices becomes zero.
// A thread keeps its place within lines, and takes every a_lines-th of them.
__device__ __forceinline__ void copy_a(real* to, const real* a, int tile_row, int start, int present) {
    const int first_line = threadIdx.x / a_vectors;
    #pragma unroll
    for (int part = 0; part < a_parts; ++part) {
        const int place = (threadIdx.x % a_vectors + part * a_vectors) * a_width;
        const int row = tile_row + place;
        const bool within = m % rows == 0 || row < m;
        const real* const from = a + row * a_row + (long long)(start + first_line) * a_inner;
        real* const target = to + place * a_here_row + first_line * a_here_inner;
        #pragma unroll a_unroll
        for (int i = 0; i < (a_line_count + a_lines - 1) / a_lines; ++i) {
            const int line = first_line + i * a_lines;
            const bool there = within && (k % chunk == 0 || start + line < k);
            copy<a_width>(target + i * (a_lines * a_here_inner), from + i * (a_lines * a_inner), there);
        }
    }
}

// The same for rows of op(B); the block's matrices may share them.
__device__ __forceinline__ void copy_b(real* to, const real* b, int tile_column, int start, int present) {
    const int first_line = threadIdx.x / b_vectors;
    #pragma unroll
    for (int part = 0; part < b_parts; ++part) {
        const int place = (threadIdx.x % b_vectors + part * b_vectors) * b_width;
        const bool within = k % chunk == 0 || start + place < k;
        const real* const from = b + (long long)(tile_column + first_line) * b_column + (start + place) * b_inner;
        real* const target = to + first_line * b_here_column + place * b_here_inner;
        #pragma unroll b_unroll
        for (int i = 0; i < (b_line_count + b_lines - 1) / b_lines; ++i) {
            const int line = first_line + i * b_lines;
            if (line >= b_line_count) break;
            const bool there = within && (n % columns == 0 || tile_column + line < n);
            copy<b_width>(target + i * (b_lines * b_here_column), from + i * (b_lines * b_column), there);
        }
    }
}

// A block computes a tile of rows x columns of C for each of its matrices; where they share B, their rows are stacked
// into one tile.
extern "C" __global__ void __launch_bounds__(threads_per_block, blocks_per_multiprocessor)
batched_gemm(const real* __restrict__ a, const real* __restrict__ b, real* __restrict__ c, int first, int last) {
    extern __shared__ __align__(16) unsigned char shared_memory[];
    real* const stage = reinterpret_cast<real*>(shared_memory);  // [stages](A, B), at last C
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
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int group = warp / (warps_m * warps_n);
    const int row = warp % warps_m * (16 * warp_m) + lane / 4;
    const int column = warp / warps_m % warps_n * (8 * warp_n) + lane / 4;

    real sum[warp_m][warp_n][4] = {};
    // The next chunks arrive while this one is used; one barrier per chunk.
    for (int next = 0; next < stages - 1; ++next) {
        copy_a(stage + next * stage_words, a, tile_row, next * chunk, present);
        copy_b(stage + next * stage_words + b_start, b, tile_column, next * chunk, present);
        commit_copies();
    }
    constexpr int chunks = (k + chunk - 1) / chunk;
    #pragma unroll 1
    for (int now = 0; now < chunks; ++now) {
        wait_for_copies<stages - 2>();
        __syncthreads();
        const int next = now + stages - 1;
        if (next < chunks) {
            copy_a(stage + next % stages * stage_words, a, tile_row, next * chunk, present);
            copy_b(stage + next % stages * stage_words + b_start, b, tile_column, next * chunk, present);
        }
        commit_copies();
        const real* const here = stage + now % stages * stage_words;
        // Where this thread's operands begin.
        const real* const a_now = here + group * a_group + row * a_here_row + lane % 4 * a_here_inner;
        const real* const b_now = here + b_start + column * b_here_column + lane % 4 * b_here_inner;
        #pragma unroll
        for (int l = 0; l < chunk; l += step) {
            real x[warp_m][step / 2], y[warp_n][step / 4];
            #pragma unroll
            for (int i = 0; i < warp_m; ++i)
                #pragma unroll
                for (int j = 0; j < step / 2; ++j)
                    x[i][j] = a_now[(i * 16 + j % 2 * 8) * a_here_row + (l + j / 2 * 4) * a_here_inner];
            #pragma unroll
            for (int i = 0; i < warp_n; ++i)
                #pragma unroll
                for (int j = 0; j < step / 4; ++j) y[i][j] = b_now[i * 8 * b_here_column + (l + j * 4) * b_here_inner];
            #pragma unroll
            for (int i = 0; i < warp_m; ++i)
                #pragma unroll
                for (int j = 0; j < warp_n; ++j) multiply_add(sum[i][j], x[i], y[j]);
        }
    }
    __syncthreads();

    #pragma unroll
    for (int j = 0; j < warp_n; ++j) {
        #pragma unroll
        for (int i = 0; i < 4 * warp_m; ++i) {
            const int s = row + i / 2 * 8, t = column - lane / 4 + j * 8 + lane % 4 * 2 + i % 2;
            const real value = sum[i / 4][j][i % 4];
            stage[(group * columns + t) * c_here_column + s] = value;
        }
    }
    __syncthreads();
    // Neighbouring threads write neighbouring words.
    constexpr int height = stacked ? m : rows;
    for (int index = threadIdx.x; index < matrices_per_block * columns * height; index += threads_per_block) {
        const int s = index % height, t = index / height % columns, matrix = index / (height * columns);
        const real value =
            stage[stacked ? t * c_here_column + matrix * m + s : (matrix * columns + t) * c_here_column + s];
        if (matrix < present && tile_row + s < m && tile_column + t < n)
            put(c + matrix * stride_c + (tile_column + t) * m + tile_row + s, value);
    }
}
