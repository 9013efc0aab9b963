#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "solvers/mesh/mesh.hpp"

namespace hone::inline v0_1::solvers {

/// How the vertices of a face are numbered from both of its sides: vertex i of the one is vertex
/// orientations[o][i] of the other. Edges have the orientations 0 and 2.
constexpr std::array<std::array<std::uint8_t, 3>, 6> orientations{{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}}};

/// What lies behind a face of an element.
struct Neighbour {
    int element = Mesh::none;  ///< `none`: nothing
    std::uint8_t face = 0;     ///< of that element
    std::uint8_t orientation = 0;
    Boundary kind = Boundary::reflecting;  ///< where nothing lies behind

    bool exists() const { return element != Mesh::none; }
};

/// The neighbours of all faces, [element][face]. Throws Error, naming the element and saying what
/// is wrong with its face, for a face that more than two elements have, that has no neighbour and
/// does not belong to the boundary, that does and has one, or whose periodic counterpart is
/// missing; and for a face of the boundary that no element has. `where` says where the mesh comes
/// from.
std::vector<Neighbour> match_faces(const Mesh& mesh, const std::string& where = "mesh");

/// Which node of which element coincides with every face node, for the nodes of
/// generator/families/elements/reference_element.hpp.
struct NodeMaps {
    int face_nodes = 0;  ///< nodes of a face
    /// Nodes as element * nodes of an element + node, [element][face][node of the face]: an
    /// element's own, and those behind. They are the same where nothing lies behind.
    std::vector<std::int64_t> own;
    std::vector<std::int64_t> other;
};

/// Nodes of `order` 1..10. From the orientations of the faces, by whole numbers alone: no
/// coordinates are compared, and periodic faces are as good as others.
NodeMaps node_maps(const Mesh& mesh, const std::vector<Neighbour>& neighbours, int order);

}  // namespace hone::inline v0_1::solvers
