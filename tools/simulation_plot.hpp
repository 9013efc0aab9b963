#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tuner/replay/simulation.hpp"

namespace hone::tools {

/// The results of several strategies on one space.
struct SimulatedSpace {
    RecordedSpace recorded;
    RandomBaseline baseline;
    std::vector<Simulation> simulations;
};

/// The budgets at which curves are given: 1, 2, 5, 10, 20, 25, 50, ... up to the longest
/// simulation.
std::vector<std::int64_t> curve_budgets(const std::vector<Simulation>& simulations);

/// The gnuplot script of best-so-far curves, one panel for each space: the median over the
/// repetitions as a multiple of the optimum, with the band from the 10th to the 90th percentile,
/// and the exact mean of random search. `picture` ends in .png or .svg; throws Error otherwise.
std::string simulation_plot(const std::vector<SimulatedSpace>& spaces, const std::filesystem::path& picture);

}  // namespace hone::tools
