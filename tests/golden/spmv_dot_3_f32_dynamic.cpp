// csr_spmv: y = A x and x . y, 3 components, interleaved, f32
// hone emit csr_spmv kernel=apply_dot components=3 vectors=interleaved precision=f32 rows=100000 entries=2700000
//     --target cpu --config form=vector,vector_bytes=32,words_of_x=gather,components_at_once=one,schedule=dynamic,
//     threads=all,binding=none
// The same text serves every matrix.
// per entry: 6 operations, 8 bytes (compulsory), without the vectors
#include <utility>

using real = float;
using wide = long long;  // a position in an array
constexpr int components = 3, at_once = 1;  // components that one pass over a row works on
constexpr int chunk_rows = 32, partial_sums = 32, lanes = 8, vectors = partial_sums / lanes;
constexpr int sum_lanes = 1024;

namespace {

// a b + c, rounded once where the processor can: the compiler must not choose, or digits would differ between
// configurations.
inline real multiply_add(real a, real b, real c) {
    #if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
    return __builtin_fmaf(a, b, c);
    #else
    return a * b + c;
    #endif
}

// Where a component of a row lies in vectors of `count` words each.
inline wide place(wide row, int component, int count) {
    return row * components + component;
}

// `lanes` neighbouring words: a vector register, or several where the processor's are shorter.
typedef real vector __attribute__((vector_size(lanes * sizeof(real))));
typedef real unaligned_vector __attribute__((vector_size(lanes * sizeof(real)), aligned(sizeof(real)), may_alias));

// The same for all lanes. Compilers would not always make one rounding of a product and a sum.
inline vector multiply_add(vector a, vector b, vector c) {
    #ifdef __FMA__
    return __builtin_ia32_vfmaddps256(a, b, c);
    #else
    for (int i = 0; i < lanes; ++i) c[i] = multiply_add(a[i], b[i], c[i]);
    return c;
    #endif
}

typedef int numbers __attribute__((vector_size(lanes * sizeof(int))));
template <typename Word>
struct From {
    const Word* words;
    template <typename Type>
    operator const Type*() const { return reinterpret_cast<const Type*>(words); }
};

// `count` entries (`lanes`, if `whole`), of which each goes to the partial sum of its place. There are `left` entries
// to the end of the matrix.
template <bool whole>
inline void add(const real* values, const int* column_indices, const real* x, int columns, int component, int count,
    int left, vector (&sum)[at_once][vectors], int number) {
    // Lanes without an entry have 0 times -0, which changes no sum.
    const vector zero = {}, no_word = -zero;
#ifdef __AVX512VL__
    const unsigned mask = whole ? (2u << (lanes - 1)) - 1 : (1u << count) - 1;
    const vector value = __builtin_ia32_loadups256_mask(From<real>{values}, vector{}, mask);
    const numbers column = __builtin_ia32_loaddqusi256_mask(From<int>{column_indices}, numbers{}, mask);
    for (int c = 0; c < at_once; ++c) {
        const vector word =
            __builtin_ia32_gather3siv8sf(no_word, x + component + c, column * components, mask, sizeof(real));
        sum[c][number] = multiply_add(value, word, sum[c][number]);
    }
#else
    if (!whole && left < lanes) {
        for (int i = 0; i < count; ++i)
            for (int c = 0; c < at_once; ++c)
                sum[c][number][i] =
                    multiply_add(values[i], x[place(column_indices[i], component + c, columns)], sum[c][number][i]);
        return;
    }
    vector value = *reinterpret_cast<const unaligned_vector*>(values), places = {};
    for (int i = 0; i < lanes; ++i) places[i] = real(i);
    if (!whole) value = places < real(count) ? value : zero;
    for (int c = 0; c < at_once; ++c) {
        vector word;
        for (int i = 0; i < lanes; ++i) word[i] = x[place(column_indices[i], component + c, columns)];
        if (!whole) word = places < real(count) ? word : no_word;
        sum[c][number] = multiply_add(value, word, sum[c][number]);
    }
#endif
}

// A vector's lanes, joined `half` apart, then half as far, and so on.
template <int half, int... lane>
inline real joined(vector sums, std::integer_sequence<int, lane...> all) {
    if constexpr (half == 0)
        return sums[0];
    else
        return joined<half / 2>(sums + __builtin_shufflevector(sums, sums, (lane ^ half)...), all);
}

// A row's entries [begin, end) times `at_once` components of x. Entry j goes to partial sum j % partial_sums; these are
// joined partial_sums / 2 apart, then a quarter, and so on.
inline void multiply_row(const real* values, const int* column_indices, const real* x, int columns, int begin, int end,
    int entries, int component, real* product) {
    vector sum[at_once][vectors] = {};
    int at = begin;
    for (; at + partial_sums <= end; at += partial_sums)
        for (int number = 0; number < vectors; ++number) {
            const int own = at + number * lanes;
            add<true>(values + own, column_indices + own, x, columns, component, lanes, lanes, sum, number);
        }
    for (int number = 0; number < vectors; ++number) {
        const int own = at + number * lanes;
        if (own >= end) break;
        if (own + lanes <= end)
            add<true>(values + own, column_indices + own, x, columns, component, lanes, lanes, sum, number);
        else
            add<false>(values + own, column_indices + own, x, columns, component, end - own, entries - own, sum,
                number);
    }
    for (int c = 0; c < at_once; ++c) {
        for (int half = vectors / 2; half > 0; half /= 2)
            for (int i = 0; i < half; ++i) sum[c][i] += sum[c][i + half];
        product[c] = joined<lanes / 2>(sum[c][0], std::make_integer_sequence<int, lanes>());
    }
}

}  // namespace

// The rows [first, last), in chunks of `chunk_rows`.
extern "C" void csr_spmv(
    const real* __restrict__ values, const int* __restrict__ column_indices, const int* __restrict__ row_starts,
    const real* __restrict__ x, real* __restrict__ y, real* __restrict__ dot, real* __restrict__ chunk_sums,
    int rows, int columns, int first, int last
) {
    const int chunks = (last - first + chunk_rows - 1) / chunk_rows, entries = row_starts[rows];
    #pragma omp parallel
    {
        #pragma omp for schedule(dynamic, 16)
        for (int chunk = 0; chunk < chunks; ++chunk) {
            const int begin = first + chunk * chunk_rows, end = last - begin < chunk_rows ? last : begin + chunk_rows;
            for (int component = 0; component < components; component += at_once) {
                real products[at_once][chunk_rows] = {};
                for (int row = begin; row < end; ++row) {
                    real product[at_once];
                    multiply_row(values, column_indices, x, columns, row_starts[row], row_starts[row + 1], entries,
                        component, product);
                    for (int c = 0; c < at_once; ++c) {
                        y[place(row, component + c, rows)] = product[c];
                        // Not a plain product, which the compiler might round together with the sum that it goes to.
                        products[c][row - begin] =
                            multiply_add(product[c], x[place(row, component + c, columns)], real(0));
                    }
                }
                for (int c = 0; c < at_once; ++c) {
                    real* const pairs = products[c];
                    for (int i = 0; i < 16; ++i) pairs[i] = pairs[2 * i] + pairs[2 * i + 1];
                    for (int i = 0; i < 8; ++i) pairs[i] = pairs[2 * i] + pairs[2 * i + 1];
                    for (int i = 0; i < 4; ++i) pairs[i] = pairs[2 * i] + pairs[2 * i + 1];
                    for (int i = 0; i < 2; ++i) pairs[i] = pairs[2 * i] + pairs[2 * i + 1];
                    for (int i = 0; i < 1; ++i) pairs[i] = pairs[2 * i] + pairs[2 * i + 1];
                    chunk_sums[wide(component + c) * chunks + chunk] = pairs[0];
                }
            }
        }
    }
}

// The rest of the dot products, the same whatever the configuration, in double precision: chunks by number modulo
// `sum_lanes`, then these in pairs.
extern "C" void finish(
    const real* __restrict__ values, const int* __restrict__ column_indices, const int* __restrict__ row_starts,
    const real* __restrict__ x, real* __restrict__ y, real* __restrict__ dot, real* __restrict__ chunk_sums,
    int rows, int columns, int first, int last
) {
    const int chunks = (last - first + chunk_rows - 1) / chunk_rows;
    for (int c = 0; c < components; ++c) {
        double lanes[sum_lanes] = {};
        for (int chunk = 0; chunk < chunks; ++chunk)
            lanes[chunk % sum_lanes] += double(chunk_sums[wide(c) * chunks + chunk]);
        for (int step = 1; step < sum_lanes; step *= 2)
            for (int lane = 0; lane < sum_lanes; lane += 2 * step) lanes[lane] += lanes[lane + step];
        dot[c] = real(lanes[0] / rows);
    }
}
