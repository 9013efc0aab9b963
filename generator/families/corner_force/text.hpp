#pragma once

#include <string>

#include "generator/families/corner_force/passes.hpp"
#include "generator/kernel_source.hpp"
#include "generator/render.hpp"
#include "generator/search_space.hpp"

// Pieces that both targets share. Texts call a number of the target `value`: a word of one zone on
// a GPU, a vector of neighbouring zones on a CPU.

namespace hone::inline v0_1::corner {

Block banner(const ZoneKernel& kernel, const Problem& problem, const Config& config);
Block shape_constants(const ZoneKernel& kernel);
/// The whole text of a form of passes, whose entries `passes` has. `holes` are the target's.
std::string kernel_text(const ZoneKernel& kernel, Block passes, Holes holes);
/// Basis functions of an axis, as tables.
Block axis_tables(const Shape& shape, Target target);
/// The same as objects of `AxisTable<length, sign>`, which have their even and odd parts, too.
Block axis_parts(const Shape& shape, Target target);
/// Where a zone's half-way results lie in `buffer`.
Block buffer_pointers(const Buffers& buffers);
/// The entry of a pass over whole zones, whose half-way results lie in `buffers`, and of one of
/// dense products. `holes` are the target's.
Block zone_pass(const ZoneKernel& kernel, const Problem& problem, const Pass& pass, Block buffers, Holes holes);
Block dense_pass(const ZoneKernel& kernel, const Problem& problem, const Pass& pass, Holes holes);
/// `name(const real* restrict x, ..., int first, int last[, ...]) {`.
Block signature(const ZoneKernel& kernel, const Problem& problem, const Pass& pass);
/// Arrays, tables, entries, what is executed.
KernelSource common_source(const ZoneKernel& kernel, const Problem& problem);
std::string pass_comment(const Pass& pass);

/// How eigenvalues of 3 x 3 matrices are found: for forms of passes with physics in three
/// dimensions.
bool decomposes(const Shape& shape);
Tunable decomposition_tunable();
/// Of the derivatives along a column; a form has some of these values.
Tunable points_per_pass_tunable(std::vector<std::int64_t> values);

}  // namespace hone::inline v0_1::corner
