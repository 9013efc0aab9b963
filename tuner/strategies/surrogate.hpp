#pragma once

#include <memory>

#include "tuner/strategy.hpp"

namespace hone::inline v0_1 {

/// Search guided by a model of all costs told so far; the default.
///
/// After a start that has seen every value of every short list, each ask takes, from a pool of open
/// members, the one with the greatest expected improvement on a target, times the chance that it
/// does not fail. The target is drawn for each ask: the best cost told, or less by an exponentially
/// distributed part of the model's deviation, more where its errors are great. So some asks look
/// near the best and others far away, also those that are asked ahead together, and no search stays
/// in a valley. The model is a Gaussian process of the logarithms of the costs
/// (gaussian_process.hpp) whose covariance learns which tunables matter (member_kernel.hpp). The
/// pool holds all open members of a small space; of a large one, the neighbours of the best and a
/// random part.
///
/// Sources: Jones, Schonlau and Welch, 1998, "Efficient global optimization of expensive black-box
/// functions"; Jones, 2001, "A taxonomy of global optimization methods based on response surfaces"
/// (several targets, for global and local search and for candidates in parallel); Willemsen, van
/// Nieuwpoort and van Werkhoven, 2021, "Bayesian optimization for auto-tuning GPU kernels" (the
/// members of the constrained space as candidates).
std::unique_ptr<Strategy> make_surrogate(const SearchSpace& space, Members members, std::uint64_t seed);

}  // namespace hone::inline v0_1
