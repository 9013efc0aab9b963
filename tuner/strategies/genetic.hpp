#pragma once

#include <memory>

#include "tuner/strategy.hpp"

namespace hone::inline v0_1 {

/// A genetic algorithm without generations: a population of the best members told; each ask is a
/// child of two of them, every value from one parent or the other, now and then a value of its own.
/// A child that is no member, or not open, is conceived again; in the end somewhere anywhere.
///
/// Source: Holland, 1975; steady state after Whitley, 1989, "The GENITOR algorithm and selection
/// pressure".
std::unique_ptr<Strategy> make_genetic(const SearchSpace& space, Members members, std::uint64_t seed);

}  // namespace hone::inline v0_1
