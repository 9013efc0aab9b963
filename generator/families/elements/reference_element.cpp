#include "generator/families/elements/reference_element.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "foundation/error.hpp"
#include "generator/families/elements/simplex_nodes.hpp"

namespace hone::inline v0_1 {
namespace {

using Vector3 = std::array<double, 3>;

constexpr int highest_order = 10;
constexpr double on_a_face = 1e-10;  // nodes of a face lie on it but for rounding, and all others much farther away

// A value with its derivative along r: forward differentiation of the modes, which spares the case
// distinctions of collapsed coordinates.
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

// y^n P_n^(alpha,0)(x/y), normalised on [-1, 1]: the three-term recurrence (DLMF 18.9.2) multiplied
// by powers of y, so that nothing is divided by y and the collapsed vertices y = 0 need no special
// case.
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

// Orthonormal mode (i, j) of the triangle, sqrt2 P_i(a) P_j^(2i+1,0)(b) (1-b)^i.
Dual triangle_mode(int i, int j, const Vector3& point) {
    const Dual r{point[0], 1};
    const Dual s{point[1], 0};
    const Dual one{1, 0};
    const Dual below = 0.5 * (one + -1.0 * s);
    const Dual above = one + r + -1.0 * below;
    return std::numbers::sqrt2 * std::exp2(i) * (scaled_jacobi(i, 0, above, below) * scaled_jacobi(j, 2 * i + 1, s, one));
}

// Orthonormal mode (i, j, k) of the tetrahedron, 2 sqrt2 P_i(a) P_j^(2i+1,0)(b) (1-b)^i
// P_k^(2i+2j+2,0)(c) (1-c)^(i+j).
Dual tetrahedron_mode(int i, int j, int k, const Vector3& point) {
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

SquareMatrix transpose(const SquareMatrix& matrix) {
    SquareMatrix result(matrix.size);
    for (int i = 0; i < matrix.size; ++i)
        for (int j = 0; j < matrix.size; ++j) result(j, i) = matrix(i, j);
    return result;
}

// X with X A = B: Gaussian elimination with pivoting on A^T X^T = B^T, whose rows are contiguous
// once both are transposed.
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
    // What is zero in exact arithmetic (a face node's tangential derivative sees that face only)
    // must be zero here, so that it can be skipped.
    constexpr double rounding = 1e-12;
    for (double& value : result.values)
        if (std::abs(value) < rounding) value = 0;
    return result;
}

// The node at which each node ends up when r and coordinate `other` (1: s, 2: t) change places.
std::vector<int> exchanged_nodes(const ReferenceElement& element, std::size_t other) {
    const int order = element.order;
    std::vector<std::array<int, 3>> steps;
    for (int t = 0; t <= (element.dimension() == 3 ? order : 0); ++t)
        for (int s = 0; s <= order - t; ++s)
            for (int r = 0; r <= order - t - s; ++r) steps.push_back({r, s, t});
    std::vector<int> target;
    for (auto place : steps) {
        std::swap(place[0], place[other]);
        target.push_back(static_cast<int>(std::find(steps.begin(), steps.end(), place) - steps.begin()));
    }
    return target;
}

// Values and slopes of all modes at a point, in the order of the Vandermonde matrix's columns.
std::vector<Dual> modes_at(Simplex simplex, int order, const Vector3& point) {
    std::vector<Dual> modes;
    for (int i = 0; i <= order; ++i)
        for (int j = 0; j <= order - i; ++j) {
            if (simplex == Simplex::triangle) {
                modes.push_back(triangle_mode(i, j, point));
                continue;
            }
            for (int k = 0; k <= order - i - j; ++k) modes.push_back(tetrahedron_mode(i, j, k, point));
        }
    return modes;
}

// V V^T; its inverse is the mass matrix of the nodes.
SquareMatrix inverse_mass(const SquareMatrix& vandermonde) {
    SquareMatrix result(vandermonde.size);
    for (int i = 0; i < result.size; ++i)
        for (int j = 0; j <= i; ++j) {
            double sum = 0;
            for (int k = 0; k < result.size; ++k) sum += vandermonde(i, k) * vandermonde(j, k);
            result(i, j) = result(j, i) = sum;
        }
    return result;
}

SquareMatrix inverse(const SquareMatrix& matrix) {
    SquareMatrix unit(matrix.size);
    for (int i = 0; i < matrix.size; ++i) unit(i, i) = 1;
    return divide_right(unit, matrix);
}

// What is constant on face f, as coefficients of r, s, t, and its value there.
std::pair<Vector3, double> plane_of_face(Simplex simplex, std::size_t f) {
    static constexpr std::array<std::pair<Vector3, double>, 3> edges{{{{0, 1, 0}, -1}, {{1, 1, 0}, 0}, {{1, 0, 0}, -1}}};
    static constexpr std::array<std::pair<Vector3, double>, 4> sides{{{{0, 0, 1}, -1}, {{0, 1, 0}, -1}, {{1, 1, 1}, -1}, {{1, 0, 0}, -1}}};
    return simplex == Simplex::triangle ? edges[f] : sides[f];
}

std::vector<int> on_face(Simplex simplex, std::size_t f, const std::vector<Vector3>& points) {
    const auto [plane, value] = plane_of_face(simplex, f);
    std::vector<int> found;
    for (std::size_t n = 0; n < points.size(); ++n)
        if (std::abs(plane[0] * points[n][0] + plane[1] * points[n][1] + plane[2] * points[n][2] - value) < on_a_face)
            found.push_back(static_cast<int>(n));
    return found;
}

// (d-1)-dimensional mass matrix of the nodes of face f, in those coordinates of the element that
// are free on it.
SquareMatrix face_mass(const ReferenceElement& element, std::size_t f) {
    const auto plane = plane_of_face(element.simplex, f).first;
    const bool tetrahedron = element.simplex == Simplex::tetrahedron;
    // The slanted face can do without r on the tetrahedron (as on r = -1), and without s on the
    // triangle (as on s = -1).
    const std::size_t first = plane[0] != 0 && (tetrahedron || plane[1] == 0) ? 1 : 0;
    const std::size_t second = plane[2] == 0 || first == 1 ? 2 : 1;
    SquareMatrix vandermonde(element.face_nodes());
    for (int i = 0; i < element.face_nodes(); ++i) {
        const Vector3& point = element.points[static_cast<std::size_t>(element.face_mask[f][static_cast<std::size_t>(i)])];
        if (tetrahedron) {
            const std::vector<Dual> modes = modes_at(Simplex::triangle, element.order, {point[first], point[second], 0});
            for (int j = 0; j < vandermonde.size; ++j) vandermonde(i, j) = modes[static_cast<std::size_t>(j)].value;
        } else {
            for (int j = 0; j < vandermonde.size; ++j) vandermonde(i, j) = scaled_jacobi(j, 0, {point[first], 0}, {1, 0}).value;
        }
    }
    return inverse(inverse_mass(vandermonde));
}

// V V^T E: lifts what the faces' nodes hold into the element.
Matrix lift_matrix(const ReferenceElement& element, const SquareMatrix& element_inverse_mass) {
    const int nodes = element.nodes();
    const int face_nodes = element.face_nodes();
    Matrix lift(nodes, element.faces() * face_nodes);
    for (int f = 0; f < element.faces(); ++f) {
        const SquareMatrix mass = face_mass(element, static_cast<std::size_t>(f));
        const std::vector<int>& mask = element.face_mask[static_cast<std::size_t>(f)];
        for (int n = 0; n < nodes; ++n)
            for (int j = 0; j < face_nodes; ++j) {
                double sum = 0;
                for (int i = 0; i < face_nodes; ++i) sum += element_inverse_mass(n, mask[static_cast<std::size_t>(i)]) * mass(i, j);
                lift(n, f * face_nodes + j) = sum;
            }
    }
    return lift;
}

void add_derivatives(ReferenceElement& element) {
    const int nodes = element.nodes();
    SquareMatrix slopes(nodes);
    for (int n = 0; n < nodes; ++n) {
        const std::vector<Dual> modes = modes_at(element.simplex, element.order, element.points[static_cast<std::size_t>(n)]);
        for (int m = 0; m < nodes; ++m) {
            element.vandermonde(n, m) = modes[static_cast<std::size_t>(m)].value;
            slopes(n, m) = modes[static_cast<std::size_t>(m)].slope;
        }
    }
    // The nodes are symmetric, so Ds and Dt are Dr with its rows and columns renumbered.
    const int dimension = element.dimension();
    element.derivative.assign(static_cast<std::size_t>(dimension), differentiation_along_r(element, slopes));
    for (std::size_t other = 1; other < element.derivative.size(); ++other) {
        const std::vector<int> target = exchanged_nodes(element, other);
        for (int n = 0; n < nodes; ++n)
            for (int m = 0; m < nodes; ++m)
                element.derivative[other](n, m) = element.derivative[0](target[static_cast<std::size_t>(n)], target[static_cast<std::size_t>(m)]);
    }
    for (const SquareMatrix& matrix : element.derivative) element.transposed.push_back(transpose(matrix));
}

ReferenceElement make_element(Simplex simplex, int order) {
    ReferenceElement element;
    element.simplex = simplex;
    element.order = order;
    element.points = simplex == Simplex::triangle ? triangle_points(order) : tetrahedron_points(order);
    if (simplex == Simplex::triangle)
        element.vertices = {{-1, -1, 0}, {1, -1, 0}, {-1, 1, 0}};
    else
        element.vertices = {{-1, -1, -1}, {1, -1, -1}, {-1, 1, -1}, {-1, -1, 1}};
    for (std::size_t f = 0; f < element.vertices.size(); ++f) {
        element.face_mask.push_back(on_face(simplex, f, element.points));
        element.face_vertices.push_back(on_face(simplex, f, element.vertices));
    }
    element.vandermonde = SquareMatrix(element.nodes());
    add_derivatives(element);
    const SquareMatrix mass_inverse = inverse_mass(element.vandermonde);
    element.mass = inverse(mass_inverse);
    element.lift = lift_matrix(element, mass_inverse);
    return element;
}

template <Simplex simplex, int... order>
const ReferenceElement& kept_element(int wanted, std::integer_sequence<int, order...>) {
    // One static per order, so that asking for order 1 never pays for order 10.
    const ReferenceElement* found = nullptr;
    ((order + 1 == wanted ? (void)(found =
                                       [] {
                                           static const ReferenceElement element = make_element(simplex, order + 1);
                                           return &element;
                                       }())
                          : (void)0),
     ...);
    return *found;
}

void check_order(const char* where, int order) {
    if (order < 1 || order > highest_order) throw Error(where, fmt::format("order is {}", order), "use an order from 1 to 10");
}

}  // namespace

const ReferenceElement& reference_triangle(int order) {
    check_order("reference triangle", order);
    return kept_element<Simplex::triangle>(order, std::make_integer_sequence<int, highest_order>{});
}

const ReferenceElement& reference_tetrahedron(int order) {
    check_order("reference tetrahedron", order);
    return kept_element<Simplex::tetrahedron>(order, std::make_integer_sequence<int, highest_order>{});
}

const ReferenceElement& reference_element(Simplex simplex, int order) {
    return simplex == Simplex::triangle ? reference_triangle(order) : reference_tetrahedron(order);
}

std::vector<double> basis_at(const ReferenceElement& element, const std::array<double, 3>& point) {
    // Of the modes' values m at the point: m' V^-1 = (V m)' M.
    const std::vector<Dual> modes = modes_at(element.simplex, element.order, point);
    const int nodes = element.nodes();
    std::vector<double> basis(modes.size(), 0.0);
    for (int n = 0; n < nodes; ++n) {
        double weight = 0;
        for (int m = 0; m < nodes; ++m) weight += element.vandermonde(n, m) * modes[static_cast<std::size_t>(m)].value;
        for (int j = 0; j < nodes; ++j) basis[static_cast<std::size_t>(j)] += weight * element.mass(n, j);
    }
    return basis;
}

}  // namespace hone::inline v0_1
