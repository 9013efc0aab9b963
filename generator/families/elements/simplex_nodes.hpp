#pragma once

#include <array>
#include <vector>

namespace hone::inline v0_1 {

/// Legendre-Gauss-Lobatto points of the interval [-1, 1], ascending: order + 1 of them, order at
/// least 1.
std::vector<double> lobatto_points(int order);

/// Warp & blend nodes (Hesthaven & Warburton 2008, 6.1 and 10.1) of the triangle r, s >= -1, r + s
/// <= 0 as (r, s, 0): s outermost, r innermost. Requires an order from 1 to 10.
std::vector<std::array<double, 3>> triangle_points(int order);

/// Nodes of the tetrahedron r, s, t >= -1, r + s + t <= -1 as (r, s, t): t outermost, then s, r
/// innermost.
std::vector<std::array<double, 3>> tetrahedron_points(int order);

}  // namespace hone::inline v0_1
