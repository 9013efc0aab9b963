#pragma once

#include <array>

#include "solvers/mesh/mesh.hpp"

namespace hone::inline v0_1::solvers {

/// A box cut into equal cells.
struct Box {
    std::array<int, 3> cells{4, 4, 4};  ///< along x, y, z; a rectangle has no third
    Point low{-1, -1, -1};
    Point high{1, 1, 1};
    /// Of the faces across x, y, z; a periodic pair is linked.
    std::array<Boundary, 3> boundary{Boundary::reflecting, Boundary::reflecting, Boundary::reflecting};
};

/// Each cell cut into the six tetrahedra of Kuhn, along its diagonal from the lowest to the highest
/// corner. Throws Error for fewer than one cell or more than 2^31 vertices or elements.
Mesh kuhn_box(const Box& box);

/// Each square cut into two triangles from corner (i+1, j) to (i, j+1).
Mesh triangle_box(const Box& box);

}  // namespace hone::inline v0_1::solvers
