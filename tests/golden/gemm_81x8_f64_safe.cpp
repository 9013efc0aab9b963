// batched_gemm: C = A B, 81 x 64 times 64 x 8, f64, one B for all
// hone emit batched_gemm form=nn b=shared update=set precision=f64 m=81 n=8 k=64 batch=100000 --target cpu --config
//     form=rows,lanes=8,vectors_per_tile=3,columns_per_tile=8,unroll=2,partial_sums=1,prefetch=1,next_tile=n,
//     threads=all,binding=none
// The same text serves any number of matrices.
// per product: 82944 operations, 46656 bytes and 4096 for all together (compulsory); this form executes 90112
// operations
using real = double;
constexpr int m = 81, n = 8, k = 64;
constexpr long long stride_a = 5184, stride_b = 0, stride_c = 648;  // words from one matrix to the next
// from (l, column) of the right factor, and of C, to the next
constexpr long long right_inner = 1, right_column = 64, c_column = 81;
constexpr int lanes = 8, together = 1;  // words in a vector, and products that are computed at a time
constexpr int vectors_per_tile = 3, columns_per_tile = 8, partial_sums = 1;
constexpr int left_column = 81;  // distance of the left factor's columns, as they lie

// `lanes` neighbouring words: one vector register, or several where the processor's are shorter.
typedef real vector __attribute__((vector_size(lanes * sizeof(real))));
typedef real unaligned_vector __attribute__((vector_size(lanes * sizeof(real)), aligned(sizeof(real)), may_alias));

// An extent cut into as few pieces of at most `most` as there can be, which differ by one at most: `larger` pieces of
// `size`, then those of size - 1.
template <int extent, int most>
struct Cut {
    static constexpr int pieces = (extent + most - 1) / most, size = (extent + pieces - 1) / pieces,
        larger = extent - pieces * (size - 1);
};

struct From {
    const real* words;
    template <typename Type>
    operator const Type*() const { return reinterpret_cast<const Type*>(words); }
};
struct To {
    real* words;
    template <typename Type>
    operator Type*() const { return reinterpret_cast<Type*>(words); }
};

// The first `count` words of a vector; the others are zero, and their places are not read.
template <int count>
static inline vector load(const real* from) {
    if constexpr (count == lanes) return *reinterpret_cast<const unaligned_vector*>(from);
#ifdef __AVX512VL__
    return __builtin_ia32_loadupd512_mask(From{from}, vector{}, (1 << count) - 1);
#else
    vector words = {};
    for (int i = 0; i < count; ++i) words[i] = from[i];
    return words;
#endif
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

struct Scale {};

// Leaves the result of a sum; C is not read where beta is 0, so that it may hold anything.
template <int count>
static inline void put(real* to, vector sum, const Scale& scale) {
    (void)scale;
    store<count>(to, sum);
}

// Operands that come next: of the left factor from the first word of a tile's rows on, of the right one from that of a
// tile's columns on.
struct Next {
    const real *left, *right;
};

// `rows` times `columns` words of C: vectors of rows of the left factor times words of the right one, accumulated in
// registers. Every word has `partial_sums` sums, so that enough of them are independent. Meanwhile `next` is asked for.
template <int rows, int columns, bool asks_left>
static inline void tile(const real* __restrict left, const real* __restrict right, real* __restrict c,
    const Scale& scale, const Next& next) {
    constexpr int vectors = (rows + lanes - 1) / lanes, last = rows - (vectors - 1) * lanes;
    vector sum[partial_sums][vectors][columns] = {};
    const auto add = [&](int l, int part) {
        vector x[vectors];
        for (int v = 0; v < vectors - 1; ++v) x[v] = load<lanes>(left + l * left_column + v * lanes);
        x[vectors - 1] = load<last>(left + l * left_column + (vectors - 1) * lanes);
        constexpr int left_step = left_column;
        if constexpr (asks_left)
            for (int v = 0; v < vectors; ++v) __builtin_prefetch(next.left + l * left_step + v * lanes, 0, 2);
        for (int j = 0; j < columns; ++j) {
            const real y = right[l * right_inner + j * right_column];
            for (int v = 0; v < vectors; ++v) sum[part][v][j] += x[v] * y;
        }
    };
    #pragma GCC unroll 2
    for (int l = 0; l < k / partial_sums * partial_sums; l += partial_sums)
        for (int part = 0; part < partial_sums; ++part) add(l + part, part);
    for (int j = 0; j < columns; ++j) {
        for (int v = 0; v < vectors - 1; ++v) put<lanes>(c + j * c_column + v * lanes, sum[0][v][j], scale);
        put<last>(c + j * c_column + (vectors - 1) * lanes, sum[0][vectors - 1][j], scale);
    }
}

// `rows` rows of `columns` columns of C. The first of their tiles asks for the next left operands.
template <int rows, int columns>
static inline void tiles(const real* __restrict left, const real* __restrict right, real* __restrict c,
    const Scale& scale, const Next& next) {
    using Of = Cut<columns, columns_per_tile>;
    const real* const end = right + columns * right_column;
    const auto all = [&]<int width, bool asks>(int pieces) {
        for (int piece = 0; piece < pieces; ++piece, right += width * right_column, c += width * c_column)
            tile<rows, width,
                asks>(left, right, c, scale,
                {next.left, right + width * right_column < end ? right + width * right_column : next.right});
    };
    all.template operator()<Of::size, true>(1);
    if constexpr (Of::larger > 1) all.template operator()<Of::size, false>(Of::larger - 1);
    if constexpr (Of::larger < Of::pieces) all.template operator()<Of::size - 1, false>(Of::pieces - Of::larger);
}

// `columns` columns of C. `next` is of the next product.
template <int columns>
static inline void product(const real* __restrict left, const real* __restrict right, real* __restrict c,
    const Scale& scale, const Next& next) {
    using Of = Cut<(m + lanes - 1) / lanes, vectors_per_tile>;
    constexpr int high = Of::size * lanes, low = high - lanes;  // rows of a tile
    // rows of the high tiles before the last one
    constexpr int of_high = high * (Of::larger < Of::pieces ? Of::larger : Of::pieces - 1);
    constexpr int above = of_high + low * (Of::pieces - 1 - of_high / high);                 // ... and of all before it
    const auto rows_from = [&]<int rows>(int row) {
        const real* const next_left = row + rows < m ? left + row + rows : next.left;
        tiles<rows, columns>(left + row, right, c + row, scale, {next_left, next.right});
    };
    int row = 0;
    for (; row < of_high; row += high) rows_from.template operator()<high>(row);
    if constexpr (of_high < above)
        for (; row < above; row += low) rows_from.template operator()<low>(row);
    rows_from.template operator()<m - above>(above);
}

// Threads share the range.
extern "C" void batched_gemm(const real* __restrict a, const real* __restrict b, real* __restrict c, int first,
    int last) {
    const Scale scale;
    const long long groups = (static_cast<long long>(last) - first + together - 1) / together;
    #pragma omp parallel
    {
        #pragma omp for schedule(static)
        for (long long group = 0; group < groups; ++group) {
            const long long i = first + group * together;
            product<n>(a + i * stride_a, b + i * stride_b, c + i * stride_c, scale,
                {a + (i + 1) * stride_a, b + (i + 1) * stride_b});
        }
    }
}
