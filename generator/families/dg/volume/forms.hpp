#pragma once

#include <optional>
#include <string>

#include "generator/families/dg/shape.hpp"
#include "generator/form.hpp"

namespace hone::inline v0_1::dg {

/// Why a rule refuses a configuration, or nothing.
using Reason = std::optional<std::string>;

/// The forms of the family's kernel, each in the file of its name in forms/ (tf32 in that of mma).
/// On CUDA:
Form tile_form(const Problem& problem, const Limits& limits);
Form rows_form(const Problem& problem, const Limits& limits);
Form element_form(const Problem& problem, const Limits& limits);
Form element_parity_form(const Problem& problem, const Limits& limits);
Form warp_tile_form(const Problem& problem, const Limits& limits);
Form mma_form(const Problem& problem, const Limits& limits);
Form tf32_form(const Problem& problem, const Limits& limits);
/// Whether passes have a form warp_tile for the problem, which is the volume's, too.
bool has_warp_tile(const Shape& shape, const Limits& limits);
/// On processors:
Form cpu_elements_form(const Problem& problem, const Limits& limits);

/// Those that serve a problem on a device, from one table a target.
Forms cuda_forms(const Problem& problem, const Limits& limits);
Forms cpu_forms(const Problem& problem, const Limits& limits);

}  // namespace hone::inline v0_1::dg
