#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "examples/mesh/quad_mesh.hpp"

namespace hone::examples {

/// Reads the mesh of an MFEM file, "MFEM mesh v1.0" (mfem.org/mesh-formats): quadrilaterals in a
/// plane, or hexahedra in space, with straight edges, in any orientation. Sides that the boundary
/// does not list are none of its; `sides` keep their attributes.
///
///     const QuadMesh mesh = read_mfem("examples/mesh/quarter.mesh");
///
/// Throws Error with the line: a file that is damaged or cut short, other elements, curved ones
/// (section nodes), inverted or flat ones, vertices that do not exist, sides of the boundary that
/// are no zone's, sides where more than two zones meet.
QuadMesh read_mfem(const std::filesystem::path& file);

/// The same of a file's contents; `where` names it in messages.
QuadMesh parse_mfem(std::string_view contents, const std::string& where);

}  // namespace hone::examples
