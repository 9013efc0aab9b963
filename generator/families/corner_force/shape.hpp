#pragma once

#include <cstdint>
#include <string>

#include "generator/families/elements/tensor_element.hpp"
#include "generator/problem.hpp"

namespace hone::inline v0_1::corner {

/// n^dimension.
constexpr int power(int n, int dimension) {
    return dimension == 2 ? n * n : n * n * n;
}

/// The numbers of a corner_force problem that references and kernels need.
struct Shape {
    explicit Shape(const Problem& problem)
        : result(problem.word("result")),
          dimension(static_cast<int>(problem.integer("dimension"))),
          order(static_cast<int>(problem.integer("order"))),
          precision(problem.precision()),
          zones(problem.integer("zones")),
          nodes_along(order + 1),
          energies_along(order),
          points_along(2 * order) {}

    std::string result;
    int dimension;
    int order;
    Precision precision;
    std::int64_t zones;
    int nodes_along, energies_along, points_along;  ///< of one direction

    int bytes() const { return bytes_per_word(precision); }
    int nodes() const { return power(nodes_along, dimension); }
    int energies() const { return power(energies_along, dimension); }
    int points() const { return power(points_along, dimension); }
    /// Words of a zone: a vector at its nodes (the rows of its corner force), the stress at its
    /// points, its corner force.
    int vector_words() const { return dimension * nodes(); }
    int stress_words() const { return dimension * dimension * points(); }
    int corner_words() const { return vector_words() * energies(); }
    /// Lines of points along the last axis.
    int columns() const { return points() / points_along; }

    /// The physics at the points is part of the step.
    bool physics() const { return result != "energy"; }
    /// F^T w is.
    bool works() const { return result == "products" || result == "energy"; }
    bool keeps_stress() const { return result == "points"; }
    bool keeps_corner() const { return result == "corner"; }

    const TensorElement& element() const { return tensor_element(order); }
};

}  // namespace hone::inline v0_1::corner
