#pragma once

#include "generator/families/gauss_seidel_27/grid.hpp"
#include "generator/form.hpp"

namespace hone::inline v0_1::gauss_seidel {

/// The forms of the family's kernel, each in the file of its name in forms/. On CUDA:
Form points_form(const Problem& problem, const Limits& limits);
Form rows_form(const Problem& problem, const Limits& limits);
Form walk_form(const Problem& problem, const Limits& limits);
Form slabs_form(const Problem& problem, const Limits& limits);
Form pipeline_form(const Problem& problem, const Limits& limits);
/// On processors:
Form cpu_rows_form(const Problem& problem, const Limits& limits);
Form cpu_wave_form(const Problem& problem, const Limits& limits);

/// Those that serve a problem on a device, from one table a target.
Forms cuda_forms(const Problem& problem, const Limits& limits);
Forms cpu_forms(const Problem& problem, const Limits& limits);

}  // namespace hone::inline v0_1::gauss_seidel
