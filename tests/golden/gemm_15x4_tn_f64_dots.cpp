// batched_gemm: C = A^T B, 15 x 448 times 448 x 4, f64
// hone emit batched_gemm form=tn b=each update=set precision=f64 m=15 n=4 k=448 batch=100000 --target cpu --config
//     form=dots,lanes=8,columns_per_tile=2,threads=all,binding=none
// The same text serves any number of matrices.
// per product: 53760 operations, 68576 bytes (compulsory); this form executes 53760 operations
#include <utility>

using real = double;
constexpr int m = 15, n = 4, k = 448;
constexpr long long stride_a = 6720, stride_b = 1792, stride_c = 60;  // words from one matrix to the next
constexpr int lanes = 8, columns_per_tile = 2;

// `lanes` neighbouring words: one vector register, or several where the processor's are shorter.
typedef real vector __attribute__((vector_size(lanes * sizeof(real))));
typedef real unaligned_vector __attribute__((vector_size(lanes * sizeof(real)), aligned(sizeof(real)), may_alias));

struct To {
    real* words;
    template <typename Type>
    operator Type*() const { return reinterpret_cast<Type*>(words); }
};

// The first `count` words of a vector; the others are zero, and their places are not read.
template <int count>
static inline vector load(const real* from) {
    return *reinterpret_cast<const unaligned_vector*>(from);
}

template <int count>
static inline void store(real* to, vector words) {
    if constexpr (count == lanes) {
        *reinterpret_cast<unaligned_vector*>(to) = words;
        return;
    }
#ifdef __AVX512VL__
    __builtin_ia32_storeupd512_mask(To{to}, words, (1 << count) - 1);
#else
    for (int i = 0; i < count; ++i) to[i] = words[i];
#endif
}

// Rows i and i + step of a square of vectors, of which every other block of `step` words changes places.
template <int step, int... lane>
static inline void exchange(vector& upper, vector& lower, std::integer_sequence<int, lane...>) {
    const vector first = upper, second = lower;
    upper = __builtin_shufflevector(first, second, ((lane & step) != 0 ? lanes + lane - step : lane)...);
    lower = __builtin_shufflevector(first, second, ((lane & step) != 0 ? lanes + lane : lane + step)...);
}

template <int step>
static inline void transpose(vector (&square)[lanes]) {
    if constexpr (step < lanes) {
        for (int i = 0; i < lanes; ++i)
            if ((i & step) == 0) exchange<step>(square[i], square[i + step], std::make_integer_sequence<int, lanes>());
        transpose<2 * step>(square);
    }
}

struct Scale {};

// Leaves the result of a sum; C is not read where beta is 0, so that it may hold anything.
template <int count>
static inline void put(real* to, vector sum, const Scale& scale) {
    (void)scale;
    store<count>(to, sum);
}

// `rows` times `columns` words of C. Rows of the left factor and columns of the right one lie along k: the lanes of a
// word's sum are every `lanes`th of its products, and lane i of a column's sums is row i's when they were turned and
// added up.
template <int rows, int columns>
static inline void tile(const real* __restrict left, const real* __restrict right, real* __restrict c,
    const Scale& scale) {
    vector sum[columns][lanes] = {};
    const auto add = [&]<int count>(int l) {
        vector y[columns];
        for (int j = 0; j < columns; ++j) y[j] = load<count>(right + j * k + l);
        for (int i = 0; i < rows; ++i) {
            const vector x = load<count>(left + i * k + l);
            for (int j = 0; j < columns; ++j) sum[j][i] += x * y[j];
        }
    };
    for (int l = 0; l + lanes <= k; l += lanes) add.template operator()<lanes>(l);
    for (int j = 0; j < columns; ++j) {
        transpose<1>(sum[j]);
        for (int half = lanes / 2; half > 0; half /= 2)
            for (int i = 0; i < half; ++i) sum[j][i] += sum[j][i + half];
        put<rows>(c + j * m, sum[j][0], scale);
    }
}

// All rows of `columns` columns of C.
template <int columns>
static inline void tiles(const real* __restrict left, const real* __restrict right, real* __restrict c,
    const Scale& scale) {
    int row = 0;
    for (; row + lanes <= m; row += lanes) tile<lanes, columns>(left + row * k, right, c + row, scale);
    tile<m % lanes, columns>(left + row * k, right, c + row, scale);
}

static inline void product(const real* __restrict left, const real* __restrict right, real* __restrict c,
    const Scale& scale) {
    int column = 0;
    for (; column + columns_per_tile <= n; column += columns_per_tile)
        tiles<columns_per_tile>(left, right + column * k, c + column * m, scale);
}

// Threads share the range.
extern "C" void batched_gemm(const real* __restrict a, const real* __restrict b, real* __restrict c, int first,
    int last) {
    const Scale scale;
    #pragma omp parallel
    {
        #pragma omp for schedule(static)
        for (long long i = first; i < last; ++i) {
            product(a + i * stride_a, b + i * stride_b, c + i * stride_c, scale);
        }
    }
}
