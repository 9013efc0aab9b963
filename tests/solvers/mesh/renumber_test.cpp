#include "solvers/mesh/renumber.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/solvers/mesh/random_mesh.hpp"

namespace hone::solvers::renumber_test {
namespace {

TEST(MeshRenumbering, BringsNeighboursTogether) {
    const unsigned seed = std::random_device{}();
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    for (const Mesh& box : {kuhn_box({{6, 6, 6}}), triangle_box({{20, 20, 0}})}) {
        const Mesh mesh = shuffled(box, random);
        const auto neighbours = match_faces(mesh);
        const std::vector<int> order = cuthill_mckee(mesh, neighbours);
        ASSERT_TRUE(std::is_permutation(order.begin(), order.end(),
                                        [&] {
                                            std::vector<int> all(order.size());
                                            std::iota(all.begin(), all.end(), 0);
                                            return all;
                                        }()
                                            .begin()));
        const Mesh better = reordered(mesh, order);
        const auto now = match_faces(better);
        // Random orders are K/3 apart; a breadth-first order by about a level, K^((d-1)/d) elements
        // times a small factor.
        const double level = std::pow(mesh.size(), 1 - 1.0 / mesh.dimension);
        EXPECT_GT(mean_distance(mesh, neighbours), mesh.size() / 4.0);
        EXPECT_LT(mean_distance(better, now), level);
        EXPECT_EQ(fingerprint(reordered(better, cuthill_mckee(better, now))).size(), 64U);
    }
}

// The same elements, whatever they are called.
TEST(MeshRenumbering, KeepsTheMesh) {
    const unsigned seed = std::random_device{}();
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    Box box{{3, 2, 2}};
    box.boundary = {Boundary::periodic, Boundary::absorbing, Boundary::reflecting};
    Mesh mesh = kuhn_box(box);
    for (int k = 0; k < mesh.size(); ++k) mesh.material[static_cast<std::size_t>(k)] = k % 3;
    mesh.materials = {"a", "b", "c"};
    mesh.vertices.push_back({9, 9, 9});  // of no element
    const Mesh other = reordered(mesh, cuthill_mckee(mesh, match_faces(mesh)));
    EXPECT_EQ(other.vertices.size() + 1, mesh.vertices.size());
    EXPECT_NE(fingerprint(other), fingerprint(mesh));
    EXPECT_EQ(fingerprint(other), fingerprint(other));
    for (int k = 0; k < other.size(); ++k) {
        const auto old = static_cast<std::size_t>(other.numbers[static_cast<std::size_t>(k)] - 1);
        EXPECT_EQ(other.material[static_cast<std::size_t>(k)], mesh.material[old]);
        for (std::size_t v = 0; v < 4; ++v)
            EXPECT_EQ(other.vertices[static_cast<std::size_t>(other.elements[static_cast<std::size_t>(k)][v])],
                      mesh.vertices[static_cast<std::size_t>(mesh.elements[old][v])]);
    }
    EXPECT_NO_THROW(match_faces(other));
}

}  // namespace
}  // namespace hone::solvers::renumber_test
