#include "solvers/mesh/mfem.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "foundation/error.hpp"
#include "foundation/file_store.hpp"
#include "tests/support/places.hpp"

namespace hone::solvers::mfem_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

std::string contents(const std::string& name) {
    return read_file(test::source_path("tests/fuzz/seeds/mfem/") + name, 1 << 20);
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
}

TEST(MeshMfem, ReadsQuadrilateralsAndHexahedra) {
    const QuadMesh square = parse_mfem(contents("square.mesh"), "square.mesh");
    EXPECT_EQ(square.dimension, 2);
    EXPECT_EQ(square.attributes, (std::vector<int>{1, 2}));
    EXPECT_EQ(square.zones[0], (std::array<std::int32_t, 8>{0, 1, 3, 4}));
    EXPECT_EQ(square.zones[1], (std::array<std::int32_t, 8>{5, 4, 2, 1}));
    EXPECT_EQ(square.vertices[4], (Point{1, 1.25, 0}));
    EXPECT_EQ(square.sides.size(), 6U);
    EXPECT_EQ(number_lattice(square, 3).nodes, 7 * 4);
    const QuadMesh cube = parse_mfem(contents("cube.mesh"), "cube.mesh");
    EXPECT_EQ(cube.zones[0], (std::array<std::int32_t, 8>{0, 1, 3, 2, 4, 5, 7, 6}));
    EXPECT_EQ(number_lattice(cube, 2).side_nodes.size(), 6U * 9);
}

TEST(MeshMfem, TheShippedMeshIsAQuarterOfADisc) {
    const QuadMesh mesh = refined(read_mfem(test::source_path("examples/mesh/quarter.mesh")));
    EXPECT_EQ(mesh.size(), 108);
    for (const auto& side : mesh.sides)
        for (int i = 0; i < 2; ++i) {
            const Point& at = mesh.vertices[static_cast<std::size_t>(side.vertices[static_cast<std::size_t>(i)])];
            if (side.attribute == 4)
                EXPECT_NEAR(at[0] * at[0] + at[1] * at[1], 1, 0.02);
            else
                EXPECT_EQ(at[static_cast<std::size_t>(side.attribute - 1)], 0);
        }
}

TEST(MeshMfem, WhatDoesNotFitIsToldWithItsLine) {
    const std::string good = contents("square.mesh");
    struct Case {
        const char *from, *to, *where, *found;
    };
    for (const Case& bad : {Case{"MFEM mesh", "MFEM nesh", "line 1", "does not begin"},
                            {"v1.0", "v1.4", "line 1", "its format is \"v1.4\""},
                            {"v1.0", "v1.2", "line 30", "ends too early"},
                            {"MFEM mesh", "MFEM NC mesh", "line 1", "refined unevenly"},
                            {"MFEM mesh", "MFEM NURBS mesh", "line 1", "NURBS"},
                            {"dimension\n2", "dimension\n1", "line 5", "its dimension is 1"},
                            {"1 3 0 1 4 3", "1 2 0 1 4", "line 9", "of kind 2"},
                            {"1 3 0 1 4 3", "1 3 0 1 4 9", "line 9", "vertex 9 does not exist"},
                            {"1 3 0 1 4 3", "1 3 0 1 4 4", "line 9", "a vertex twice"},
                            {"1 3 0 1 4 3", "1 3 0 3 4 1", "line 9", "element 0 is inverted or flat"},
                            {"1 3 0 1 4 3", "1 3 0 1 4 x", "line 9", "\"x\" stands where a whole number should"},
                            {"2 1 1 2", "2 1 1 5", "line 15", "side 1 of the boundary belongs to no element"},
                            {"vertices\n6", "vertices\n5", "line 10", "vertex 5 does not exist"},
                            {"6\n2\n0 0", "6\n4\n0 0", "line 23", "4 coordinates in 2 dimensions"},
                            {"2.5 1\n", "2.5 1\n3 3\n", "line 30", "something stands behind"},
                            {"2.5 1\n", "2.5 1\nmfem_serial_mesh_end\n", "line 30", "one process's part"},
                            {"1 1.25", "1 nan", "line 28", "not finite"},
                            {"2.5 1\n", "", "line 29", "ends too early"}}) {
        SCOPED_TRACE(bad.to);
        EXPECT_THAT([&] { parse_mfem(replaced(good, bad.from, bad.to), "bad.mesh"); },
                    ThrowsMessage<Error>(AllOf(HasSubstr("bad.mesh, " + std::string(bad.where)), HasSubstr(bad.found))));
    }
}

// The file with nodes in place of its vertices' coordinates.
std::string with_nodes(const std::string& file, const std::string& collection, const std::vector<Point>& nodes, int width, int ordering) {
    const std::string text = contents(file);
    const std::size_t at = text.find("vertices\n");
    std::string result = text.substr(0, text.find('\n', at + 9) + 1);
    result += "\nnodes\nFiniteElementSpace\nFiniteElementCollection: " + collection + "\nVDim: " + std::to_string(width);
    result += "\nOrdering: " + std::to_string(ordering) + "\n\n";
    const std::size_t count = nodes.size();
    const auto components = static_cast<std::size_t>(width);
    for (std::size_t i = 0; i < count * components; ++i)
        result += fmt::format("{:.8g}\n", ordering == 0 ? nodes[i % count][i / count] : nodes[i / components][i % components]);
    return result;
}

// Where nodes of the unit cube's lattice lie in each zone, x fastest.
std::vector<Point> zone_points(const QuadMesh& mesh, double low, double high) {
    std::vector<Point> points;
    for (std::size_t zone = 0; zone < mesh.zones.size(); ++zone)
        for (int corner = 0; corner < mesh.corners(); ++corner) {
            const auto at = [&](int axis) { return (corner >> axis & 1) != 0 ? high : low; };
            points.push_back(place_in_zone(mesh, zone, {at(0), at(1), at(2)}));
        }
    return points;
}

void expect_same(const QuadMesh& found, const QuadMesh& expected) {
    EXPECT_EQ(found.zones, expected.zones);
    ASSERT_EQ(found.vertices.size(), expected.vertices.size());
    for (std::size_t vertex = 0; vertex < expected.vertices.size(); ++vertex)
        for (std::size_t c = 0; c < 3; ++c) EXPECT_NEAR(found.vertices[vertex][c], expected.vertices[vertex][c], 1e-7) << vertex;
}

TEST(MeshMfem, NodesOfLinearCollectionsAreStraight) {
    for (const std::string file : {"square.mesh", "cube.mesh"}) {
        const QuadMesh mesh = parse_mfem(contents(file), file);
        const std::string dimension = std::to_string(mesh.dimension);
        const double gauss = (1 - 1 / std::sqrt(3.0)) / 2;
        const std::map<std::string, double> collections{{"Linear", -1},
                                                        {"H1_" + dimension + "D_P1", -1},
                                                        {"H1Pos_" + dimension + "D_P1", -1},
                                                        {"H1@G_" + dimension + "D_P1", -1},
                                                        {"L2_" + dimension + "D_P1", gauss},
                                                        {"L2_T0_" + dimension + "D_P1", gauss},
                                                        {"L2_T1_" + dimension + "D_P1", 0},
                                                        {"L2_T2_" + dimension + "D_P1", 0},
                                                        {"L2_T3_" + dimension + "D_P1", 1.0 / 3},
                                                        {"L2_T4_" + dimension + "D_P1", 0},
                                                        {"L2_T5_" + dimension + "D_P1", 0.25}};
        for (const auto& [collection, first] : collections)
            for (int width = mesh.dimension; width <= 3; ++width)
                for (const int ordering : {0, 1}) {
                    SCOPED_TRACE(fmt::format("{} {} width {} ordering {}", file, collection, width, ordering));
                    const std::vector<Point> nodes = first < 0 ? mesh.vertices : zone_points(mesh, first, 1 - first);
                    expect_same(parse_mfem(with_nodes(file, collection, nodes, width, ordering), file), mesh);
                }
    }
}

// Nodes of order 2, as MFEM numbers them: vertices, edges, faces, zones.
std::vector<Point> square_of_order_2() {
    return {{0, 0, 0},       {1, 0, 0},   {2.5, 0, 0},      {0, 1, 0},    {1, 1.25, 0},  {2.5, 1, 0},      {0.5, 0, 0},      {1, 0.625, 0},
            {0.5, 1.125, 0}, {0, 0.5, 0}, {1.75, 1.125, 0}, {1.75, 0, 0}, {2.5, 0.5, 0}, {0.5, 0.5625, 0}, {1.75, 0.5625, 0}};
}

TEST(MeshMfem, NodesOfOrderTwoAreStraightWhereTheyLieInTheMiddle) {
    const QuadMesh square = parse_mfem(contents("square.mesh"), "square.mesh");
    std::vector<Point> nodes = square_of_order_2();
    for (const char* const collection : {"Quadratic", "H1_2D_P2"})
        for (const int ordering : {0, 1}) expect_same(parse_mfem(with_nodes("square.mesh", collection, nodes, 2, ordering), "square"), square);
    for (std::size_t node = 6; node < nodes.size(); ++node) {
        std::vector<Point> bent = nodes;
        bent[node][0] += 0.01;
        EXPECT_THAT([&] { parse_mfem(with_nodes("square.mesh", "H1_2D_P2", bent, 2, 1), "bent.mesh"); },
                    ThrowsMessage<Error>(AllOf(HasSubstr("bent.mesh, line"), HasSubstr("curved: node " + std::to_string(node)))));
    }
    // Laghos' box, one of its zones: edges and faces in MFEM's order.
    const QuadMesh cube = parse_mfem(contents("cube.mesh"), "cube.mesh");
    std::vector<Point> places(cube.vertices);
    for (const auto& at : std::vector<std::array<double, 3>>{{.5, 0, 0},
                                                             {1, .5, 0},
                                                             {.5, 1, 0},
                                                             {0, .5, 0},
                                                             {.5, 0, 1},
                                                             {1, .5, 1},
                                                             {.5, 1, 1},
                                                             {0, .5, 1},
                                                             {0, 0, .5},
                                                             {1, 0, .5},
                                                             {1, 1, .5},
                                                             {0, 1, .5},
                                                             {.5, .5, 0},
                                                             {.5, 0, .5},
                                                             {1, .5, .5},
                                                             {.5, 1, .5},
                                                             {0, .5, .5},
                                                             {.5, .5, 1},
                                                             {.5, .5, .5}})
        places.push_back(place_in_zone(cube, 0, at));
    expect_same(parse_mfem(with_nodes("cube.mesh", "H1_3D_P2", places, 3, 1), "cube.mesh"), cube);
}

TEST(MeshMfem, NodesThatMayBeCurvedAreRefusedWithTheRemedy) {
    const QuadMesh mesh = parse_mfem(contents("square.mesh"), "square.mesh");
    const auto refusal = [&](const std::string& collection, const std::vector<Point>& nodes, int width, int ordering, const std::string& found) {
        EXPECT_THAT([&] { parse_mfem(with_nodes("square.mesh", collection, nodes, width, ordering), "bad.mesh"); },
                    ThrowsMessage<Error>(AllOf(HasSubstr("bad.mesh, line"), HasSubstr(found))))
            << collection;
    };
    for (const char* const curved : {"H1_2D_P3", "Cubic", "L2_T1_2D_P2"}) refusal(curved, mesh.vertices, 2, 0, "mesh.SetCurvature(1)");
    for (const char* const other : {"H1_3D_P1", "ND_2D_P1", "L2_T9_2D_P1", "H1_2D_P1x", "_", "H1_", "NURBS2"})
        refusal(other, mesh.vertices, 2, 0, "of the collection \"");
    refusal("Linear", mesh.vertices, 4, 0, "4 coordinates");
    refusal("Linear", mesh.vertices, 2, 2, "the ordering is 2");
    std::vector<Point> nodes = mesh.vertices;
    nodes.pop_back();
    refusal("Linear", nodes, 2, 0, "ends too early");
    nodes.resize(mesh.vertices.size() + 1);
    refusal("Linear", nodes, 2, 0, "something stands behind");
    nodes = mesh.vertices;
    nodes[3][2] = 0.5;
    refusal("Linear", nodes, 3, 1, "z = 0.5");
    nodes = zone_points(mesh, 0, 1);
    nodes[2][1] += 0.01;  // of vertex 3, which no other zone has
    EXPECT_NO_THROW(parse_mfem(with_nodes("square.mesh", "L2_T1_2D_P1", nodes, 2, 1), "fine.mesh"));
    nodes[1][0] += 0.01;
    refusal("L2_T1_2D_P1", nodes, 2, 1, "elements 0 and 1 have vertex 1 at different places");
}

TEST(MeshMfem, ReadsTheFormatsAfterTheFirst) {
    const std::string file = contents("square.mesh");
    const QuadMesh mesh = parse_mfem(file, "square.mesh");
    expect_same(parse_mfem(replaced(file, "v1.0", "v1.1"), "v1.1"), mesh);
    expect_same(parse_mfem(replaced(file, "v1.0", "v1.2") + "\nmfem_mesh_end\n", "v1.2"), mesh);
    std::string sets = replaced(file, "v1.0", "v1.3") + "\nmfem_mesh_end\n";
    sets = replaced(sets, "boundary\n6", "attribute_sets\n1\n\"two rooms\" 2 1 2\n\nboundary\n6");
    sets = replaced(sets, "vertices\n6", "bdr_attribute_sets\n2\n\"walls\" 2 1 2\n\"none\" 0\n\nvertices\n6");
    expect_same(parse_mfem(sets, "v1.3"), mesh);
    EXPECT_THAT([&] { parse_mfem(replaced(file, "vertices\n6", "vertex_parents\n1"), "v1.1"); }, ThrowsMessage<Error>(HasSubstr("refined unevenly")));
}

TEST(MeshMfem, InlineMeshesAreBoxesWithWalls) {
    const QuadMesh cube = parse_mfem("MFEM INLINE mesh v1.0\n\n# a box\ntype = hex\nnx=2\nny= 1\nnz = 3\nsx = 1\nsy =2.5\nsz = 0.5e0\n", "inline");
    EXPECT_EQ(cube.size(), 6);
    EXPECT_EQ(cube.vertices.back(), (Point{1, 2.5, 0.5}));
    for (const auto& side : cube.sides) {
        const auto axis = static_cast<std::size_t>(side.attribute - 1);
        for (const std::int32_t vertex : side.vertices)
            EXPECT_EQ(cube.vertices[static_cast<std::size_t>(vertex)][axis], cube.vertices[static_cast<std::size_t>(side.vertices[0])][axis]);
    }
    EXPECT_EQ(parse_mfem("MFEM INLINE mesh v1.0\ntype = quad\nnx = 3\nny = 2\nsx = 1\nsy = 1", "inline").size(), 6);
    for (const char* const bad :
         {"type = tri\nnx = 3\nny = 2\nsx = 1\nsy = 1", "type = quad\nnx = 3\nny = 2\nsx = 1", "type = quad\nnx = 0\nny = 2\nsx = 1\nsy = 1",
          "type = quad\nnx = 3\nny = 2\nsx = 1\nsy = nan", "type = quad\nnx = 99999999\nny = 99999999\nsx = 1\nsy = 1",
          "type = quad\nnx = 3.5\nny = 2\nsx = 1\nsy = 1", "type = quad\nnw = 3", "type quad", ""})
        EXPECT_THAT([&] { parse_mfem(std::string("MFEM INLINE mesh v1.0\n") + bad, "inline"); }, ThrowsMessage<Error>(HasSubstr("inline, line")))
            << bad;
}

TEST(MeshMfem, ThreeZonesAtASideAreRefused) {
    const std::string two = contents("square.mesh");
    const std::string three = replaced(replaced(two, "elements\n2", "elements\n3"), "2 3 5 4 1 2", "2 3 5 4 1 2\n1 3 0 1 4 3");
    EXPECT_THAT([&] { parse_mfem(three, "three"); }, ThrowsMessage<Error>(HasSubstr("a side that two others share")));
}

}  // namespace
}  // namespace hone::solvers::mfem_test
