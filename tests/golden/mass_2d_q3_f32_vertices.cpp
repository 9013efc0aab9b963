// fe_mass: y = M x, Q3 in 2 dimensions, 5 points along an axis, 1 component, f32
// hone emit fe_mass kernel=apply data=vertices dimension=2 order=3 points=0 components=1 precision=f32 elements=1000
//     nodes=10000 --target cpu --config form=vector,lanes=4,schedule=dynamic,threads=all,binding=none
// The same text serves every mesh.
// per element: 745 operations
#include <algorithm>

using real = float;
using wide = long long;  // a position in an array
constexpr int components = 1, nodes_along = 4, points_along = 5;
constexpr int element_nodes_count = 16, element_points = 25;
// Of an axis: values of the nodal functions at the points.
static constexpr real basis[5][4] = {
    {real(0.74002894998671942), real(0.3382587987733498), real(-0.11471119025512576), real(0.036423441495056504)},
    {real(0.086490050298310264), real(0.97811893572604836), real(-0.090555433133161514), real(0.025946447108802714)},
    {real(-0.12499999999999996), real(0.625), real(0.625), real(-0.12499999999999996)},
    {real(0.02594644710880268), real(-0.090555433133161445), real(0.97811893572604847), real(0.086490050298310139)},
    {real(0.036423441495056538), real(-0.11471119025512586), real(0.33825879877335019), real(0.7400289499867192)},
};
static constexpr real place_of_point[5] =
    {real(0.046910077030668018), real(0.23076534494715845), real(0.5),
     real(0.7692346550528415), real(0.95308992296933193)};
static constexpr real weight_of_point[5] =
    {real(0.1184634425280945), real(0.23931433524968324), real(0.28444444444444444),
     real(0.23931433524968324), real(0.1184634425280945)};
constexpr int chunk_rows = 32;
constexpr int lanes = 4, columns = 5;  // elements of a vector, lines of an element's points

namespace {

// a b + c, rounded once where the processor can: the compiler must not choose, or digits would differ between
// configurations.
inline real multiply_add(real a, real b, real c) {
    #if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
    return __builtin_fmaf(a, b, c);
    #else
    return a * b + c;
    #endif
}

// a (1 - t) + b t.
static inline
real between(real a, real b, real t) {
    return multiply_add(t, b - a, a);
}

static inline
real cross(const real (&a)[2], const real (&b)[2]) {
    return multiply_add(a[0], b[1], -(a[1] * b[0]));
}

// Weights of the points of a line along x, number `column` along y: the Jacobian's determinant is linear in x there.
static inline
void column_weights(const real* vertices, const real* density, wide element, int column, real (&weight)[points_along]) {
    const real y = place_of_point[column];
    // derivatives of the place; that along y at x = 0, and how it changes with x
    real along_x[2], along_y[2], change[2];
    #pragma GCC unroll 32
    for (int c = 0; c < 2; ++c) {
        const real* const at = vertices + (element * 2 + c) * 4;
        along_x[c] = between(at[1] - at[0], at[3] - at[2], y);
        along_y[c] = at[2] - at[0];
        change[c] = (at[3] - at[1]) - along_y[c];
    }
    const real constant = cross(along_x, along_y), slope = cross(along_x, change);
    const real scale = density[element] * weight_of_point[column];
    #pragma GCC unroll 32
    for (int q = 0; q < points_along; ++q)
        weight[q] = multiply_add(slope, place_of_point[q], constant) * (scale * weight_of_point[q]);
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
    const real* vertices, const real* density,
    wide element, int present, real* to) {
    for (int lane = 0; lane < lanes; ++lane)
        for (int column = 0; column < columns; ++column) {
            real weight[points_along];
            column_weights(vertices, density, element + std::min(lane, present - 1), column, weight);
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

// A group's values at nodes, [y][x], times their mass matrices: sums along y and x, and back along x and y.
inline void multiply_element(real* node, const real* weight) {
    alignas(64) real lines[points_along * nodes_along * lanes];  // [y][x]
    for (int x = 0; x < nodes_along; ++x) to_points(node + x * lanes, nodes_along, lines + x * lanes, nodes_along);
    for (int y = 0; y < points_along; ++y) weigh(lines + y * nodes_along * lanes, 1, weight + y * points_along * lanes);
    for (int x = 0; x < nodes_along; ++x) to_nodes(lines + x * lanes, nodes_along, node + x * lanes, nodes_along);
}

}  // namespace

// Groups of elements from `first` to `last`.
extern "C" void multiply_elements(
    const real* __restrict__ vertices, const real* __restrict__ density,
    const int* __restrict__ element_nodes, const int* __restrict__ corner_starts, const int* __restrict__ corners,
    const real* __restrict__ x, real* __restrict__ y, real* __restrict__ element_sums,
    int elements, int nodes, int first, int last
) {
    const int groups = (last - first + lanes - 1) / lanes;
    #pragma omp parallel
    {
        alignas(64) real weight[element_points * lanes], node[components][element_nodes_count * lanes];
        alignas(64) int place[element_nodes_count * lanes];
        #pragma omp for schedule(dynamic, 4)
        for (int group = 0; group < groups; ++group) {
            const wide element = first + wide(group) * lanes;
            const int present = int(std::min<wide>(lanes, last - element));
            fetch_weights(vertices, density, element, present, weight);
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
    const real* __restrict__ vertices, const real* __restrict__ density,
    const int* __restrict__ element_nodes, const int* __restrict__ corner_starts, const int* __restrict__ corners,
    const real* __restrict__ x, real* __restrict__ y, real* __restrict__ element_sums,
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
            for (int node = begin; node < end; ++node) {
                real sum[components] = {};
                for (int corner = corner_starts[node]; corner < corner_starts[node + 1]; ++corner) {
                    const wide place = corners[corner];
                    if (place < begin_place || place >= end_place) continue;
                    for (int c = 0; c < components; ++c) sum[c] += element_sums[place * components + c];
                }
                for (int c = 0; c < components; ++c) y[wide(c) * nodes + node] = sum[c];
            }
        }
    }
}
