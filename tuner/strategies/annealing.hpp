#pragma once

#include <memory>

#include "tuner/strategy.hpp"

namespace hone::inline v0_1 {

/// Simulated annealing on the members: a walk over neighbours (one value differs) that takes every
/// step down, and a step up with a probability that falls with its height and with the evaluations
/// spent. Members already told are walked over at no cost. Where the walk finds nothing new, it
/// goes on from anywhere.
///
/// Heights are differences of logarithms, so that the temperature has no unit: it begins where a
/// step to twice the cost is taken with one in e. Source: Kirkpatrick, Gelatt and Vecchi, 1983,
/// "Optimization by simulated annealing".
std::unique_ptr<Strategy> make_annealing(const SearchSpace& space, Members members, std::uint64_t seed);

}  // namespace hone::inline v0_1
