#pragma once

#include <cstdint>
#include <string>

#include "generator/problem.hpp"
#include "generator/reference_element.hpp"

namespace hone::dg {

/// The numbers of a problem that reference and mappings need.
struct Shape {
    explicit Shape(const Problem& problem)
        : equation(problem.word("equation")),
          order(static_cast<int>(problem.integer("order"))),
          nodes(tetrahedron_nodes(order)),
          fields(equation == "maxwell_3d" ? 6 : 4),
          precision(problem.precision()),
          elements(problem.integer("elements")) {}

    std::string equation;
    int order;
    int nodes;
    int fields;
    Precision precision;
    std::int64_t elements;

    int bytes() const { return bytes_per_word(precision); }
    /// Values in 16 bytes.
    int vector_width() const { return 16 / bytes(); }
    int words() const { return fields * nodes; }
    bool maxwell() const { return equation == "maxwell_3d"; }
    const ReferenceElement& reference() const { return reference_tetrahedron(order); }
};

}  // namespace hone::dg
