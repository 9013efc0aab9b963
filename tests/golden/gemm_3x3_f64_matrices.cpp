// batched_gemm: C = alpha A B + beta C, 3 x 3 times 3 x 3, f64
// hone emit batched_gemm form=nn b=each update=scale precision=f64 m=3 n=3 k=3 batch=100000 --target cpu --config
//     form=matrices,lanes=8,threads=all,binding=none
// The same text serves any number of matrices.
// per product: 54 operations, 288 bytes (compulsory); this form executes 54 operations
using real = double;
constexpr int m = 3, n = 3, k = 3;
constexpr long long stride_a = 9, stride_b = 9, stride_c = 9;  // words from one matrix to the next
constexpr int a_row = 1, a_inner = 3;     // op(A)(row, l) lies at row * a_row + l * a_inner
constexpr int b_inner = 1, b_column = 3;  // op(B)(l, column) at l * b_inner + column * b_column
constexpr int lanes = 8, together = 8;  // words in a vector, and products that are computed at a time

// `lanes` neighbouring words: one vector register, or several where the processor's are shorter.
typedef real vector __attribute__((vector_size(lanes * sizeof(real))));

// The result of a sum; C is not read where beta is 0, so that it may hold anything.
static inline void put(real* to, real sum, real alpha, real beta) {
    *to = beta == real(0) ? alpha * sum : alpha * sum + beta * *to;
}

// `lanes` products side by side: word by word, lane i of a vector belongs to matrix i. Lanes without a matrix work on
// the first one's words.
static inline void product(const real* __restrict a, const real* __restrict b, real* __restrict c, int present,
    real alpha, real beta) {
    vector left[m * k];
    for (int word = 0; word < m * k; ++word)
        for (int i = 0; i < lanes; ++i) left[word][i] = a[(i < present ? i : 0) * stride_a + word];
    vector right[k * n];
    for (int word = 0; word < k * n; ++word)
        for (int i = 0; i < lanes; ++i) right[word][i] = b[(i < present ? i : 0) * stride_b + word];
    for (int column = 0; column < n; ++column)
        for (int row = 0; row < m; ++row) {
            vector sum = {};
            for (int l = 0; l < k; ++l) sum += left[row * a_row + l * a_inner] * right[l * b_inner + column * b_column];
            real* const to = c + column * m + row;
            for (int i = 0; i < present; ++i) {
                put(to + i * stride_c, sum[i], alpha, beta);
            }
        }
}

// Threads share the range.
extern "C" void batched_gemm(const real* __restrict a, const real* __restrict b, real* __restrict c,
    const real* __restrict factors, int first, int last) {
    const real alpha = factors[0], beta = factors[1];
    const long long groups = (static_cast<long long>(last) - first + together - 1) / together;
    #pragma omp parallel
    {
        #pragma omp for schedule(static)
        for (long long group = 0; group < groups; ++group) {
            const long long i = first + group * together;
            const int present = last - i < together ? static_cast<int>(last - i) : together;
            product(a + i * stride_a, b + i * stride_b, c + i * stride_c, present, alpha, beta);
        }
    }
}
