#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "generator/families/elements/reference_element.hpp"
#include "generator/problem.hpp"

namespace hone::inline v0_1::dg {

/// The equations that can be solved, one row each.
struct Equation {
    std::string name;
    Simplex simplex;
    std::vector<std::string> fields;
    /// Of each field at a reflecting wall (perfect conductor, rigid wall), the neighbour's value
    /// less the own, in units of the own: -2 or 0.
    std::vector<int> wall;
    int second_group;  ///< materials: fields before it are scaled by the first of an element's material words, the others by the second
    bool maxwell;      ///< otherwise acoustics
};

/// Requires a name of `equation_names()`.
const Equation& equation(const std::string& name);
std::vector<std::string> equation_names();

/// The numbers of a problem of any dg family that references and forms need.
struct Shape {
    /// Throws Error when an index of a node of the whole mesh does not fit an int.
    explicit Shape(const Problem& problem);

    const Equation* what;
    std::string equation;
    int order;
    int dimension;
    int nodes;
    int faces;
    int face_nodes;
    int fields;
    Precision precision;
    std::int64_t elements;
    bool materials;  ///< an element has a material of its own
    bool accurate;   ///< arithmetic=f32_accurate: f32 products may be made in another way that is as accurate

    int bytes() const { return bytes_per_word(precision); }
    /// Values in 16 bytes.
    int vector_width() const { return 16 / bytes(); }
    int words() const { return fields * nodes; }
    int geometry_words() const { return dimension * dimension; }
    /// A face's normal and Fscale.
    int face_words() const { return dimension + 1; }
    /// Nodes of all faces of an element: columns of LIFT.
    int face_points() const { return faces * face_nodes; }
    bool maxwell() const { return equation == "maxwell_3d"; }
    /// Memory sets the limit on every device, and a whole operator fits a thread's registers or
    /// code: up to order 4 on tetrahedra, 7 on triangles.
    bool low_order() const { return nodes <= 36; }
    const ReferenceElement& reference() const { return reference_element(what->simplex, order); }
};

}  // namespace hone::inline v0_1::dg
