#pragma once

#include <string>
#include <vector>

#include "generator/families/dg/algebra.hpp"
#include "generator/families/dg/shape.hpp"
#include "generator/family.hpp"
#include "generator/form.hpp"

namespace hone::inline v0_1::dg {

/// One launch over the elements: it makes right-hand sides of the parts that it has, adds what an
/// earlier pass left in `rhs`, and either leaves the sum in `rhs` or updates the fields with it.
struct Pass {
    std::string entry;
    bool volume = false;
    bool surface = false;  ///< the last part of a right-hand side: materials scale the whole of it here
    bool update = false;
    bool from_rhs = false;

    bool sums() const { return volume || surface; }
};

/// The algebra of a configuration: covariant where there is no choice.
const Algebra& algebra_of(const Shape& shape, const Config& config);

/// How far the parts of a step are fused: what its launches do.
struct Fusion {
    std::string name = {};  ///< in the names of the forms that are fused so; empty where there is nothing to fuse
    std::string help = {};
    std::vector<Pass> passes = {};

    /// Whether a configuration of the time before there were forms is fused so.
    bool was(const Config& former) const { return name.empty() || former.has("fused", name); }
};

/// A family's step, which each of its forms computes in passes.
struct Step {
    Problem problem;
    Counts counts;
    std::vector<ArraySpec> arrays;
    std::vector<Fusion> fusions;  ///< the first fuses least, the last most
    Shape shape = Shape(problem);
};

/// A kernel's part of a step: the passes of a fusion. `source` has the arrays, and the scratch
/// array `rhs` where passes hand it on.
struct Plan {
    Problem problem;
    Config config;
    Counts counts;
    std::vector<Pass> passes;
    KernelSource source;
    std::string into = "q_next";  ///< the array that an update writes; `q` where it is the one that it reads
    Shape shape = Shape(problem);

    Plan(const Step& step, const Fusion& fusion, Config config);
    bool any(bool Pass::*part) const;
    /// The algebra of the volume part.
    const Algebra& own_algebra() const { return algebra_of(shape, config); }
};

/// The forms of a family of passes: each way to make right-hand sides with each fusion. They are
/// named way_fusion.
Forms pass_cuda_forms(const Step& step, const Limits& limits);
Forms pass_cpu_forms(const Step& step, const Limits& limits);
/// The kernel of a plan of one pass that only updates, whose configuration has `elements_per_block`
/// and, for CUDA, `block`, `copy_width` and `min_blocks`.
KernelSource update_cuda_kernel(Plan plan);
KernelSource update_cpu_kernel(Plan plan);

/// Whether one of the passes has a volume part.
bool has_volume(const std::vector<Pass>& passes);
/// The name of the form that computes in a way what a fusion says, and its explanation.
std::string form_name(const std::string& way, const Fusion& fusion);
std::string form_help(const std::string& way, const Fusion& fusion);

/// Refuses copies (the tunable `copy_width`) that do not divide an element's words. `of_blocks`:
/// those of a block's will do for configurations that work on parts.
Constraint fitting_copies(const Shape& shape, bool of_blocks = false);
/// The widest copies of an element's words.
int widest_copies(const Shape& shape);

/// Pieces that both targets share.
/// Types and sizes that every text begins with, and sizes of an element's faces.
Block shape_constants(const Shape& shape);
Block face_constants(const Shape& shape);
/// Opening comment: what it is, command, counts.
Block pass_banner(const Plan& plan, Target target);
/// `name(const real* q, ..., int first, int last) {`; `restrict` as the target spells it. The
/// plan's tables are known.
Block pass_signature(const Plan& plan, const std::string& entry, const std::string& restrict);
/// Node numbers of the faces' nodes, in the order of LIFT's columns; `qualifiers` in front.
Block face_node_table(const Shape& shape, const std::string& qualifiers);
/// Text of an update or a store of a right-hand side's sum, `total`, at word `at` of all fields;
/// `scale` stands where materials scale it.
Block finish_lines(const Plan& plan, const Pass& pass, const std::string& total, const std::string& at);
/// How often the operators are applied to a pair of node and column, with padding: operations that
/// one step executes.
double pass_operations(const Plan& plan, double volume_pairs, double surface_pairs);

}  // namespace hone::inline v0_1::dg
