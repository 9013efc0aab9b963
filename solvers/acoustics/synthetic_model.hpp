#pragma once

#include <array>
#include <cstdint>

#include "solvers/acoustics/model.hpp"

namespace hone::inline v0_1::solvers::seismic {

struct SyntheticSettings {
    int dimension = 2;
    std::array<int, 3> cells{736, 240, 1};
    double spacing = 12.5;   ///< m
    std::uint64_t seed = 1;  ///< another seed, another landscape
    int layers = 24;
    int faults = 6;
};

/// A layered model in the manner of the Marmousi model (folded beds of growing speed, cut by
/// dipping faults, below water), of its own making: the same for the same settings on every
/// machine. Speeds reach from 1500 m/s in the water to about 4700 m/s.
///
/// A point is first moved back along the faults whose hanging wall it is in; then the bed follows
/// from its depth, and the speed from the bed and a gradient with depth.
Model synthetic_model(const SyntheticSettings& settings);

}  // namespace hone::inline v0_1::solvers::seismic
