#include "generator/families/elements/simplex_nodes.hpp"

#include <cmath>
#include <numbers>
#include <utility>

namespace hone::inline v0_1 {
namespace {

using Vector3 = std::array<double, 3>;

constexpr double on_a_face = 1e-10;  // barycentric coordinates of equispaced nodes are multiples of 1/order, so anything below that will do

// Legendre P_n and P_(n-1) at x, n >= 1.
std::pair<double, double> legendre(int n, double x) {
    double previous = 1;
    double current = x;
    for (int k = 1; k < n; ++k) previous = std::exchange(current, ((2 * k + 1) * x * current - k * previous) / (k + 1));
    return {current, previous};
}

// w(x) / (1 - x^2): how far the Lobatto points lie from equispaced ones, interpolated, with the
// roots at the ends divided out.
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

// Warp & blend displacement of a triangle's node with barycentrics l, along the directions at 0 and
// at 90 degrees.
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

// Blending parameters optimised in HW08 for orders 1..10.
constexpr std::array triangle_blending{0.0, 0.0, 1.4152, 0.1001, 0.2751, 0.9800, 1.0999, 1.2832, 1.3648, 1.4773};
constexpr std::array tetrahedron_blending{0.0, 0.0, 0.0, 0.1002, 1.1332, 1.5608, 1.3413, 1.2577, 1.1603, 1.10153};

// Face of the tetrahedron: the barycentric that vanishes on it, the other three, and its edge
// `from`-`to` with the opposite vertex.
struct Face {
    std::size_t off;
    std::array<std::size_t, 3> on;
    std::size_t from, to, opposite;
};
constexpr std::array<Face, 4> faces{Face{0, {1, 2, 3}, 0, 1, 2}, Face{1, {0, 2, 3}, 0, 1, 3}, Face{2, {0, 3, 1}, 1, 2, 3},
                                    Face{3, {0, 2, 1}, 0, 2, 3}};
constexpr std::array<Vector3, 4> vertices{Vector3{-1, -1, -1}, Vector3{1, -1, -1}, Vector3{-1, 1, -1}, Vector3{-1, -1, 1}};

// Displacement in (r, s, t) of the equispaced node with barycentrics l. All edges of the
// equilateral tetrahedron have the length 2, so its unit tangents are half an edge, and a face's
// altitude over sqrt3, in these coordinates too.
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

}  // namespace

std::vector<double> lobatto_points(int order) {
    std::vector<double> points(static_cast<std::size_t>(order + 1));
    for (int i = 0; i <= order; ++i) {
        double x = -std::cos(std::numbers::pi * i / order);
        // Newton on (1 - x^2) P'_n, whose derivative is -n (n+1) P_n; a dozen steps reach rounding
        // from Chebyshev points.
        for (int step = 0; step < 12; ++step) {
            const auto [high, low] = legendre(order, x);
            x -= (x * high - low) / ((order + 1) * high);
        }
        points[static_cast<std::size_t>(i)] = x;
    }
    return points;
}

std::vector<Vector3> triangle_points(int order) {
    const std::vector<double> lobatto = lobatto_points(order);
    std::vector<Vector3> points;
    for (int m = 0; m <= order; ++m)
        for (int q = 0; q <= order - m; ++q) {
            const double step = 1.0 / order;
            const Vector3 l{m * step, (order - m - q) * step, q * step};
            // On the equilateral triangle with edges of length 2, whose altitude is sqrt3 long and
            // ends in the middle of the edge s = -1.
            const auto shift = triangle_shift(order, lobatto, triangle_blending[static_cast<std::size_t>(order - 1)], l);
            points.push_back({-1 + 2 * l[2] + shift[0] - shift[1] / std::numbers::sqrt3, -1 + 2 * l[0] + 2 * shift[1] / std::numbers::sqrt3, 0});
        }
    return points;
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

}  // namespace hone::inline v0_1
