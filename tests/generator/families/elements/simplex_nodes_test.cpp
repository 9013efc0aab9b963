#include "generator/families/elements/simplex_nodes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace hone::simplex_nodes_test {
namespace {

TEST(LobattoPoints, AreTheKnownOnes) {
    const std::vector<double> points = lobatto_points(4);
    const std::array<double, 5> known{-1, -std::sqrt(3.0 / 7), 0, std::sqrt(3.0 / 7), 1};
    for (std::size_t i = 0; i < known.size(); ++i) EXPECT_NEAR(points[i], known[i], 1e-14);
}

// Warp & blend treats all vertices alike: what is a node stays one when two vertices change places.
TEST(TrianglePoints, AreSymmetric) {
    for (int order = 1; order <= 10; ++order) {
        const auto points = triangle_points(order);
        const auto has = [&](double r, double s) {
            return std::any_of(points.begin(), points.end(), [&](const auto& p) { return std::hypot(p[0] - r, p[1] - s) < 1e-12; });
        };
        for (const auto& [r, s, t] : points) {
            EXPECT_EQ(t, 0);
            EXPECT_TRUE(has(s, r)) << order;
            EXPECT_TRUE(has(-1 - r - s, s)) << order;
        }
    }
}

// Those of order 3 that can be computed by hand.
TEST(TrianglePoints, AreTheKnownOnes) {
    const auto third = triangle_points(3);
    EXPECT_NEAR(third[1][0], -std::sqrt(0.2), 1e-14);
    EXPECT_NEAR(third[5][0], -1.0 / 3, 1e-14);
    EXPECT_NEAR(third[5][1], -1.0 / 3, 1e-14);
}

TEST(TetrahedronPoints, AreSymmetric) {
    for (int order = 1; order <= 10; ++order) {
        const auto points = tetrahedron_points(order);
        const auto has = [&](double r, double s, double t) {
            return std::any_of(points.begin(), points.end(), [&](const auto& p) { return std::hypot(p[0] - r, p[1] - s, p[2] - t) < 1e-12; });
        };
        for (std::size_t n = 0; n < points.size(); n += 1 + n / 30) {
            const auto [r, s, t] = points[n];
            EXPECT_TRUE(has(s, r, t)) << order;
            EXPECT_TRUE(has(r, t, s)) << order;
            EXPECT_TRUE(has(-2 - r - s - t, s, t)) << order;
        }
    }
}

}  // namespace
}  // namespace hone::simplex_nodes_test
