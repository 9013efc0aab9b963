#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>

#include "runtime/ranks/communicator.hpp"

namespace hone::inline v0_1::solvers {

/// When the parts of a mesh are drawn anew.
struct Balancing {
    std::int64_t every = 0;  ///< time steps of a period; 0: never
    double least_gain = 0.05;
    /// Seconds that this rank's device takes for its own part in place of what is measured, for
    /// tests; empty: that.
    std::function<double(double measured)> seconds = {};

    /// Whether a run has periods: on several ranks. Throws Error for one with periods and pictures,
    /// which belong to parts.
    bool has_periods(const Communicator& ranks, const std::filesystem::path& frames_folder) const;
    /// The step at which the period ends that goes on behind `done` steps.
    std::int64_t end_of_period(std::int64_t done) const { return (done / every + 1) * every; }
    double taken(double measured) const { return seconds ? seconds(measured) : measured; }
};

}  // namespace hone::inline v0_1::solvers
