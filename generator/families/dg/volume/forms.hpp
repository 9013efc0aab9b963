#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "generator/families/dg/algebra.hpp"
#include "generator/families/dg/shape.hpp"
#include "generator/families/dg/tiling.hpp"
#include "generator/family.hpp"
#include "generator/form.hpp"
#include "generator/render.hpp"

namespace hone::inline v0_1::dg {

using Resources = BlockResources;

Forms cuda_forms(const Problem& problem, const Limits& limits);
Forms cpu_forms(const Problem& problem, const Limits& limits);
/// Processors: neighbouring elements are the lanes of vectors.
Form elements_form(const Problem& problem, const Limits& limits);

/// CUDA, low orders: a thread owns half of an element, the operator stands in the code.
Form element_form(const Problem& problem);
/// CUDA, 2D: the same, with one text for both halves, on even and odd parts.
Form element_parity_form(const Problem& problem);
bool element_parity_applies(const Shape& shape);
/// CUDA: a thread accumulates a tile of nodes x elements in registers.
Form tile_form(const Problem& problem, const Limits& limits);
/// CUDA, low orders: a thread keeps its node's rows of the operator in registers.
Form rows_form(const Problem& problem);
/// CUDA: a warp accumulates a tile on the matrix units that `matrix_units` names.
Form matrix_units_form(const Problem& problem, const std::string& units);

/// Tunables that several forms have.
/// How many fields the loop over the operator's columns works on at a time: all, or for maxwell_3d
/// those of one curl.
Tunable fields_per_pass(const Shape& shape);
Tunable elements_per_block(std::vector<std::int64_t> values);
Tunable elements_per_thread(std::vector<std::int64_t> values);
/// `values` are those that a form has of all its explanation names.
Tunable where_operator_is(std::vector<Value> values);
Tunable unrolled_columns();
Tunable padded_rows();
Tunable min_blocks();
/// Refuses texts with more multiply-adds than are worth compiling, by the counts of `resources`.
/// `reads` as in Constraint.
Constraint code_size(std::function<Resources(const Config&)> resources, std::vector<std::string> reads);
/// The names of a form's tunables but for `min_blocks`, which is the last.
std::vector<std::string> all_but_min_blocks(const FormSpace& form);
/// A form of what `resources` counts and `kernel` emits. It refuses what `code_size` does, too.
Form counted_form(const Problem& problem, FormSpace space, Resources (*resources)(const Shape&, const Config&),
                  KernelSource (*kernel)(const Problem&, const Config&));

/// Pieces that all kernels share.
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
/// Operations that a configuration executes in one step when each product is done for `pairs` pairs
/// of node and column.
double executed_operations(const Problem& problem, const Config& config, double pairs);
/// A source with everything but text, tables and launches filled in.
KernelSource make_source(const Problem& problem, Target target, std::string text, double executed);
/// One launch over blocks of `elements_per_block`.
Launch block_launch(const Shape& shape, std::int64_t elements_per_block, const Resources& resources);

}  // namespace hone::inline v0_1::dg
