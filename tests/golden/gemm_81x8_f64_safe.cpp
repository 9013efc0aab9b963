// batched_gemm: C = A B, 81 x 64 times 64 x 8, f64, one B for all
// hone emit batched_gemm form=nn b=shared update=set precision=f64 m=81 n=8 k=64 batch=100000 --target cpu --config form=rows,lanes=4,vectors_per_tile=1,columns_per_tile=4,unroll=1,threads=all,binding=none
// The same text serves any number of matrices.
// per product: 82944 operations, 46656 bytes (compulsory); this form executes 86016 operations
using real = double;
constexpr int m = 81, n = 8, k = 64;
constexpr long long stride_a = 5184, stride_b = 0, stride_c = 648;  // words from one matrix to the next
constexpr int a_row = 1, a_inner = 81;     // op(A)(row, l) lies at row * a_row + l * a_inner
constexpr int b_inner = 1, b_column = 64;  // op(B)(l, column) at l * b_inner + column * b_column
constexpr int lanes = 4, together = 1;  // words in a vector, and products that are computed at a time
constexpr int vectors_per_tile = 1, rows_per_tile = 4, columns_per_tile = 4;
constexpr int left_column = 84;  // distance of the columns of op(A), copied and lengthened to whole tiles

// `lanes` neighbouring words: one vector register, or several where the processor's are shorter.
typedef real vector __attribute__((vector_size(lanes * sizeof(real))));
typedef real unaligned_vector __attribute__((vector_size(lanes * sizeof(real)), aligned(sizeof(real)), may_alias));

static inline void put(real* to, real sum) { *to = sum; }

static inline vector load(const real* from) { return *reinterpret_cast<const unaligned_vector*>(from); }

// Rows from `row` on of `count` columns of C: vectors of rows of op(A) times words of op(B), accumulated in registers.
template <int count>
static inline void tile(const real* __restrict left, const real* __restrict b, real* __restrict c, int row, int column) {
    vector sum[vectors_per_tile][count] = {};
    #pragma GCC unroll 1
    for (int l = 0; l < k; ++l) {
        vector x[vectors_per_tile];
        for (int v = 0; v < vectors_per_tile; ++v) x[v] = load(left + l * left_column + row + v * lanes);
        for (int j = 0; j < count; ++j) {
            const real y = b[l * b_inner + (column + j) * b_column];
            for (int v = 0; v < vectors_per_tile; ++v) sum[v][j] += x[v] * y;
        }
    }
    for (int j = 0; j < count; ++j)
        for (int v = 0; v < vectors_per_tile; ++v) {
            const int start = row + v * lanes;
            real* const to = c + (column + j) * m + start;
            if (start + lanes <= m) {
                *reinterpret_cast<unaligned_vector*>(to) = sum[v][j];
            } else {
                for (int i = 0; start + i < m; ++i) {
                    put(to + i, sum[v][j][i]);
                }
            }
        }
}

// One product.
static inline void product(const real* __restrict a, const real* __restrict b, real* __restrict c) {
    alignas(64) static thread_local real left[k * left_column];
    for (int l = 0; l < k; ++l) {
        for (int row = 0; row < m; ++row) left[l * left_column + row] = a[row * a_row + l * a_inner];
        for (int row = m; row < left_column; ++row) left[l * left_column + row] = 0;
    }
    for (int row = 0; row < m; row += rows_per_tile) {
        int column = 0;
        for (; column + columns_per_tile <= n; column += columns_per_tile) {
            tile<columns_per_tile>(left, b, c, row, column);
        }
    }
}

// Threads share the range.
extern "C" void batched_gemm(const real* __restrict a, const real* __restrict b, real* __restrict c, int first, int last) {
    const long long groups = (static_cast<long long>(last) - first + together - 1) / together;
    #pragma omp parallel
    {
        #pragma omp for schedule(static)
        for (long long group = 0; group < groups; ++group) {
            const long long i = first + group * together;
            product(a + i * stride_a, b + i * stride_b, c + i * stride_c);
        }
    }
}
