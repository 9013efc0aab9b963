#include "solvers/output/vtk_elements.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <fstream>
#include <numeric>

#include "foundation/error.hpp"
#include "solvers/output/vtk.hpp"

namespace hone::inline v0_1::solvers {
namespace {

using Place = std::array<int, 4>;  // barycentric, by corner; their sum is the order

Place between(const Place& from, const Place& to, int step, int steps) {
    Place place{};
    for (std::size_t c = 0; c < 4; ++c) place[c] = (from[c] * (steps - step) + to[c] * step) / steps;
    return place;
}

// Corners, edges from corner to corner, and what is left inside: a smaller triangle, of which the
// same is true.
void add_triangle(std::vector<Place>& places, const std::array<Place, 3>& corners, int order) {
    if (order < 0) return;
    if (order == 0) {
        places.push_back(corners[0]);
        return;
    }
    places.insert(places.end(), corners.begin(), corners.end());
    for (std::size_t edge = 0; edge < 3; ++edge)
        for (int step = 1; step < order; ++step) places.push_back(between(corners[edge], corners[(edge + 1) % 3], step, order));
    if (order < 3) return;
    std::array<Place, 3> inner{};
    for (std::size_t c = 0; c < 3; ++c)
        for (std::size_t i = 0; i < 4; ++i)
            inner[c][i] = corners[c][i] + (corners[(c + 1) % 3][i] + corners[(c + 2) % 3][i] - 2 * corners[c][i]) / order;
    add_triangle(places, inner, order - 3);
}

// The inside of a face with these corners.
void add_inside(std::vector<Place>& places, const std::array<Place, 3>& corners, int order) {
    std::vector<Place> all;
    add_triangle(all, corners, order);
    places.insert(places.end(), all.begin() + 3L * order, all.end());
}

// Corners, edges, faces and a smaller tetrahedron inside, of which the same is true.
void add_tetrahedron(std::vector<Place>& places, const std::array<Place, 4>& corners, int order) {
    if (order < 0) return;
    if (order == 0) {
        places.push_back(corners[0]);
        return;
    }
    constexpr std::array<std::array<std::size_t, 2>, 6> edges{{{0, 1}, {1, 2}, {2, 0}, {0, 3}, {1, 3}, {2, 3}}};
    // Each begins where VTK counts from.
    constexpr std::array<std::array<std::size_t, 3>, 4> faces{{{0, 1, 3}, {2, 3, 1}, {0, 3, 2}, {0, 2, 1}}};
    places.insert(places.end(), corners.begin(), corners.end());
    for (const auto& edge : edges)
        for (int step = 1; step < order; ++step) places.push_back(between(corners[edge[0]], corners[edge[1]], step, order));
    if (order >= 3)
        for (const auto& face : faces) add_inside(places, {corners[face[0]], corners[face[1]], corners[face[2]]}, order);
    if (order < 4) return;
    std::array<Place, 4> inner{};
    for (std::size_t c = 0; c < 4; ++c)
        for (std::size_t i = 0; i < 4; ++i) {
            int others = -3 * corners[c][i];
            for (std::size_t o = 0; o < 4; ++o) others += o == c ? 0 : corners[o][i];
            inner[c][i] = corners[c][i] + others / order;
        }
    add_tetrahedron(places, inner, order - 4);
}

// Nodes between two corners, without them.
void add_edge(std::vector<std::array<int, 3>>& places, const std::array<int, 3>& from, const std::array<int, 3>& to, int order) {
    for (int step = 1; step < order; ++step) {
        std::array<int, 3> place{};
        for (std::size_t axis = 0; axis < 3; ++axis) place[axis] = from[axis] + (to[axis] - from[axis]) * step / order;
        places.push_back(place);
    }
}

// Nodes inside a face across an axis, or inside a cube: the lower of the other axes fastest.
void add_face(std::vector<std::array<int, 3>>& places, std::size_t across, int at, int order) {
    const std::size_t fast = across == 0 ? 1 : 0;
    const std::size_t slow = across == 2 ? 1 : 2;
    for (int j = 1; j < order; ++j)
        for (int i = 1; i < order; ++i) {
            std::array<int, 3> place{};
            place[across] = at;
            place[fast] = i;
            place[slow] = j;
            places.push_back(place);
        }
}

// Corners around a square at height z, then its edges: both pairs run along their axis.
void add_square(std::vector<std::array<int, 3>>& corners, std::vector<std::array<int, 3>>& edges, int z, int n) {
    corners.insert(corners.end(), {{0, 0, z}, {n, 0, z}, {n, n, z}, {0, n, z}});
    add_edge(edges, {0, 0, z}, {n, 0, z}, n);
    add_edge(edges, {n, 0, z}, {n, n, z}, n);
    add_edge(edges, {0, n, z}, {n, n, z}, n);
    add_edge(edges, {0, 0, z}, {0, n, z}, n);
}

}  // namespace

std::vector<std::array<int, 3>> vtk_cube_lattice(int dimension, int order) {
    std::vector<std::array<int, 3>> places;
    std::vector<std::array<int, 3>> edges;
    add_square(places, edges, 0, order);
    if (dimension == 3) add_square(places, edges, order, order);
    places.insert(places.end(), edges.begin(), edges.end());
    if (dimension == 2) {
        add_face(places, 2, 0, order);
        return places;
    }
    for (const auto& [x, y] : {std::array{0, 0}, {order, 0}, {0, order}, {order, order}}) add_edge(places, {x, y, 0}, {x, y, order}, order);
    for (std::size_t across = 0; across < 3; ++across)
        for (const int at : {0, order}) add_face(places, across, at, order);
    for (int z = 1; z < order; ++z) add_face(places, 2, z, order);
    return places;
}

std::vector<std::array<int, 3>> vtk_lattice(int dimension, int order) {
    const std::array<Place, 4> corners{Place{order, 0, 0, 0}, Place{0, order, 0, 0}, Place{0, 0, order, 0}, Place{0, 0, 0, order}};
    std::vector<Place> places;
    if (dimension == 3)
        add_tetrahedron(places, corners, order);
    else
        add_triangle(places, {corners[0], corners[1], corners[2]}, order);
    std::vector<std::array<int, 3>> steps;
    steps.reserve(places.size());
    for (const Place& place : places) steps.push_back({place[1], place[2], place[3]});
    return steps;
}

void VtkElements::field(const std::string& name, const std::vector<std::span<const double>>& components) {
    Field field{name, static_cast<int>(components.size()), {}};
    for (const auto& component : components)
        if (component.size() != points_.size())
            throw Error(fmt::format("field {} of VTK elements", name), fmt::format("{} values", component.size()),
                        fmt::format("give {}", points_.size()));
    for (std::size_t i = 0; i < points_.size(); ++i)
        for (const auto& component : components) field.values.push_back(static_cast<float>(component[i]));
    fields_.push_back(std::move(field));
}

void VtkElements::write(const std::filesystem::path& file) const {
    constexpr std::uint8_t lagrange_triangle = 69;
    constexpr std::uint8_t lagrange_tetrahedron = 71;
    constexpr std::uint8_t lagrange_quadrilateral = 70;
    constexpr std::uint8_t lagrange_hexahedron = 72;
    const bool cubes = shape_ == Shape::cube;
    const std::size_t nodes = (cubes ? vtk_cube_lattice(dimension_, order_) : vtk_lattice(dimension_, order_)).size();
    const std::size_t elements = points_.size() / nodes;
    std::vector<std::int64_t> connectivity(points_.size());
    std::iota(connectivity.begin(), connectivity.end(), 0);
    std::vector<std::int64_t> offsets(elements);
    for (std::size_t k = 0; k < elements; ++k) offsets[k] = static_cast<std::int64_t>((k + 1) * nodes);
    const std::uint8_t solid = cubes ? lagrange_hexahedron : lagrange_tetrahedron;
    const std::uint8_t flat = cubes ? lagrange_quadrilateral : lagrange_triangle;
    const std::vector<std::uint8_t> types(elements, dimension_ == 3 ? solid : flat);
    const std::span<const double> coordinates(points_.empty() ? nullptr : points_.front().data(), 3 * points_.size());
    VtkArrays arrays;
    std::ofstream stream(file, std::ios::binary);
    stream << vtk_file_head("UnstructuredGrid")
           << fmt::format("<UnstructuredGrid>\n<Piece NumberOfPoints=\"{}\" NumberOfCells=\"{}\">\n<PointData>\n", points_.size(), elements);
    for (const Field& field : fields_) stream << arrays.add(field.name, field.components, std::span<const float>(field.values));
    stream << "</PointData>\n<CellData>\n";
    for (const auto& [name, values] : element_fields_) stream << arrays.add(name, 1, values);
    stream << "</CellData>\n<Points>\n" << arrays.add("", 3, coordinates) << "</Points>\n<Cells>\n";
    stream << arrays.add("connectivity", 1, std::span<const std::int64_t>(connectivity));
    stream << arrays.add("offsets", 1, std::span<const std::int64_t>(offsets)) << arrays.add("types", 1, std::span<const std::uint8_t>(types));
    stream << "</Cells>\n</Piece>\n</UnstructuredGrid>\n";
    arrays.write(stream);
    stream << "</VTKFile>\n";
    stream.close();
    if (!stream) throw Error(file.string(), "it cannot be written", "choose a folder that can be written to, with room for it");
}

std::string VtkElements::write_part(const std::filesystem::path& folder, const std::string& name, int rank, int ranks) const {
    if (ranks == 1) {
        write(folder / (name + ".vtu"));
        return name + ".vtu";
    }
    write(folder / fmt::format("{}_{}.vtu", name, rank));
    std::string joined = name + ".pvtu";
    if (rank > 0) return joined;
    // What the parts have, with numbers of the same types as `write` gives them.
    std::ofstream stream(folder / joined);
    const auto array = [&](const char* type, const std::string& of, int components) {
        stream << fmt::format("<PDataArray type=\"{}\"{} NumberOfComponents=\"{}\"/>\n", type, of.empty() ? "" : fmt::format(" Name=\"{}\"", of),
                              components);
    };
    stream << vtk_file_head("PUnstructuredGrid") << "<PUnstructuredGrid GhostLevel=\"0\">\n<PPointData>\n";
    for (const Field& field : fields_) array("Float32", field.name, field.components);
    stream << "</PPointData>\n<PCellData>\n";
    for (const auto& [of, values] : element_fields_) array("Float64", of, 1);
    stream << "</PCellData>\n<PPoints>\n";
    array("Float64", "", 3);
    stream << "</PPoints>\n";
    for (int part = 0; part < ranks; ++part) stream << fmt::format("<Piece Source=\"{}_{}.vtu\"/>\n", name, part);
    stream << "</PUnstructuredGrid>\n</VTKFile>\n";
    stream.close();
    if (!stream) throw Error((folder / joined).string(), "it cannot be written", "choose a folder that can be written to, with room for it");
    return joined;
}

}  // namespace hone::inline v0_1::solvers
