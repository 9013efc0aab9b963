#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "solvers/mesh/quad_mesh.hpp"

namespace hone::inline v0_1::solvers {

/// Reads the mesh of an MFEM file, "MFEM mesh v1.0" to v1.3 (mfem.org/mesh-formats): quadrilaterals
/// in a plane, or hexahedra in space, with straight edges, in any orientation. Edges are straight
/// without a section "nodes", and with one that says so (mfem_nodes.hpp). Sides that the boundary
/// does not list are none of its; `sides` keep their attributes. "MFEM INLINE mesh v1.0" is a box
/// whose sides across x, y and z have the attributes 1, 2 and 3.
///
///     const QuadMesh mesh = read_mfem("examples/mesh/quarter.mesh");
///
/// Throws Error with the line: a file that is damaged or cut short, other elements, curved ones,
/// inverted or flat ones, hanging vertices, a process's part of a mesh, vertices that do not exist,
/// sides of the boundary that are no zone's, sides where more than two zones meet.
QuadMesh read_mfem(const std::filesystem::path& file);

/// The same of a file's contents; `where` names it in messages.
QuadMesh parse_mfem(std::string_view contents, const std::string& where);

}  // namespace hone::inline v0_1::solvers
