#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "generator/families/dg/shape.hpp"
#include "generator/problem.hpp"
#include "generator/workload.hpp"

namespace hone::inline v0_1::dg {

/// rhs of elements [first, last) by the definition: every field differentiated along r, s, t in
/// double precision, then the chain rule. `arrays` are q, geometry, rhs in host memory. Independent
/// of how kernels are generated; all cores.
void reference(const Problem& problem, std::span<void* const> arrays, std::int64_t first, std::int64_t last);

/// Random fields on random well-shaped tetrahedra. Element k holds data set k mod P, P a prime of
/// at most 509, so that the expected answer of any number of elements costs P of them while
/// neighbours always differ, whatever the block size.
Workload workload(const Problem& problem, std::uint64_t seed);

/// Volume right-hand side of one element, [fields][nodes], in double precision: `q` and `geometry`
/// of that element.
template <typename Real>
std::vector<double> volume_of_element(const Shape& shape, const Real* q, const Real* geometry);

/// The largest sum of absolute values that passes through a value of it, whichever form computes
/// it: its rounding errors are in proportion.
template <typename Real>
double volume_magnitude(const Shape& shape, const Real* q, const Real* geometry);

}  // namespace hone::inline v0_1::dg
