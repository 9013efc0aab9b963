#pragma once

#include "generator/families/acoustics_staggered/grid.hpp"
#include "generator/form.hpp"

namespace hone::inline v0_1::acoustics {

/// The forms of the family's kernels, each in the file of its name in forms/. On CUDA, of which
/// exchanged serves several time steps of one pass, too, and two_steps is planes of them:
Form cached_form(const Problem& problem, const Limits& limits);
Form march_form(const Problem& problem, const Limits& limits);
Form exchanged_form(const Problem& problem, const Limits& limits);
Form bulk_form(const Problem& problem, const Limits& limits);
Form planes_form(const Problem& problem, const Limits& limits);
Form two_steps_form(const Problem& problem, const Limits& limits);
Form shuffled_form(const Problem& problem, const Limits& limits);
/// On processors:
Form cpu_tiles_form(const Problem& problem, const Limits& limits);
Form cpu_planes_form(const Problem& problem, const Limits& limits);
Form cpu_march_form(const Problem& problem, const Limits& limits);

/// Those that serve a problem on a device, from one table a target. Throws Error for problems that
/// CUDA devices have no kernel for.
Forms cuda_forms(const Problem& problem, const Limits& limits);
Forms cpu_forms(const Problem& problem, const Limits& limits);

}  // namespace hone::inline v0_1::acoustics
