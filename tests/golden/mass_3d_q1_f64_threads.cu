// fe_mass: y = M x, Q1 in 3 dimensions, 3 points along an axis, 3 components, f64
// hone emit fe_mass kernel=apply data=stored dimension=3 order=1 points=0 components=3 precision=f64 elements=1000
//     nodes=10000 --target cuda --config form=threads,elements_per_block=32,staging=registers,node_threads=128,
//     loads_in_flight=2,min_blocks=1
// The same text serves every mesh.
// per element: 1449 operations
using real = double;
using wide = long long;  // a position in an array
constexpr int components = 3, nodes_along = 2, points_along = 3;
constexpr int element_nodes_count = 8, element_points = 27;
// Of an axis: values of the nodal functions at the points.
__constant__ real basis[3][2] = {
    {real(0.8872983346207417), real(0.1127016653792583)},
    {real(0.5), real(0.5)},
    {real(0.1127016653792583), real(0.8872983346207417)},
};
constexpr int elements_per_block = 32, threads_per_block = 96, blocks_per_multiprocessor = 1;
constexpr int weight_row = 27, node_row = 9;  // odd: threads with a row each are in different banks
constexpr int node_threads = 128, corners_together = 2;

__device__ __forceinline__ real multiply_add(real a, real b, real c) { return fma(a, b, c); }


// Where an element's sums lie in memory: those of neighbouring elements, which neighbouring threads have, side by side.
__device__ __forceinline__ wide in_sums(wide element, int node, int c, int elements) {
    return (wide(c) * element_nodes_count + node) * elements + element;
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

// A thread for each component of an element, whose values at nodes and sums are in registers; weights and nodes'
// numbers come through shared memory, so that neighbouring threads read neighbouring words.
extern "C" __global__ void __launch_bounds__(threads_per_block, blocks_per_multiprocessor) multiply_elements(
    const real* __restrict__ weights,
    const int* __restrict__ element_nodes, const int* __restrict__ corner_starts, const int* __restrict__ corners,
    const real* __restrict__ x, real* __restrict__ y, real* __restrict__ element_sums,
    int elements, int nodes, int first, int last
) {
    extern __shared__ __align__(16) unsigned char shared_memory[];
    // [element][weight_row]
    real* const weights_here = reinterpret_cast<real*>(shared_memory);
    // [element][node_row]
    int* const nodes_here = reinterpret_cast<int*>(weights_here + elements_per_block * weight_row);
    const int begin = first + blockIdx.x * elements_per_block;
    const int elements_here = min(elements_per_block, last - begin);
    #pragma unroll 8
    for (int i = threadIdx.x; i < elements_here * element_nodes_count; i += threads_per_block)
        nodes_here[i / element_nodes_count * node_row + i % element_nodes_count] =
            element_nodes[wide(begin) * element_nodes_count + i];
    #pragma unroll 8
    for (int i = threadIdx.x; i < elements_here * element_points; i += threads_per_block)
        weights_here[i / element_points * weight_row + i % element_points] = weights[wide(begin) * element_points + i];
    __syncthreads();
    const int mine = threadIdx.x % elements_per_block, component = threadIdx.x / elements_per_block;
    if (mine >= elements_here) return;
    const real* const own = weights_here + mine * weight_row;
    real value[element_nodes_count], sum[element_nodes_count] = {};
    #pragma unroll
    for (int i = 0; i < element_nodes_count; ++i)
        value[i] = x[wide(component) * nodes + nodes_here[mine * node_row + i]];
    // Layers of points: along z to a layer, then along x and y and back, then what the layer adds to nodes.
    constexpr int layer = nodes_along * nodes_along;
    #pragma unroll 1
    for (int qz = 0; qz < points_along; ++qz) {
        real sheet[layer], back[layer] = {};
        #pragma unroll
        for (int i = 0; i < layer; ++i) {
            real node[nodes_along];
            #pragma unroll
            for (int z = 0; z < nodes_along; ++z) node[z] = value[z * layer + i];
            sheet[i] = at_point(node, qz);
        }
        #pragma unroll
        for (int qx = 0; qx < points_along; ++qx) {
            real weight[points_along], node[nodes_along];
            #pragma unroll
            for (int qy = 0; qy < points_along; ++qy) weight[qy] = own[(qz * points_along + qy) * points_along + qx];
            #pragma unroll
            for (int y = 0; y < nodes_along; ++y) {
                real row[nodes_along];
                #pragma unroll
                for (int i = 0; i < nodes_along; ++i) row[i] = sheet[y * nodes_along + i];
                node[y] = at_point(row, qx);
            }
            weigh(node, weight);
            #pragma unroll
            for (int i = 0; i < layer; ++i)
                back[i] = multiply_add(basis[qx][i % nodes_along], node[i / nodes_along], back[i]);
        }
        #pragma unroll
        for (int i = 0; i < element_nodes_count; ++i)
            sum[i] = multiply_add(basis[qz][i / layer], back[i % layer], sum[i]);
    }
    #pragma unroll
    for (int i = 0; i < element_nodes_count; ++i) element_sums[in_sums(begin + mine, i, component, elements)] = sum[i];
}

// A thread for each node adds up, in order, what its elements have; `corners_together` of them are in flight.
extern "C" __global__ void __launch_bounds__(node_threads) add_up(
    const real* __restrict__ weights,
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
