#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "generator/block.hpp"
#include "generator/families/elements/tensor_element.hpp"
#include "generator/families/fe_mass/family.hpp"
#include "generator/form.hpp"

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
Forms cuda_forms(const Problem& problem, const Limits& limits);
Forms cpu_forms(const Problem& problem, const Limits& limits);
void reference(const Problem& problem, std::span<void* const> arrays, std::int64_t first, std::int64_t last);
Workload workload(const Problem& problem, std::uint64_t seed);

std::vector<ArraySpec> arrays(const Problem& problem);
Counts counts(const Problem& problem);

/// The CUDA form by threads, in threads.cpp: none where an element's words are more than a thread's
/// registers.
std::vector<Form> thread_forms(const Problem& problem, const Limits& limits);

/// Text of a CUDA kernel: what each form adds, and what all share (cuda.cpp).
struct CudaParts {
    Block constants, barrier, weights, elements;  ///< text; `weights`: of weights_function, where it is called
    bool teams = false;
    int elements_per_block = 0;
    BlockResources needs;
};
KernelSource cuda_source(const Problem& problem, const Config& config, const CudaParts& parts);
constexpr const char* elements_help = "elements of a block";
/// Of the launch that adds up at nodes, and `min_blocks`.
std::vector<Tunable> node_tunables();
std::vector<Assignment> safe_nodes();

/// Text that is the same for both targets (text.cpp).
KernelSource common_source(const Problem& problem, Target target);
Block banner(const Problem& problem, const Config& config, Target target);
/// Arguments of every entry point.
Block parameters(const Shape& shape);
/// Declares the rows and chunks of dot products, for device/finish_dots.
Block chunk_count();
/// Names and numbers of the problem, the basis and, for data=vertices, the quadrature.
Block shape_constants(const Shape& shape, Target target);
/// `column_weights(..., element, column, weight)`: weights of the points of one line, along the
/// axis that is contracted last.
Block weights_function(const Shape& shape, Target target);
/// The arrays that it takes.
Block weights_arguments(const Shape& shape);
/// Pragma before loops along an axis, whose length is a constant.
Block unroll(Target target);
/// Pragma before loops over the points of an axis that hold a loop over its nodes.
Block unroll_points(const Shape& shape, Target target);

}  // namespace hone::inline v0_1::fe
