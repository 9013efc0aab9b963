// dg_volume: maxwell_2d_tm, order 5, f64
// hone emit dg_volume equation=maxwell_2d_tm order=5 precision=f64 arithmetic=strict elements=100000 --target cpu
//     --config form=elements,algebra=covariant,basis=parity,lanes=8,rows_per_tile=8,unroll=1,threads=all,binding=none
// The same text serves any number of elements.
// per element: 5565 operations, 1040 bytes (compulsory); this form executes 2016 operations
#include <algorithm>

using real = double; using index = long long;
constexpr int nodes = 21, fields = 3, words = nodes * fields, factors = 4, accumulators = 3;
constexpr int dimension = 2, geometry_words = dimension * dimension, derivatives = 1;
constexpr int lanes = 8, rows_per_tile = 8;

// Neighbouring elements are the lanes of a vector: one vector register, or several where the processor's are shorter.
typedef real vector __attribute__((vector_size(lanes * sizeof(real))));
typedef real unaligned_vector __attribute__((vector_size(lanes * sizeof(real)), aligned(sizeof(real)), may_alias));
typedef index lane_numbers __attribute__((vector_size(lanes * sizeof(real))));

constexpr int even_parts = 12, odd_parts = 9;
static const short first_node[] = {1, 2, 3, 4, 5, 8, 9, 10, 14, 0, 7, 13},
    second_node[] = {6, 11, 15, 18, 20, 12, 16, 19, 17};

// A step of `transpose`: words whose numbers differ in the bit `step` change places between two rows.
template <int step>
static inline void exchange(vector& a, vector& b) {
    lane_numbers low, high;
    for (int l = 0; l < lanes; ++l) {
        low[l] = l & step ? lanes + l - step : l;
        high[l] = l & step ? lanes + l : l + step;
    }
    const vector first = __builtin_shuffle(a, b, low);
    b = __builtin_shuffle(a, b, high);
    a = first;
}

template <int step>
static inline void transpose_from(vector (&rows)[lanes]) {
    if constexpr (step < lanes) {
        for (int l = 0; l < lanes; ++l)
            if ((l & step) == 0) exchange<step>(rows[l], rows[l + step]);
        transpose_from<2 * step>(rows);
    }
}

// Rows of `lanes` vectors become columns.
static inline void transpose(vector (&rows)[lanes]) {
    transpose_from<1>(rows);
}

// Words `first_word` to `first_word + lanes` of the fields of `present` elements, by lanes; missing elements are as the
// last one.
static inline void load_words(const real* __restrict q, vector* __restrict by_word, int first_word, int present) {
    vector rows[lanes];
    for (int l = 0; l < lanes; ++l)
        rows[l] = *reinterpret_cast<const unaligned_vector*>(q + std::min(l, present - 1) * words + first_word);
    transpose(rows);
    for (int l = 0; l < lanes; ++l) by_word[first_word + l] = rows[l];
}

static inline void store_words(const vector* __restrict by_word, real* __restrict rhs, int first_word, int present) {
    vector rows[lanes];
    for (int l = 0; l < lanes; ++l) rows[l] = by_word[first_word + l];
    transpose(rows);
    for (int l = 0; l < lanes; ++l)
        if (l < present) *reinterpret_cast<unaligned_vector*>(rhs + l * words + first_word) = rows[l];
}

// The metric factors of each element.
static inline void load_factors(const real* __restrict geometry, vector* __restrict factor, int present) {
    vector given[geometry_words];
    for (int l = 0; l < lanes; ++l)
        for (int i = 0; i < geometry_words; ++i) given[i][l] = geometry[std::min(l, present - 1) * geometry_words + i];
    // Gradients of r + s, r - s and t.
    vector g[geometry_words];
    for (int i = 0; i < geometry_words; ++i)
        g[i] = i < dimension ? given[i] + given[i + dimension] : i < 2 * dimension ? given[i - dimension] - given[i]
            : given[i];
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
    for (int part = 0; part < even_parts; ++part) {
        const vector* const node = by_word + first_node[part];
        if (part < odd_parts) {
            const vector* const image = by_word + second_node[part];
            for (int f = 0; f < fields; ++f) value[f] = node[f * nodes] - image[f * nodes];
            transform(value, factor, field + (even_parts + part) * fields);
            for (int f = 0; f < fields; ++f) value[f] = node[f * nodes] + image[f * nodes];
        } else {
            for (int f = 0; f < fields; ++f) value[f] = node[f * nodes];
        }
        transform(value, factor, field + part * fields);
    }
}

// Right-hand sides of `count` rows of D: values of D times vectors of elements, accumulated in registers. Returns where
// D goes on.
template <int count, int columns, int other_columns>
static inline const real* tile(const vector* __restrict field, const vector* __restrict other,
    const vector* __restrict own, const real* __restrict D, vector* __restrict rhs) {
    vector sum[accumulators][count] = {};
    #pragma GCC unroll 1
    for (int m = 0; m < columns; ++m) {
        const vector* const u = field + m * fields;
        for (int r = 0; r < count; ++r) {
            sum[0][r] += D[0 * count + r] * u[0];
            sum[1][r] += D[0 * count + r] * u[2];
        }
        D += derivatives * count;
    }
    // Derivatives along r - s, of parts of the other parity.
    #pragma GCC unroll 1
    for (int m = 0; m < other_columns; ++m) {
        const vector* const u = other + m * fields;
        for (int r = 0; r < count; ++r) {
            sum[0][r] += D[0 * count + r] * u[1];
            sum[2][r] += D[0 * count + r] * u[2];
        }
        D += count;
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

// The same for `rows` rows.
template <int rows, int columns, int other_columns>
static inline const real* tiles(const vector* __restrict field, const vector* __restrict other,
    const vector* __restrict own, const real* __restrict D, vector* __restrict rhs) {
    int row = 0;
    for (; row + rows_per_tile <= rows; row += rows_per_tile)
        D = tile<rows_per_tile, columns, other_columns>(field, other, own, D, rhs + row * fields);
    if constexpr (rows % rows_per_tile != 0) D = tile<rows % rows_per_tile, columns,
        other_columns>(field, other, own, D, rhs + row * fields);
    return D;
}

// Columns of right-hand sides become nodal values by lanes.
static inline void nodal(const vector* __restrict rhs, vector* __restrict by_word) {
    for (int part = 0; part < even_parts; ++part) {
        vector* const node = by_word + first_node[part];
        const vector* const even = rhs + part * fields;
        if (part < odd_parts) {
            vector* const image = by_word + second_node[part];
            const vector* const odd = rhs + (even_parts + part) * fields;
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
            const vector* const odd = field + even_parts * fields;
            const real* const odd_rows = tiles<even_parts, even_parts, odd_parts>(field, odd, factor, D, out);
            tiles<odd_parts, odd_parts, even_parts>(odd, field, factor, odd_rows, out + even_parts * fields);
            nodal(out, by_word);
            for (word = 0; word + lanes <= words; word += lanes) store_words(by_word, rhs + k * words, word, present);
            if constexpr (words % lanes != 0) store_words(by_word, rhs + k * words, words - lanes, present);
        }
    }
}
