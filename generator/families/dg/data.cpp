#include "generator/families/dg/data.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace hone::inline v0_1::dg {

ProblemParameter arithmetic_parameter() {
    return {"arithmetic",
            "strict: IEEE; f32_accurate: f32 products may be sums of three of the matrix units' TF32 products, held to the same bound on errors",
            {"strict", "f32_accurate"},
            0,
            0,
            false,
            "strict"};
}

ArraySpec geometry_array(const Shape& shape) {
    const std::int64_t words = shape.geometry_words();
    const char* const help = shape.dimension == 2 ? "rx, ry, sx, sy of each element" : "rx, ry, rz, sx, sy, sz, tx, ty, tz of each element";
    return laid_out({"geometry", Access::in, shape.elements * words, fmt::format("[elements][{}]", words), help, {words}}, {shape.elements, words});
}

std::vector<ArraySpec> face_arrays(const Shape& shape) {
    const std::int64_t points = shape.elements * shape.face_points();
    const std::int64_t indices_per_word = shape.bytes() / 4;
    std::vector<ArraySpec> arrays{
        laid_out({"faces", Access::in, shape.elements * shape.faces * shape.face_words(),
                  fmt::format("[elements][{}][{}]", shape.faces, shape.face_words()), "outward unit normal and Fscale of each face"},
                 {shape.elements, shape.faces, shape.face_words()}),
        laid_out({"vmapP", Access::in, (points + indices_per_word - 1) / indices_per_word,
                  fmt::format("[elements][{}][{}] of int", shape.faces, shape.face_nodes),
                  "node of the neighbour that each face node meets, -1: reflecting wall, -2: absorbing"},
                 {shape.elements, shape.faces, shape.face_nodes})};
    if (shape.materials)
        arrays.push_back(laid_out({"materials", Access::in, shape.elements * 3, "[elements][3]",
                                   shape.what->maxwell ? "1/mu, 1/eps, sqrt(mu/eps) of each element" : "rho c^2, 1/rho, rho c of each element"},
                                  {shape.elements, 3}));
    return arrays;
}

ArraySpec field_array(const Shape& shape, const char* name, Access access, const char* help) {
    return laid_out(
        {name, access, shape.elements * shape.words(), fmt::format("[elements][{}][{}]", shape.fields, shape.nodes), help, {shape.words()}},
        {shape.elements, shape.fields, shape.nodes});
}

ArraySpec stage_array() {
    return {"stage", Access::in, 3, "[3]", "a, b, dt of the stage", {}, {1}};
}

double volume_operations(const Shape& shape) {
    const double nodes = shape.nodes;
    if (shape.dimension == 2) return 12 * nodes * nodes + 13 * nodes;
    return shape.what->maxwell ? 36 * nodes * nodes + 66 * nodes : 24 * nodes * nodes + 32 * nodes;
}

double surface_operations(const Shape& shape) {
    const double nodes = shape.nodes;
    const double per_face = shape.face_nodes;
    if (shape.dimension == 2) return 18 * nodes * per_face + 69 * per_face + 3 * nodes;
    if (shape.what->maxwell) return 48 * nodes * per_face + 264 * per_face + 6 * nodes;
    return 32 * nodes * per_face + 88 * per_face + 4 * nodes;
}

double update_operations(const Shape& shape) {
    return 5.0 * shape.words();
}

int surface_nodes(const Shape& shape) {
    // Those within are the nodes of an element of a lower order.
    const int inside = shape.order - shape.dimension - 1;
    if (inside < 0) return shape.nodes;
    return shape.nodes - (shape.dimension == 2 ? triangle_nodes(inside) : tetrahedron_nodes(inside));
}

std::int64_t data_sets(const Shape& shape) {
    const std::int64_t wanted = shape.nodes <= 56 ? 509 : shape.nodes <= 120 ? 127 : 61;
    return std::min(wanted, shape.elements);
}

std::vector<double> random_geometry(const Shape& shape, std::mt19937_64& random) {
    std::uniform_real_distribution<double> uniform(-1, 1);
    std::normal_distribution<double> normal;
    const bool flat = shape.dimension == 2;  // then turned about z alone
    std::array<double, 4> w{normal(random), flat ? 0 : normal(random), flat ? 0 : normal(random), normal(random)};
    const double norm = std::sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2] + w[3] * w[3]);
    for (double& part : w) part /= norm;
    const double scale = std::exp2(uniform(random));
    std::array<std::array<double, 3>, 3> edges;  // [along r, s, t][x, y, z]: d(x,y,z)/dr and so on, the columns of a rotation from a quaternion
    edges[0] = {1 - 2 * (w[2] * w[2] + w[3] * w[3]), 2 * (w[1] * w[2] + w[0] * w[3]), 2 * (w[1] * w[3] - w[0] * w[2])};
    edges[1] = {2 * (w[1] * w[2] - w[0] * w[3]), 1 - 2 * (w[1] * w[1] + w[3] * w[3]), 2 * (w[2] * w[3] + w[0] * w[1])};
    edges[2] = {2 * (w[1] * w[3] + w[0] * w[2]), 2 * (w[2] * w[3] - w[0] * w[1]), 1 - 2 * (w[1] * w[1] + w[2] * w[2])};
    const auto dimension = static_cast<std::size_t>(shape.dimension);
    for (std::size_t a = 0; a < dimension; ++a)
        for (std::size_t x = 0; x < dimension; ++x) edges[a][x] = scale * (edges[a][x] + 0.2 * uniform(random));
    const auto minor = [&](std::size_t a, std::size_t x) {
        const auto& b = edges[(a + 1) % 3];
        const auto& c = edges[(a + 2) % 3];
        return b[(x + 1) % 3] * c[(x + 2) % 3] - b[(x + 2) % 3] * c[(x + 1) % 3];
    };
    const double jacobian = edges[0][0] * minor(0, 0) + edges[0][1] * minor(0, 1) + edges[0][2] * minor(0, 2);
    std::vector<double> gradients;
    for (std::size_t a = 0; a < dimension; ++a)
        for (std::size_t x = 0; x < dimension; ++x) gradients.push_back(minor(a, x) / jacobian);
    return gradients;
}

}  // namespace hone::inline v0_1::dg
