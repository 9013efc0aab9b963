#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "solvers/acoustics/checks.hpp"
#include "solvers/acoustics/wave_solver.hpp"

namespace hone::inline v0_1::solvers::seismic {

/// What is wanted of a run.
struct RunSettings {
    double seconds = 0;   ///< of the waves
    int interval = 2000;  ///< of the recording, microseconds
    int snapshots = 6;
    bool volumes = false;          ///< snapshots as .vti, too
    std::filesystem::path folder;  ///< for model.png, recording.segy, .csv and .png, pressure_*.png; empty: nothing is written
    std::filesystem::path checkpoint, restart;
    int checkpoint_every = 0;  ///< time steps from one checkpoint to the next; 0: at the end only
};

/// What a run came to.
struct RunReport {
    int steps = 0;          ///< without those before a restart
    double seconds = 0;     ///< of the time steps on the device
    std::int64_t sent = 0;  ///< bytes that the first rank sends at each exchange
    std::vector<Check> checks;
    std::vector<std::string> files;  ///< that were written
};

/// Solves, with a bar on the terminal, writes what is wanted, and checks. All ranks call it alike;
/// checks and files are in the first one's report.
///
/// A checkpoint has the same words on any number of ranks, and a run goes on from it on any number.
/// Throws Error for a checkpoint of another model, survey or way to solve; a longer or shorter run
/// may go on from it.
RunReport run_survey(Communicator& ranks, Backend& backend, KernelLibrary& library, const Model& model, const WaveSettings& settings,
                     const Survey& survey, const RunSettings& wanted);

/// Highest frequency of Ricker's wavelet that the slowest speed carries with four cells per
/// shortest wavelength (orders 8 and 16) or six.
double suitable_frequency(const Model& model, const WaveSettings& settings);
/// Seconds in which a wave goes down and up again at the mean speed, and the wavelet passes.
double suitable_seconds(const Model& model, const Ricker& ricker);

}  // namespace hone::inline v0_1::solvers::seismic
