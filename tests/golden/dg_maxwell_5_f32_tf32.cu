// dg_volume: maxwell_3d, order 5, f32
// hone emit dg_volume equation=maxwell_3d order=5 precision=f32 arithmetic=f32_accurate elements=100000 --target cuda
//     --config form=tf32,algebra=covariant,fields_per_pass=6,elements_per_block=32,groups_per_warp=4,operator=global,
//     unroll=1,padding=1,min_blocks=1
// The same text serves any number of elements.
// per element: 116592 operations, 2724 bytes (compulsory); this form executes 261744 operations
using real = float;
constexpr int nodes = 56, fields = 6, factors = 10, accumulators = 6;
constexpr int dimension = 3, geometry_words = dimension * dimension;
constexpr int fields_per_pass = 6, passes = fields / fields_per_pass;
constexpr int elements_per_block = 32, warps = 4, threads_per_block = 128, blocks_per_multiprocessor = 1;
constexpr int columns = 4;  // groups of 8 elements per warp
constexpr int node_tiles = 4, column_groups = 1;
constexpr int steps = 7;    // of 8 columns of the operator
constexpr int row = 56;      // nodes of one field of one element in shared memory, padded
constexpr int batch = 4;    // nodes that a thread loads at a time

// f32 on the matrix units for TF32: a number is the sum of a high and a low one of 11 bits each.
using Coefficients = float4;  // of a lane: high or low parts of columns 2t and 2t + 1, nodes g and g + 8 each
struct Values {               // of a lane: columns 2t and 2t + 1
    float high[2], low[2];
};

__device__ __forceinline__ float without_last_bits(unsigned bits) { return __uint_as_float(bits & 0xffffe000u); }

// High parts are rounded to nearest, so that low parts have 12 bits, of which at most one is cut off.
__device__ __forceinline__ Values load_values(const real* from) {
    const float2 both = *reinterpret_cast<const float2*>(from);
    const float value[2] = {both.x, both.y};
    Values split;
    #pragma unroll
    for (int i = 0; i < 2; ++i) {
        split.high[i] = without_last_bits(__float_as_uint(value[i]) + 0x1000u);
        split.low[i] = without_last_bits(__float_as_uint(value[i] - split.high[i]));
    }
    return split;
}

// c += a b, one term: a holds 16 nodes x 8 columns, b 8 columns x 8 elements, spread over the warp as PTX prescribes
// for m16n8k8. Which column of the operator plays which of the 8 is free as long as both agree: lane group t takes
// columns 2t and 2t + 1, so that a lane's two values of b are neighbours in shared memory.
__device__ __forceinline__ void multiply_add_term(real (&c)[4], const Coefficients& a, const float (&b)[2]) {
    asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(__float_as_uint(a.x)), "r"(__float_as_uint(a.y)), "r"(__float_as_uint(a.z)), "r"(__float_as_uint(a.w)),
          "r"(__float_as_uint(b[0])), "r"(__float_as_uint(b[1])));
}

// All terms but low x low, small ones first.
__device__ __forceinline__ void multiply_add(real (&c)[4], const Coefficients (&a)[2], const Values& b) {
    multiply_add_term(c, a[1], b.high);
    multiply_add_term(c, a[0], b.low);
    multiply_add_term(c, a[0], b.high);
}

__device__ __forceinline__ Values negated(const Values& b) {
    return {{-b.high[0], -b.high[1]}, {-b.low[0], -b.low[1]}};
}

// A block handles `elements_per_block` elements; its warps take tiles of 16 nodes x `columns` groups of 8 elements in
// turn.
extern "C" __global__ void __launch_bounds__(threads_per_block, blocks_per_multiprocessor)
dg_volume(const real* __restrict__ q, const real* __restrict__ geometry, real* __restrict__ rhs,
    const real* __restrict__ D, int first, int last) {
    extern __shared__ __align__(16) unsigned char shared_memory[];
    // [fields_per_pass][elements_per_block][row]
    real* const field = reinterpret_cast<real*>(shared_memory);
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
            for (int i = 0; i < 3; ++i)
                own[3 * a + i] = b[(i + 1) % 3] * c[(i + 2) % 3] - b[(i + 2) % 3] * c[(i + 1) % 3];
        }
        own[9] = real(1) / (g[0] * own[0] + g[1] * own[1] + g[2] * own[2]);
    }
    const int lane = threadIdx.x % 32;
    #pragma unroll 1
    for (int pass = 0; pass < passes; ++pass) {
        // the factors are there, and before the second pass nobody needs the first one's fields any more
        __syncthreads();

        // Every value is read from memory once, `batch` nodes of a thread in flight together.
        for (int start = threadIdx.x; start < elements_per_block * row; start += batch * threads_per_block) {
            real value[batch][fields_per_pass];
            #pragma unroll
            for (int i = 0; i < batch; ++i) {
                const int e = (start + i * threads_per_block) / row;
                const int m = (start + i * threads_per_block) % row;
                const real* const source = q + (size_t(block_first + e) * fields + pass * fields_per_pass) * nodes + m;
                #pragma unroll
                for (int f = 0; f < fields_per_pass; ++f)
                    value[i][f] = e < present && m < nodes ? source[f * nodes] : real(0);
            }
            #pragma unroll
            for (int i = 0; i < batch; ++i) {
                const int e = (start + i * threads_per_block) / row;
                const int m = (start + i * threads_per_block) % row;
                if (e < elements_per_block) {
                    const real* const own = factor + (e < present ? e : 0) * factors;
                    const real xr = own[0], yr = own[1], zr = own[2], xs = own[3], ys = own[4], zs = own[5],
                        xt = own[6], yt = own[7], zt = own[8], J = own[9];
                    field[(0 * elements_per_block + e) * row + m] = xr * value[i][0] + yr * value[i][1]
                        + zr * value[i][2];
                    field[(1 * elements_per_block + e) * row + m] = xs * value[i][0] + ys * value[i][1]
                        + zs * value[i][2];
                    field[(2 * elements_per_block + e) * row + m] = xt * value[i][0] + yt * value[i][1]
                        + zt * value[i][2];
                    field[(3 * elements_per_block + e) * row + m] = xr * value[i][3] + yr * value[i][4]
                        + zr * value[i][5];
                    field[(4 * elements_per_block + e) * row + m] = xs * value[i][3] + ys * value[i][4]
                        + zs * value[i][5];
                    field[(5 * elements_per_block + e) * row + m] = xt * value[i][3] + yt * value[i][4]
                        + zt * value[i][5];
                }
            }
        }
        __syncthreads();

        for (int task = threadIdx.x / 32; task < node_tiles * column_groups; task += warps) {
            const int tile = task / column_groups;
            const int element = task % column_groups * (columns * 8);

            // Differentiate along r, s(, t); the operator's next coefficients arrive meanwhile.
            real sum[accumulators][columns][4] = {};
            const Coefficients* operator_here = reinterpret_cast<const Coefficients*>(D)
                + size_t(tile) * (steps * dimension * 2 * 32) + lane;
            const real* column = field + (element + lane / 4) * row + lane % 4 * 2;
            Coefficients next[dimension][2];
            #pragma unroll
            for (int i = 0; i < dimension * 2; ++i) next[i / 2][i % 2] = operator_here[i * 32];
            #pragma unroll 1
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
                    for (int f = 0; f < fields_per_pass; ++f)
                        u[f] = load_values(column + (f * elements_per_block + c * 8) * row);
                    multiply_add(sum[0][c], d[1], u[2]);
                    multiply_add(sum[0][c], d[2], negated(u[1]));
                    multiply_add(sum[1][c], d[2], u[0]);
                    multiply_add(sum[1][c], d[0], negated(u[2]));
                    multiply_add(sum[2][c], d[0], u[1]);
                    multiply_add(sum[2][c], d[1], negated(u[0]));
                    multiply_add(sum[3][c], d[1], u[5]);
                    multiply_add(sum[3][c], d[2], negated(u[4]));
                    multiply_add(sum[4][c], d[2], u[3]);
                    multiply_add(sum[4][c], d[0], negated(u[5]));
                    multiply_add(sum[5][c], d[0], u[4]);
                    multiply_add(sum[5][c], d[1], negated(u[3]));
                }
                column += 8;
            }

            // Combine the derivatives with the metric factors: a lane holds nodes lane / 4 and + 8 of elements lane % 4
            // * 2 and + 1.
            #pragma unroll
            for (int c = 0; c < columns; ++c)
                #pragma unroll
                for (int i = 0; i < 4; ++i) {
                    const int n = tile * 16 + lane / 4 + i / 2 * 8;
                    const int e = element + c * 8 + lane % 4 * 2 + i % 2;
                    if (n < nodes && e < present) {
                        const real* const own = factor + e * factors;
                        real* const target = rhs
                            + (size_t(block_first + e) * fields + (passes - 1 - pass) * fields_per_pass) * nodes + n;
                        const real xr = own[0], yr = own[1], zr = own[2], xs = own[3], ys = own[4], zs = own[5],
                            xt = own[6], yt = own[7], zt = own[8], J = own[9];
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
