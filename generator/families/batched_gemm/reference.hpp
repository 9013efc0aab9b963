#pragma once

#include <cstdint>
#include <span>

#include "generator/problem.hpp"
#include "generator/workload.hpp"

namespace hone::inline v0_1::gemm {

/// Products of matrices [first, last) by the definition, sums in double precision. `arrays` are a,
/// b, c and factors in host memory. Independent of how kernels are generated; all cores.
void reference(const Problem& problem, std::span<void* const> arrays, std::int64_t first, std::int64_t last);

/// Random matrices in [-1, 1). Matrix i holds data set i mod P, P a prime, so that the answer of
/// any batch costs P products while neighbours always differ. Gaps, and C where it is only written,
/// hold NaN.
Workload workload(const Problem& problem, std::uint64_t seed);

}  // namespace hone::inline v0_1::gemm
