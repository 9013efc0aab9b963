#pragma once

#include <cstdint>

#include "solvers/mesh/gmsh_cursor.hpp"
#include "solvers/mesh/quad_mesh.hpp"

namespace hone::inline v0_1::solvers {

/// Reads the section "nodes" of an MFEM file, a grid function that says where zones lie, and puts
/// the `count` vertices of `mesh` where it has them. Requires the zones of `mesh`, with vertices
/// below `count`, and `cursor` to stand before "nodes".
///
/// Zones are straight in continuous collections of order 1 (Linear, H1_2D_P1, H1_3D_P1) and in
/// discontinuous ones (L2_T1_2D_P1) whose zones agree on their vertices. Order 2 (Quadratic,
/// H1_2D_P2) is straight where every node lies in the middle of its edge, face or zone.
///
/// Throws Error with the line: curved zones, collections of higher orders, zones that do not agree.
void read_mfem_nodes(GmshCursor& cursor, QuadMesh& mesh, std::int64_t count);

}  // namespace hone::inline v0_1::solvers
