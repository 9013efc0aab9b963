#pragma once

#include <optional>
#include <string>
#include <vector>

#include "solvers/acoustics/wave_solver.hpp"
#include "solvers/output/check.hpp"

namespace hone::inline v0_1::solvers::seismic {

/// Every number of the recording and of the last pressure is one.
Check check_finite(const std::vector<std::vector<float>>& recording, const std::vector<float>& pressure);

/// Energies one after another, the source being silent: none is greater than the one before, but by
/// `allowed` as a part of it.
Check check_energy(const std::vector<double>& energies, const std::string& precision);

/// By Fermat's principle the first arrival comes no later than along the straight line, and no
/// earlier than at the model's fastest speed (which the shortest waves of the scheme exceed a
/// little); a trace must pass a thousandth of its peak between these times, the wavelet's delay
/// added to the later.
Check check_arrivals(const std::vector<std::vector<float>>& recording, double step_seconds, const Model& model, const Survey& survey);

/// Against the exact solution, where the model is homogeneous: direct wave and its echo from the
/// top, if that reflects, before anything can come from the sides. Nothing for other models.
std::optional<Check> check_exact(const std::vector<std::vector<float>>& recording, double step_seconds, const Model& model,
                                 const WaveSettings& settings, const Survey& survey);

}  // namespace hone::inline v0_1::solvers::seismic
