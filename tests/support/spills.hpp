#pragma once

#include "generator/family.hpp"
#include "runtime/compiler.hpp"

namespace hone::test {

/// Expects that a kernel compiles, and that none of its entries stores more than `most_bytes` of a
/// thread's registers in memory: what a family's rule on registers promises (ptxas leaves up to a
/// few words at the very bound).
void expect_few_spills(Compiler& compiler, const Family& family, const Problem& problem, const Config& config, const Limits& limits, int most_bytes);

}  // namespace hone::test
