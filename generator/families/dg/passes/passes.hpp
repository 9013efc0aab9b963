#pragma once

#include <optional>
#include <string>
#include <vector>

#include "generator/families/dg/algebra.hpp"
#include "generator/families/dg/shape.hpp"
#include "generator/family.hpp"

namespace hone::dg {

/// What one launch over the elements does: makes right-hand sides of the parts that it has, adds what an earlier pass left in `rhs`, and either
/// leaves the sum in `rhs` or updates the fields with it.
struct Pass {
    std::string entry;
    bool volume = false;
    bool surface = false;  ///< the last part of a right-hand side: materials scale the whole of it here
    bool update = false;
    bool from_rhs = false;

    bool sums() const { return volume || surface; }
};

/// A step of a family as passes. `source` has the arrays, and the scratch array `rhs` where passes hand it on.
struct Plan {
    Problem problem;
    Config config;
    Counts counts;
    std::vector<Pass> passes;
    KernelSource source;
    std::string into = "q_next";  ///< the array that an update writes; `q` where it is the one that it reads
    Shape shape = Shape(problem);

    bool any(bool Pass::*part) const;
    /// The algebra of the volume part.
    const Algebra& form() const { return algebra(shape.equation, config.word("form")); }
};

/// What the spaces of families of passes differ in.
struct PassTraits {
    std::vector<std::string> fusions;  ///< values of the tunable `fused`; none: there is a surface part alone, and nothing to fuse
};

SearchSpace pass_cuda_space(const Shape& shape, const PassTraits& traits, const Limits& limits);
SearchSpace pass_cpu_space(const Shape& shape, const PassTraits& traits, const Limits& limits);
/// Text, tables, launches and executed operations of a plan.
KernelSource pass_cuda_kernel(Plan plan);
KernelSource pass_cpu_kernel(Plan plan);
/// The same for a plan of one pass that only updates, whose configuration has `elements_per_block` and, for CUDA, `block`, `copy_width` and
/// `min_blocks`.
KernelSource update_cuda_kernel(Plan plan);
KernelSource update_cpu_kernel(Plan plan);

/// Why the copies of a CUDA configuration, of `copy_width` values, do not fit an element's words.
std::optional<std::string> copy_violation(const Shape& shape, const Config& config);

/// Pieces that both targets share.
/// Opening comment: what it is, command, counts.
Block pass_banner(const Plan& plan, Target target);
/// `name(const real* q, ..., int first, int last) {`; `restrict` as the target spells it. The plan's tables are known.
Block pass_signature(const Plan& plan, const std::string& entry, const std::string& restrict);
/// Node numbers of the faces' nodes, in the order of LIFT's columns; `qualifiers` in front.
Block face_node_table(const Shape& shape, const std::string& qualifiers);
/// What an update or a store does with the sum of a right-hand side, `total`, at word `at` of all fields; `scale` stands where materials scale it.
Block finish_lines(const Plan& plan, const Pass& pass, const std::string& total, const std::string& at);
/// How often the operators are applied to a pair of node and column, with padding: operations that one step executes.
double pass_operations(const Plan& plan, double volume_pairs, double surface_pairs);

}  // namespace hone::dg
