#include "solvers/mesh/boxes.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "foundation/error.hpp"
#include "solvers/mesh/connectivity.hpp"

namespace hone::solvers::boxes_test {
namespace {

TEST(MeshBoxes, FillTheBox) {
    const Box box{{3, 2, 4}, {-1, 0, 2}, {2, 0.5, 3}};
    for (const Mesh& mesh : {kuhn_box(box), triangle_box(box)}) {
        check_elements(mesh, "box");
        const bool solid = mesh.dimension == 3;
        EXPECT_EQ(mesh.size(), solid ? 6 * 3 * 2 * 4 : 2 * 3 * 2);
        double sum = 0;
        for (int k = 0; k < mesh.size(); ++k) sum += signed_measure(mesh, k);
        EXPECT_NEAR(sum, solid ? 6 * 1.5 : 2 * 1.5, 1e-12);
        EXPECT_EQ(mesh.boundary.size(), solid ? 2U * 2 * (3 * 2 + 2 * 4 + 4 * 3) : 2U * (3 + 2));
        EXPECT_NO_THROW(match_faces(mesh));
    }
}

TEST(MeshBoxes, CutAsTheSpecificationSays) {
    const Mesh kuhn = kuhn_box({{1, 1, 1}});
    const auto has = [](const Mesh& mesh, int k, int vertex) {
        const auto& element = mesh.elements[static_cast<std::size_t>(k)];
        return std::find(element.begin(), element.end(), vertex) != element.end();
    };
    for (int k = 0; k < 6; ++k) EXPECT_TRUE(has(kuhn, k, 0) && has(kuhn, k, 7)) << "every tetrahedron has the cell's diagonal";
    const Mesh triangles = triangle_box({{1, 1, 0}});
    for (int k = 0; k < 2; ++k) EXPECT_TRUE(has(triangles, k, 1) && has(triangles, k, 2)) << "from (i+1, j) to (i, j+1)";
}

TEST(MeshBoxes, PeriodicSidesAreNeighbours) {
    for (const int n : {1, 2, 3}) {
        Box box{{n, n, n}};
        box.boundary = {Boundary::periodic, Boundary::absorbing, Boundary::periodic};
        for (const Mesh& mesh : {kuhn_box(box), triangle_box(box)}) {
            int open = 0;
            for (const Neighbour& neighbour : match_faces(mesh)) {
                if (neighbour.exists()) continue;
                ++open;
                EXPECT_EQ(neighbour.kind, Boundary::absorbing);
            }
            EXPECT_EQ(open, mesh.dimension == 3 ? 2 * 2 * n * n : 2 * n);
        }
    }
}

TEST(MeshBoundary, IsReadAsItIsNamed) {
    EXPECT_EQ(parse_boundary("reflecting"), Boundary::reflecting);
    EXPECT_EQ(parse_boundary("absorbing"), Boundary::absorbing);
    EXPECT_EQ(parse_boundary("periodic"), Boundary::periodic);
    try {
        parse_boundary("open", "--group wall=open");
        FAIL();
    } catch (const Error& error) {
        EXPECT_STREQ(error.what(), "--group wall=open: \"open\" is not a kind of boundary; use reflecting, absorbing or periodic");
    }
}

TEST(MeshBoxes, RefuseWhatIsNoBox) {
    EXPECT_THROW(kuhn_box({{0, 1, 1}}), Error);
    EXPECT_THROW(kuhn_box({{1, 1, 1}, {0, 0, 0}, {1, -1, 1}}), Error);
    EXPECT_THROW(kuhn_box({{1000, 1000, 1000}}), Error);
}

}  // namespace
}  // namespace hone::solvers::boxes_test
