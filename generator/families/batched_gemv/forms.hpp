#pragma once

#include <optional>
#include <string>

#include "generator/families/batched_gemv/shape.hpp"
#include "generator/form.hpp"

namespace hone::inline v0_1::gemv {

/// Why a rule refuses a configuration, or nothing.
using Reason = std::optional<std::string>;

/// The forms of the family's kernel. On CUDA, in forms/rows.cpp and forms/columns.cpp:
Form rows_form(const Problem& problem, const Limits& limits);
Form split_rows_form(const Problem& problem, const Limits& limits);
Form columns_form(const Problem& problem, const Limits& limits);
/// On processors:
Form cpu_passes_form(const Problem& problem, const Limits& limits);

/// Those that serve a problem on a device, from one table a target.
Forms cuda_forms(const Problem& problem, const Limits& limits);
Forms cpu_forms(const Problem& problem, const Limits& limits);

}  // namespace hone::inline v0_1::gemv
