#pragma once

#include <memory>

#include "tuner/strategy.hpp"

namespace hone::inline v0_1 {

/// Every member, the safe one first, then in random order: the baseline that other strategies must
/// beat.
std::unique_ptr<Strategy> make_random_search(const SearchSpace& space, Members members, std::uint64_t seed);

}  // namespace hone::inline v0_1
