// dg_surface: maxwell_2d_tm, order 2, f32
// hone emit dg_surface equation=maxwell_2d_tm order=2 precision=f32 materials=per_element arithmetic=strict
//     elements=100000 --target cpu --config form=vector,lanes=8,vectors_per_tile=1,elements_per_tile=2,
//     elements_per_block=8,unroll=1,threads=all,binding=none
// The same text serves any number of elements.
// per element: 549 operations, 300 bytes (compulsory); this form executes 603 operations
using real = float;
constexpr int nodes = 6, fields = 3, words = fields * nodes;
constexpr int dimension = 2, face_count = 3, face_nodes = 3, face_points = face_count * face_nodes;
constexpr int lanes = 8, vectors_per_tile = 1, nodes_per_tile = lanes * vectors_per_tile, elements_per_tile = 2,
    elements_per_block = 8;
// to whole tiles; nodes, or points of all faces, of one field in the block's buffer, to cache lines
constexpr int nodes_padded = 8, row = 16;

// `lanes` neighbouring nodes of one field: one vector register, or several where the processor's are shorter.
typedef real vector __attribute__((vector_size(lanes * sizeof(real))));
typedef real unaligned_vector __attribute__((vector_size(lanes * sizeof(real)), aligned(sizeof(real)), may_alias));

static inline vector load(const real* from) { return *reinterpret_cast<const unaligned_vector*>(from); }
static inline void store(real* to, vector value) { *reinterpret_cast<unaligned_vector*>(to) = value; }

// Node of the element at each point of its faces: vmapM without the element's offset.
static const unsigned short face_node[face_points] = {
    0, 1, 2, 2, 4, 5, 0, 3, 5,
};

// Upwind fluxes at all points of the faces of element k.
static inline void load_fluxes(const real* __restrict q, const real* __restrict faces, const int* __restrict vmapP,
    const real* __restrict materials, real* __restrict column, long long k) {
    constexpr int wall[fields] = {0, 0, -2};  // a reflecting wall's neighbour less the own value
    const real own_z = materials[3 * k + 2];
    real others_z[face_nodes];
    for (int i = 0; i < face_count; ++i) {
        const real* const face = faces + (k * face_count + i) * (dimension + 1);
        const int* const plus = vmapP + k * face_points + i * face_nodes;
        const unsigned short* const own_node = face_node + i * face_nodes;
        real differences[fields][face_nodes];
        for (int j = 0; j < face_nodes; ++j) {
            const real* const own = q + k * words + own_node[j];
            others_z[j] = plus[j] < 0 ? own_z : materials[3 * static_cast<long long>(plus[j] / nodes) + 2];
            if (plus[j] >= 0) {
                const real* const other = q + (static_cast<long long>(plus[j] / nodes) * words + plus[j] % nodes);
                for (int f = 0; f < fields; ++f) differences[f][j] = other[f * nodes] - own[f * nodes];
            } else {
                for (int f = 0; f < fields; ++f)
                    differences[f][j] = static_cast<real>(plus[j] == -1 ? wall[f] : -1) * own[f * nodes];
            }
        }
        const real nx = face[0];
        const real ny = face[1];
        const real fscale = face[dimension];
        real* const to = column + i * face_nodes;
        #pragma omp simd
        for (int j = 0; j < face_nodes; ++j) {
            const real other_z = others_z[j];
            real difference[fields], flux[fields];
            for (int f = 0; f < fields; ++f) difference[f] = differences[f][j];
            const real second = fscale / (own_z + other_z);
            const real first = second * own_z;
            const real w = difference[2] + other_z * (nx * difference[1] - ny * difference[0]);
            const real across = first * w;
            flux[0] = -ny * across;
            flux[1] = nx * across;
            flux[2] = second * w;
            for (int f = 0; f < fields; ++f) to[f * row + j] = flux[f];
        }
    }
}

// Adds what LIFT makes of the fluxes of `elements_per_tile` elements from `e` on to their right-hand sides at the nodes
// from `n` on.
static inline void lift(const real* __restrict column, const real* __restrict LIFT, real* __restrict sum, int n,
    int e) {
    vector lifted[fields][vectors_per_tile][elements_per_tile] = {};
    const real* coefficients = LIFT + n * face_points;
    #pragma GCC unroll 1
    for (int point = 0; point < face_points; ++point, coefficients += nodes_per_tile) {
        vector l[vectors_per_tile];
        for (int r = 0; r < vectors_per_tile; ++r) l[r] = load(coefficients + r * lanes);
        for (int c = 0; c < elements_per_tile; ++c) {
            const real* const flux = column + (e + c) * (fields * row) + point;
            for (int r = 0; r < vectors_per_tile; ++r) {
                lifted[0][r][c] += l[r] * flux[0 * row];
                lifted[1][r][c] += l[r] * flux[1 * row];
                lifted[2][r][c] += l[r] * flux[2 * row];
            }
        }
    }
    for (int c = 0; c < elements_per_tile; ++c)
        for (int f = 0; f < fields; ++f)
            for (int r = 0; r < vectors_per_tile; ++r) {
                real* const target = sum + ((e + c) * fields + f) * nodes_padded + n + r * lanes;
                store(target, load(target) + lifted[f][r][c]);
            }
}

// Threads share the range in blocks of `elements_per_block` elements, whose data stay in the first or second cache.
extern "C" void
dg_surface(const real* __restrict q, const real* __restrict faces, const int* __restrict vmapP,
    const real* __restrict materials, real* __restrict rhs, const real* __restrict LIFT, int first, int last) {
    const long long blocks = (static_cast<long long>(last) - first + elements_per_block - 1) / elements_per_block;
    #pragma omp parallel
    {
        #pragma omp for schedule(static)
        for (long long block = 0; block < blocks; ++block) {
            const long long k = first + block * elements_per_block;
            const int present = last - k < elements_per_block ? static_cast<int>(last - k) : elements_per_block;
            alignas(64) real column[elements_per_block * fields * row];
            alignas(64) real sum[elements_per_block * fields * nodes_padded];
            for (real& value : sum) value = 0;
            for (int e = 0; e < present; ++e)
                load_fluxes(q, faces, vmapP, materials, column + e * (fields * row), k + e);
            for (int i = present * (fields * row); i < elements_per_block * (fields * row); ++i) column[i] = 0;
            for (int n = 0; n < nodes; n += nodes_per_tile)
                for (int e = 0; e < present; e += elements_per_tile) lift(column, LIFT, sum, n, e);
            for (int e = 0; e < present; ++e)
                for (int f = 0; f < fields; ++f) {
                    const long long at = (k + e) * words + f * nodes;
                    const real scale = materials[3 * (k + e) + (f < 2 ? 0 : 1)];
                    const real* const total = sum + (e * fields + f) * nodes_padded;
                    #pragma omp simd
                    for (int n = 0; n < nodes; ++n) {
                        rhs[at + n] = (total[n] + rhs[at + n]) * scale;
                    }
                }
        }
    }
}
