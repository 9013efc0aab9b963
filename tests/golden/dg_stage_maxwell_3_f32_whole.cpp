// dg_stage: maxwell_3d, order 3, f32
// hone emit dg_stage equation=maxwell_3d order=3 precision=f32 materials=per_element arithmetic=strict elements=100000
//     --target cpu --config form=vector_whole,algebra=covariant,lanes=16,vectors_per_tile=1,elements_per_tile=2,
//     elements_per_block=8,unroll=1,threads=all,binding=none
// The same text serves any number of elements.
// per element: 28680 operations, 2192 bytes (compulsory); this form executes 34760 operations
using real = float;
constexpr int nodes = 20, fields = 6, words = fields * nodes;
constexpr int dimension = 3, face_count = 4, face_nodes = 10, face_points = face_count * face_nodes;
constexpr int lanes = 16, vectors_per_tile = 1, nodes_per_tile = lanes * vectors_per_tile, elements_per_tile = 2,
    elements_per_block = 8;
// to whole tiles; nodes, or points of all faces, of one field in the block's buffer, to cache lines
constexpr int nodes_padded = 32, row = 48;
constexpr int factors = 10, accumulators = 6, geometry_words = dimension * dimension;

// `lanes` neighbouring nodes of one field: one vector register, or several where the processor's are shorter.
typedef real vector __attribute__((vector_size(lanes * sizeof(real))));
typedef real unaligned_vector __attribute__((vector_size(lanes * sizeof(real)), aligned(sizeof(real)), may_alias));

static inline vector load(const real* from) { return *reinterpret_cast<const unaligned_vector*>(from); }
static inline void store(real* to, vector value) { *reinterpret_cast<unaligned_vector*>(to) = value; }

// Node of the element at each point of its faces: vmapM without the element's offset.
static const unsigned short face_node[face_points] = {
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1, 2, 3, 10, 11, 12, 16,
    17, 19, 3, 6, 8, 9, 12, 14, 15, 17, 18, 19, 0, 4, 7, 9, 10,
    13, 15, 16, 18, 19,
};

// Reads the fields of `present` elements once and leaves them, transformed, in `column`; missing elements of the block
// are zero.
static inline void load_fields(const real* __restrict q, const real* __restrict factor, real* __restrict column,
    int present) {
    (void)factor;
    for (int e = 0; e < present; ++e) {
        const real* const source = q + e * words;
        const real* const own = factor + e * factors;
        const real xr = own[0], yr = own[1], zr = own[2], xs = own[3], ys = own[4], zs = own[5], xt = own[6],
            yt = own[7], zt = own[8], J = own[9];
        #pragma omp simd
        for (int m = 0; m < nodes; ++m) {
            column[(e * fields + 0) * row + m] = xr * source[0 * nodes + m] + yr * source[1 * nodes + m]
                + zr * source[2 * nodes + m];
            column[(e * fields + 1) * row + m] = xs * source[0 * nodes + m] + ys * source[1 * nodes + m]
                + zs * source[2 * nodes + m];
            column[(e * fields + 2) * row + m] = xt * source[0 * nodes + m] + yt * source[1 * nodes + m]
                + zt * source[2 * nodes + m];
            column[(e * fields + 3) * row + m] = xr * source[3 * nodes + m] + yr * source[4 * nodes + m]
                + zr * source[5 * nodes + m];
            column[(e * fields + 4) * row + m] = xs * source[3 * nodes + m] + ys * source[4 * nodes + m]
                + zs * source[5 * nodes + m];
            column[(e * fields + 5) * row + m] = xt * source[3 * nodes + m] + yt * source[4 * nodes + m]
                + zt * source[5 * nodes + m];
        }
    }
    for (int i = present * (fields * row); i < elements_per_block * (fields * row); ++i) column[i] = 0;
}

// The metric factors of each element, once.
static inline void load_factors(const real* __restrict geometry, real* __restrict factor, int present) {
    for (int e = 0; e < present; ++e) {
        const real* const g = geometry + e * geometry_words;
        real* const own = factor + e * factors;
        // Tangents over J: x_r / J = grad s x grad t, and cyclic; 1 / J = grad r . (x_r / J).
        for (int a = 0; a < 3; ++a) {
            const real* const b = g + 3 * ((a + 1) % 3);
            const real* const c = g + 3 * ((a + 2) % 3);
            for (int i = 0; i < 3; ++i)
                own[3 * a + i] = b[(i + 1) % 3] * c[(i + 2) % 3] - b[(i + 2) % 3] * c[(i + 1) % 3];
        }
        own[9] = real(1) / (g[0] * own[0] + g[1] * own[1] + g[2] * own[2]);
    }
}

// Volume right-hand sides of `elements_per_tile` elements from `e` on, at the nodes from `n` on.
static inline void differentiate(const real* __restrict column, const real* __restrict factor, const real* __restrict D,
    real* __restrict sum, int n, int e, int present) {
    vector derivative[accumulators][vectors_per_tile][elements_per_tile] = {};
    const real* coefficients = D + n * (dimension * nodes);
    #pragma GCC unroll 1
    for (int m = 0; m < nodes; ++m, coefficients += dimension * nodes_per_tile) {
        vector d[dimension][vectors_per_tile];
        for (int a = 0; a < dimension; ++a)
            for (int r = 0; r < vectors_per_tile; ++r)
                d[a][r] = load(coefficients + (a * vectors_per_tile + r) * lanes);
        for (int c = 0; c < elements_per_tile; ++c) {
            const real* const u = column + (e + c) * (fields * row) + m;
            for (int r = 0; r < vectors_per_tile; ++r) {
                derivative[0][r][c] += d[1][r] * u[2 * row];
                derivative[0][r][c] -= d[2][r] * u[1 * row];
                derivative[1][r][c] += d[2][r] * u[0 * row];
                derivative[1][r][c] -= d[0][r] * u[2 * row];
                derivative[2][r][c] += d[0][r] * u[1 * row];
                derivative[2][r][c] -= d[1][r] * u[0 * row];
                derivative[3][r][c] += d[1][r] * u[5 * row];
                derivative[3][r][c] -= d[2][r] * u[4 * row];
                derivative[4][r][c] += d[2][r] * u[3 * row];
                derivative[4][r][c] -= d[0][r] * u[5 * row];
                derivative[5][r][c] += d[0][r] * u[4 * row];
                derivative[5][r][c] -= d[1][r] * u[3 * row];
            }
        }
    }
    for (int c = 0; c < elements_per_tile; ++c) {
        const real* const own = factor + (e + c < present ? e + c : e) * factors;
        const real xr = own[0], yr = own[1], zr = own[2], xs = own[3], ys = own[4], zs = own[5], xt = own[6],
            yt = own[7], zt = own[8], J = own[9];
        for (int r = 0; r < vectors_per_tile; ++r) {
            real* const target = sum + (e + c) * (fields * nodes_padded) + n + r * lanes;
            store(target + 0 * nodes_padded,
                J * (-xr * derivative[3][r][c] - xs * derivative[4][r][c] - xt * derivative[5][r][c]));
            store(target + 1 * nodes_padded,
                J * (-yr * derivative[3][r][c] - ys * derivative[4][r][c] - yt * derivative[5][r][c]));
            store(target + 2 * nodes_padded,
                J * (-zr * derivative[3][r][c] - zs * derivative[4][r][c] - zt * derivative[5][r][c]));
            store(target + 3 * nodes_padded,
                J * (xr * derivative[0][r][c] + xs * derivative[1][r][c] + xt * derivative[2][r][c]));
            store(target + 4 * nodes_padded,
                J * (yr * derivative[0][r][c] + ys * derivative[1][r][c] + yt * derivative[2][r][c]));
            store(target + 5 * nodes_padded,
                J * (zr * derivative[0][r][c] + zs * derivative[1][r][c] + zt * derivative[2][r][c]));
        }
    }
}

// Upwind fluxes at all points of the faces of element k.
static inline void load_fluxes(const real* __restrict q, const real* __restrict faces, const int* __restrict vmapP,
    const real* __restrict materials, real* __restrict column, long long k) {
    constexpr int wall[fields] = {0, 0, 0, -2, -2, -2};  // a reflecting wall's neighbour less the own value
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
        const real nz = face[2];
        const real fscale = face[dimension];
        real* const to = column + i * face_nodes;
        #pragma omp simd
        for (int j = 0; j < face_nodes; ++j) {
            const real other_z = others_z[j];
            real difference[fields], flux[fields];
            for (int f = 0; f < fields; ++f) difference[f] = differences[f][j];
            const real second = fscale / (own_z + other_z);
            const real first = second * own_z;
            const real wx = difference[3] + other_z * (ny * difference[2] - nz * difference[1]);
            const real wy = difference[4] + other_z * (nz * difference[0] - nx * difference[2]);
            const real wz = difference[5] + other_z * (nx * difference[1] - ny * difference[0]);
            const real along = nx * wx + ny * wy + nz * wz;
            flux[0] = first * (nz * wy - ny * wz);
            flux[1] = first * (nx * wz - nz * wx);
            flux[2] = first * (ny * wx - nx * wy);
            flux[3] = second * (wx - nx * along);
            flux[4] = second * (wy - ny * along);
            flux[5] = second * (wz - nz * along);
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
                lifted[3][r][c] += l[r] * flux[3 * row];
                lifted[4][r][c] += l[r] * flux[4 * row];
                lifted[5][r][c] += l[r] * flux[5 * row];
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
dg_stage(const real* __restrict q, const real* __restrict geometry, const real* __restrict faces,
    const int* __restrict vmapP, const real* __restrict materials, const real* __restrict stage, real* __restrict res,
    real* __restrict q_next, const real* __restrict D, const real* __restrict LIFT, int first, int last) {
    const real a = stage[0], b = stage[1], dt = stage[2];
    const long long blocks = (static_cast<long long>(last) - first + elements_per_block - 1) / elements_per_block;
    #pragma omp parallel
    {
        #pragma omp for schedule(static)
        for (long long block = 0; block < blocks; ++block) {
            const long long k = first + block * elements_per_block;
            const int present = last - k < elements_per_block ? static_cast<int>(last - k) : elements_per_block;
            alignas(64) real column[elements_per_block * fields * row];
            alignas(64) real sum[elements_per_block * fields * nodes_padded];
            alignas(64) real factor[elements_per_block * factors];
            load_factors(geometry + k * geometry_words, factor, present);
            load_fields(q + k * words, factor, column, present);
            for (int n = 0; n < nodes; n += nodes_per_tile)
                for (int e = 0; e < present; e += elements_per_tile)
                    differentiate(column, factor, D, sum, n, e, present);
            for (int e = 0; e < present; ++e)
                load_fluxes(q, faces, vmapP, materials, column + e * (fields * row), k + e);
            for (int i = present * (fields * row); i < elements_per_block * (fields * row); ++i) column[i] = 0;
            for (int n = 0; n < nodes; n += nodes_per_tile)
                for (int e = 0; e < present; e += elements_per_tile) lift(column, LIFT, sum, n, e);
            for (int e = 0; e < present; ++e)
                for (int f = 0; f < fields; ++f) {
                    const long long at = (k + e) * words + f * nodes;
                    const real scale = materials[3 * (k + e) + (f < 3 ? 0 : 1)];
                    const real* const total = sum + (e * fields + f) * nodes_padded;
                    #pragma omp simd
                    for (int n = 0; n < nodes; ++n) {
                        const real residual = a * res[at + n] + dt * total[n] * scale;
                        res[at + n] = residual;
                        q_next[at + n] = q[at + n] + b * residual;
                    }
                }
        }
    }
}
