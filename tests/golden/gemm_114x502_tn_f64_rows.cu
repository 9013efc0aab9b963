// batched_gemm: C = A^T B, 114 x 452 times 452 x 502, f64, one B for all
// hone emit batched_gemm form=tn b=shared update=set precision=f64 m=114 n=502 k=452 batch=100000 --target cuda --config mapping=mma,matrices_per_block=1,block_m=64,block_n=128,thread_m=2,thread_n=8,chunk=16,stages=3,depth=4,exchange=direct,min_blocks=2,passes=1,cut=rows,ahead=1
// The same text serves any number of matrices.
// per product: 51734112 operations, 871632 bytes (compulsory); this form executes 54165504 operations
using real = double;
constexpr int m = 114, n = 502, k = 452;
constexpr long long stride_a = 51528, stride_b = 0, stride_c = 57228;  // words from one matrix to the next
constexpr int a_row = 452, a_inner = 1;     // op(A)(row, l) lies at row * a_row + l * a_inner
constexpr int b_inner = 1, b_column = 452;  // op(B)(l, column) at l * b_inner + column * b_column
constexpr int matrices_per_block = 32, threads_per_block = 128, blocks_per_multiprocessor = 2;
constexpr int passes = 1;  // of a block over so many matrices, one after the other
constexpr bool stacked = true;  // tiles are cut from the rows of so many matrices as if they were one
constexpr int rows = 64, columns = 128, groups = 1;  // of a tile, and how many of them a block has
constexpr int tiles_along_columns = 4, tiles = 228;  // of so many matrices
constexpr int chunk = 16, stages = 3;  // values along k that are staged at a time, and how many chunks are on their way
constexpr int a_here_row = 20, a_here_inner = 1, a_group = 1280;  // in shared memory
constexpr int a_width = 2, a_length = 16, a_line_count = 64;  // words per copy, words of a line, lines
constexpr int a_parts = 1, a_vectors = 8, a_lines = 16, a_unroll = 4;
constexpr int b_here_column = 20, b_here_inner = 1, b_group = 2560;  // in shared memory
constexpr int b_width = 2, b_length = 16, b_line_count = 128;  // words per copy, words of a line, lines
constexpr int b_parts = 1, b_vectors = 8, b_lines = 16, b_unroll = 8;
constexpr int stage_words = 3840, b_start = groups * a_group;

// Copies `width` neighbouring words, or writes zeros.
template <int width>
__device__ __forceinline__ void copy(real* to, const real* from, bool there) {
    constexpr int bytes = width * sizeof(real);
    const unsigned target = static_cast<unsigned>(__cvta_generic_to_shared(to));
    if constexpr (bytes == 16)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(target), "l"(from), "r"(there ? 16 : 0) : "memory");
    else
        asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(target), "l"(from), "n"(bytes), "r"(there ? bytes : 0) : "memory");
}

// What was copied since the last call is one chunk.
__device__ __forceinline__ void end_chunk() {
    asm volatile("cp.async.commit_group;" ::: "memory");
}

// Waits until at most `chunks` chunks of this thread's copies are on their way.
template <int chunks>
__device__ __forceinline__ void wait_for_chunks() {
    asm volatile("cp.async.wait_group %0;" ::"n"(chunks) : "memory");
}

// c += a b on the matrix units: a holds 16 rows x 4 values along k, b 4 values along k x 8 columns, spread over the warp as PTX
// prescribes for m16n8k4.
__device__ __forceinline__ void multiply_add(real (&c)[4], const real (&a)[2], const real (&b)[1]) {
    asm("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
        : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
        : "d"(a[0]), "d"(a[1]), "d"(b[0]));
}

__device__ __forceinline__ void put(real* to, real sum) { *to = sum; }

// Starts copying columns [start, start + chunk) of op(A) of the block's matrices into shared memory; no register holds them meanwhile. What lies
// beyond the matrices becomes zero.
// A thread keeps its place within lines, and takes every a_lines-th of them.
__device__ __forceinline__ void copy_a(real* to, const real* a, int tile_row, int start, int present) {
    const int first_line = threadIdx.x / a_vectors;
    if (a_vectors * a_lines < threads_per_block && first_line >= a_lines) return;
    #pragma unroll
    for (int part = 0; part < a_parts; ++part) {
        const int place = (threadIdx.x % a_vectors + part * a_vectors) * a_width;
        if (a_parts > 1 && place >= a_length) break;
        const bool within = k % chunk == 0 || start + place < k;
        const real* const from = a + (long long)(tile_row + first_line) * a_row + (start + place) * a_inner;
        real* const target = to + first_line * a_here_row + place * a_here_inner;
        #pragma unroll a_unroll
        for (int i = 0; i < (a_line_count + a_lines - 1) / a_lines; ++i) {
            const int line = first_line + i * a_lines;
            if (a_line_count % a_lines != 0 && line >= a_line_count) break;
            const bool there = within && tile_row + line < present * m;
            copy<a_width>(target + i * (a_lines * a_here_row), from + i * (a_lines * a_row), there);
        }
    }
}

// The same for rows of op(B); the block's matrices may share them.
__device__ __forceinline__ void copy_b(real* to, const real* b, int tile_column, int start, int present) {
    const int first_line = threadIdx.x / b_vectors;
    if (b_vectors * b_lines < threads_per_block && first_line >= b_lines) return;
    #pragma unroll
    for (int part = 0; part < b_parts; ++part) {
        const int place = (threadIdx.x % b_vectors + part * b_vectors) * b_width;
        if (b_parts > 1 && place >= b_length) break;
        const bool within = k % chunk == 0 || start + place < k;
        const real* const from = b + (long long)(tile_column + first_line) * b_column + (start + place) * b_inner;
        real* const target = to + first_line * b_here_column + place * b_here_inner;
        #pragma unroll b_unroll
        for (int i = 0; i < (b_line_count + b_lines - 1) / b_lines; ++i) {
            const int line = first_line + i * b_lines;
            if (b_line_count % b_lines != 0 && line >= b_line_count) break;
            const bool there = within && (n % columns == 0 || tile_column + line < n);
            copy<b_width>(target + i * (b_lines * b_here_column), from + i * (b_lines * b_column), there);
        }
    }
}

// A block computes a tile of rows x columns of C for each of its matrices; where they share B, their rows are stacked into one tile.
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
    if (tile_row >= present * m) return;
    a += block_first * stride_a;
    b += block_first * stride_b;
    c += block_first * stride_c;
    constexpr int warps_m = 2, warps_n = 2;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int group = warp / (warps_m * warps_n);
    const int row = warp % warps_m * 32 + lane / 4;
    const int column = warp / warps_m % warps_n * 64 + lane / 4;

    real sum[2][8][4] = {};
    constexpr int step = 4;  // values along k at a time
    real x[2][2][step / 2], y[2][8][step / 4];  // operands of this step, and of the next
    const auto load = [&](int which, const real* here, int l) {
        const real* const a_now = here + group * a_group + row * a_here_row + lane % 4 * a_here_inner;
        const real* const b_now = here + b_start + column * b_here_column + lane % 4 * b_here_inner;
        #pragma unroll
        for (int i = 0; i < 2; ++i)
            #pragma unroll
            for (int j = 0; j < step / 2; ++j)
                x[which][i][j] = a_now[(i * 16 + j % 2 * 8) * a_here_row + (l + j / 2 * 4) * a_here_inner];
        #pragma unroll
        for (int i = 0; i < 8; ++i)
            #pragma unroll
            for (int j = 0; j < step / 4; ++j) y[which][i][j] = b_now[i * 8 * b_here_column + (l + j * 4) * b_here_inner];
    };
    // The next chunks arrive while this one is used; one barrier per chunk.
    for (int next = 0; next < stages - 1; ++next) {
        copy_a(stage + next * stage_words, a, tile_row, next * chunk, present);
        copy_b(stage + next * stage_words + b_start, b, tile_column, next * chunk, present);
        end_chunk();
    }
    wait_for_chunks<stages - 2>();
    __syncthreads();
    load(0, stage, 0);
    constexpr int chunks = 29;
    #pragma unroll 1
    for (int now = 0; now < chunks; ++now) {
        #pragma unroll
        for (int l = 0; l < chunk; l += step) {
            const int which = l / step % 2;
            if (l + step < chunk) {
                load(1 - which, stage + now % stages * stage_words, l + step);
            } else {
                wait_for_chunks<stages - 2>();
                __syncthreads();
                load(1 - which, stage + (now + 1) % stages * stage_words, 0);  // after the last chunk unused, whatever lies there
            }
            if (l == 0) {
                const int next = now + stages - 1;
                if (next < chunks) {
                    copy_a(stage + next % stages * stage_words, a, tile_row, next * chunk, present);
                    copy_b(stage + next % stages * stage_words + b_start, b, tile_column, next * chunk, present);
                }
                end_chunk();
            }
            #pragma unroll
            for (int i = 0; i < 2; ++i)
                #pragma unroll
                for (int j = 0; j < 8; ++j) multiply_add(sum[i][j], x[which][i], y[which][j]);
        }
    }

    #pragma unroll
    for (int j = 0; j < 8; ++j) {
        #pragma unroll
        for (int i = 0; i < 8; ++i) {
            const int s = row + i / 2 * 8, t = column - lane / 4 + j * 8 + lane % 4 * 2 + i % 2;
            const real value = sum[i / 4][j][i % 4];
            const int matrix = (tile_row + s) / m, i_row = (tile_row + s) % m;
            if (matrix < present && i_row < m && tile_column + t < n)
                put(c + matrix * stride_c + (tile_column + t) * m + i_row, value);
        }
    }
}
