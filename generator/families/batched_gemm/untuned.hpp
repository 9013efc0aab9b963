#pragma once

#include "generator/families/batched_gemm/cuda.hpp"

namespace hone::inline v0_1::gemm {

/// Sets what runs untuned on CUDA, beside the forms' safe values: what suits the shape, by rules
/// that were measured and by count, where the device can hold it.
void choose_untuned(Forms& forms, const Problem& problem, const Limits& limits);

}  // namespace hone::inline v0_1::gemm
