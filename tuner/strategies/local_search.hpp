#pragma once

#include <memory>

#include "tuner/strategy.hpp"

namespace hone::inline v0_1 {

/// Greedy iterated local search: neighbours of the current member (one value differs) in random
/// order, moving to the first that is faster; where none is, the best local optimum found is
/// kicked, two values altered, and the descent begins again from there. A kick that finds nothing
/// new lands anywhere.
///
/// Source: Lourenco, Martin and Stuetzle, 2003, "Iterated local search"; Schoonhoven et al., 2022,
/// "Benchmarking optimization algorithms for auto-tuning GPU kernels", where it is among the best
/// after 200 evaluations.
std::unique_ptr<Strategy> make_local_search(const SearchSpace& space, Members members, std::uint64_t seed);

}  // namespace hone::inline v0_1
