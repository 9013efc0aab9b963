#include "generator/families/dg/surface/reference.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "generator/families/dg/data.hpp"

namespace hone::inline v0_1::dg {
namespace {

using Vector = std::array<double, 3>;
using State = std::array<double, 6>;

double dot(const Vector& a, const Vector& b) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

Vector cross(const Vector& a, const Vector& b) {
    return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

// One point of a face: both states, the normal out of the own element, both impedances, Fscale.
struct Point {
    State own{}, other{};
    Vector normal{};
    double own_z = 1, other_z = 1;
    double scale = 0;
};

template <typename Real>
Point point_at(const Shape& shape, const SurfaceData<Real>& data, std::int64_t k, int c) {
    Point point;
    const int face = c / shape.face_nodes;
    const Real* const description = data.faces + (k * shape.faces + face) * shape.face_words();
    for (int i = 0; i < shape.dimension; ++i) point.normal[static_cast<std::size_t>(i)] = static_cast<double>(description[i]);
    point.scale = static_cast<double>(description[shape.dimension]);
    const int node = shape.reference().face_mask[static_cast<std::size_t>(face)][static_cast<std::size_t>(c % shape.face_nodes)];
    const std::int64_t plus = data.neighbour[k * shape.face_points() + c];
    if (data.materials != nullptr) point.own_z = point.other_z = static_cast<double>(data.materials[3 * k + 2]);
    if (data.materials != nullptr && plus >= 0) point.other_z = static_cast<double>(data.materials[3 * (plus / shape.nodes) + 2]);
    for (int f = 0; f < shape.fields; ++f) {
        const auto i = static_cast<std::size_t>(f);
        point.own[i] = static_cast<double>(data.q[(k * shape.fields + f) * shape.nodes + node]);
        if (plus >= 0)
            point.other[i] = static_cast<double>(data.q[(plus / shape.nodes * shape.fields + f) * shape.nodes + plus % shape.nodes]);
        else
            point.other[i] = plus == reflecting_wall ? (1 + shape.what->wall[i]) * point.own[i] : 0;
    }
    return point;
}

// H and E of a state; in two dimensions the missing components are zero.
std::pair<Vector, Vector> magnetic_and_electric(const Shape& shape, const State& q) {
    if (shape.dimension == 2) return {{q[0], q[1], 0}, {0, 0, q[2]}};
    return {{q[0], q[1], q[2]}, {q[3], q[4], q[5]}};
}

State maxwell_flux(const Shape& shape, const Point& point) {
    const auto [own_h, own_e] = magnetic_and_electric(shape, point.own);
    const auto [other_h, other_e] = magnetic_and_electric(shape, point.other);
    const Vector& n = point.normal;
    const auto tangential = [&n](const Vector& v) {
        const double along = dot(n, v);
        return Vector{v[0] - n[0] * along, v[1] - n[1] * along, v[2] - n[2] * along};
    };
    const Vector e_own = tangential(own_e);
    const Vector e_other = tangential(other_e);
    const Vector h_own = cross(n, own_h);
    const Vector h_other = cross(n, other_h);
    const double own_y = 1 / point.own_z;
    const double other_y = 1 / point.other_z;
    Vector e_jump;
    Vector h_jump;
    for (std::size_t i = 0; i < 3; ++i) {
        e_jump[i] = (own_y * e_own[i] + other_y * e_other[i] + h_other[i] - h_own[i]) / (own_y + other_y) - e_own[i];
        h_jump[i] = (point.own_z * h_own[i] + point.other_z * h_other[i] + e_other[i] - e_own[i]) / (point.own_z + point.other_z) - h_own[i];
    }
    const Vector turned = cross(n, e_jump);
    if (shape.dimension == 2) return {-turned[0], -turned[1], h_jump[2]};
    return {-turned[0], -turned[1], -turned[2], h_jump[0], h_jump[1], h_jump[2]};
}

State acoustic_flux(const Point& point) {
    const Vector& n = point.normal;
    const double u_own = dot(n, {point.own[1], point.own[2], point.own[3]});
    const double u_other = dot(n, {point.other[1], point.other[2], point.other[3]});
    const double own_y = 1 / point.own_z;
    const double other_y = 1 / point.other_z;
    const double p_between = (own_y * point.own[0] + other_y * point.other[0] - u_other + u_own) / (own_y + other_y);
    const double u_between = (point.own_z * u_own + point.other_z * u_other - point.other[0] + point.own[0]) / (point.own_z + point.other_z);
    const double push = point.own[0] - p_between;
    return {u_own - u_between, n[0] * push, n[1] * push, n[2] * push};
}

}  // namespace

template <typename Real>
std::vector<double> surface_of_element(const Shape& shape, const SurfaceData<Real>& data, std::int64_t k) {
    const Matrix& lift = shape.reference().lift;
    std::vector<double> rhs(static_cast<std::size_t>(shape.words()));
    for (int c = 0; c < shape.face_points(); ++c) {
        const Point point = point_at(shape, data, k, c);
        const State flux = shape.what->maxwell ? maxwell_flux(shape, point) : acoustic_flux(point);
        for (int f = 0; f < shape.fields; ++f)
            for (int n = 0; n < shape.nodes; ++n)
                rhs[static_cast<std::size_t>(f * shape.nodes + n)] += lift(n, c) * point.scale * flux[static_cast<std::size_t>(f)];
    }
    return rhs;
}

template <typename Real>
double surface_magnitude(const Shape& shape, const SurfaceData<Real>& data, std::int64_t k) {
    const Matrix& lift = shape.reference().lift;
    std::vector<double> sums(static_cast<std::size_t>(shape.nodes));
    const auto size = [&](const State& q, int first, int last) {
        double sum = 0;
        for (int f = first; f < last; ++f) sum += std::abs(q[static_cast<std::size_t>(f)]);
        return sum;
    };
    for (int c = 0; c < shape.face_points(); ++c) {
        const Point point = point_at(shape, data, k, c);
        const int second = shape.what->second_group;
        const double one = size(point.own, 0, second) + size(point.other, 0, second);
        const double two = size(point.own, second, shape.fields) + size(point.other, second, shape.fields);
        // The first group is H, which Z makes comparable with E; for acoustics it is p, and Z makes
        // u comparable with it. A component meets each difference at most twice, itself and along
        // the normal.
        const double both = shape.what->maxwell ? two + point.other_z * one : one + point.other_z * two;
        const double flux = 2 * std::max(1.0, point.own_z) * both / (point.own_z + point.other_z);
        for (int n = 0; n < shape.nodes; ++n) sums[static_cast<std::size_t>(n)] += std::abs(lift(n, c)) * point.scale * flux;
    }
    return *std::max_element(sums.begin(), sums.end());
}

template std::vector<double> surface_of_element(const Shape&, const SurfaceData<float>&, std::int64_t);
template std::vector<double> surface_of_element(const Shape&, const SurfaceData<double>&, std::int64_t);
template double surface_magnitude(const Shape&, const SurfaceData<float>&, std::int64_t);
template double surface_magnitude(const Shape&, const SurfaceData<double>&, std::int64_t);

}  // namespace hone::inline v0_1::dg
