#pragma once

#include <optional>
#include <string>

#include "generator/families/batched_gemm/shape.hpp"
#include "generator/form.hpp"

namespace hone::inline v0_1::gemm {

/// Why a rule refuses a configuration, or nothing.
using Reason = std::optional<std::string>;

/// The forms of the family's kernel, each in the file of its name in forms/. On CUDA:
Form thread_form(const Problem& problem, const Limits& limits);
Form tile_form(const Problem& problem, const Limits& limits);
Form mma_form(const Problem& problem, const Limits& limits);
Form stream_form(const Problem& problem, const Limits& limits);
/// On processors:
Form cpu_rows_form(const Problem& problem, const Limits& limits);
Form cpu_matrices_form(const Problem& problem, const Limits& limits);
Form cpu_dots_form(const Problem& problem, const Limits& limits);

/// Those that serve a problem on a device, from one table a target.
Forms cuda_forms(const Problem& problem, const Limits& limits);
Forms cpu_forms(const Problem& problem, const Limits& limits);

}  // namespace hone::inline v0_1::gemm
