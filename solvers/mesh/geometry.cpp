#include "solvers/mesh/geometry.hpp"

#include <algorithm>
#include <cmath>

namespace hone::inline v0_1::solvers {
namespace {

// Columns of the affine map: d(x,y,z)/dr, /ds, /dt. In two dimensions the third is the z axis.
std::array<Point, 3> tangents(const Mesh& mesh, const std::array<int, 4>& element) {
    std::array<Point, 3> columns{Point{}, Point{}, Point{0, 0, 1}};
    const Point& origin = mesh.vertices[static_cast<std::size_t>(element[0])];
    for (std::size_t a = 0; a < static_cast<std::size_t>(mesh.dimension); ++a)
        for (std::size_t x = 0; x < 3; ++x) columns[a][x] = (mesh.vertices[static_cast<std::size_t>(element[a + 1])][x] - origin[x]) / 2;
    return columns;
}

Point cross(const Point& a, const Point& b) {
    return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

double dot(const Point& a, const Point& b) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

// Outward normals, not normalised, from the gradients of r, s, t; their lengths are those of
// Fscale.
std::array<Point, 4> outward(int dimension, const std::array<Point, 3>& g) {
    const auto minus = [](const Point& p) { return Point{-p[0], -p[1], -p[2]}; };
    if (dimension == 2) return {minus(g[1]), Point{g[0][0] + g[1][0], g[0][1] + g[1][1], 0}, minus(g[0]), Point{}};
    Point sum{};
    for (std::size_t x = 0; x < 3; ++x) sum[x] = g[0][x] + g[1][x] + g[2][x];
    return {minus(g[2]), minus(g[1]), sum, minus(g[0])};
}

}  // namespace

Geometry geometry_of(const Mesh& mesh) {
    Geometry geometry;
    for (const auto& element : mesh.elements) {
        const auto columns = tangents(mesh, element);
        const double jacobian = dot(columns[0], cross(columns[1], columns[2]));
        std::array<Point, 3> gradients;
        for (std::size_t a = 0; a < 3; ++a) {
            gradients[a] = cross(columns[(a + 1) % 3], columns[(a + 2) % 3]);
            for (double& part : gradients[a]) part /= jacobian;
            geometry.gradients.insert(geometry.gradients.end(), gradients[a].begin(), gradients[a].end());
        }
        geometry.jacobian.push_back(jacobian);
        const auto normals = outward(mesh.dimension, gradients);
        for (std::size_t f = 0; f < static_cast<std::size_t>(mesh.corners()); ++f) {
            const double length = std::sqrt(dot(normals[f], normals[f]));
            for (const double part : normals[f]) geometry.normals.push_back(part / length);
            geometry.scale.push_back(length);
        }
    }
    return geometry;
}

double largest_scale(const Geometry& geometry) {
    return *std::max_element(geometry.scale.begin(), geometry.scale.end());
}

std::vector<Point> placed(const Mesh& mesh, int element, const std::vector<Point>& points) {
    const auto& vertices = mesh.elements[static_cast<std::size_t>(element)];
    const auto columns = tangents(mesh, vertices);
    const Point& origin = mesh.vertices[static_cast<std::size_t>(vertices[0])];
    std::vector<Point> result;
    result.reserve(points.size());
    for (const Point& p : points) {
        Point at = origin;
        for (std::size_t a = 0; a < static_cast<std::size_t>(mesh.dimension); ++a)
            for (std::size_t x = 0; x < 3; ++x) at[x] += (p[a] + 1) * columns[a][x];
        result.push_back(at);
    }
    return result;
}

}  // namespace hone::inline v0_1::solvers
