#pragma once

#include <filesystem>
#include <string>

#include "examples/maxwell/solver.hpp"

namespace hone::examples {

/// What was timed, as a table: one row per kernel, and the time step where `step_seconds` is not 0. GFLOP/s are as the literature counts,
/// which do not depend on the form that runs; beside them what that form really executes.
std::string rates_table(const WaveSolver& solver, double step_seconds);

/// Appends the same to a CSV file, which gets a head when it is new: device, equation, order, precision, elements, kernel ("step": all five stages),
/// seconds, GFLOP/s, GB/s (compulsory bytes), degrees of freedom per second, configuration. Throws Error when it cannot be written.
void append_rates(const std::filesystem::path& file, const std::string& device, const Discretisation& of, const std::string& precision,
                  const WaveSolver& solver, double step_seconds);

}  // namespace hone::examples
