#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "solvers/mesh/mesh.hpp"

namespace hone::inline v0_1::solvers {

/// What the names of physical groups mean. A group without a name is called by its number.
struct GmshGroups {
    /// Groups of surfaces (of curves where the mesh consists of triangles).
    std::map<std::string, Boundary> boundary{{"conductor", Boundary::reflecting},  {"wall", Boundary::reflecting},
                                             {"reflecting", Boundary::reflecting}, {"absorbing", Boundary::absorbing},
                                             {"open", Boundary::absorbing},        {"periodic", Boundary::periodic}};
    /// Groups of volumes that are materials; empty: every name is.
    std::vector<std::string> materials;
};

/// Reads the mesh of a Gmsh file: formats 2.2 and 4.1, text and binary, of either order of bytes
/// (C. Geuzaine, J.-F. Remacle, Gmsh reference manual, "File formats"). It consists of the
/// tetrahedra, or if there are none of the triangles, of first order; elements without a group have
/// the material "default". Boundary and periodic links come from groups and from the section
/// Periodic.
///
///     const Mesh mesh = read_gmsh("cylinder.msh", {});
///     const auto neighbours = match_faces(mesh, "cylinder.msh");
///
/// Throws Error with the line (byte in binary) and the number of the element: a file that is
/// damaged or cut short, elements of other kinds, flat or inverted ones, unknown groups, nodes that
/// do not exist. Whether all faces match is left to `match_faces`.
Mesh read_gmsh(const std::filesystem::path& file, const GmshGroups& groups = {});

/// The same of a file's contents; `where` names it in messages.
Mesh parse_gmsh(std::string_view contents, const std::string& where, const GmshGroups& groups = {});

}  // namespace hone::inline v0_1::solvers
