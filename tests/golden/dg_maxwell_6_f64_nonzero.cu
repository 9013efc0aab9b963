// dg_volume: maxwell_3d, order 6, f64
// hone emit dg_volume equation=maxwell_3d order=6 precision=f64 arithmetic=strict elements=100000 --target cuda --config mapping=mma,form=covariant,fields_per_pass=6,elements_per_block=8,nodes_per_thread=1,elements_per_thread=1,operator=nonzero,unroll=2,padding=1,min_blocks=1
// The same text serves any number of elements.
// per element: 259560 operations, 8136 bytes (compulsory); this form executes 177576 operations
using real = double;
constexpr int nodes = 84, fields = 6, factors = 10, accumulators = 6;
constexpr int dimension = 3, geometry_words = dimension * dimension;
constexpr int fields_per_pass = 6, passes = fields / fields_per_pass;
constexpr int elements_per_block = 8, warps = 8, threads_per_block = 256, blocks_per_multiprocessor = 1;
constexpr int columns = 1;  // groups of 8 elements per warp
constexpr int node_tiles = 6, column_groups = 1;
constexpr int steps = 11;    // of 8 columns of the operator
constexpr int row = 88;      // nodes of one field of one element in shared memory, padded
constexpr int batch = 4;    // nodes that a thread loads at a time
// Nodes lie sorted by face in shared memory: the place of each there, and the node of each place.
__device__ const unsigned short place_of[row] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 64, 74, 75, 76, 49, 65, 77, 78, 50, 66, 79, 51, 67, 52, 53, 34, 35, 36, 37, 38, 68, 80, 81, 54, 69, 82, 55, 70, 56, 57, 39, 40, 41, 42, 71, 83, 58, 72, 59, 60, 43, 44, 45, 73, 61, 62, 46, 47, 63, 48, 84, 85, 86, 87};
__device__ const unsigned short node_of[nodes] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 49, 50, 51, 52, 53, 64, 65, 66, 67, 74, 75, 76, 80, 81, 83, 38, 42, 45, 47, 48, 57, 60, 62, 63, 70, 72, 73, 78, 79, 82, 34, 39, 43, 46, 54, 58, 61, 68, 71, 77, 35, 36, 37, 40, 41, 44, 55, 56, 59, 69};
// Along r, s, t: a bit per step in which the operator's tile is not all zeros.
__device__ const unsigned long long used[node_tiles][3] = {{0xf, 0xf, 0x7ff}, {0x7f, 0x7ff, 0x7ff}, {0x79, 0x7ff, 0x79}, {0x7ff, 0x7ff, 0x7ff}, {0x7ff, 0x7ff, 0x7ff}, {0x7ff, 0x7ff, 0x7ff}};

using Coefficients = double2;  // of a lane: column 2t or 2t + 1 of nodes g and g + 8
using Values = double2;        // of a lane: columns 2t and 2t + 1

__device__ __forceinline__ Values load_values(const real* from) { return *reinterpret_cast<const double2*>(from); }

// c += a b on the matrix units: a holds 16 nodes x 8 columns, b 8 columns x 8 elements, spread over the warp as PTX prescribes for m16n8k8.
// Which column of the operator plays which of the 8 is free as long as both agree: lane group t takes columns 2t and 2t + 1, so that a
// lane's two values of b are neighbours in shared memory.
__device__ __forceinline__ void multiply_add(real (&c)[4], const Coefficients (&a)[2], const Values& b) {
    asm("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
        : "d"(a[0].x), "d"(a[0].y), "d"(a[1].x), "d"(a[1].y), "d"(b.x), "d"(b.y));
}

// -b by its sign bits, which keeps the floating-point pipe free.
__device__ __forceinline__ Values negated(const Values& b) {
    const long long sign = 1ll << 63;
    return make_double2(__longlong_as_double(__double_as_longlong(b.x) ^ sign), __longlong_as_double(__double_as_longlong(b.y) ^ sign));
}

// A block handles `elements_per_block` elements; its warps take tiles of 16 nodes x `columns` groups of 8 elements in turn.
extern "C" __global__ void __launch_bounds__(threads_per_block, blocks_per_multiprocessor)
dg_volume(const real* __restrict__ q, const real* __restrict__ geometry, real* __restrict__ rhs, const real* __restrict__ D, int first, int last) {
    extern __shared__ __align__(16) unsigned char shared_memory[];
    real* const field = reinterpret_cast<real*>(shared_memory);               // [fields_per_pass][elements_per_block][row]
    real* const factor = field + fields_per_pass * elements_per_block * row;  // [elements_per_block][factors]
    const int block_first = first + blockIdx.x * elements_per_block;
    const int present = min(elements_per_block, last - block_first);

    for (int e = threadIdx.x; e < present; e += threads_per_block) {
        const real* const g = geometry + size_t(block_first + e) * geometry_words;
        real* const own = factor + e * factors;
        // Tangents over J: x_r / J = grad s x grad t, and cyclic; 1 / J = grad r . (x_r / J).
        for (int a = 0; a < 3; ++a) {
            const real* const b = g + 3 * ((a + 1) % 3);
            const real* const c = g + 3 * ((a + 2) % 3);
            for (int i = 0; i < 3; ++i) own[3 * a + i] = b[(i + 1) % 3] * c[(i + 2) % 3] - b[(i + 2) % 3] * c[(i + 1) % 3];
        }
        own[9] = real(1) / (g[0] * own[0] + g[1] * own[1] + g[2] * own[2]);
    }
    const int lane = threadIdx.x % 32;
    #pragma unroll 1
    for (int pass = 0; pass < passes; ++pass) {
        __syncthreads();  // the factors are there, and before the second pass nobody needs the first one's fields any more

        // Every value is read from memory once, `batch` nodes of a thread in flight together.
        for (int start = threadIdx.x; start < elements_per_block * row; start += batch * threads_per_block) {
            real value[batch][fields_per_pass];
            #pragma unroll
            for (int i = 0; i < batch; ++i) {
                const int e = (start + i * threads_per_block) / row;
                const int m = (start + i * threads_per_block) % row;
                const real* const source = q + (size_t(block_first + e) * fields + pass * fields_per_pass) * nodes + m;
                #pragma unroll
                for (int f = 0; f < fields_per_pass; ++f) value[i][f] = e < present && m < nodes ? source[f * nodes] : real(0);
            }
            #pragma unroll
            for (int i = 0; i < batch; ++i) {
                const int e = (start + i * threads_per_block) / row;
                const int m = place_of[(start + i * threads_per_block) % row];
                if (e < elements_per_block) {
                    const real* const own = factor + (e < present ? e : 0) * factors;
                    const real xr = own[0], yr = own[1], zr = own[2], xs = own[3], ys = own[4], zs = own[5], xt = own[6], yt = own[7], zt = own[8], J = own[9];
                    field[(0 * elements_per_block + e) * row + m] = xr * value[i][0] + yr * value[i][1] + zr * value[i][2];
                    field[(1 * elements_per_block + e) * row + m] = xs * value[i][0] + ys * value[i][1] + zs * value[i][2];
                    field[(2 * elements_per_block + e) * row + m] = xt * value[i][0] + yt * value[i][1] + zt * value[i][2];
                    field[(3 * elements_per_block + e) * row + m] = xr * value[i][3] + yr * value[i][4] + zr * value[i][5];
                    field[(4 * elements_per_block + e) * row + m] = xs * value[i][3] + ys * value[i][4] + zs * value[i][5];
                    field[(5 * elements_per_block + e) * row + m] = xt * value[i][3] + yt * value[i][4] + zt * value[i][5];
                }
            }
        }
        __syncthreads();

        for (int task = threadIdx.x / 32; task < node_tiles * column_groups; task += warps) {
            const int tile = task / column_groups;
            const int element = task % column_groups * (columns * 8);

            // Differentiate along r, s(, t); the operator's next coefficients arrive meanwhile.
            real sum[accumulators][columns][4] = {};
            const Coefficients* operator_here = reinterpret_cast<const Coefficients*>(D) + size_t(tile) * (steps * dimension * 2 * 32) + lane;
            const real* column = field + (element + lane / 4) * row + lane % 4 * 2;
            const unsigned long long used_0 = used[tile][0];
            const unsigned long long used_1 = used[tile][1];
            const unsigned long long used_2 = used[tile][2];
            Coefficients next[dimension][2];
            #pragma unroll
            for (int i = 0; i < dimension * 2; ++i) next[i / 2][i % 2] = operator_here[i * 32];
            #pragma unroll 2
            for (int step = 0; step < steps; ++step) {
                Coefficients d[dimension][2];
                #pragma unroll
                for (int i = 0; i < dimension * 2; ++i) d[i / 2][i % 2] = next[i / 2][i % 2];
                operator_here += step + 1 < steps ? dimension * 2 * 32 : 0;
                #pragma unroll
                for (int i = 0; i < dimension * 2; ++i) next[i / 2][i % 2] = operator_here[i * 32];
                #pragma unroll
                for (int c = 0; c < columns; ++c) {
                    Values u[fields_per_pass];
                    #pragma unroll
                    for (int f = 0; f < fields_per_pass; ++f) u[f] = load_values(column + (f * elements_per_block + c * 8) * row);
                    if (used_0 >> step & 1) {
                        multiply_add(sum[1][c], d[0], negated(u[2]));
                        multiply_add(sum[2][c], d[0], u[1]);
                        multiply_add(sum[4][c], d[0], negated(u[5]));
                        multiply_add(sum[5][c], d[0], u[4]);
                    }
                    if (used_1 >> step & 1) {
                        multiply_add(sum[0][c], d[1], u[2]);
                        multiply_add(sum[2][c], d[1], negated(u[0]));
                        multiply_add(sum[3][c], d[1], u[5]);
                        multiply_add(sum[5][c], d[1], negated(u[3]));
                    }
                    if (used_2 >> step & 1) {
                        multiply_add(sum[0][c], d[2], negated(u[1]));
                        multiply_add(sum[1][c], d[2], u[0]);
                        multiply_add(sum[3][c], d[2], negated(u[4]));
                        multiply_add(sum[4][c], d[2], u[3]);
                    }
                }
                column += 8;
            }

            // Combine the derivatives with the metric factors: a lane holds nodes lane / 4 and + 8 of elements lane % 4 * 2 and + 1.
            #pragma unroll
            for (int c = 0; c < columns; ++c)
                #pragma unroll
                for (int i = 0; i < 4; ++i) {
                    const int n = tile * 16 + lane / 4 + i / 2 * 8;
                    const int e = element + c * 8 + lane % 4 * 2 + i % 2;
                    if (n < nodes && e < present) {
                        const real* const own = factor + e * factors;
                        real* const target = rhs + (size_t(block_first + e) * fields + (passes - 1 - pass) * fields_per_pass) * nodes +
                        node_of[n];
                        const real xr = own[0], yr = own[1], zr = own[2], xs = own[3], ys = own[4], zs = own[5], xt = own[6], yt = own[7], zt = own[8], J = own[9];
                        target[0 * nodes] = J * (-xr * sum[3][c][i] - xs * sum[4][c][i] - xt * sum[5][c][i]);
                        target[1 * nodes] = J * (-yr * sum[3][c][i] - ys * sum[4][c][i] - yt * sum[5][c][i]);
                        target[2 * nodes] = J * (-zr * sum[3][c][i] - zs * sum[4][c][i] - zt * sum[5][c][i]);
                        target[3 * nodes] = J * (xr * sum[0][c][i] + xs * sum[1][c][i] + xt * sum[2][c][i]);
                        target[4 * nodes] = J * (yr * sum[0][c][i] + ys * sum[1][c][i] + yt * sum[2][c][i]);
                        target[5 * nodes] = J * (zr * sum[0][c][i] + zs * sum[1][c][i] + zt * sum[2][c][i]);
                    }
                }
        }
    }
}
