// dg_volume: maxwell_3d, order 3, f64
// hone emit dg_volume equation=maxwell_3d order=3 precision=f64 arithmetic=strict elements=100000 --target cuda
//     --config form=tile,algebra=cartesian,fields_per_pass=6,elements_per_block=8,nodes_per_thread=2,
//     elements_per_thread=1,operator=shared,unroll=1,padding=1,min_blocks=1
// The same text serves any number of elements.
// per element: 15720 operations, 1992 bytes (compulsory); this form executes 18600 operations
using real = double;
constexpr int nodes = 20, fields = 6, factors = 9, accumulators = 18;
constexpr int dimension = 3, geometry_words = dimension * dimension;
constexpr int fields_per_pass = 6, passes = fields / fields_per_pass;
constexpr int elements_per_block = 8, nodes_per_thread = 2, elements_per_thread = 1;
constexpr int elements_per_trip = 1, trips = elements_per_thread / elements_per_trip;
constexpr int element_groups = 8;  // elements_per_block / elements_per_thread
constexpr int node_lanes = 4, element_lanes = 8, warps_along_nodes = 3, threads_per_block = 96;
constexpr int blocks_per_multiprocessor = 1;
constexpr int vector_width = 2;  // values in 16 bytes
constexpr int group = 2;         // neighbouring nodes of a thread
constexpr int row = 22;           // nodes of one field of one element in shared memory, padded
constexpr int loads_per_thread = 2;
constexpr int inner = 20, unroll = 1;  // columns of the operator, and how many per trip
constexpr int nodes_padded = 24;      // rows of the operator
constexpr int operator_column = dimension * nodes_padded;  // [along r, s, t][node]

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
    real* const operator_here = factor + 72;
    for (int i = threadIdx.x * vector_width; i < inner * operator_column; i += threads_per_block * vector_width) {
        real vector[vector_width];
        load(vector, D + i);
        #pragma unroll
        for (int j = 0; j < vector_width; ++j) operator_here[i + j] = vector[j];
    }

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
            for (int i = 0; i < factors; ++i) own[i] = g[i];
        }
        __syncthreads();
        #pragma unroll
        for (int i = 0; i < loads_per_thread; ++i) {
            const int e = (threadIdx.x + i * threads_per_block) / row;
            const int m = (threadIdx.x + i * threads_per_block) % row;
            if (e < elements_per_block) {
                const real* const own = factor + (e < present ? e : 0) * factors;
                field[(0 * elements_per_block + e) * row + m] = value[i][0];
                field[(1 * elements_per_block + e) * row + m] = value[i][1];
                field[(2 * elements_per_block + e) * row + m] = value[i][2];
                field[(3 * elements_per_block + e) * row + m] = value[i][3];
                field[(4 * elements_per_block + e) * row + m] = value[i][4];
                field[(5 * elements_per_block + e) * row + m] = value[i][5];
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
                    real d[dimension][nodes_per_thread / group][group];
                    #pragma unroll
                    for (int a = 0; a < dimension; ++a)
                        #pragma unroll
                        for (int r = 0; r < nodes_per_thread / group; ++r)
                            load(d[a][r],
                                operator_here + (m + j) * operator_column + a * nodes_padded + node
                                + r * (node_lanes * group));
                    #pragma unroll
                    for (int r = 0; r < nodes_per_thread; ++r)
                        #pragma unroll
                        for (int c = 0; c < elements_per_trip; ++c) {
                            sum[0][r][c] += d[0][r / group][r % group] * u[0][c][j];
                            sum[1][r][c] += d[1][r / group][r % group] * u[0][c][j];
                            sum[2][r][c] += d[2][r / group][r % group] * u[0][c][j];
                            sum[3][r][c] += d[0][r / group][r % group] * u[1][c][j];
                            sum[4][r][c] += d[1][r / group][r % group] * u[1][c][j];
                            sum[5][r][c] += d[2][r / group][r % group] * u[1][c][j];
                            sum[6][r][c] += d[0][r / group][r % group] * u[2][c][j];
                            sum[7][r][c] += d[1][r / group][r % group] * u[2][c][j];
                            sum[8][r][c] += d[2][r / group][r % group] * u[2][c][j];
                            sum[9][r][c] += d[0][r / group][r % group] * u[3][c][j];
                            sum[10][r][c] += d[1][r / group][r % group] * u[3][c][j];
                            sum[11][r][c] += d[2][r / group][r % group] * u[3][c][j];
                            sum[12][r][c] += d[0][r / group][r % group] * u[4][c][j];
                            sum[13][r][c] += d[1][r / group][r % group] * u[4][c][j];
                            sum[14][r][c] += d[2][r / group][r % group] * u[4][c][j];
                            sum[15][r][c] += d[0][r / group][r % group] * u[5][c][j];
                            sum[16][r][c] += d[1][r / group][r % group] * u[5][c][j];
                            sum[17][r][c] += d[2][r / group][r % group] * u[5][c][j];
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
                const real rx = own[0], ry = own[1], rz = own[2], sx = own[3], sy = own[4], sz = own[5], tx = own[6],
                    ty = own[7], tz = own[8];
                #pragma unroll
                for (int r = 0; r < nodes_per_thread; ++r) {
                    const int n = node + r / group * (node_lanes * group) + r % group;
                    if (n < nodes) {
                        field[(0 * elements_per_block + e) * row + n] = -ry * sum[15][r][c] + rz * sum[12][r][c]
                            - sy * sum[16][r][c] + sz * sum[13][r][c] - ty * sum[17][r][c] + tz * sum[14][r][c];
                        field[(1 * elements_per_block + e) * row + n] = -rz * sum[9][r][c] + rx * sum[15][r][c]
                            - sz * sum[10][r][c] + sx * sum[16][r][c] - tz * sum[11][r][c] + tx * sum[17][r][c];
                        field[(2 * elements_per_block + e) * row + n] = -rx * sum[12][r][c] + ry * sum[9][r][c]
                            - sx * sum[13][r][c] + sy * sum[10][r][c] - tx * sum[14][r][c] + ty * sum[11][r][c];
                        field[(3 * elements_per_block + e) * row + n] = ry * sum[6][r][c] - rz * sum[3][r][c]
                            + sy * sum[7][r][c] - sz * sum[4][r][c] + ty * sum[8][r][c] - tz * sum[5][r][c];
                        field[(4 * elements_per_block + e) * row + n] = rz * sum[0][r][c] - rx * sum[6][r][c]
                            + sz * sum[1][r][c] - sx * sum[7][r][c] + tz * sum[2][r][c] - tx * sum[8][r][c];
                        field[(5 * elements_per_block + e) * row + n] = rx * sum[3][r][c] - ry * sum[0][r][c]
                            + sx * sum[4][r][c] - sy * sum[1][r][c] + tx * sum[5][r][c] - ty * sum[2][r][c];
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
