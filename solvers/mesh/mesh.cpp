#include "solvers/mesh/mesh.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "foundation/error.hpp"
#include "foundation/sha256.hpp"

namespace hone::inline v0_1::solvers {
namespace {

Point edge(const Mesh& mesh, const std::array<int, 4>& element, std::size_t from, std::size_t to) {
    const Point& a = mesh.vertices[static_cast<std::size_t>(element[from])];
    const Point& b = mesh.vertices[static_cast<std::size_t>(element[to])];
    return {b[0] - a[0], b[1] - a[1], b[2] - a[2]};
}

double longest_edge(const Mesh& mesh, const std::array<int, 4>& element) {
    double longest = 0;
    for (std::size_t i = 0; i < static_cast<std::size_t>(mesh.corners()); ++i)
        for (std::size_t j = 0; j < i; ++j) {
            const Point e = edge(mesh, element, j, i);
            longest = std::max(longest, std::hypot(e[0], e[1], e[2]));
        }
    return longest;
}

std::string what_is_wrong(const Mesh& mesh, int k) {
    constexpr double flat = 1e-10;
    const auto& element = mesh.elements[static_cast<std::size_t>(k)];
    const auto corners = static_cast<std::size_t>(mesh.corners());
    for (std::size_t i = 0; i < corners; ++i) {
        if (element[i] < 0 || element[i] >= static_cast<int>(mesh.vertices.size())) return "has a vertex that does not exist";
        for (std::size_t j = 0; j < i; ++j)
            if (element[i] == element[j]) return "has the same vertex twice";
    }
    const double measure = signed_measure(mesh, k);
    const double scale = std::pow(longest_edge(mesh, element), mesh.dimension);
    if (!std::isfinite(measure) || !std::isfinite(scale)) return "is too large for numbers";
    if (std::abs(measure) <= flat * scale) return mesh.dimension == 3 ? "has no volume" : "has no area";
    return measure < 0 ? "is inverted" : "";
}

template <typename Value>
void append_bytes(std::string& bytes, const Value* values, std::size_t count) {
    bytes.append(reinterpret_cast<const char*>(values), count * sizeof(Value));
}

}  // namespace

Boundary parse_boundary(const std::string& word, const std::string& where) {
    if (word == "reflecting") return Boundary::reflecting;
    if (word == "absorbing") return Boundary::absorbing;
    if (word == "periodic") return Boundary::periodic;
    throw Error(where, "\"" + word + "\" is not a kind of boundary", "use reflecting, absorbing or periodic");
}

std::array<int, 3> face_vertices(const Mesh& mesh, int element, int face) {
    const auto& places = (mesh.dimension == 3 ? tetrahedron_faces : triangle_faces)[static_cast<std::size_t>(face)];
    std::array<int, 3> vertices{Mesh::none, Mesh::none, Mesh::none};
    for (std::size_t i = 0; i < static_cast<std::size_t>(mesh.dimension); ++i)
        vertices[i] = mesh.elements[static_cast<std::size_t>(element)][static_cast<std::size_t>(places[i])];
    return vertices;
}

double signed_measure(const Mesh& mesh, int element) {
    const auto& vertices = mesh.elements[static_cast<std::size_t>(element)];
    const Point a = edge(mesh, vertices, 0, 1);
    const Point b = edge(mesh, vertices, 0, 2);
    if (mesh.dimension == 2) return a[0] * b[1] - a[1] * b[0];
    const Point c = edge(mesh, vertices, 0, 3);
    return a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) + a[2] * (b[0] * c[1] - b[1] * c[0]);
}

std::string element_name(const Mesh& mesh, int element) {
    const auto k = static_cast<std::size_t>(element);
    const std::string name = fmt::format("element {}", mesh.numbers[k]);
    return mesh.places.empty() ? name : fmt::format("{} ({} {})", name, mesh.place_unit, mesh.places[k]);
}

void check_elements(const Mesh& mesh, const std::string& where) {
    if (mesh.elements.empty())
        throw Error(where, fmt::format("there are no {}", mesh.dimension == 3 ? "tetrahedra" : "triangles"),
                    "mesh the domain, and save its elements");
    for (int k = 0; k < mesh.size(); ++k)
        if (const std::string wrong = what_is_wrong(mesh, k); !wrong.empty())
            throw Error(where, fmt::format("{} {}", element_name(mesh, k), wrong), "make the mesh again");
}

std::string fingerprint(const Mesh& mesh) {
    std::string bytes = fmt::format("{} {} {}", mesh.dimension, mesh.vertices.size(), mesh.elements.size());
    append_bytes(bytes, mesh.vertices.data(), mesh.vertices.size());
    append_bytes(bytes, mesh.elements.data(), mesh.elements.size());
    append_bytes(bytes, mesh.material.data(), mesh.material.size());
    for (const auto& name : mesh.materials) bytes += '\n' + name;
    for (const auto& face : mesh.boundary) {
        append_bytes(bytes, face.vertices.data(), face.vertices.size());
        bytes += static_cast<char>('0' + static_cast<int>(face.kind));
    }
    for (const auto& link : mesh.links) append_bytes(bytes, link.data(), link.size());
    return sha256(bytes);
}

}  // namespace hone::inline v0_1::solvers
