#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "generator/limits.hpp"
#include "generator/residency.hpp"
#include "generator/search_space.hpp"

namespace hone {

/// The rules of generator/residency.hpp on threads and registers, for a space without forms (those of generator/form.hpp have them anyway). `threads`
/// are of a block, `registers` an estimate of the 32-bit registers of a thread.
std::vector<Constraint> residency_constraints(const Limits& limits, const std::function<std::int64_t(const Config&)>& threads,
                                              const std::function<std::int64_t(const Config&)>& registers);

/// Registers that a thread of a kernel with m16n8k4, k8 or k16 in f64 must be able to have: under launch bounds that leave fewer, ptxas 13 refuses
/// the kernel for sm_90 and sm_100, whatever it needs.
constexpr int f64_matrix_unit_registers = 64;

}  // namespace hone
