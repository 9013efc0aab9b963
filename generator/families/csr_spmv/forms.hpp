#pragma once

#include <optional>
#include <string>

#include "generator/families/csr_spmv/shape.hpp"

namespace hone::inline v0_1::spmv {

/// Why a rule refuses a configuration, or nothing.
using Reason = std::optional<std::string>;

/// The forms of the family's kernel, one for each target, in the file of its name in forms/.
Form vector_form(const Problem& problem, const Limits& limits);
Form cpu_vector_form(const Problem& problem, const Limits& limits);

/// Their tables.
Forms cuda_forms(const Problem& problem, const Limits& limits);
Forms cpu_forms(const Problem& problem, const Limits& limits);

}  // namespace hone::inline v0_1::spmv
