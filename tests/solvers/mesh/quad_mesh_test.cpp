#include "solvers/mesh/quad_mesh.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "foundation/error.hpp"

namespace hone::solvers::quad_mesh_test {
namespace {

// The same zones, each seen from another of the orientations of a square or a cube.
QuadMesh turned(QuadMesh mesh, std::mt19937_64& random) {
    for (auto& zone : mesh.zones) {
        std::array<int, 3> axes{0, 1, 2};
        std::shuffle(axes.begin(), axes.begin() + mesh.dimension, random);
        const int flips = static_cast<int>(random() % 8);
        const auto old = zone;
        for (int corner = 0; corner < mesh.corners(); ++corner) {
            int from = 0;
            for (int axis = 0; axis < mesh.dimension; ++axis) {
                const auto to = static_cast<std::size_t>(axis);
                from |= ((corner >> axis & 1) ^ (flips >> axis & 1)) << axes[to];
            }
            zone[static_cast<std::size_t>(corner)] = old[static_cast<std::size_t>(from)];
        }
    }
    return mesh;
}

TEST(QuadMesh, BoxesShareNodesInAnyOrientation) {
    const auto seed = std::random_device{}();
    std::mt19937_64 random(seed);
    for (const int dimension : {2, 3})
        for (int order = 1; order <= 5; ++order) {
            const QuadMesh mesh = turned(quad_box({dimension, {3, 2, 4}}), random);
            const QuadLattice lattice = number_lattice(mesh, order);
            const int expected = (3 * order + 1) * (2 * order + 1) * (dimension == 3 ? 4 * order + 1 : 1);
            EXPECT_EQ(lattice.nodes, expected) << seed;
            const std::set<std::int32_t> all(lattice.zone_nodes.begin(), lattice.zone_nodes.end());
            EXPECT_EQ(static_cast<int>(all.size()), expected);
            EXPECT_EQ(*all.rbegin(), expected - 1);
            const std::set<std::int32_t> outside(lattice.side_nodes.begin(), lattice.side_nodes.end());
            const int inner = (3 * order - 1) * (2 * order - 1) * (dimension == 3 ? 4 * order - 1 : 1);
            EXPECT_EQ(static_cast<int>(outside.size()), expected - inner) << seed;
        }
}

// Nodes that are one number lie at one place.
TEST(QuadMesh, NumbersBelongToPlaces) {
    const auto seed = std::random_device{}();
    std::mt19937_64 random(seed);
    for (const int dimension : {2, 3}) {
        const QuadMesh mesh = turned(quad_box({dimension, {2, 3, 2}}), random);
        constexpr int order = 3;
        const QuadLattice lattice = number_lattice(mesh, order);
        const int per_zone = dimension == 2 ? 16 : 64;
        std::vector<Point> places(static_cast<std::size_t>(lattice.nodes), Point{-1, -1, -1});
        for (std::size_t i = 0; i < lattice.zone_nodes.size(); ++i) {
            const auto& zone = mesh.zones[i / static_cast<std::size_t>(per_zone)];
            const int node = static_cast<int>(i) % per_zone;
            const std::array<int, 3> at{node % 4, node / 4 % 4, node / 16};
            Point place{};
            for (int corner = 0; corner < mesh.corners(); ++corner) {
                double weight = 1;
                for (int axis = 0; axis < dimension; ++axis) {
                    const double u = at[static_cast<std::size_t>(axis)] / 3.0;
                    weight *= (corner >> axis & 1) != 0 ? u : 1 - u;
                }
                for (std::size_t c = 0; c < 3; ++c)
                    place[c] += weight * mesh.vertices[static_cast<std::size_t>(zone[static_cast<std::size_t>(corner)])][c];
            }
            Point& known = places[static_cast<std::size_t>(lattice.zone_nodes[i])];
            if (known[0] < 0) known = place;
            for (std::size_t c = 0; c < 3; ++c) EXPECT_NEAR(known[c], place[c], 1e-14) << seed;
        }
    }
}

TEST(QuadMesh, RefinementKeepsVolumeAndSides) {
    const auto seed = std::random_device{}();
    std::mt19937_64 random(seed);
    for (const int dimension : {2, 3}) {
        const QuadMesh coarse = turned(quad_box({dimension, {2, 1, 2}, {0, 0, 0}, {2, 3, 5}}), random);
        const QuadMesh fine = refined(coarse);
        EXPECT_EQ(fine.size(), coarse.size() * coarse.corners());
        EXPECT_EQ(fine.sides.size(), coarse.sides.size() * static_cast<std::size_t>(coarse.corners() / 2));
        EXPECT_EQ(static_cast<int>(fine.vertices.size()), 5 * 3 * (dimension == 3 ? 5 : 1));
        // Sides still belong to zones, and stay where they were.
        EXPECT_EQ(number_lattice(fine, 1).nodes, static_cast<std::int32_t>(fine.vertices.size())) << seed;
        for (const auto& side : fine.sides)
            for (int corner = 0; corner < fine.corners() / 2; ++corner) {
                const auto axis = static_cast<std::size_t>(side.attribute - 1);
                const double at = fine.vertices[static_cast<std::size_t>(side.vertices[static_cast<std::size_t>(corner)])][axis];
                EXPECT_TRUE(at == 0 || at == (std::array{2.0, 3.0, 5.0})[axis]) << at;
            }
    }
}

TEST(QuadMesh, SidesOfNoZoneAreRefused) {
    QuadMesh mesh = quad_box({2, {2, 2, 1}});
    mesh.sides[0].vertices = {0, 8, 0, 0};
    EXPECT_THROW(number_lattice(mesh, 2), Error);
}

}  // namespace
}  // namespace hone::solvers::quad_mesh_test
