#include "generator/reference_element.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "generator/error.hpp"

namespace hone {
namespace {

using Vector3 = std::array<double, 3>;

constexpr int highest_order = 10;
constexpr double on_a_face = 1e-10;  // barycentric coordinates of equispaced nodes are multiples of 1/order, so anything below that will do

// A value with its derivative along r: forward differentiation of the modes, which spares the case distinctions of collapsed coordinates.
struct Dual {
    double value = 0;
    double slope = 0;
};

Dual operator+(const Dual& a, const Dual& b) {
    return {a.value + b.value, a.slope + b.slope};
}

Dual operator*(double factor, const Dual& a) {
    return {factor * a.value, factor * a.slope};
}

Dual operator*(const Dual& a, const Dual& b) {
    return {a.value * b.value, a.slope * b.value + a.value * b.slope};
}

// y^n P_n^(alpha,0)(x/y), normalised on [-1, 1]: the three-term recurrence (DLMF 18.9.2) multiplied by powers of y, so that nothing is
// divided by y and the collapsed vertices y = 0 need no special case.
Dual scaled_jacobi(int n, double alpha, const Dual& x, const Dual& y) {
    Dual previous{0, 0};
    Dual current{1, 0};
    for (int k = 0; k < n; ++k) {
        const double sum = 2 * k + alpha;
        const double below = 2 * (k + 1) * (k + alpha + 1);
        const double a = (sum + 1) * (sum + 2) / below;
        const double b = alpha == 0 ? 0 : alpha * alpha * (sum + 1) / (below * sum);
        const double c = k == 0 ? 0 : 2 * (k + alpha) * k * (sum + 2) / (below * sum);
        const Dual next = (a * x + b * y) * current + (-c) * (y * y * previous);
        previous = std::exchange(current, next);
    }
    return std::sqrt((2 * n + alpha + 1) / std::exp2(alpha + 1)) * current;
}

// Orthonormal mode (i, j, k) of the tetrahedron, 2 sqrt2 P_i(a) P_j^(2i+1,0)(b) (1-b)^i P_k^(2i+2j+2,0)(c) (1-c)^(i+j).
Dual mode(int i, int j, int k, const Vector3& point) {
    const Dual r{point[0], 1};
    const Dual s{point[1], 0};
    const Dual t{point[2], 0};
    const Dual one{1, 0};
    const Dual a_below = -0.5 * (s + t);
    const Dual a_above = one + r + 0.5 * (s + t);
    const Dual b_below = 0.5 * (one + -1.0 * t);
    const Dual b_above = one + s + -1.0 * b_below;
    const Dual product =
        scaled_jacobi(i, 0, a_above, a_below) * scaled_jacobi(j, 2 * i + 1, b_above, b_below) * scaled_jacobi(k, 2 * i + 2 * j + 2, t, one);
    return 2 * std::numbers::sqrt2 * std::exp2(2 * i + j) * product;
}

// Legendre P_n and P_(n-1) at x, n >= 1.
std::pair<double, double> legendre(int n, double x) {
    double previous = 1;
    double current = x;
    for (int k = 1; k < n; ++k) previous = std::exchange(current, ((2 * k + 1) * x * current - k * previous) / (k + 1));
    return {current, previous};
}

// w(x) / (1 - x^2): how far the Lobatto points lie from equispaced ones, interpolated, with the roots at the ends divided out.
double edge_warp(int order, const std::vector<double>& lobatto, double x) {
    const auto equispaced = [&](int i) { return -1 + 2.0 * i / order; };
    double warp = 0;
    for (int i = 1; i < order; ++i) {
        const double own = equispaced(i);
        double term = (lobatto[static_cast<std::size_t>(i)] - own) / (1 - own * own);
        for (int j = 1; j < order; ++j)
            if (j != i) term *= (x - equispaced(j)) / (own - equispaced(j));
        warp += term;
    }
    return warp;
}

// Warp & blend displacement of a triangle's node with barycentrics l, along the directions at 0 and at 90 degrees.
std::array<double, 2> triangle_shift(int order, const std::vector<double>& lobatto, double blending, const Vector3& l) {
    std::array<double, 2> shift{};
    for (std::size_t edge = 0; edge < 3; ++edge) {
        const double a = l[(edge + 1) % 3];
        const double b = l[(edge + 2) % 3];
        const double opposite = blending * l[edge];
        const double size = 4 * a * b * edge_warp(order, lobatto, b - a) * (1 + opposite * opposite);
        const double angle = 2 * std::numbers::pi / 3 * static_cast<double>(edge);
        shift[0] += size * std::cos(angle);
        shift[1] += size * std::sin(angle);
    }
    return shift;
}

// Blending parameter of the tetrahedron, optimised in HW08 for orders 1..10.
constexpr std::array<double, highest_order> tetrahedron_blending{0, 0, 0, 0.1002, 1.1332, 1.5608, 1.3413, 1.2577, 1.1603, 1.10153};

// Face of the tetrahedron: the barycentric that vanishes on it, the other three, and its edge `from`-`to` with the opposite vertex.
struct Face {
    std::size_t off;
    std::array<std::size_t, 3> on;
    std::size_t from, to, opposite;
};
constexpr std::array<Face, 4> faces{Face{0, {1, 2, 3}, 0, 1, 2}, Face{1, {0, 2, 3}, 0, 1, 3}, Face{2, {0, 3, 1}, 1, 2, 3},
                                    Face{3, {0, 2, 1}, 0, 2, 3}};
constexpr std::array<Vector3, 4> vertices{Vector3{-1, -1, -1}, Vector3{1, -1, -1}, Vector3{-1, 1, -1}, Vector3{-1, -1, 1}};

// Displacement in (r, s, t) of the equispaced node with barycentrics l. All edges of the equilateral tetrahedron have the length 2, so its
// unit tangents are half an edge, and a face's altitude over sqrt3, in these coordinates too.
Vector3 tetrahedron_shift(int order, const std::vector<double>& lobatto, const std::array<double, 4>& l) {
    const double blending = tetrahedron_blending[static_cast<std::size_t>(order - 1)];
    Vector3 shift{};
    for (const Face& face : faces) {
        const Vector3 on{l[face.on[0]], l[face.on[1]], l[face.on[2]]};
        const double off = l[face.off];
        const auto flat = triangle_shift(order, lobatto, blending, on);
        const int inside = (on[0] > on_a_face) + (on[1] > on_a_face) + (on[2] > on_a_face);
        const bool on_edge = off < on_a_face && inside < 3;
        double weight = on[0] * on[1] * on[2];
        const double below = (on[0] + off / 2) * (on[1] + off / 2) * (on[2] + off / 2);
        if (below > on_a_face) weight *= (1 + blending * off * blending * off) / below;
        for (std::size_t i = 0; i < 3; ++i) {
            const double along = (vertices[face.to][i] - vertices[face.from][i]) / 2;
            const double across = (vertices[face.opposite][i] - (vertices[face.from][i] + vertices[face.to][i]) / 2) / std::numbers::sqrt3;
            const double face_shift = flat[0] * along + flat[1] * across;
            shift[i] = on_edge ? face_shift : shift[i] + weight * face_shift;
        }
    }
    return shift;
}

std::vector<Vector3> tetrahedron_points(int order) {
    const std::vector<double> lobatto = lobatto_points(order);
    std::vector<Vector3> points;
    for (int n = 0; n <= order; ++n)
        for (int m = 0; m <= order - n; ++m)
            for (int q = 0; q <= order - n - m; ++q) {
                const double step = 1.0 / order;
                const std::array<double, 4> l{n * step, m * step, (order - n - m - q) * step, q * step};
                const Vector3 shift = tetrahedron_shift(order, lobatto, l);
                points.push_back({-1 + 2 * l[3] + shift[0], -1 + 2 * l[1] + shift[1], -1 + 2 * l[0] + shift[2]});
            }
    return points;
}

SquareMatrix transpose(const SquareMatrix& matrix) {
    SquareMatrix result(matrix.size);
    for (int i = 0; i < matrix.size; ++i)
        for (int j = 0; j < matrix.size; ++j) result(j, i) = matrix(i, j);
    return result;
}

// X with X A = B: Gaussian elimination with pivoting on A^T X^T = B^T, whose rows are contiguous once both are transposed.
SquareMatrix divide_right(const SquareMatrix& right_hand_side, const SquareMatrix& matrix) {
    SquareMatrix a = transpose(matrix);
    SquareMatrix b = transpose(right_hand_side);
    const int n = a.size;
    const auto subtract_row = [n](SquareMatrix& rows, int target, int row, double factor, int from) {
        double* const to = &rows(target, 0);
        const double* const what = &rows(row, 0);
        for (int j = from; j < n; ++j) to[j] -= factor * what[j];
    };
    for (int k = 0; k < n; ++k) {
        int pivot = k;
        for (int i = k + 1; i < n; ++i)
            if (std::abs(a(i, k)) > std::abs(a(pivot, k))) pivot = i;
        for (int j = 0; j < n; ++j) {
            std::swap(a(k, j), a(pivot, j));
            std::swap(b(k, j), b(pivot, j));
        }
        for (int i = k + 1; i < n; ++i) {
            const double factor = a(i, k) / a(k, k);
            subtract_row(a, i, k, factor, k);
            subtract_row(b, i, k, factor, 0);
        }
    }
    for (int k = n - 1; k >= 0; --k) {
        for (int j = 0; j < n; ++j) b(k, j) /= a(k, k);
        for (int i = 0; i < k; ++i) subtract_row(b, i, k, a(i, k), 0);
    }
    return transpose(b);
}

// Dr from the modes and their derivatives along r.
SquareMatrix differentiation_along_r(const ReferenceElement& element, const SquareMatrix& mode_slopes) {
    SquareMatrix result = divide_right(mode_slopes, element.vandermonde);
    // What is zero in exact arithmetic (a face node's tangential derivative sees that face only) must be zero here, so that it can be skipped.
    constexpr double rounding = 1e-12;
    for (double& value : result.values)
        if (std::abs(value) < rounding) value = 0;
    return result;
}

// The node at which each node ends up when r and coordinate `other` (1: s, 2: t) change places.
std::vector<int> exchanged_nodes(int order, std::size_t other) {
    std::vector<std::array<int, 3>> steps;
    for (int t = 0; t <= order; ++t)
        for (int s = 0; s <= order - t; ++s)
            for (int r = 0; r <= order - t - s; ++r) steps.push_back({r, s, t});
    std::vector<int> target;
    for (auto place : steps) {
        std::swap(place[0], place[other]);
        target.push_back(static_cast<int>(std::find(steps.begin(), steps.end(), place) - steps.begin()));
    }
    return target;
}

ReferenceElement make_tetrahedron(int order) {
    ReferenceElement element;
    element.order = order;
    element.points = tetrahedron_points(order);
    const int nodes = element.nodes();
    element.vandermonde = SquareMatrix(nodes);
    SquareMatrix slopes(nodes);
    for (int n = 0; n < nodes; ++n) {
        int column = 0;
        for (int i = 0; i <= order; ++i)
            for (int j = 0; j <= order - i; ++j)
                for (int k = 0; k <= order - i - j; ++k, ++column) {
                    const Dual psi = mode(i, j, k, element.points[static_cast<std::size_t>(n)]);
                    element.vandermonde(n, column) = psi.value;
                    slopes(n, column) = psi.slope;
                }
    }
    // The nodes are symmetric, so Ds and Dt are Dr with its rows and columns renumbered.
    element.derivative.assign(3, differentiation_along_r(element, slopes));
    for (const std::size_t other : {1U, 2U}) {
        const std::vector<int> target = exchanged_nodes(order, other);
        for (int n = 0; n < nodes; ++n)
            for (int m = 0; m < nodes; ++m)
                element.derivative[other](n, m) = element.derivative[0](target[static_cast<std::size_t>(n)], target[static_cast<std::size_t>(m)]);
    }
    for (const SquareMatrix& matrix : element.derivative) element.transposed.push_back(transpose(matrix));
    return element;
}

template <int... order>
const ReferenceElement& kept_tetrahedron(int wanted, std::integer_sequence<int, order...>) {
    // One static per order, so that asking for order 1 never pays for order 10.
    const ReferenceElement* found = nullptr;
    ((order + 1 == wanted ? (void)(found =
                                       [] {
                                           static const ReferenceElement element = make_tetrahedron(order + 1);
                                           return &element;
                                       }())
                          : (void)0),
     ...);
    return *found;
}

}  // namespace

std::vector<double> lobatto_points(int order) {
    std::vector<double> points(static_cast<std::size_t>(order + 1));
    for (int i = 0; i <= order; ++i) {
        double x = -std::cos(std::numbers::pi * i / order);
        // Newton on (1 - x^2) P'_n, whose derivative is -n (n+1) P_n; a dozen steps reach rounding from Chebyshev points.
        for (int step = 0; step < 12; ++step) {
            const auto [high, low] = legendre(order, x);
            x -= (x * high - low) / ((order + 1) * high);
        }
        points[static_cast<std::size_t>(i)] = x;
    }
    return points;
}

const ReferenceElement& reference_tetrahedron(int order) {
    if (order < 1 || order > highest_order) throw Error("reference tetrahedron", fmt::format("order is {}", order), "use an order from 1 to 10");
    return kept_tetrahedron(order, std::make_integer_sequence<int, highest_order>{});
}

}  // namespace hone
