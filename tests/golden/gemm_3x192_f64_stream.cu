// batched_gemm: C = A B, 3 x 27 times 27 x 192, f64, one B for all
// hone emit batched_gemm form=nn b=shared update=set precision=f64 m=3 n=192 k=27 batch=100000 --target cuda --config
//     form=stream,block_n=256,warp_groups=2,stages=4,batches_per_block=8,min_blocks=2
// The same text serves any number of matrices.
// per product: 31104 operations, 5256 bytes and 41472 for all together (compulsory); this form executes 32256
// operations
using real = double;
constexpr int m = 3, n = 192, k = 27;
constexpr long long stride_a = 81, stride_c = 576;  // words from one matrix to the next
constexpr int a_row = 1, a_inner = 3;     // op(A)(row, l) lies at row * a_row + l * a_inner
constexpr int b_inner = 1, b_column = 27;  // op(B)(l, column) at l * b_inner + column * b_column
constexpr int warps = 6, threads_per_block = 192, blocks_per_multiprocessor = 2;
// products at a time, and how many such groups are in shared memory or on their way
constexpr int matrices = 8, stages = 4;
constexpr int groups_of_columns = 2, columns = 32;  // of a warp
constexpr int steps = 7;  // of 4 values along k
constexpr int a_here = 84, c_here = 98;  // distance of matrices in shared memory
constexpr int a_width = 1, a_unroll = 4;  // words per copy
constexpr int c_width = 2, c_unroll = 12;  // words per store

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
// c += a b on the matrix units: a holds 16 rows, b 8 columns, and both as many values along k as the instruction's name
// says. They are spread over the warp as PTX prescribes.
__device__ __forceinline__ void multiply_add(real (&c)[4], const real (&a)[2], const real (&b)[1]) {
    asm("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 "
        "{%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
        : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
        : "d"(a[0]), "d"(a[1]), "d"(b[0]));
}

// Starts copying op(A) of `present` matrices into shared memory, as they lie; neighbouring threads copy neighbouring
// words.
__device__ __forceinline__ void copy_a(real* to, const real* a, int present) {
    constexpr int vectors = m * k / a_width, all = matrices * vectors;
    #pragma unroll a_unroll
    for (int i = 0; i < (all + threads_per_block - 1) / threads_per_block; ++i) {
        const int index = threadIdx.x + i * threads_per_block;
        if (all % threads_per_block != 0 && index >= all) break;
        const int matrix = index / vectors, word = index % vectors * a_width;
        copy<a_width>(to + matrix * a_here + word, a + matrix * stride_a + word, matrix < present);
    }
}

// A warp computes `columns` columns of C of 8 matrices at a time. Columns of B play the part of the matrix units' 16
// rows, one row of each of the matrices that of their 8 columns, so that B stays in registers and nothing is padding
// where matrices have few rows.
extern "C" __global__ void __launch_bounds__(threads_per_block, blocks_per_multiprocessor)
batched_gemm(const real* __restrict__ a, const real* __restrict__ b, real* __restrict__ c, int first, int last) {
    extern __shared__ __align__(16) unsigned char shared_memory[];
    real* const stage = reinterpret_cast<real*>(shared_memory);  // [stages] A, then [warps] C
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    real* const here = stage + stages * matrices * a_here + warp * (matrices * c_here);
    const int first_column = (blockIdx.y * warps + warp) * columns;
    const int count = last - first, groups = (count + matrices - 1) / matrices;
    a += first * stride_a;
    c += first * stride_c;

    // Blocks take every so-many-th group, so that what they write at a time lies together.
    int coming = blockIdx.x;
    for (int next = 0; next < stages - 1; ++next, coming += gridDim.x) {
        if (coming < groups)
            copy_a(stage + next * (matrices * a_here), a + coming * (matrices * stride_a), count - coming * matrices);
        commit_copies();
    }
    real x[groups_of_columns][steps][2];
    #pragma unroll
    for (int i = 0; i < groups_of_columns; ++i)
        #pragma unroll
        for (int l = 0; l < steps; ++l)
            #pragma unroll
            for (int j = 0; j < 2; ++j) {
                const int row = l * 4 + lane % 4, column = first_column + i * 16 + j * 8 + lane / 4;
                x[i][l][j] = row < k && column < n ? b[row * b_inner + column * b_column] : real(0);
            }

    int now = 0;  // stage that is used
    #pragma unroll 1
    for (int group = blockIdx.x; group < groups; group += gridDim.x, coming += gridDim.x) {
        wait_for_copies<stages - 2>();
        __syncthreads();  // also: the stage before is free
        if (coming < groups)
            copy_a(stage + (now == 0 ? stages - 1 : now - 1) * (matrices * a_here), a + coming * (matrices * stride_a),
                count - coming * matrices);
        commit_copies();
        const real* const a_now = stage + now * (matrices * a_here) + lane / 4 * a_here + lane % 4 * a_inner;
        now = now + 1 == stages ? 0 : now + 1;
        #pragma unroll
        for (int row = 0; row < m; ++row) {
            real y[steps][1], sum[groups_of_columns][4] = {};
            #pragma unroll
            for (int l = 0; l < steps; ++l)
                y[l][0] = l * 4 + 4 <= k || l * 4 + lane % 4 < k ? a_now[row * a_row + l * 4 * a_inner] : real(0);
            #pragma unroll
            for (int l = 0; l < steps; ++l)
                #pragma unroll
                for (int i = 0; i < groups_of_columns; ++i) multiply_add(sum[i], x[i][l], y[l]);
            #pragma unroll
            for (int i = 0; i < groups_of_columns; ++i)
                #pragma unroll
                for (int j = 0; j < 4; ++j)
                    here[(lane % 4 * 2 + j % 2) * c_here + (i * 16 + j / 2 * 8 + lane / 4) * m + row] = sum[i][j];
        }
        __syncwarp();
        // Neighbouring lanes write neighbouring words.
        const int present = min(matrices, count - group * matrices);
        real* const to = c + group * (matrices * stride_c) + first_column * m;
        constexpr int vectors = columns * m / c_width;
        #pragma unroll c_unroll
        for (int i = 0; i < matrices * vectors / 32; ++i) {
            const int matrix = (i * 32 + lane) / vectors, word = (i * 32 + lane) % vectors * c_width;
            if (matrix < present && (n % (warps * columns) == 0 || word < (n - first_column) * m)) {
                const real* const from = here + matrix * c_here + word;
                // likewise
                __stcs(reinterpret_cast<double2*>(to + matrix * stride_c + word),
                    *reinterpret_cast<const double2*>(from));
            }
        }
        __syncwarp();
    }
}
