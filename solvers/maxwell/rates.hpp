#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "solvers/maxwell/solver.hpp"
#include "solvers/output/chart.hpp"

namespace hone::inline v0_1::solvers::maxwell {

/// What was timed, as a table: one row per kernel, and the time step where `step_seconds` is not 0.
/// GFLOP/s are as the literature counts, which do not depend on the form that runs; beside them
/// what that form really executes.
std::string rates_table(const WaveSolver& solver, double step_seconds);

/// Appends the same to a CSV file, which gets a head when it is new: device, equation, order,
/// precision, elements, kernel ("step": all five stages), seconds, GFLOP/s, GB/s (compulsory
/// bytes), degrees of freedom per second, configuration. Throws Error when it cannot be written.
void append_rates(const std::filesystem::path& file, const std::string& device, const Discretisation& of, const std::string& precision,
                  const WaveSolver& solver, double step_seconds);

/// What such a file says of one kernel, as far as a chart needs it.
struct RateRow {
    std::string device, equation, precision, kernel;
    int order = 0;
    double gflops = 0;
};

/// The rows of such a file. Throws Error with the line where it is none.
std::vector<RateRow> read_rates(const std::filesystem::path& file);

/// GFLOP/s over order of one equation and precision, a curve for each device and kernel, from the
/// fastest row of each order; of acoustics in single precision also what T. Warburton's gpuDG
/// reached on a Tesla C870 in 2008. Throws Error when no row is of that equation and precision.
Chart rates_chart(const std::vector<RateRow>& rows, const std::string& equation, const std::string& precision);

}  // namespace hone::inline v0_1::solvers::maxwell
