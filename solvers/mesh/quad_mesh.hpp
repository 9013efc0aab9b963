#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "solvers/mesh/mesh.hpp"

namespace hone::inline v0_1::solvers {

/// A mesh of quadrilaterals (dimension 2) or hexahedra (3), in any orientation.
struct QuadMesh {
    /// An edge (2D) or a face of the boundary. Corners count like a zone's: the one at (x, y) is
    /// number x + 2 y.
    struct Side {
        std::array<std::int32_t, 4> vertices;  ///< the first two in 2D
        int attribute;
    };

    int dimension = 2;
    std::vector<Point> vertices;                     ///< z is 0 in 2D
    std::vector<std::array<std::int32_t, 8>> zones;  ///< corners: the one at (x, y, z) of the unit cube is number x + 2 y + 4 z; the first four in 2D
    std::vector<int> attributes;                     ///< of the zones
    std::vector<Side> sides;

    int size() const { return static_cast<int>(zones.size()); }
    int corners() const { return 1 << dimension; }
};

/// Zones of one shape between two points, x fastest. `attributes`: of the box's sides, [axis][low,
/// high].
struct QuadBox {
    int dimension = 2;
    std::array<int, 3> zones{1, 1, 1};
    Point low{0, 0, 0}, high{1, 1, 1};
    std::array<std::array<int, 2>, 3> attributes{{{1, 1}, {2, 2}, {3, 3}}};
};
QuadMesh quad_box(const QuadBox& box);

/// Where the point `at` of the unit square or cube lies in a zone with straight edges.
Point place_in_zone(const QuadMesh& mesh, std::size_t zone, const std::array<double, 3>& at);

/// Every zone cut in half along each of its directions.
QuadMesh refined(const QuadMesh& mesh);

/// Numbers of lattice nodes, (order + 1)^d of a zone, that zones share where they meet, whatever
/// their orientations.
struct QuadLattice {
    std::int32_t nodes = 0;
    std::vector<std::int32_t> zone_nodes;  ///< [zone][(order + 1)^d], x fastest
    std::vector<std::int32_t> side_nodes;  ///< [side][(order + 1)^(d - 1)]
};

/// Nodes must lie symmetrically along every edge. Throws Error for a side of the boundary that is
/// no zone's; `where` says where the mesh comes from.
QuadLattice number_lattice(const QuadMesh& mesh, int order, const char* where = "mesh");

}  // namespace hone::inline v0_1::solvers
