// fe_mass: y = M x and x . y, Q2 in 3 dimensions, 4 points along an axis, 3 components, f64
// hone emit fe_mass kernel=apply_dot data=stored dimension=3 order=2 points=4 components=3 precision=f64 elements=1000
//     nodes=10000 --target cuda --config form=teams,elements_per_block=16,columns_per_thread=2,components_at_once=all,
//     weights=late,node_threads=512,loads_in_flight=2,min_blocks=1
// The same text serves every mesh.
// per element: 5520 operations
using real = double;
using wide = long long;  // a position in an array
constexpr int components = 3, nodes_along = 3, points_along = 4;
constexpr int element_nodes_count = 27, element_points = 64;
constexpr int chunk_rows = 32, sum_lanes = 1024;
// Of an axis: values of the nodal functions at the points.
__constant__ real basis[4][3] = {
    {real(0.80134602936993082), real(0.25844425285419076), real(-0.059790282224121687)},
    {real(0.22778407679095208), real(0.88441289000295209), real(-0.11219696679390416)},
    {real(-0.11219696679390416), real(0.88441289000295209), real(0.22778407679095208)},
    {real(-0.059790282224121728), real(0.25844425285419098), real(0.80134602936993071)},
};
constexpr int components_at_once = 3, team = 8, elements_per_block = 16, threads_per_block = 128,
    blocks_per_multiprocessor = 1;
constexpr int sheet_row = 3, plane_row = 5;  // odd: threads with a row each are in different banks
constexpr int sheet_words = 36, plane_words = 60, element_words = 296;
constexpr int node_threads = 512, corners_together = 2;
constexpr unsigned all_lanes = 0xffffffffu;

__device__ __forceinline__ real multiply_add(real a, real b, real c) { return fma(a, b, c); }
__device__ __forceinline__ void barrier() { __syncwarp(); }

__device__ __forceinline__
int place_in_column(int column, int q) {
    return (column / points_along * points_along + q) * points_along + column % points_along;
}

// Weights of the points of a column of an element.
__device__ __forceinline__
void column_weights(const real* weights, wide element, int column, real (&weight)[points_along]) {
    #pragma unroll
    for (int q = 0; q < points_along; ++q) weight[q] = weights[element * element_points + place_in_column(column, q)];
}

// Where words of an element lie while a team works on it.
__device__ __forceinline__ int in_sheets(int line, int i) { return line * sheet_row + i; }
__device__ __forceinline__ int in_planes(int line, int q) { return line * plane_row + q; }

// Where an element's sums lie in memory: those of components that a team has at once side by side.
__device__ __forceinline__ wide in_sums(wide element, int node, int c, int) {
    constexpr int passes = components / components_at_once;
    return ((element * passes + c / components_at_once) * element_nodes_count + node) * components_at_once
        + c % components_at_once;
}

// At a point: sum over the nodes of an axis.
__device__ __forceinline__ real at_point(const real (&node)[nodes_along], int q) {
    real sum = 0;
    #pragma unroll
    for (int i = 0; i < nodes_along; ++i) sum = multiply_add(basis[q][i], node[i], sum);
    return sum;
}

// The way back: what a point adds to the nodes of an axis.
__device__ __forceinline__ void add_point(real (&node)[nodes_along], int q, real value) {
    #pragma unroll
    for (int i = 0; i < nodes_along; ++i) node[i] = multiply_add(basis[q][i], value, node[i]);
}

// Values at nodes to values at the points of an axis, times the points' weights, and back to nodes.
__device__ __forceinline__ void weigh(real (&node)[nodes_along], const real (&weight)[points_along]) {
    real sum[nodes_along] = {};
    #pragma unroll
    for (int q = 0; q < points_along; ++q) add_point(sum, q, at_point(node, q) * weight[q]);
    #pragma unroll
    for (int i = 0; i < nodes_along; ++i) node[i] = sum[i];
}

// A team of threads for each element. Sums along z, x and y, where a thread has a column of points, then back along y,
// x and z.
extern "C" __global__ void __launch_bounds__(threads_per_block, blocks_per_multiprocessor) multiply_elements(
    const real* __restrict__ weights,
    const int* __restrict__ element_nodes, const int* __restrict__ corner_starts, const int* __restrict__ corners,
    const real* __restrict__ x, real* __restrict__ y, real* __restrict__ dot, real* __restrict__ element_sums,
        real* __restrict__ chunk_sums,
    int elements, int nodes, int first, int last
) {
    extern __shared__ __align__(16) unsigned char shared_memory[];
    // [components_at_once][z][y][sheet_row]
    real* const sheets = reinterpret_cast<real*>(shared_memory) + threadIdx.x / team * element_words;
    // [components_at_once][z][y][plane_row]
    real* const planes = sheets + components_at_once * sheet_words;
    real* const sums = planes;  // [node][components_at_once], when the planes are done with
    const int member = threadIdx.x % team;
    const int wanted = first + blockIdx.x * elements_per_block + threadIdx.x / team;
    // where there is none, the last one's data take its place, and nothing is written
    const bool present = wanted < last;
    const wide element = present ? wanted : last - 1;
    constexpr int layer = nodes_along * nodes_along;
    #pragma unroll 1
    for (int component = 0; component < components; component += components_at_once) {
        for (int column = member; column < layer; column += team) {
            int place[nodes_along];
            #pragma unroll
            for (int i = 0; i < nodes_along; ++i)
                place[i] = element_nodes[element * element_nodes_count + i * layer + column];
            real node[components_at_once][nodes_along];
            #pragma unroll
            for (int c = 0; c < components_at_once; ++c)
                #pragma unroll
                for (int i = 0; i < nodes_along; ++i) node[c][i] = x[wide(component + c) * nodes + place[i]];
            #pragma unroll
            for (int c = 0; c < components_at_once; ++c)
                #pragma unroll
                for (int q = 0; q < points_along; ++q)
                    sheets[c * sheet_words + in_sheets(q * nodes_along + column / nodes_along, column % nodes_along)] =
                        at_point(node[c], q);
        }
        barrier();
        for (int line = member; line < points_along * nodes_along; line += team)
            #pragma unroll
            for (int c = 0; c < components_at_once; ++c) {
                real node[nodes_along];
                #pragma unroll
                for (int i = 0; i < nodes_along; ++i) node[i] = sheets[c * sheet_words + in_sheets(line, i)];
                #pragma unroll
                for (int q = 0; q < points_along; ++q) planes[c * plane_words + in_planes(line, q)] = at_point(node, q);
            }
        barrier();
        #pragma unroll 1
        for (int column = member; column < points_along * points_along; column += team) {
            const int begin = column / points_along * nodes_along, q = column % points_along;
            real weight[points_along];
            column_weights(weights, element, column, weight);
            #pragma unroll
            for (int c = 0; c < components_at_once; ++c) {
                real node[nodes_along];
                #pragma unroll
                for (int i = 0; i < nodes_along; ++i) node[i] = planes[c * plane_words + in_planes(begin + i, q)];
                weigh(node, weight);
                #pragma unroll
                for (int i = 0; i < nodes_along; ++i) planes[c * plane_words + in_planes(begin + i, q)] = node[i];
            }
        }
        barrier();
        for (int line = member; line < points_along * nodes_along; line += team)
            #pragma unroll
            for (int c = 0; c < components_at_once; ++c) {
                real node[nodes_along] = {};
                #pragma unroll
                for (int q = 0; q < points_along; ++q) add_point(node, q, planes[c * plane_words + in_planes(line, q)]);
                #pragma unroll
                for (int i = 0; i < nodes_along; ++i) sheets[c * sheet_words + in_sheets(line, i)] = node[i];
            }
        barrier();
        for (int column = member; column < layer; column += team)
            #pragma unroll
            for (int c = 0; c < components_at_once; ++c) {
                real node[nodes_along] = {};
                #pragma unroll
                for (int q = 0; q < points_along; ++q)
                    add_point(node, q,
                        sheets[c * sheet_words
                        + in_sheets(q * nodes_along + column / nodes_along, column % nodes_along)]);
                #pragma unroll
                for (int i = 0; i < nodes_along; ++i) sums[(i * layer + column) * components_at_once + c] = node[i];
            }
        barrier();
        if (present)
            for (int i = member; i < element_nodes_count * components_at_once; i += team)
                element_sums[in_sums(element, 0, component, elements) + i] = sums[i];
    }
}

// A thread for each node adds up, in order, what its elements have; `corners_together` of them are in flight.
extern "C" __global__ void __launch_bounds__(node_threads) add_up(
    const real* __restrict__ weights,
    const int* __restrict__ element_nodes, const int* __restrict__ corner_starts, const int* __restrict__ corners,
    const real* __restrict__ x, real* __restrict__ y, real* __restrict__ dot, real* __restrict__ element_sums,
        real* __restrict__ chunk_sums,
    int elements, int nodes, int first, int last
) {
    const int node = blockIdx.x * node_threads + threadIdx.x;
    real sum[components] = {};
    if (node < nodes) {
        const int end = corner_starts[node + 1];
        for (int corner = corner_starts[node]; corner < end; corner += corners_together) {
            int place[corners_together];
            #pragma unroll
            for (int i = 0; i < corners_together; ++i) place[i] = corner + i < end ? corners[corner + i] : -1;
            real of_corner[corners_together][components];
            #pragma unroll
            for (int i = 0; i < corners_together; ++i) {
                const int element = place[i] / element_nodes_count;
                const bool here = place[i] >= 0 && element >= first && element < last;  // not of elements elsewhere
                #pragma unroll
                for (int c = 0; c < components; ++c)
                    of_corner[i][c] = here ? element_sums[in_sums(element, place[i] % element_nodes_count, c, elements)]
                        : real(0);
            }
            #pragma unroll
            for (int i = 0; i < corners_together; ++i)
                #pragma unroll
                for (int c = 0; c < components; ++c) sum[c] += of_corner[i][c];
        }
        #pragma unroll
        for (int c = 0; c < components; ++c) y[wide(c) * nodes + node] = sum[c];
    }

    // Rows' products with x in pairs of neighbours, by a warp for each chunk.
    const int chunks = (nodes + chunk_rows - 1) / chunk_rows, chunk = node / chunk_rows;
    #pragma unroll
    for (int c = 0; c < components; ++c) {
        real product = node < nodes ? multiply_add(sum[c], x[wide(c) * nodes + node], real(0)) : real(0);
        #pragma unroll
        for (int joined = 1; joined < chunk_rows; joined *= 2) product += __shfl_xor_sync(all_lanes, product, joined);
        if (threadIdx.x % chunk_rows == 0 && chunk < chunks) chunk_sums[wide(c) * chunks + chunk] = product;
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
    const real* __restrict__ weights,
    const int* __restrict__ element_nodes, const int* __restrict__ corner_starts, const int* __restrict__ corners,
    const real* __restrict__ x, real* __restrict__ y, real* __restrict__ dot, real* __restrict__ element_sums,
        real* __restrict__ chunk_sums,
    int elements, int nodes, int first, int last
) {
    const int rows = nodes, chunks = (nodes + chunk_rows - 1) / chunk_rows;
    const int c = blockIdx.x;
    double sum = 0;
    #pragma unroll 8
    for (int chunk = threadIdx.x; chunk < chunks; chunk += sum_lanes)
        sum += double(chunk_sums[wide(c) * chunks + chunk]);
    sum = sum_of_block(sum);
    if (threadIdx.x == 0) dot[c] = real(sum / rows);
}
