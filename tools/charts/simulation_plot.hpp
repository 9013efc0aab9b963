#pragma once

#include <cstdint>
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
    std::int64_t evaluations = 0;  ///< of each repetition that nothing ended before

    std::int64_t members() const { return static_cast<std::int64_t>(recorded.members().size()); }
    /// Whether the repetitions tell of so many evaluations: they had as many, or met every member
    /// sooner.
    bool tells_of(std::int64_t budget) const { return budget <= evaluations || evaluations == members(); }
};

/// The budgets at which curves are given: 1, 2, 5, 10, 20, 25, 50, ... up to the longest
/// simulation.
std::vector<std::int64_t> curve_budgets(const std::vector<Simulation>& simulations);

/// The gnuplot script of best-so-far curves, one panel for each space: the median over the
/// repetitions as a multiple of the optimum, with the band from the 10th to the 90th percentile,
/// and the exact mean of random search. `picture` ends in .png or .svg; throws Error otherwise.
std::string simulation_plot(const std::vector<SimulatedSpace>& spaces, const std::filesystem::path& picture);

}  // namespace hone::tools
