#include "solvers/mesh/boxes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "foundation/error.hpp"

namespace hone::inline v0_1::solvers {
namespace {

using Place = std::array<int, 3>;  // of a vertex, in cells

// The vertices of the grid, x fastest.
struct Grid {
    Grid(const Box& of, int dimension_) : box(of), dimension(dimension_) {
        if (dimension == 2) box.cells[2] = 0;
        double count = dimension == 3 ? 6 : 2;
        for (int axis = 0; axis < dimension; ++axis) {
            const auto a = static_cast<std::size_t>(axis);
            if (box.cells[a] < 1 || !(box.low[a] < box.high[a]))
                throw Error("box", fmt::format("{} cells from {} to {}", box.cells[a], box.low[a], box.high[a]),
                            "use at least one, from low to high");
            count *= box.cells[a] + 1.0;
        }
        if (count > std::numeric_limits<int>::max()) throw Error("box", fmt::format("about {:.3g} elements", count), "use fewer than 2^31");
    }

    int vertex(const Place& at) const { return (at[2] * (box.cells[1] + 1) + at[1]) * (box.cells[0] + 1) + at[0]; }

    std::vector<Point> vertices() const {
        std::vector<Point> points;
        for (int k = 0; k <= box.cells[2]; ++k)
            for (int j = 0; j <= box.cells[1]; ++j)
                for (int i = 0; i <= box.cells[0]; ++i) points.push_back({coordinate(0, i), coordinate(1, j), coordinate(2, k)});
        return points;
    }

    // Exact at both ends.
    double coordinate(std::size_t axis, int step) const {
        if (static_cast<int>(axis) >= dimension) return 0;
        const double part = static_cast<double>(step) / box.cells[axis];
        return box.low[axis] * (1 - part) + box.high[axis] * part;
    }

    Box box;
    int dimension;
};

void add_element(Mesh& mesh, std::array<int, 4> vertices) {
    mesh.elements.push_back(vertices);
    mesh.material.push_back(0);
    mesh.numbers.push_back(mesh.size());
}

// The path from the lowest to the highest corner of a cell along the axes in one order; every order
// is a tetrahedron of Kuhn's.
void add_kuhn_cell(Mesh& mesh, const Grid& grid, const Place& cell) {
    std::array<std::size_t, 3> order{0, 1, 2};
    do {
        std::array<int, 4> path{};
        Place at = cell;
        path[0] = grid.vertex(at);
        for (std::size_t i = 0; i < 3; ++i) {
            ++at[order[i]];
            path[i + 1] = grid.vertex(at);
        }
        const bool odd = (order[0] > order[1]) != ((order[0] > order[2]) != (order[1] > order[2]));
        if (odd) std::swap(path[1], path[2]);
        add_element(mesh, path);
    } while (std::next_permutation(order.begin(), order.end()));
}

// The boundary consists of the elements' faces that lie on a side of the box.
void add_boundary(Mesh& mesh, const Grid& grid) {
    const auto step = [&](int vertex, std::size_t axis) {
        const int row = grid.box.cells[0] + 1;
        const int plane = row * (grid.box.cells[1] + 1);
        return axis == 0 ? vertex % row : axis == 1 ? vertex % plane / row : vertex / plane;
    };
    for (int k = 0; k < mesh.size(); ++k)
        for (int f = 0; f < mesh.corners(); ++f) {
            const auto face = face_vertices(mesh, k, f);
            for (std::size_t axis = 0; axis < static_cast<std::size_t>(mesh.dimension); ++axis)
                for (const int end : {0, grid.box.cells[axis]})
                    if (std::all_of(face.begin(), face.end(), [&](int v) { return v == Mesh::none || step(v, axis) == end; }))
                        mesh.boundary.push_back({face, grid.box.boundary[axis]});
        }
}

void link_sides(Mesh& mesh, const Grid& grid, std::size_t axis) {
    Mesh::Link link;
    Place end = grid.box.cells;
    end[axis] = 0;
    for (int k = 0; k <= end[2]; ++k)
        for (int j = 0; j <= end[1]; ++j)
            for (int i = 0; i <= end[0]; ++i) {
                Place at{i, j, k};
                const int low = grid.vertex(at);
                at[axis] = grid.box.cells[axis];
                link.emplace_back(grid.vertex(at), low);
            }
    mesh.links.push_back(std::move(link));
}

Mesh begin(const Grid& grid) {
    Mesh mesh;
    mesh.dimension = grid.dimension;
    mesh.materials = {"default"};
    mesh.vertices = grid.vertices();
    return mesh;
}

void finish(Mesh& mesh, const Grid& grid) {
    add_boundary(mesh, grid);
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(mesh.dimension); ++axis)
        if (grid.box.boundary[axis] == Boundary::periodic) link_sides(mesh, grid, axis);
}

}  // namespace

Mesh kuhn_box(const Box& box) {
    const Grid grid(box, 3);
    Mesh mesh = begin(grid);
    for (int k = 0; k < box.cells[2]; ++k)
        for (int j = 0; j < box.cells[1]; ++j)
            for (int i = 0; i < box.cells[0]; ++i) add_kuhn_cell(mesh, grid, {i, j, k});
    finish(mesh, grid);
    return mesh;
}

Mesh triangle_box(const Box& box) {
    const Grid grid(box, 2);
    Mesh mesh = begin(grid);
    for (int j = 0; j < box.cells[1]; ++j)
        for (int i = 0; i < box.cells[0]; ++i) {
            const int right = grid.vertex({i + 1, j, 0});
            const int top = grid.vertex({i, j + 1, 0});
            add_element(mesh, {grid.vertex({i, j, 0}), right, top, Mesh::none});
            add_element(mesh, {right, grid.vertex({i + 1, j + 1, 0}), top, Mesh::none});
        }
    finish(mesh, grid);
    return mesh;
}

}  // namespace hone::inline v0_1::solvers
