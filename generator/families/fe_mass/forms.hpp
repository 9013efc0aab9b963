#pragma once

#include <optional>
#include <string>

#include "generator/families/fe_mass/shape.hpp"
#include "generator/form.hpp"

namespace hone::inline v0_1::fe {

/// Why a rule refuses a configuration, or nothing.
using Reason = std::optional<std::string>;

/// The forms of the family's kernel, each in the file of its name in forms/. On CUDA, of which
/// threads_form needs an element's words in a thread's registers:
Form teams_form(const Problem& problem, const Limits& limits);
Form threads_form(const Problem& problem, const Limits& limits);
bool fits_threads(const Shape& shape, const Limits& limits);
/// On processors:
Form cpu_vector_form(const Problem& problem, const Limits& limits);

/// Those that serve a problem on a device, from one table a target.
Forms cuda_forms(const Problem& problem, const Limits& limits);
Forms cpu_forms(const Problem& problem, const Limits& limits);

}  // namespace hone::inline v0_1::fe
