// csr_spmv: y = A x and x . y, 3 components, one after the other, f64
// hone emit csr_spmv kernel=apply_dot components=3 vectors=split precision=f64 rows=100000 entries=2700000 --target
//     cuda --config form=vector,threads_per_row=8,rows_per_group=8,threads=128,loads_in_flight=4,cache_hint=cached,
//     min_blocks=1
// The same text serves every matrix.
// per entry: 6 operations, 12 bytes (compulsory), without the vectors
using real = double;
using wide = long long;  // a position in an array
constexpr int components = 3;
constexpr int lanes = 8, own_sums = 4;  // threads that share a row, partial sums of each
constexpr int together = 4, groups = 1, trip = 32;  // entries of a lane in flight, how often, entries of all lanes then
constexpr int steps = 8, rows_per_step = 4, rows_per_warp = 32, rows_per_block = 128;
constexpr int threads_per_block = 128, min_blocks = 1;
constexpr int chunk_rows = 32, sum_lanes = 1024;
constexpr unsigned all_lanes = 0xffffffffu;

// Where a component of a row lies in vectors of `count` words each.
__device__ __forceinline__ wide place(wide row, int component, int count) {
    return wide(component) * count + row;
}

// Words of the matrix are used once.
template <typename Word>
__device__ __forceinline__ Word load_once(const Word* from) {
    return *from;
}

// A row's entries [begin, end) times x. Entry j goes to partial sum j % partial_sums, of which a lane has every
// `lanes`-th; these are joined partial_sums / 2 apart, then a quarter, and so on, whatever a lane has of them.
__device__ __forceinline__ void multiply_row(const real* values, const int* column_indices, const real* x, int columns,
    int begin, int end, int lane,
                                             real (&product)[components]) {
    real sum[own_sums][components] = {};
    for (int at = begin; at < end; at += trip) {
        #pragma unroll
        for (int group = 0; group < groups; ++group) {
            const int from = at + group * together * lanes + lane;
            if (groups == 1 || from < end) {
                real value[together];
                int column[together];
                #pragma unroll
                for (int i = 0; i < together; ++i) {
                    const bool there = from + i * lanes < end;
                    value[i] = there ? load_once(values + from + i * lanes) : real(0);
                    column[i] = there ? load_once(column_indices + from + i * lanes) : -1;
                }
                #pragma unroll
                for (int i = 0; i < together; ++i) {
                    #pragma unroll
                    for (int c = 0; c < components; ++c) {
                        real& to = sum[(group * together + i) % own_sums][c];
                        to = fma(value[i], column[i] >= 0 ? x[place(column[i], c, columns)] : real(0), to);
                    }
                }
            }
        }
    }
    #pragma unroll
    for (int c = 0; c < components; ++c) {
        #pragma unroll
        for (int i = 0; i < 2; ++i) sum[i][c] += sum[i + 2][c];
        #pragma unroll
        for (int i = 0; i < 1; ++i) sum[i][c] += sum[i + 1][c];
        product[c] = sum[0][c];
        #pragma unroll
        for (int half = lanes / 2; half > 0; half /= 2) product[c] += __shfl_xor_sync(all_lanes, product[c], half);
    }
}

// `lanes` neighbouring threads share a row; a warp takes `steps` times as many rows as it has such groups, one after
// the other.
extern "C" __global__ void __launch_bounds__(threads_per_block, min_blocks) csr_spmv(
    const real* __restrict__ values, const int* __restrict__ column_indices, const int* __restrict__ row_starts,
    const real* __restrict__ x, real* __restrict__ y, real* __restrict__ dot, real* __restrict__ chunk_sums,
    int rows, int columns, int first, int last
) {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int rows_here = last - first;
    // counted from `first`, as all rows here
    const int warp_first = blockIdx.x * rows_per_block + warp * rows_per_warp;
    // Each lane has one of the warp's rows: it knows where that begins and ends, and in the end its products.
    const int row = warp_first + lane;
    const bool has_row = lane < rows_per_warp && row < rows_here;
    const int row_begin = has_row ? row_starts[first + row] : 0, row_end = has_row ? row_starts[first + row + 1] : 0;
    real y_row[components] = {};
    #pragma unroll 1
    for (int step = 0; step < steps; ++step) {
        const int of = step * rows_per_step + lane / lanes;
        const int begin = __shfl_sync(all_lanes, row_begin, of), end = __shfl_sync(all_lanes, row_end, of);
        real product[components];
        multiply_row(values, column_indices, x, columns, begin, end, lane % lanes, product);
        #pragma unroll
        for (int c = 0; c < components; ++c) {
            const real mine = __shfl_sync(all_lanes, product[c], lane % rows_per_step * lanes);
            if (lane / rows_per_step == step) y_row[c] = mine;
        }
    }
    if (has_row) {
        #pragma unroll
        for (int c = 0; c < components; ++c) y[place(first + row, c, rows)] = y_row[c];
    }
    const int chunks = (rows_here + chunk_rows - 1) / chunk_rows;
    const int chunk = warp_first / chunk_rows;
    #pragma unroll
    for (int c = 0; c < components; ++c) {
        real sum = has_row ? y_row[c] * x[place(first + row, c, columns)] : real(0);
        #pragma unroll
        for (int joined = 1; joined < chunk_rows; joined *= 2) sum += __shfl_xor_sync(all_lanes, sum, joined);
        if (lane == 0 && chunk < chunks) chunk_sums[wide(c) * chunks + chunk] = sum;
    }
}

// Sum over the threads of the block, in pairs of neighbours; the first thread gets it.
__device__ __forceinline__ double sum_of_block(double value) {
    __shared__ double of_warp[sum_lanes / 32];
    for (int lanes_joined = 1; lanes_joined < 32; lanes_joined *= 2)
        value += __shfl_xor_sync(all_lanes, value, lanes_joined);
    if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = value;
    __syncthreads();
    value = of_warp[threadIdx.x % (sum_lanes / 32)];
    for (int lanes_joined = 1; lanes_joined < sum_lanes / 32; lanes_joined *= 2)
        value += __shfl_xor_sync(all_lanes, value, lanes_joined);
    __syncthreads();
    return value;
}

// A block for each component: the rest of the dot products, the same whatever the configuration, in double precision.
extern "C" __global__ void __launch_bounds__(sum_lanes) finish(
    const real* __restrict__ values, const int* __restrict__ column_indices, const int* __restrict__ row_starts,
    const real* __restrict__ x, real* __restrict__ y, real* __restrict__ dot, real* __restrict__ chunk_sums,
    int rows, int columns, int first, int last
) {
    const int chunks = (last - first + chunk_rows - 1) / chunk_rows;
    const int c = blockIdx.x;
    double sum = 0;
    #pragma unroll 8
    for (int chunk = threadIdx.x; chunk < chunks; chunk += sum_lanes)
        sum += double(chunk_sums[wide(c) * chunks + chunk]);
    sum = sum_of_block(sum);
    if (threadIdx.x == 0) dot[c] = real(sum / rows);
}
