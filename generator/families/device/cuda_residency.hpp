#pragma once

#include "generator/residency.hpp"

namespace hone::inline v0_1 {

/// Registers that a thread of a kernel with m16n8k4, k8 or k16 in f64 must be able to have: under
/// launch bounds that leave fewer, ptxas 13 refuses the kernel for sm_90 and sm_100, whatever it
/// needs.
constexpr int f64_matrix_unit_registers = 64;

}  // namespace hone::inline v0_1
