#include "solvers/mesh/connectivity.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "foundation/error.hpp"
#include "generator/families/elements/reference_element.hpp"
#include "solvers/mesh/geometry.hpp"
#include "tests/solvers/mesh/random_mesh.hpp"

namespace hone::solvers::connectivity_test {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

const ReferenceElement& reference_of(const Mesh& mesh, int order) {
    return reference_element(mesh.dimension == 3 ? Simplex::tetrahedron : Simplex::triangle, order);
}

double distance(const Point& a, const Point& b) {
    return std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
}

// Coordinates know nothing of orientations: they are the other way to find the coinciding nodes.
void expect_coinciding(const Mesh& mesh, int order, std::set<int>& seen) {
    const auto neighbours = match_faces(mesh);
    const NodeMaps maps = node_maps(mesh, neighbours, order);
    const ReferenceElement& element = reference_of(mesh, order);
    std::vector<Point> at;
    for (int k = 0; k < mesh.size(); ++k)
        for (const Point& point : placed(mesh, k, element.points)) at.push_back(point);
    ASSERT_EQ(maps.other.size(), neighbours.size() * static_cast<std::size_t>(element.face_nodes()));
    for (std::size_t i = 0; i < maps.other.size(); ++i) {
        const Neighbour& neighbour = neighbours[i / static_cast<std::size_t>(element.face_nodes())];
        EXPECT_LT(distance(at[static_cast<std::size_t>(maps.own[i])], at[static_cast<std::size_t>(maps.other[i])]), 1e-12);
        EXPECT_EQ(neighbour.exists(), maps.own[i] / element.nodes() != maps.other[i] / element.nodes());
        if (!neighbour.exists()) continue;
        EXPECT_EQ(maps.other[i] / element.nodes(), neighbour.element);
        seen.insert(neighbour.orientation);
    }
}

TEST(MeshConnectivity, CoincidingNodesOfRandomlyTurnedElements) {
    const unsigned seed = std::random_device{}();
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    std::set<int> in_space;
    std::set<int> in_plane;
    for (const int order : {1, 2, 3, 4, 5, 7}) {
        expect_coinciding(shuffled(mapped(kuhn_box({{3, 2, 2}}), random), random), order, in_space);
        expect_coinciding(shuffled(mapped(triangle_box({{3, 4, 0}}), random), random), order, in_plane);
    }
    EXPECT_EQ(in_space.size(), 6U) << "all six orientations of a face";
    EXPECT_EQ(in_plane, (std::set<int>{0, 2}));
}

TEST(MeshConnectivity, PeriodicNodesAreOnePeriodApart) {
    const unsigned seed = std::random_device{}();
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    Box box{{1, 2, 3}};
    box.boundary.fill(Boundary::periodic);
    for (const Mesh& mesh : {shuffled(kuhn_box(box), random), shuffled(triangle_box(box), random)}) {
        constexpr int order = 4;
        const ReferenceElement& element = reference_of(mesh, order);
        const auto neighbours = match_faces(mesh);
        const NodeMaps maps = node_maps(mesh, neighbours, order);
        std::vector<Point> at;
        for (int k = 0; k < mesh.size(); ++k)
            for (const Point& point : placed(mesh, k, element.points)) at.push_back(point);
        const Geometry geometry = geometry_of(mesh);
        for (std::size_t i = 0; i < maps.other.size(); ++i) {
            const std::size_t side = i / static_cast<std::size_t>(element.face_nodes());
            ASSERT_TRUE(neighbours[side].exists());
            Point step = at[static_cast<std::size_t>(maps.other[i])];
            for (std::size_t x = 0; x < 3; ++x) step[x] -= at[static_cast<std::size_t>(maps.own[i])][x];
            // Either nothing, or back through the whole box (of width 2) against the outward
            // normal.
            const double along = distance(step, {}) < 1e-12 ? 0 : 2;
            for (std::size_t x = 0; x < 3; ++x) EXPECT_NEAR(step[x], -along * geometry.normals[3 * side + x], 1e-12);
        }
    }
}

// Every fault of a mesh has its own message, with the element's number.
TEST(MeshConnectivity, RefusesWhatDoesNotFitTogether) {
    const Mesh good = kuhn_box({{3, 3, 3}});
    constexpr int inner_element = 80;  // of the cell in the middle
    Mesh mesh = good;
    mesh.boundary.pop_back();
    EXPECT_THAT([&] { match_faces(mesh, "m.msh"); }, ThrowsMessage<Error>(HasSubstr("has neither a neighbour nor a group")));
    EXPECT_THAT([&] { match_faces(mesh, "m.msh"); }, ThrowsMessage<Error>(HasSubstr("of element 162")));
    mesh = good;
    mesh.boundary.push_back(mesh.boundary.front());
    EXPECT_THAT([&] { match_faces(mesh); }, ThrowsMessage<Error>(HasSubstr("is in the boundary twice")));
    mesh = good;
    mesh.elements.push_back(mesh.elements[inner_element]);
    mesh.numbers.push_back(4711);
    EXPECT_THAT([&] { match_faces(mesh); }, ThrowsMessage<Error>(HasSubstr("3 elements have")));
    mesh = good;
    mesh.elements.erase(mesh.elements.begin() + inner_element);  // a hole, whose faces nobody declared
    EXPECT_THAT([&] { match_faces(mesh); }, ThrowsMessage<Error>(HasSubstr("has neither a neighbour")));
    mesh = good;
    for (auto& face : mesh.boundary) face.kind = Boundary::periodic;
    EXPECT_THAT([&] { match_faces(mesh); }, ThrowsMessage<Error>(HasSubstr("nothing lies on the other side")));
    mesh = good;
    mesh.boundary.push_back({{0, 1, 63}});
    EXPECT_THAT([&] { match_faces(mesh); }, ThrowsMessage<Error>(HasSubstr("not one of any element")));
    mesh = good;
    const auto neighbours = match_faces(good);
    int inner = 0;
    while (!neighbours[static_cast<std::size_t>(inner)].exists()) ++inner;
    mesh.boundary.push_back({face_vertices(good, inner / 4, inner % 4)});
    EXPECT_THAT([&] { match_faces(mesh); }, ThrowsMessage<Error>(HasSubstr("has a neighbour")));
}

// Two elements on the same side of their common face.
TEST(MeshConnectivity, RefusesFoldedElements) {
    const unsigned seed = std::random_device{}();
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    Mesh mesh;
    mesh.vertices = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {0.2, 0.2, 1}};
    mesh.elements = {{0, 1, 2, 3}, {0, 1, 2, 4}};
    mesh.material = {0, 0};
    mesh.materials = {"default"};
    mesh.numbers = {1, 2};
    EXPECT_THAT([&] { match_faces(shuffled(mesh, random)); }, ThrowsMessage<Error>(HasSubstr("on the same side")));
    Mesh flat = mesh;
    flat.dimension = 2;
    flat.vertices = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0.2, 1, 0}};
    flat.elements = {{0, 1, 2, Mesh::none}, {0, 1, 3, Mesh::none}};
    EXPECT_THAT([&] { match_faces(shuffled(flat, random)); }, ThrowsMessage<Error>(HasSubstr("on the same side")));
}

}  // namespace
}  // namespace hone::solvers::connectivity_test
