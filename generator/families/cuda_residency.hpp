#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "generator/limits.hpp"
#include "generator/search_space.hpp"

namespace hone {

/// The rules on threads and registers that the CUDA spaces of the stencil families share: a block within the device's, and `min_blocks` blocks
/// resident on a multiprocessor. `threads` are of a block, `registers` an estimate of the 32-bit registers of a thread.
std::vector<Constraint> residency_constraints(const Limits& limits, const std::function<std::int64_t(const Config&)>& threads,
                                              const std::function<std::int64_t(const Config&)>& registers);

}  // namespace hone
