#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "solvers/maxwell/checkpoint.hpp"
#include "solvers/maxwell/solver.hpp"

namespace hone::inline v0_1::solvers::maxwell {

/// What a run of a wave solver does from its first field to its last.
struct WaveRunSettings {
    double time = 0.5;                    ///< at the end
    double step_part = 0.5;               ///< of the stable time step, see Discretisation::stable_step
    int energy_samples = 20;              ///< over the run, besides the first
    std::filesystem::path frames_folder;  ///< for ParaView; empty: none
    int frames = 10;                      ///< over the run, besides the first
    std::filesystem::path checkpoint;     ///< empty: none; also written at the end
    std::int64_t checkpoint_every = 0;    ///< steps; 0: at the end only
    std::filesystem::path restart;        ///< go on from this checkpoint; its time step and kernels are kept
    const Checkpoint* from = nullptr;     ///< go on from this one, in memory; without a state: with the one that the solver has
    bool times_last_step = false;         ///< of those that are made now, by WaveSolver::timed_step
    std::int64_t stop_after = 0;          ///< end after so many steps of the whole run, as if interrupted; 0: do not
    /// A few times a second: steps done, of how many, energy when it was last looked at.
    std::function<void(std::int64_t done, std::int64_t steps, double energy)> progress;
};

struct WaveRunResult {
    std::int64_t first = 0;  ///< step that the run began with
    std::int64_t done = 0;   ///< steps of the whole run that are over
    std::int64_t steps = 0;  ///< of the whole run
    double dt = 0;
    double seconds = 0;                             ///< of the time steps alone
    std::vector<std::pair<double, double>> energy;  ///< history: time, energy
    std::vector<double> fields;                     ///< at the end; of a rank those of its part
    double last_step = 0;                           ///< seconds on the own device, if asked for
    Checkpoint end;                                 ///< what a run goes on from, but for the state

    double time() const { return dt * static_cast<double>(done); }
    /// The largest rise of the energy from one sample to the next, as a part of the first; not
    /// positive when it never grew.
    double largest_growth() const;
};

/// The number of time steps and their length: the stable step, shortened so that they end at the
/// time wanted.
std::pair<std::int64_t, double> planned_steps(const Discretisation& of, const WaveRunSettings& settings);

/// Runs a solver from `first_fields`, or from settings.restart: then the solver must have been made
/// with that checkpoint's form and configurations.
WaveRunResult run_waves(WaveSolver& solver, const Discretisation& of, Precision precision, StageForm form, const std::vector<double>& first_fields,
                        const WaveRunSettings& settings);
/// The same on all ranks, whose parts the solvers have: energies are of the whole mesh, pictures a
/// file for each rank, and the checkpoint, which rank 0 writes and all read, is the same on any
/// number of ranks.
WaveRunResult run_waves(WaveSolver& solver, const WavePart& part, Precision precision, StageForm form, const std::vector<double>& first_fields,
                        const WaveRunSettings& settings);

std::string to_string(StageForm form);
/// "kernels" or "fused"; throws Error for anything else.
StageForm parse_form(const std::string& word);

}  // namespace hone::inline v0_1::solvers::maxwell
