#pragma once

#include <vector>

#include "tools/kernels/kernel_check.hpp"

namespace hone::tools {

/// Tunables whose values make no difference: members of the space that differ in such a tunable
/// alone have the same code and the same launches. Several pairs of members are compiled for each
/// tunable, as one may matter beside some values of others only. Requires that they compile; what
/// does not is passed over.
std::vector<KernelFinding> idle_tunable_findings(const KernelFolder& kernel, const Problem& problem, const Compiler& compiler, const Limits& limits);

}  // namespace hone::tools
