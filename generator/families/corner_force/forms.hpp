#pragma once

#include <optional>
#include <string>

#include "generator/families/corner_force/passes.hpp"
#include "generator/form.hpp"

namespace hone::inline v0_1::corner {

/// Why a rule refuses a configuration, or nothing.
using Reason = std::optional<std::string>;

/// The forms of the family's kernels, each in the file of its name in forms/. Passes over whole
/// zones, which every target has:
PassForm separate_form();
PassForm force_form();
PassForm factorised_form();
PassForm whole_form();
/// The published kernels, one by one: also their passes, and these on CUDA.
PassForm paper_passes();
Form paper_form(const Problem& problem, const Limits& limits);
/// In one launch, on CUDA:
Form layered_form(const Problem& problem, const Limits& limits);
Form teams_form(const Problem& problem, const Limits& limits);
Form streamed_form(const Problem& problem, const Limits& limits);

/// Those that serve a problem on a device, from one table a target. Throws Error where a device
/// has too little shared memory for any.
Forms cuda_forms(const Problem& problem, const Limits& limits);
Forms cpu_forms(const Problem& problem, const Limits& limits);

}  // namespace hone::inline v0_1::corner
