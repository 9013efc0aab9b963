// dg_volume: maxwell_2d_tm, order 5, f64
// hone emit dg_volume equation=maxwell_2d_tm order=5 precision=f64 arithmetic=strict elements=100000 --target cpu
//     --config form=elements,algebra=covariant,basis=parity,lanes=8,rows_per_tile=8,unroll=1,threads=all,binding=none
// The same text serves any number of elements.
// per element: 5565 operations, 1040 bytes (compulsory); this form executes 2016 operations
#include <algorithm>
#include <utility>

using real = double;
constexpr int nodes = 21, fields = 3, words = nodes * fields, factors = 4, accumulators = 3;
constexpr int dimension = 2, geometry_words = dimension * dimension;
constexpr int lanes = 8, rows_per_tile = 8;

// Neighbouring elements are the lanes of a vector: one vector register, or several where the processor's are shorter.
typedef real vector __attribute__((vector_size(lanes * sizeof(real))));
typedef real unaligned_vector __attribute__((vector_size(lanes * sizeof(real)), aligned(sizeof(real)), may_alias));

// Rows and columns of D: nodes, or the parts of each kind, one kind after the other; which kind of columns a derivative
// of rows of a kind takes.
constexpr int kinds = 2, kind_count[] = {12, 9}, kind_begin[] = {0, 12}, change[] = {0, 1};

static const short first_node[] = {1, 2, 3, 4, 5, 8, 9, 10, 14, 0, 7, 13};
static const short second_node[] = {6, 11, 15, 18, 20, 12, 16, 19, 17};

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

// Words `first_word` to `first_word + lanes` of the fields of `present` elements, by lanes; missing elements are as the
// last one.
static inline void load_words(const real* __restrict q, vector* __restrict by_word, int first_word, int present) {
    vector rows[lanes];
    for (int l = 0; l < lanes; ++l)
        rows[l] = *reinterpret_cast<const unaligned_vector*>(q + std::min(l, present - 1) * words + first_word);
    transpose<1>(rows);
    for (int l = 0; l < lanes; ++l) by_word[first_word + l] = rows[l];
}

static inline void store_words(const vector* __restrict by_word, real* __restrict rhs, int first_word, int present) {
    vector rows[lanes];
    for (int l = 0; l < lanes; ++l) rows[l] = by_word[first_word + l];
    transpose<1>(rows);
    for (int l = 0; l < lanes; ++l)
        if (l < present) *reinterpret_cast<unaligned_vector*>(rhs + l * words + first_word) = rows[l];
}

// The metric factors of each element.
static inline void load_factors(const real* __restrict geometry, vector* __restrict factor, int present) {
    vector given[geometry_words];
    for (int l = 0; l < lanes; ++l)
        for (int i = 0; i < geometry_words; ++i) given[i][l] = geometry[std::min(l, present - 1) * geometry_words + i];
    // Gradients of r + s and r - s; behind t, which is the third derivative's coordinate, too, that of the third
    // coordinate.
    vector g[geometry_words];
    for (int i = 0; i < dimension; ++i) {
        g[i] = given[i] + given[i + dimension];
        g[i + dimension] = given[i] - given[i + dimension];
    }
    for (int i = 2 * dimension; i < geometry_words; ++i) g[i] = given[i];
    for (int i = 0; i < factors; ++i) factor[i] = g[i];
}

// Fields at a node, or an even or odd part of them, transformed.
static inline void transform(const vector (&value)[fields], const vector* __restrict own, vector* __restrict field) {
    const vector rx = own[0], ry = own[1], sx = own[2], sy = own[3];
    field[0] = rx * value[1] - ry * value[0];
    field[1] = sx * value[1] - sy * value[0];
    field[2] = value[2];
}

// Nodal values by lanes become columns of transformed fields.
static inline void transform_all(const vector* __restrict by_word, const vector* __restrict factor,
    vector* __restrict field) {
    vector value[fields];
    for (int part = 0; part < kind_count[0]; ++part) {
        const vector* const node = by_word + first_node[part];
        if (part < kind_count[1]) {
            const vector* const image = by_word + second_node[part];
            for (int f = 0; f < fields; ++f) value[f] = node[f * nodes] - image[f * nodes];
            transform(value, factor, field + (kind_begin[1] + part) * fields);
            for (int f = 0; f < fields; ++f) value[f] = node[f * nodes] + image[f * nodes];
        } else {
            for (int f = 0; f < fields; ++f) value[f] = node[f * nodes];
        }
        transform(value, factor, field + part * fields);
    }
}

// Right-hand sides of `count` rows of D of a kind: values of D times vectors of elements, accumulated in registers, one
// derivative after the other. Returns where D goes on.
template <int kind, int count>
static inline const real* tile(const vector* __restrict field, const vector* __restrict own, const real* __restrict D,
    vector* __restrict rhs) {
    vector sum[accumulators][count] = {};
    {
        const vector* u = field + kind_begin[kind ^ change[0]] * fields;
        #pragma GCC unroll 1
        for (int m = 0; m < kind_count[kind ^ change[0]]; ++m, u += fields, D += count)
            for (int r = 0; r < count; ++r) {
                sum[0][r] += D[r] * u[0];
                sum[1][r] += D[r] * u[2];
            }
    }
    {
        const vector* u = field + kind_begin[kind ^ change[1]] * fields;
        #pragma GCC unroll 1
        for (int m = 0; m < kind_count[kind ^ change[1]]; ++m, u += fields, D += count)
            for (int r = 0; r < count; ++r) {
                sum[0][r] += D[r] * u[1];
                sum[2][r] += D[r] * u[2];
            }
    }
    const vector rx = own[0], ry = own[1], sx = own[2], sy = own[3];
    for (int r = 0; r < count; ++r) {
        vector* const out = rhs + r * fields;
        out[0] = -ry * sum[1][r] - sy * sum[2][r];
        out[1] = rx * sum[1][r] + sx * sum[2][r];
        out[2] = sum[0][r];
    }
    return D;
}

// The same for all rows, of `kind` and of those that follow.
template <int kind>
static inline void rows_from(const vector* __restrict field, const vector* __restrict own, const real* __restrict D,
    vector* __restrict rhs) {
    constexpr int rows = kind_count[kind], whole = rows / rows_per_tile * rows_per_tile;
    for (int row = 0; row < whole; row += rows_per_tile)
        D = tile<kind, rows_per_tile>(field, own, D, rhs + (kind_begin[kind] + row) * fields);
    if constexpr (whole < rows) D = tile<kind, rows - whole>(field, own, D, rhs + (kind_begin[kind] + whole) * fields);
    if constexpr (kind + 1 < kinds) rows_from<kind + 1>(field, own, D, rhs);
}

// Columns of right-hand sides become nodal values by lanes.
static inline void nodal(const vector* __restrict rhs, vector* __restrict by_word) {
    for (int part = 0; part < kind_count[0]; ++part) {
        vector* const node = by_word + first_node[part];
        const vector* const even = rhs + part * fields;
        if (part < kind_count[1]) {
            vector* const image = by_word + second_node[part];
            const vector* const odd = rhs + (kind_begin[1] + part) * fields;
            for (int f = 0; f < fields; ++f) {
                node[f * nodes] = even[f] + odd[f];
                image[f * nodes] = even[f] - odd[f];
            }
        } else {
            for (int f = 0; f < fields; ++f) node[f * nodes] = even[f];
        }
    }
}

// Threads share the range in groups of `lanes` elements, whose fields stay in the second cache. The last words of an
// element are loaded and stored with some before them once more.
extern "C" void dg_volume(const real* __restrict q, const real* __restrict geometry, real* __restrict rhs,
    const real* __restrict D, int first, int last) {
    const long long groups = (static_cast<long long>(last) - first + lanes - 1) / lanes;
    #pragma omp parallel
    {
        #pragma omp for schedule(static)
        for (long long group = 0; group < groups; ++group) {
            alignas(64) vector by_word[words], field[words], out[words];
            alignas(64) vector factor[factors];
            const long long k = first + group * lanes;
            const int present = last - k < lanes ? static_cast<int>(last - k) : lanes;
            int word = 0;
            for (; word + lanes <= words; word += lanes) load_words(q + k * words, by_word, word, present);
            if constexpr (words % lanes != 0) load_words(q + k * words, by_word, words - lanes, present);
            load_factors(geometry + k * geometry_words, factor, present);
            transform_all(by_word, factor, field);
            rows_from<0>(field, factor, D, out);
            nodal(out, by_word);
            for (word = 0; word + lanes <= words; word += lanes) store_words(by_word, rhs + k * words, word, present);
            if constexpr (words % lanes != 0) store_words(by_word, rhs + k * words, words - lanes, present);
        }
    }
}
