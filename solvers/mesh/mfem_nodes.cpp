#include "solvers/mesh/mfem_nodes.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <span>
#include <string>

namespace hone::inline v0_1::solvers {
namespace {

constexpr const char* straighten = "save it with straight edges (in MFEM: mesh.SetCurvature(1))";

// Finite elements of MFEM that may say where straight zones lie.
struct Collection {
    std::string name;
    bool continuous = true;
    int order = 1;
    double first = 0;  // of a discontinuous one: where the first of two nodes lies along an edge
};

// How MFEM writes the number of dimensions and the order: 2D_P1; 0 of anything else.
int order_of(std::string_view words, int dimension) {
    if (words.size() != 5 || words.substr(0, 4) != fmt::format("{}D_P", dimension) || words[4] < '1' || words[4] > '9') return 0;
    return words[4] - '0';
}

Collection read_collection(GmshCursor& cursor, int dimension) {
    cursor.expect("nodes");
    cursor.set_section("nodes");
    cursor.expect("FiniteElementSpace");
    cursor.expect("FiniteElementCollection:");
    const std::string name(cursor.word());
    if (name == "Linear") return {name};
    if (name == "Quadratic") return {name, true, 2};
    if (name == "Cubic") return {name, true, 3};
    const std::size_t bar = name.rfind('_', name.rfind('_') - 1);
    const std::string kind = name.substr(0, bar);
    const int order = bar < name.size() ? order_of(std::string_view(name).substr(bar + 1), dimension) : 0;
    // Nodes of order 1 lie at the corners in all of these.
    if (order > 0 && (kind == "H1" || kind == "H1Pos" || (kind.starts_with("H1@") && kind.size() == 4))) return {name, true, order};
    // MFEM's numbers of bases: Gauss and Legendre, Gauss and Lobatto, Bernstein, open uniform,
    // closed uniform, half open.
    static const std::map<std::string, double> first_nodes{{"L2", (1 - 1 / std::sqrt(3.0)) / 2},
                                                           {"L2_T0", (1 - 1 / std::sqrt(3.0)) / 2},
                                                           {"L2_T1", 0},
                                                           {"L2_T2", 0},
                                                           {"L2_T3", 1.0 / 3},
                                                           {"L2_T4", 0},
                                                           {"L2_T5", 0.25}};
    if (const auto found = first_nodes.find(kind); order > 0 && found != first_nodes.end()) return {name, false, order, found->second};
    constexpr std::size_t most = 40;
    cursor.refuse(fmt::format("its nodes are of the collection \"{}\"", name.substr(0, most)),
                  fmt::format("use Linear, H1_{0}D_P1 or L2_T1_{0}D_P1: {1}", dimension, straighten));
}

// Reads `count` points, x of all first or point by point.
std::vector<Point> read_points(GmshCursor& cursor, std::size_t count, int dimension) {
    cursor.expect("VDim:");
    const std::int64_t width = cursor.text_integer();
    if (width != dimension && width != 3)
        cursor.refuse(fmt::format("nodes have {} coordinates in {} dimensions", width, dimension), "use as many as there are dimensions");
    cursor.expect("Ordering:");
    const std::int64_t ordering = cursor.text_integer();
    if (ordering != 0 && ordering != 1) cursor.refuse(fmt::format("the ordering is {}", ordering), "use 0 (x of all nodes first) or 1");
    std::vector<Point> points;
    const std::size_t values = count * static_cast<std::size_t>(width);
    for (std::size_t i = 0; i < values; ++i) {
        const std::size_t node = ordering == 0 ? i % count : i / static_cast<std::size_t>(width);
        const std::size_t axis = ordering == 0 ? i / count : i % static_cast<std::size_t>(width);
        const double x = cursor.text_number();
        if (!std::isfinite(x)) cursor.refuse(fmt::format("node {} is nowhere: a coordinate is not finite", node), "make the mesh again");
        if (static_cast<int>(axis) >= dimension && std::abs(x) > 0)
            cursor.refuse(fmt::format("node {} of a mesh in a plane has z = {}", node, x), "use the plane z = 0");
        if (node == points.size()) points.emplace_back();
        points[node][axis] = x;
    }
    return points;
}

double apart(const Point& a, const Point& b) {
    return std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
}

// What rounding to the eight digits that MFEM writes may move a point that lies among `corners`,
// and a millionth of their distance, which no zone's shape feels.
double tolerance(std::span<const Point> corners) {
    constexpr double written = 2e-8;
    constexpr double unfelt = 1e-6;
    double largest = 0;
    double size = 0;
    for (const Point& corner : corners) {
        for (const double x : corner) largest = std::max(largest, std::abs(x));
        size = std::max(size, apart(corner, corners.front()));
    }
    return written * largest + unfelt * size;
}

// An edge, a face or a zone: its corners, a zone's in the order of QuadMesh.
using Part = std::vector<std::int32_t>;

// Parts in the order in which zones first name them, which is that of MFEM's nodes.
void add_parts(const QuadMesh& mesh, std::span<const std::vector<int>> corners, std::vector<Part>& parts) {
    std::set<Part> known;
    for (const auto& zone : mesh.zones)
        for (const std::vector<int>& of_part : corners) {
            Part part;
            for (const int corner : of_part) part.push_back(zone[static_cast<std::size_t>(corner)]);
            Part sorted = part;
            std::sort(sorted.begin(), sorted.end());
            if (known.insert(std::move(sorted)).second) parts.push_back(std::move(part));
        }
}

// What the nodes of order 2 after the vertices belong to: edges, faces and zones, as MFEM goes
// around them.
std::vector<Part> parts_of(const QuadMesh& mesh) {
    static const std::vector<std::vector<int>> square_edges{{0, 1}, {1, 3}, {3, 2}, {2, 0}};
    static const std::vector<std::vector<int>> cube_edges{{0, 1}, {1, 3}, {2, 3}, {0, 2}, {4, 5}, {5, 7},
                                                          {6, 7}, {4, 6}, {0, 4}, {1, 5}, {3, 7}, {2, 6}};
    static const std::vector<std::vector<int>> cube_faces{{2, 3, 1, 0}, {0, 1, 5, 4}, {1, 3, 7, 5}, {3, 2, 6, 7}, {2, 0, 4, 6}, {4, 5, 7, 6}};
    std::vector<Part> parts;
    add_parts(mesh, mesh.dimension == 2 ? square_edges : cube_edges, parts);
    if (mesh.dimension == 3) add_parts(mesh, cube_faces, parts);
    for (const auto& zone : mesh.zones) parts.emplace_back(zone.begin(), zone.begin() + mesh.corners());
    return parts;
}

// Every node lies where a straight edge, face or zone has its middle.
void check_middles(const GmshCursor& cursor, const Collection& collection, const std::vector<Part>& parts, std::span<const Point> vertices,
                   std::span<const Point> middles) {
    for (std::size_t i = 0; i < parts.size(); ++i) {
        std::vector<Point> corners;
        Point middle{};
        for (const std::int32_t vertex : parts[i]) {
            corners.push_back(vertices[static_cast<std::size_t>(vertex)]);
            for (std::size_t c = 0; c < 3; ++c) middle[c] += corners.back()[c] / static_cast<double>(parts[i].size());
        }
        if (apart(middle, middles[i]) > tolerance(corners))
            cursor.refuse(fmt::format("its zones are curved: node {} ({}) is not in the middle of vertices {}", vertices.size() + i, collection.name,
                                      fmt::join(parts[i], ", ")),
                          straighten);
    }
}

// A zone's corners, by its nodes of order 1 with x fastest, which lie `first` from the ends of its
// edges.
std::vector<Point> corners_of(std::span<const Point> nodes, int dimension, double first) {
    std::vector<Point> corners(nodes.begin(), nodes.end());
    const double beyond = first / (1 - 2 * first);
    for (int axis = 0; axis < dimension; ++axis)
        for (std::size_t low = 0; low < corners.size(); ++low) {
            const std::size_t high = low | std::size_t{1} << axis;
            if (high == low) continue;
            for (std::size_t c = 0; c < 3; ++c) {
                const double step = beyond * (corners[high][c] - corners[low][c]);
                corners[low][c] -= step;
                corners[high][c] += step;
            }
        }
    return corners;
}

std::vector<Point> join_zones(const GmshCursor& cursor, const QuadMesh& mesh, std::span<const Point> nodes, double first, std::size_t count) {
    if (count > nodes.size()) cursor.refuse(fmt::format("there are {} vertices for {} corners", count, nodes.size()), "save the mesh again");
    std::vector<Point> vertices(count);
    std::vector<std::size_t> placed_by(count, mesh.zones.size());
    const auto width = static_cast<std::size_t>(mesh.corners());
    for (std::size_t zone = 0; zone < mesh.zones.size(); ++zone) {
        const std::vector<Point> corners = corners_of(nodes.subspan(zone * width, width), mesh.dimension, first);
        for (std::size_t corner = 0; corner < width; ++corner) {
            const auto vertex = static_cast<std::size_t>(mesh.zones[zone][corner]);
            if (placed_by[vertex] == mesh.zones.size()) {
                placed_by[vertex] = zone;
                vertices[vertex] = corners[corner];
            } else if (apart(vertices[vertex], corners[corner]) > tolerance(corners)) {
                cursor.refuse(fmt::format("elements {} and {} have vertex {} at different places", placed_by[vertex], zone, vertex),
                              "use a mesh that is neither torn nor periodic");
            }
        }
    }
    return vertices;
}

}  // namespace

void read_mfem_nodes(GmshCursor& cursor, QuadMesh& mesh, std::int64_t count) {
    const Collection collection = read_collection(cursor, mesh.dimension);
    const auto vertices = static_cast<std::size_t>(count);
    if (collection.order > (collection.continuous ? 2 : 1))
        cursor.refuse(fmt::format("its zones may be curved: nodes are of order {} ({})", collection.order, collection.name), straighten);
    if (!collection.continuous) {
        const std::vector<Point> nodes = read_points(cursor, mesh.zones.size() * static_cast<std::size_t>(mesh.corners()), mesh.dimension);
        mesh.vertices = join_zones(cursor, mesh, nodes, collection.first, vertices);
        return;
    }
    const std::vector<Part> parts = collection.order == 2 ? parts_of(mesh) : std::vector<Part>{};
    const std::vector<Point> nodes = read_points(cursor, vertices + parts.size(), mesh.dimension);
    mesh.vertices.assign(nodes.begin(), nodes.begin() + count);
    check_middles(cursor, collection, parts, mesh.vertices, std::span(nodes).subspan(vertices));
}

}  // namespace hone::inline v0_1::solvers
