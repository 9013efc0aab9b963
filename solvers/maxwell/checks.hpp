#pragma once

#include <optional>

#include "solvers/maxwell/wave_case.hpp"
#include "solvers/maxwell/wave_run.hpp"
#include "solvers/output/check.hpp"

namespace hone::inline v0_1::solvers::maxwell {

/// The energy never grows. Upwind fluxes take energy, and the time stepper takes a little; rounding
/// alone may add, in proportion to the sums behind a sample.
Check check_energy(const WaveRunResult& result, Precision precision);

/// The L2 error of `cavity` on a box of so many cells in each direction, where it is one of
/// known_errors: within 1 %. Nothing for other runs.
std::optional<Check> check_known_error(double error, const WaveCase& of, int cells, const WaveRunSettings& settings, const WaveRunResult& result);

}  // namespace hone::inline v0_1::solvers::maxwell
