// fe_mass: y = M x, Q4 in 2 dimensions, 6 points along an axis, 1 component, f32
// hone emit fe_mass kernel=apply data=vertices dimension=2 order=4 points=0 components=1 precision=f32 elements=1000
//     nodes=10000 --target cuda --config form=teams,elements_per_block=16,columns_per_thread=1,components_at_once=one,
//     weights=early,node_threads=128,loads_in_flight=2,min_blocks=1
// The same text serves every mesh.
// per element: 1356 operations
using real = float;
using wide = long long;  // a position in an array
constexpr int components = 1, nodes_along = 5, points_along = 6;
constexpr int element_nodes_count = 25, element_points = 36;
// Of an axis: values of the nodal functions at the points.
__constant__ real basis[6][5] = {
    {real(0.69522117570423703), real(0.39431440384674354), real(-0.13426318828001771), real(0.069022234536328192),
        real(-0.024294625807290953)},
    {real(0.0082909109215662646), real(0.99974741177781357), real(-0.011328263453256526), real(0.0049808069509706563),
        real(-0.0016908661970939474)},
    {real(-0.096109138387809268), real(0.41040634611162752), real(0.81776776027321862), real(-0.19114337953202329),
        real(0.059078411534986289)},
    {real(0.059078411534986282), real(-0.19114337953202329), real(0.81776776027321874), real(0.41040634611162757),
        real(-0.096109138387809281)},
    {real(-0.001690866197093976), real(0.0049808069509707396), real(-0.011328263453256715), real(0.99974741177781346),
        real(0.0082909109215664068)},
    {real(-0.02429462580729095), real(0.069022234536328192), real(-0.13426318828001771), real(0.39431440384674349),
        real(0.69522117570423703)},
};
__constant__ real place_of_point[6] =
    {real(0.033765242898423975), real(0.1693953067668677), real(0.38069040695840151), real(0.61930959304159849),
    real(0.83060469323313235), real(0.96623475710157603)};
__constant__ real weight_of_point[6] =
    {real(0.085662246189585248), real(0.1803807865240693), real(0.23395696728634552), real(0.23395696728634552),
    real(0.1803807865240693), real(0.085662246189585248)};
constexpr int components_at_once = 1, team = 6, elements_per_block = 16, threads_per_block = 96,
    blocks_per_multiprocessor = 1;
constexpr int sheet_row = 5, plane_row = 7;  // odd: threads with a row each are in different banks
constexpr int sheet_words = 30, plane_words = 0, element_words = 70;
constexpr int node_threads = 128, corners_together = 2;
constexpr unsigned all_lanes = 0xffffffffu;

__device__ __forceinline__ real multiply_add(real a, real b, real c) { return fma(a, b, c); }
__device__ __forceinline__ void barrier() { __syncthreads(); }

// a (1 - t) + b t.
__device__ __forceinline__
real between(real a, real b, real t) {
    return multiply_add(t, b - a, a);
}

__device__ __forceinline__
real cross(const real (&a)[2], const real (&b)[2]) {
    return multiply_add(a[0], b[1], -(a[1] * b[0]));
}

// Weights of the points of a line along x, number `column` along y: the Jacobian's determinant is linear in x there.
__device__ __forceinline__
void column_weights(const real* vertices, const real* density, wide element, int column, real (&weight)[points_along]) {
    const real y = place_of_point[column];
    // derivatives of the place; that along y at x = 0, and how it changes with x
    real along_x[2], along_y[2], change[2];
    #pragma unroll
    for (int c = 0; c < 2; ++c) {
        const real* const at = vertices + (element * 2 + c) * 4;
        along_x[c] = between(at[1] - at[0], at[3] - at[2], y);
        along_y[c] = at[2] - at[0];
        change[c] = (at[3] - at[1]) - along_y[c];
    }
    const real constant = cross(along_x, along_y), slope = cross(along_x, change);
    const real scale = density[element] * weight_of_point[column];
    #pragma unroll
    for (int q = 0; q < points_along; ++q)
        weight[q] = multiply_add(slope, place_of_point[q], constant) * (scale * weight_of_point[q]);
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

// A team of threads for each element. Sums along y and x, where a thread has a line of points, then back along x and y.
extern "C" __global__ void __launch_bounds__(threads_per_block, blocks_per_multiprocessor) multiply_elements(
    const real* __restrict__ vertices, const real* __restrict__ density,
    const int* __restrict__ element_nodes, const int* __restrict__ corner_starts, const int* __restrict__ corners,
    const real* __restrict__ x, real* __restrict__ y, real* __restrict__ element_sums,
    int elements, int nodes, int first, int last
) {
    extern __shared__ __align__(16) unsigned char shared_memory[];
    // [components_at_once][y][sheet_row]
    real* const sheets = reinterpret_cast<real*>(shared_memory) + threadIdx.x / team * element_words;
    // [node][components_at_once]
    real* const sums = sheets + components_at_once * sheet_words;
    const int member = threadIdx.x % team;
    const int wanted = first + blockIdx.x * elements_per_block + threadIdx.x / team;
    // where there is none, the last one's data take its place, and nothing is written
    const bool present = wanted < last;
    const wide element = present ? wanted : last - 1;
    real weight[points_along];
    column_weights(vertices, density, element, member, weight);
    #pragma unroll 1
    for (int component = 0; component < components; component += components_at_once) {
        for (int column = member; column < nodes_along; column += team) {
            int place[nodes_along];
            #pragma unroll
            for (int i = 0; i < nodes_along; ++i)
                place[i] = element_nodes[element * element_nodes_count + i * nodes_along + column];
            real node[components_at_once][nodes_along];
            #pragma unroll
            for (int c = 0; c < components_at_once; ++c)
                #pragma unroll
                for (int i = 0; i < nodes_along; ++i) node[c][i] = x[wide(component + c) * nodes + place[i]];
            #pragma unroll
            for (int c = 0; c < components_at_once; ++c)
                #pragma unroll
                for (int q = 0; q < points_along; ++q)
                    sheets[c * sheet_words + in_sheets(q, column)] = at_point(node[c], q);
        }
        barrier();
        #pragma unroll 1
        for (int column = member; column < points_along; column += team) {
            #pragma unroll
            for (int c = 0; c < components_at_once; ++c) {
                real node[nodes_along];
                #pragma unroll
                for (int i = 0; i < nodes_along; ++i) node[i] = sheets[c * sheet_words + in_sheets(column, i)];
                weigh(node, weight);
                #pragma unroll
                for (int i = 0; i < nodes_along; ++i) sheets[c * sheet_words + in_sheets(column, i)] = node[i];
            }
        }
        barrier();
        for (int column = member; column < nodes_along; column += team)
            #pragma unroll
            for (int c = 0; c < components_at_once; ++c) {
                real node[nodes_along] = {};
                #pragma unroll
                for (int q = 0; q < points_along; ++q)
                    add_point(node, q, sheets[c * sheet_words + in_sheets(q, column)]);
                #pragma unroll
                for (int i = 0; i < nodes_along; ++i)
                    sums[(i * nodes_along + column) * components_at_once + c] = node[i];
            }
        barrier();
        if (present)
            for (int i = member; i < element_nodes_count * components_at_once; i += team)
                element_sums[in_sums(element, 0, component, elements) + i] = sums[i];
    }
}

// A thread for each node adds up, in order, what its elements have; `corners_together` of them are in flight.
extern "C" __global__ void __launch_bounds__(node_threads) add_up(
    const real* __restrict__ vertices, const real* __restrict__ density,
    const int* __restrict__ element_nodes, const int* __restrict__ corner_starts, const int* __restrict__ corners,
    const real* __restrict__ x, real* __restrict__ y, real* __restrict__ element_sums,
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
}
