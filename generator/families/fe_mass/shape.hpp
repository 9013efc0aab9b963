#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "generator/families/elements/tensor_element.hpp"
#include "generator/families/fe_mass/family.hpp"
#include "generator/family.hpp"

namespace hone::inline v0_1::fe {

/// Rows whose products with x are summed up first, and lanes that these sums are dealt to: those of
/// csr_spmv.
constexpr int chunk_rows = 32, sum_lanes = 1024;

/// The numbers of an fe_mass problem. Throws Error for fewer points than nodes along an axis, and
/// for more nodes of elements than places.
struct Shape {
    explicit Shape(const Problem& problem);

    bool dotted, summed, stored;  ///< x . y as a whole, of chunks of rows; weights as they are
    int dimension, order, components;
    int nodes_along, points_along;
    Precision precision;
    std::int64_t elements, nodes;

    int bytes() const { return bytes_per_word(precision); }
    const char* real() const { return precision == Precision::f32 ? "float" : "double"; }
    int power(int n) const { return dimension == 2 ? n * n : n * n * n; }
    int element_nodes() const { return power(nodes_along); }
    int element_points() const { return power(points_along); }
    int corners() const { return 1 << dimension; }
    std::int64_t places() const { return elements * element_nodes(); }
    std::int64_t chunks() const { return (nodes + chunk_rows - 1) / chunk_rows; }
    /// Words that `count` 32-bit integers take.
    std::int64_t index_words(std::int64_t count) const { return (count * 4 + bytes() - 1) / bytes(); }
    /// Where the arrays stand among the arguments.
    int element_nodes_number() const { return stored ? 1 : 2; }
    int x_number() const { return element_nodes_number() + 3; }
};

/// One direction of an element: values of the nodal functions (point, node) and the quadrature.
struct Axis {
    explicit Axis(const Shape& shape);

    GaussRule rule;
    Matrix basis;
};

/// Parts of the family, each in the file of its name.
void reference(const Problem& problem, std::span<void* const> arrays, std::int64_t first, std::int64_t last);
Workload workload(const Problem& problem, std::uint64_t seed);

std::vector<ArraySpec> arrays(const Problem& problem);
Counts counts(const Problem& problem);

}  // namespace hone::inline v0_1::fe
