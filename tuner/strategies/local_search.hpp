#pragma once

#include <memory>

#include "tuner/strategy.hpp"

namespace hone {

/// Guided local search, the default.
///
/// It starts from the safe configuration and a few members that fill the space. Then each ask gathers a small pool of members not asked before
/// (neighbours of the best few, which differ in one value or, later, in two; and some drawn at random), predicts each one's cost from the nearest
/// members already told, and asks the most promising. Where a neighbourhood has nothing left to offer, the search restarts elsewhere.
///
/// All neighbours are members of the space, so no ask is spent on a configuration that the constraints reject. A failure counts as slow as the
/// slowest measured cost, which keeps the search away from a region of failures without closing it.
std::unique_ptr<Strategy> make_local_search(const SearchSpace& space, std::vector<std::int64_t> members, std::uint64_t seed);

}  // namespace hone
