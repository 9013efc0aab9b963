// dg_volume: maxwell_2d_tm, order 5, f64
// hone emit dg_volume equation=maxwell_2d_tm order=5 precision=f64 arithmetic=strict elements=100000 --target cpu
//     --config form=vector,algebra=covariant,fields_per_pass=3,lanes=8,vectors_per_tile=1,elements_per_tile=4,
//     elements_per_block=16,unroll=1,threads=all,binding=none
// The same text serves any number of elements.
// per element: 5565 operations, 1040 bytes (compulsory); this form executes 4284 operations
using real = double;
constexpr int nodes = 21, fields = 3, factors = 4, accumulators = 3;
constexpr int dimension = 2, geometry_words = dimension * dimension;
constexpr int fields_per_pass = 3, passes = fields / fields_per_pass;
constexpr int lanes = 8, vectors_per_tile = 1, nodes_per_tile = 8;
constexpr int elements_per_tile = 4, elements_per_block = 16;
constexpr int row = 24;  // nodes of one field in the block's buffer, padded to a cache line

// `lanes` neighbouring nodes of one field: one vector register, or several where the processor's are shorter.
typedef real vector __attribute__((vector_size(lanes * sizeof(real))));
typedef real unaligned_vector __attribute__((vector_size(lanes * sizeof(real)), aligned(sizeof(real)), may_alias));

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
#endif
    vector words = {};
    for (int i = 0; i < count; ++i) words[i] = from[i];
    return words;
}

template <int count>
static inline void store(real* to, vector words) {
    if constexpr (count == lanes) {
        *reinterpret_cast<unaligned_vector*>(to) = words;
        return;
    }
#ifdef __AVX512VL__
    __builtin_ia32_storeupd512_mask(To{to}, words, (1 << count) - 1);
    return;
#endif
    for (int i = 0; i < count; ++i) to[i] = words[i];
}

// Leaves `count` nodes of an element's fields, transformed, in `field`, and zero behind them.
template <int count>
static inline void transform(const real* __restrict source, const real* __restrict own, real* __restrict field) {
    const real rx = own[0], ry = own[1], sx = own[2], sy = own[3];
    store<lanes>(field + 0 * row, rx * load<count>(source + 1 * nodes) - ry * load<count>(source + 0 * nodes));
    store<lanes>(field + 1 * row, sx * load<count>(source + 1 * nodes) - sy * load<count>(source + 0 * nodes));
    store<lanes>(field + 2 * row, load<count>(source + 2 * nodes));
}

// Reads the fields of `present` elements once and leaves them, transformed, in `field`; missing elements of the block
// are zero.
static inline void load_fields(const real* __restrict q, const real* __restrict factor, real* __restrict field,
    int present) {
    for (int e = 0; e < present; ++e) {
        const real* const source = q + e * (fields * nodes);
        real* const target = field + e * (fields * row);
        int n = 0;
        for (; n + lanes <= nodes; n += lanes) transform<lanes>(source + n, factor + e * factors, target + n);
        if constexpr (nodes % lanes != 0) transform<nodes % lanes>(source + n, factor + e * factors, target + n);
    }
    for (int i = present * (fields * row); i < elements_per_block * (fields * row); ++i) field[i] = 0;
}

// The metric factors of each element, once.
static inline void load_factors(const real* __restrict geometry, real* __restrict factor, int present) {
    for (int e = 0; e < present; ++e) {
        const real* const g = geometry + e * geometry_words;
        real* const own = factor + e * factors;
        for (int i = 0; i < factors; ++i) own[i] = g[i];
    }
}

// Right-hand sides of `elements_per_tile` elements from `e` on, at `count` nodes from `n` on: vectors of nodes times
// broadcast field values, accumulated in registers.
template <int count>
static inline void tile(const real* __restrict field, const real* __restrict factor, const real* __restrict D,
    real* __restrict rhs, int e, int n, int present) {
    constexpr int vectors = (count + lanes - 1) / lanes, last = count - (vectors - 1) * lanes;
    // Of two passes, the first makes the right-hand sides of the last fields.
    for (int pass = 0; pass < passes; ++pass) {
        vector sum[accumulators][vectors][elements_per_tile] = {};
        const real* column = D + n * (dimension * nodes);
        #pragma GCC unroll 1
        for (int m = 0; m < nodes; ++m, column += dimension * nodes_per_tile) {
            vector d[dimension][vectors];
            for (int a = 0; a < dimension; ++a)
                for (int r = 0; r < vectors; ++r) d[a][r] = load<lanes>(column + (a * vectors_per_tile + r) * lanes);
            for (int c = 0; c < elements_per_tile; ++c) {
                const real* const u = field + ((e + c) * fields + pass * fields_per_pass) * row + m;
                for (int r = 0; r < vectors; ++r) {
                    sum[0][r][c] += d[0][r] * u[0 * row];
                    sum[1][r][c] += d[0][r] * u[2 * row];
                    sum[0][r][c] += d[1][r] * u[1 * row];
                    sum[2][r][c] += d[1][r] * u[2 * row];
                }
            }
        }
        for (int c = 0; c < elements_per_tile && e + c < present; ++c) {
            const real* const own = factor + (e + c) * factors;
            real* const target = rhs + ((e + c) * fields + (passes - 1 - pass) * fields_per_pass) * nodes;
            const real rx = own[0], ry = own[1], sx = own[2], sy = own[3];
            for (int r = 0; r < vectors; ++r) {
                vector out[fields_per_pass];
                out[0] = -ry * sum[1][r][c] - sy * sum[2][r][c];
                out[1] = rx * sum[1][r][c] + sx * sum[2][r][c];
                out[2] = sum[0][r][c];
                for (int f = 0; f < fields_per_pass; ++f) {
                    real* const to = target + f * nodes + n + r * lanes;
                    if (r + 1 < vectors)
                        store<lanes>(to, out[f]);
                    else
                        store<last>(to, out[f]);
                }
            }
        }
    }
}

// The same for all elements of a block.
template <int count>
static inline void tiles(const real* __restrict field, const real* __restrict factor, const real* __restrict D,
    real* __restrict rhs, int n, int present) {
    for (int e = 0; e < present; e += elements_per_tile) tile<count>(field, factor, D, rhs, e, n, present);
}

// Threads share the range in blocks of `elements_per_block` elements, whose fields stay in the first or second cache.
extern "C" void dg_volume(const real* __restrict q, const real* __restrict geometry, real* __restrict rhs,
    const real* __restrict D, int first, int last) {
    const long long blocks = (static_cast<long long>(last) - first + elements_per_block - 1) / elements_per_block;
    #pragma omp parallel
    {
        #pragma omp for schedule(static)
        for (long long block = 0; block < blocks; ++block) {
            alignas(64) real field[elements_per_block * fields * row];
            alignas(64) real factor[elements_per_block * factors];
            const long long k = first + block * elements_per_block;
            const int present = last - k < elements_per_block ? static_cast<int>(last - k) : elements_per_block;
            load_factors(geometry + k * geometry_words, factor, present);
            load_fields(q + k * (fields * nodes), factor, field, present);
            real* const own = rhs + k * (fields * nodes);
            int n = 0;
            for (; n + nodes_per_tile <= nodes; n += nodes_per_tile)
                tiles<nodes_per_tile>(field, factor, D, own, n, present);
            if constexpr (nodes % nodes_per_tile != 0) tiles<nodes % nodes_per_tile>(field, factor, D, own, n, present);
        }
    }
}
