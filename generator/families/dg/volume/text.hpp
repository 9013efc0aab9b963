#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "generator/families/dg/algebra.hpp"
#include "generator/families/dg/tiling.hpp"
#include "generator/families/dg/volume/forms.hpp"
#include "generator/family.hpp"
#include "generator/render.hpp"

// Pieces that all kernels share.

namespace hone::inline v0_1::dg {

/// The algebra of a configuration, and that of one of its passes.
const Algebra& whole_algebra(const Shape& shape, const Config& config);
const Algebra& pass_algebra(const Shape& shape, const Config& config);
std::vector<ArraySpec> arrays(const Problem& problem);
Counts counts(const Problem& problem);
/// Transformed fields of node m of element e, from `value[i][..]` into `field`, the layout in
/// shared memory of all forms but `element`.
Block transform_into_field(const Algebra& algebra);
/// Opening comment: problem, command that emits this text, counts.
Block banner(const Problem& problem, const Config& config, Target target, double executed_operations);
/// Operations of one step whose products are each done for `pairs` pairs of node and column.
double executed_operations(const Shape& shape, const Algebra& whole, double pairs);
/// A source with everything but text, tables and launches filled in.
KernelSource make_source(const Problem& problem, Target target, std::string text, double executed);
/// One launch over blocks of `elements_per_block`.
Launch block_launch(const Shape& shape, std::int64_t elements_per_block, const BlockResources& resources);
Tunable unrolled_columns();

}  // namespace hone::inline v0_1::dg
