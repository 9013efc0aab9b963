#include "examples/mesh/mfem.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "generator/error.hpp"
#include "tests/support/places.hpp"
#include "tuning_db/file_store.hpp"

namespace hone::examples::mfem_test {
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
    for (const Case& bad : {Case{"v1.0", "v1.3", "line 1", "does not begin"},
                            {"dimension\n2", "dimension\n1", "line 5", "its dimension is 1"},
                            {"1 3 0 1 4 3", "1 2 0 1 4", "line 9", "of kind 2"},
                            {"1 3 0 1 4 3", "1 3 0 1 4 9", "line 9", "vertex 9 does not exist"},
                            {"1 3 0 1 4 3", "1 3 0 1 4 4", "line 9", "a vertex twice"},
                            {"1 3 0 1 4 3", "1 3 0 3 4 1", "line 9", "element 0 is inverted or flat"},
                            {"1 3 0 1 4 3", "1 3 0 1 4 x", "line 9", "\"x\" stands where a whole number should"},
                            {"2 1 1 2", "2 1 1 5", "line 15", "side 1 of the boundary belongs to no element"},
                            {"6\n2\n0 0", "6\nnodes", "line 23", "its zones are curved"},
                            {"1 1.25", "1 nan", "line 28", "not finite"},
                            {"2.5 1\n", "", "line 29", "ends too early"}}) {
        SCOPED_TRACE(bad.to);
        EXPECT_THAT([&] { parse_mfem(replaced(good, bad.from, bad.to), "bad.mesh"); },
                    ThrowsMessage<Error>(AllOf(HasSubstr("bad.mesh, " + std::string(bad.where)), HasSubstr(bad.found))));
    }
}

TEST(MeshMfem, ThreeZonesAtASideAreRefused) {
    const std::string two = contents("square.mesh");
    const std::string three = replaced(replaced(two, "elements\n2", "elements\n3"), "2 3 5 4 1 2", "2 3 5 4 1 2\n1 3 0 1 4 3");
    EXPECT_THAT([&] { parse_mfem(three, "three"); }, ThrowsMessage<Error>(HasSubstr("a side that two others share")));
}

}  // namespace
}  // namespace hone::examples::mfem_test
