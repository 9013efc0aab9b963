// dg_volume: maxwell_3d, order 3, f32
// hone emit dg_volume equation=maxwell_3d order=3 precision=f32 arithmetic=strict elements=100000 --target cuda
//     --config form=tile,algebra=covariant,fields_per_pass=6,elements_per_block=8,nodes_per_thread=1,
//     elements_per_thread=1,operator=global,unroll=1,padding=1,min_blocks=1
// The same text serves any number of elements.
// per element: 15720 operations, 996 bytes (compulsory); this form executes 10920 operations
using real = float;
constexpr int nodes = 20, fields = 6, factors = 10, accumulators = 6;
constexpr int dimension = 3, geometry_words = dimension * dimension;
constexpr int fields_per_pass = 6, passes = fields / fields_per_pass;
constexpr int elements_per_block = 8, nodes_per_thread = 1, elements_per_thread = 1;
constexpr int elements_per_trip = 1, trips = elements_per_thread / elements_per_trip;
constexpr int element_groups = 8;  // elements_per_block / elements_per_thread
constexpr int node_lanes = 4, element_lanes = 8, warps_along_nodes = 5, threads_per_block = 160;
constexpr int blocks_per_multiprocessor = 1;
constexpr int vector_width = 4;  // values in 16 bytes
constexpr int group = 1;         // neighbouring nodes of a thread
constexpr int row = 20;           // nodes of one field of one element in shared memory, padded
constexpr int loads_per_thread = 1;
constexpr int inner = 20, unroll = 1;  // columns of the operator, and how many per trip
constexpr int nodes_padded = 20;      // rows of the operator
constexpr int operator_column = 4 * nodes_padded;  // [node](Dr, Ds, Dt, 0)

// Copies `count` neighbouring values with the widest loads that 16 bytes and `count` allow.
template <int count>
__device__ __forceinline__ void load(real (&to)[count], const real* from) {
    constexpr int width = count % vector_width == 0 ? vector_width : count % 2 == 0 ? 2 : 1;
    struct alignas(width * sizeof(real)) Vector {
        real value[width];
    };
    #pragma unroll
    for (int i = 0; i < count / width; ++i) {
        const Vector vector = reinterpret_cast<const Vector*>(from)[i];
        #pragma unroll
        for (int j = 0; j < width; ++j) to[i * width + j] = vector.value[j];
    }
}


// A block handles `elements_per_block` elements. A warp is `node_lanes` x `element_lanes` threads; thread (n, e) of it
// accumulates `nodes_per_thread` nodes of `elements_per_trip` elements in registers, so that every operand loaded is
// used several times.
extern "C" __global__ void __launch_bounds__(threads_per_block, blocks_per_multiprocessor)
dg_volume(const real* __restrict__ q, const real* __restrict__ geometry, real* __restrict__ rhs,
    const real* __restrict__ D, int first, int last) {
    extern __shared__ __align__(16) unsigned char shared_memory[];
    // [fields_per_pass][elements_per_block][row]: first the fields, then rhs
    real* const field = reinterpret_cast<real*>(shared_memory);
    real* const factor = field + fields_per_pass * elements_per_block * row;  // [elements_per_block][factors]

    const int block_first = first + blockIdx.x * elements_per_block;
    const int present = min(elements_per_block, last - block_first);
    const int lane = threadIdx.x % 32;
    const int warp = threadIdx.x / 32;
    const int node = warp % warps_along_nodes * (node_lanes * nodes_per_thread) + lane % node_lanes * group;

    #pragma unroll 1
    for (int pass = 0; pass < passes; ++pass) {
        // Every value is read from memory once, all loads of a thread in flight together.
        real value[loads_per_thread][fields_per_pass];
        #pragma unroll
        for (int i = 0; i < loads_per_thread; ++i) {
            const int e = (threadIdx.x + i * threads_per_block) / row;
            const int m = (threadIdx.x + i * threads_per_block) % row;
            const real* const source = q + (size_t(block_first + e) * fields + pass * fields_per_pass) * nodes + m;
            #pragma unroll
            for (int f = 0; f < fields_per_pass; ++f)
                value[i][f] = e < present && m < nodes ? source[f * nodes] : real(0);
        }
        for (int e = threadIdx.x; e < present && pass == 0; e += threads_per_block) {
            const real* const g = geometry + size_t(block_first + e) * geometry_words;
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
        __syncthreads();
        #pragma unroll
        for (int i = 0; i < loads_per_thread; ++i) {
            const int e = (threadIdx.x + i * threads_per_block) / row;
            const int m = (threadIdx.x + i * threads_per_block) % row;
            if (e < elements_per_block) {
                const real* const own = factor + (e < present ? e : 0) * factors;
                const real xr = own[0], yr = own[1], zr = own[2], xs = own[3], ys = own[4], zs = own[5], xt = own[6],
                    yt = own[7], zt = own[8], J = own[9];
                field[(0 * elements_per_block + e) * row + m] = xr * value[i][0] + yr * value[i][1] + zr * value[i][2];
                field[(1 * elements_per_block + e) * row + m] = xs * value[i][0] + ys * value[i][1] + zs * value[i][2];
                field[(2 * elements_per_block + e) * row + m] = xt * value[i][0] + yt * value[i][1] + zt * value[i][2];
                field[(3 * elements_per_block + e) * row + m] = xr * value[i][3] + yr * value[i][4] + zr * value[i][5];
                field[(4 * elements_per_block + e) * row + m] = xs * value[i][3] + ys * value[i][4] + zs * value[i][5];
                field[(5 * elements_per_block + e) * row + m] = xt * value[i][3] + yt * value[i][4] + zt * value[i][5];
            }
        }
        __syncthreads();

        #pragma unroll 1
        for (int trip = 0; trip < trips; ++trip) {
            // Differentiate along r, s, t.
            const int element = warp / warps_along_nodes * element_lanes + lane / node_lanes
                + trip * elements_per_trip * element_groups;
            real sum[accumulators][nodes_per_thread][elements_per_trip] = {};
            for (int m = 0; m < inner; m += unroll) {
                real u[fields_per_pass][elements_per_trip][unroll];
                #pragma unroll
                for (int f = 0; f < fields_per_pass; ++f)
                    #pragma unroll
                    for (int c = 0; c < elements_per_trip; ++c)
                        load(u[f][c], field + (f * elements_per_block + element + c * element_groups) * row + m);
                #pragma unroll
                for (int j = 0; j < unroll; ++j) {
                    real packed[4];
                    load(packed, D + (m + j) * operator_column + node * 4);
                    const real d[3][1][1] = {{{packed[0]}}, {{packed[1]}}, {{packed[2]}}};
                    #pragma unroll
                    for (int r = 0; r < nodes_per_thread; ++r)
                        #pragma unroll
                        for (int c = 0; c < elements_per_trip; ++c) {
                            sum[0][r][c] += d[1][r / group][r % group] * u[2][c][j];
                            sum[0][r][c] -= d[2][r / group][r % group] * u[1][c][j];
                            sum[1][r][c] += d[2][r / group][r % group] * u[0][c][j];
                            sum[1][r][c] -= d[0][r / group][r % group] * u[2][c][j];
                            sum[2][r][c] += d[0][r / group][r % group] * u[1][c][j];
                            sum[2][r][c] -= d[1][r / group][r % group] * u[0][c][j];
                            sum[3][r][c] += d[1][r / group][r % group] * u[5][c][j];
                            sum[3][r][c] -= d[2][r / group][r % group] * u[4][c][j];
                            sum[4][r][c] += d[2][r / group][r % group] * u[3][c][j];
                            sum[4][r][c] -= d[0][r / group][r % group] * u[5][c][j];
                            sum[5][r][c] += d[0][r / group][r % group] * u[4][c][j];
                            sum[5][r][c] -= d[1][r / group][r % group] * u[3][c][j];
                        }
                    }
            }

            // Combine the derivatives with the metric factors; shared memory then holds these elements' right-hand
            // sides.
            __syncthreads();
            #pragma unroll
            for (int c = 0; c < elements_per_trip; ++c) {
                const int e = element + c * element_groups;
                const real* const own = factor + (e < present ? e : 0) * factors;
                const real xr = own[0], yr = own[1], zr = own[2], xs = own[3], ys = own[4], zs = own[5], xt = own[6],
                    yt = own[7], zt = own[8], J = own[9];
                #pragma unroll
                for (int r = 0; r < nodes_per_thread; ++r) {
                    const int n = node + r / group * (node_lanes * group) + r % group;
                    if (n < nodes) {
                        field[(0 * elements_per_block + e) * row + n] =
                            J * (-xr * sum[3][r][c] - xs * sum[4][r][c] - xt * sum[5][r][c]);
                        field[(1 * elements_per_block + e) * row + n] =
                            J * (-yr * sum[3][r][c] - ys * sum[4][r][c] - yt * sum[5][r][c]);
                        field[(2 * elements_per_block + e) * row + n] =
                            J * (-zr * sum[3][r][c] - zs * sum[4][r][c] - zt * sum[5][r][c]);
                        field[(3 * elements_per_block + e) * row + n] =
                            J * (xr * sum[0][r][c] + xs * sum[1][r][c] + xt * sum[2][r][c]);
                        field[(4 * elements_per_block + e) * row + n] =
                            J * (yr * sum[0][r][c] + ys * sum[1][r][c] + yt * sum[2][r][c]);
                        field[(5 * elements_per_block + e) * row + n] =
                            J * (zr * sum[0][r][c] + zs * sum[1][r][c] + zt * sum[2][r][c]);
                    }
                }
            }
        }
        __syncthreads();
        // Of two passes, the first makes the right-hand sides of the last fields.
        constexpr int words = fields_per_pass * nodes;
        real* const target = rhs + (size_t(block_first) * fields + (passes - 1 - pass) * fields_per_pass) * nodes;
        for (int i = threadIdx.x; i < present * words; i += threads_per_block) {
            const int e = i / words, word = i % words;
            target[e * (fields * nodes) + word] = field[(word / nodes * elements_per_block + e) * row + word % nodes];
        }
    }
}
