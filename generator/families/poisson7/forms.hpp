#pragma once

#include "generator/families/poisson7/grid.hpp"
#include "generator/form.hpp"

namespace hone::inline v0_1::poisson {

/// The forms of the family's kernel, each in the file of its name in forms/. On CUDA:
Form points_form(const Problem& problem, const Limits& limits);
Form cells_form(const Problem& problem, const Limits& limits);
Form march_form(const Problem& problem, const Limits& limits);
Form shared_form(const Problem& problem, const Limits& limits);
/// On processors:
Form cpu_blocks_form(const Problem& problem, const Limits& limits);

/// Their tables, one for each target.
Forms cuda_forms(const Problem& problem, const Limits& limits);
Forms cpu_forms(const Problem& problem, const Limits& limits);

}  // namespace hone::inline v0_1::poisson
