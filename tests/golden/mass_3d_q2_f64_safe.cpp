// fe_mass: y = M x and x . y, Q2 in 3 dimensions, 4 points along an axis, 3 components, f64
// hone emit fe_mass kernel=apply_dot data=stored dimension=3 order=2 points=4 components=3 precision=f64 elements=1000
//     nodes=10000 --target cpu --config form=vector,lanes=4,schedule=static,threads=all,binding=none
// The same text serves every mesh.
// per element: 5520 operations
#include <algorithm>

using real = double;
using wide = long long;  // a position in an array
constexpr int components = 3, nodes_along = 3, points_along = 4;
constexpr int element_nodes_count = 27, element_points = 64;
constexpr int chunk_rows = 32, sum_lanes = 1024;
// Of an axis: values of the nodal functions at the points.
static constexpr real basis[4][3] = {
    {real(0.80134602936993082), real(0.25844425285419076), real(-0.059790282224121687)},
    {real(0.22778407679095208), real(0.88441289000295209), real(-0.11219696679390416)},
    {real(-0.11219696679390416), real(0.88441289000295209), real(0.22778407679095208)},
    {real(-0.059790282224121728), real(0.25844425285419098), real(0.80134602936993071)},
};
constexpr int lanes = 4, columns = 16;  // elements of a vector, lines of an element's points

namespace {

// a b + c, rounded once where the processor can: the compiler must not choose, or digits would differ between
// configurations.
inline real multiply_add(real a, real b, real c) {
    #if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
    return __builtin_fma(a, b, c);
    #else
    return a * b + c;
    #endif
}

static inline
int place_in_column(int column, int q) {
    return (column / points_along * points_along + q) * points_along + column % points_along;
}

// Weights of the points of a column of an element.
static inline
void column_weights(const real* weights, wide element, int column, real (&weight)[points_along]) {
    #pragma GCC unroll 32
    for (int q = 0; q < points_along; ++q) weight[q] = weights[element * element_points + place_in_column(column, q)];
}

// Neighbouring elements are the lanes of vectors: word i of all of them stands at lanes * i.

// Values at the points of an axis from those at its nodes, which are `from_step` apart; results are `to_step` apart.
inline void to_points(const real* from, int from_step, real* to, int to_step) {
    #pragma GCC unroll 32
    for (int q = 0; q < points_along; ++q) {
        #pragma omp simd simdlen(lanes)
        for (int lane = 0; lane < lanes; ++lane) {
            real sum = 0;
            #pragma GCC unroll 32
            for (int i = 0; i < nodes_along; ++i)
                sum = multiply_add(basis[q][i], from[i * from_step * lanes + lane], sum);
            to[q * to_step * lanes + lane] = sum;
        }
    }
}

// The way back.
inline void to_nodes(const real* from, int from_step, real* to, int to_step) {
    #pragma GCC unroll 32
    for (int i = 0; i < nodes_along; ++i) {
        #pragma omp simd simdlen(lanes)
        for (int lane = 0; lane < lanes; ++lane) {
            real sum = 0;
            #pragma GCC unroll 32
            for (int q = 0; q < points_along; ++q)
                sum = multiply_add(basis[q][i], from[q * from_step * lanes + lane], sum);
            to[i * to_step * lanes + lane] = sum;
        }
    }
}

// Values at nodes, `step` apart, to those at the points of an axis, times the points' weights, and back.
inline void weigh(real* node, int step, const real* weight) {
    real point[points_along * lanes];
    to_points(node, step, point, 1);
    for (int i = 0; i < points_along * lanes; ++i) point[i] *= weight[i];
    to_nodes(point, 1, node, step);
}

// Weights of a group of elements, [column][point][lane]. Where there is none, the last one's data take its place.
inline void fetch_weights(
    const real* weights,
    wide element, int present, real* to) {
    for (int lane = 0; lane < lanes; ++lane)
        for (int column = 0; column < columns; ++column) {
            real weight[points_along];
            column_weights(weights, element + std::min(lane, present - 1), column, weight);
            for (int q = 0; q < points_along; ++q) to[(column * points_along + q) * lanes + lane] = weight[q];
        }
}

// Numbers of a group's nodes, by lanes.
inline void fetch_places(const int* element_nodes, wide element, int present, int* to) {
    for (int lane = 0; lane < lanes; ++lane) {
        const int* const of_element = element_nodes + (element + std::min(lane, present - 1)) * element_nodes_count;
        for (int i = 0; i < element_nodes_count; ++i) to[i * lanes + lane] = of_element[i];
    }
}

// A group's values at nodes, [z][y][x], times their mass matrices: sums along z, x and y, and back along y, x and z.
inline void multiply_element(real* node, const real* weight) {
    constexpr int layer = nodes_along * nodes_along;
    alignas(64) real sheets[points_along * layer * lanes];       // [z][y][x], z at points
    alignas(64) real plane[nodes_along * points_along * lanes];  // [y][x] of one z, x at points
    for (int i = 0; i < layer; ++i) to_points(node + i * lanes, layer, sheets + i * lanes, layer);
    for (int z = 0; z < points_along; ++z) {
        real* const sheet = sheets + z * layer * lanes;
        for (int y = 0; y < nodes_along; ++y)
            to_points(sheet + y * nodes_along * lanes, 1, plane + y * points_along * lanes, 1);
        for (int x = 0; x < points_along; ++x)
            weigh(plane + x * lanes, points_along, weight + (z * points_along + x) * points_along * lanes);
        for (int y = 0; y < nodes_along; ++y)
            to_nodes(plane + y * points_along * lanes, 1, sheet + y * nodes_along * lanes, 1);
    }
    for (int i = 0; i < layer; ++i) to_nodes(sheets + i * lanes, layer, node + i * lanes, layer);
}

}  // namespace

// Groups of elements from `first` to `last`.
extern "C" void multiply_elements(
    const real* __restrict__ weights,
    const int* __restrict__ element_nodes, const int* __restrict__ corner_starts, const int* __restrict__ corners,
    const real* __restrict__ x, real* __restrict__ y, real* __restrict__ dot, real* __restrict__ element_sums,
        real* __restrict__ chunk_sums,
    int elements, int nodes, int first, int last
) {
    const int groups = (last - first + lanes - 1) / lanes;
    #pragma omp parallel
    {
        alignas(64) real weight[element_points * lanes], node[components][element_nodes_count * lanes];
        alignas(64) int place[element_nodes_count * lanes];
        #pragma omp for schedule(static)
        for (int group = 0; group < groups; ++group) {
            const wide element = first + wide(group) * lanes;
            const int present = int(std::min<wide>(lanes, last - element));
            fetch_weights(weights, element, present, weight);
            fetch_places(element_nodes, element, present, place);
            for (int c = 0; c < components; ++c) {
                for (int i = 0; i < element_nodes_count * lanes; ++i) node[c][i] = x[wide(c) * nodes + place[i]];
                multiply_element(node[c], weight);
            }
            // Components side by side: a node's sum of all of them is in one place.
            for (int lane = 0; lane < present; ++lane) {
                real* const to = element_sums + (element + lane) * (element_nodes_count * components);
                for (int i = 0; i < element_nodes_count; ++i)
                    for (int c = 0; c < components; ++c) to[i * components + c] = node[c][i * lanes + lane];
            }
        }
    }
}

// Nodes add up, in order, what their elements have.
extern "C" void add_up(
    const real* __restrict__ weights,
    const int* __restrict__ element_nodes, const int* __restrict__ corner_starts, const int* __restrict__ corners,
    const real* __restrict__ x, real* __restrict__ y, real* __restrict__ dot, real* __restrict__ element_sums,
        real* __restrict__ chunk_sums,
    int elements, int nodes, int first, int last
) {
    const int chunks = (nodes + chunk_rows - 1) / chunk_rows;
    // others are of elements elsewhere
    const wide begin_place = wide(first) * element_nodes_count, end_place = wide(last) * element_nodes_count;
    #pragma omp parallel
    {
        #pragma omp for schedule(static)
        for (int chunk = 0; chunk < chunks; ++chunk) {
            const int begin = chunk * chunk_rows, end = std::min(begin + chunk_rows, nodes);
            real pairs[components][chunk_rows] = {};
            for (int node = begin; node < end; ++node) {
                real sum[components] = {};
                for (int corner = corner_starts[node]; corner < corner_starts[node + 1]; ++corner) {
                    const wide place = corners[corner];
                    if (place < begin_place || place >= end_place) continue;
                    for (int c = 0; c < components; ++c) sum[c] += element_sums[place * components + c];
                }
                for (int c = 0; c < components; ++c) y[wide(c) * nodes + node] = sum[c];
                // Not plain products, which the compiler might round together with the sums that they go to.
                for (int c = 0; c < components; ++c)
                    pairs[c][node - begin] = multiply_add(sum[c], x[wide(c) * nodes + node], real(0));
            }
            for (int c = 0; c < components; ++c) {
                // In pairs of neighbours.
                #pragma GCC unroll 8
                for (int count = chunk_rows / 2; count > 0; count /= 2)
                    for (int i = 0; i < count; ++i) pairs[c][i] = pairs[c][2 * i] + pairs[c][2 * i + 1];
                chunk_sums[wide(c) * chunks + chunk] = pairs[c][0];
            }
        }
    }
}

// The rest of the dot products, the same whatever the configuration, in double precision: chunks by number modulo
// `sum_lanes`, then these in pairs.
extern "C" void finish(
    const real* __restrict__ weights,
    const int* __restrict__ element_nodes, const int* __restrict__ corner_starts, const int* __restrict__ corners,
    const real* __restrict__ x, real* __restrict__ y, real* __restrict__ dot, real* __restrict__ element_sums,
        real* __restrict__ chunk_sums,
    int elements, int nodes, int first, int last
) {
    const int rows = nodes, chunks = (nodes + chunk_rows - 1) / chunk_rows;
    for (int c = 0; c < components; ++c) {
        double lanes[sum_lanes] = {};
        for (int chunk = 0; chunk < chunks; ++chunk)
            lanes[chunk % sum_lanes] += double(chunk_sums[wide(c) * chunks + chunk]);
        for (int step = 1; step < sum_lanes; step *= 2)
            for (int lane = 0; lane < sum_lanes; lane += 2 * step) lanes[lane] += lanes[lane + step];
        dot[c] = real(lanes[0] / rows);
    }
}
