#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "solvers/acoustics/wave_solver.hpp"

namespace hone::inline v0_1::solvers::seismic {

/// Pressure at receivers, at equal intervals from time 0 on.
struct Recording {
    int interval = 1000;  ///< microseconds
    std::vector<std::vector<float>> traces;

    /// Cubic interpolation of what a solver wrote down after each of its steps, for an interval
    /// that lies on no step.
    static Recording resampled(const std::vector<std::vector<float>>& steps, double step_seconds, int interval);
};

/// Source and receivers in the trace headers; `title` in the textual one.
void write_recording_segy(const std::filesystem::path& file, const Recording& recording, const Survey& survey, const Model& model,
                          const std::string& title);
/// A header line, then one line per time: seconds, and the pressure at each receiver.
void write_recording_csv(const std::filesystem::path& file, const Recording& recording);
/// Time downwards, receivers side by side; all but the strongest arrivals keep their colours.
void write_recording_png(const std::filesystem::path& file, const Recording& recording);

/// A vertical section through the source: pressure over the ground's speed.
void write_snapshot_png(const std::filesystem::path& file, const Model& model, const std::vector<float>& pressure, int y);
/// Pressure and speed of all cells, for ParaView: of each rank its layers. Returns the name of the
/// file to open. All ranks call it.
std::string write_snapshot_vti(Communicator& ranks, const std::filesystem::path& folder, const std::string& stem, const Model& model,
                               const std::vector<float>& pressure, const CellRange& layers);
/// The speed alone.
void write_model_png(const std::filesystem::path& file, const Model& model, int y);

}  // namespace hone::inline v0_1::solvers::seismic
