#pragma once

#include <memory>

#include "tuner/strategy.hpp"

namespace hone::inline v0_1 {

/// Every member: the safe one first, then ascending.
std::unique_ptr<Strategy> make_exhaustive(const SearchSpace& space, Members members, std::uint64_t seed);

}  // namespace hone::inline v0_1
