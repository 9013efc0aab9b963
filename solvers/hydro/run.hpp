#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "solvers/hydro/mass_system.hpp"
#include "solvers/hydro/stepper.hpp"
#include "solvers/hydro/zone_part.hpp"

namespace hone::inline v0_1::solvers::hydro {

/// Energies at one moment.
struct EnergySample {
    std::int64_t step = 0;
    double time = 0, internal = 0, kinetic = 0;

    double total() const { return internal + kinetic; }
    bool operator==(const EnergySample&) const = default;
};

struct RunResult;

/// What a run does from its first state to its last.
struct RunSettings {
    double time = 0;  ///< at the end
    TimeScheme scheme = TimeScheme::rk2_average;
    double cfl = 0.5, tolerance = 1e-12;                ///< of the operator: for the checkpoint
    std::optional<MassForm> mass;                       ///< likewise
    std::int64_t energy_every = 20;                     ///< steps from one energy sample to the next; also taken at the first and last step
    std::filesystem::path frames_folder;                ///< for ParaView; empty: none
    int frames = 10;                                    ///< over the run, besides the first: after the first step past each multiple of time / frames
    std::filesystem::path checkpoint;                   ///< empty: none; also written at the end
    std::int64_t checkpoint_every = 0;                  ///< steps; 0: at the end only
    std::filesystem::path restart;                      ///< go on from this checkpoint
    const RunResult* from = nullptr;                    ///< or from what a run on the same part of a mesh came to
    std::int64_t stop_after = 0;                        ///< end after so many steps of the whole run, as if interrupted; 0: do not
    bool goes_on = false;                               ///< after `stop_after`, by `from`: that is no end, with a sample and a checkpoint
    std::map<std::string, std::string> configurations;  ///< of the kernels, for the checkpoint
    std::function<void(const Clock&)> progress;         ///< after every step
};

struct RunResult {
    Clock clock;
    State state;      ///< of a rank that of its part
    double norm = 0;  ///< of all energies; of several ranks rank 0 knows it
    std::vector<EnergySample> energies;
    std::int64_t first_step = 0;  ///< that the run began with
    double seconds = 0;           ///< of the time steps alone
};

/// Runs the operator from the discretisation's first state, or from settings.restart: then the
/// operator must have been made with the checkpoint's configurations. Throws Error for a checkpoint
/// of another problem, mesh or scheme.
RunResult run_hydro(Operator& on, const Discretisation& of, const RunSettings& settings);

/// The same on all ranks, whose parts the operators have: energies are of the whole mesh, pictures
/// a file for each rank, and the checkpoint, which rank 0 writes and all read, is the same on any
/// number of ranks.
RunResult run_hydro(Operator& on, const ZonePart& part, const RunSettings& settings);

/// The kernels that a checkpoint was made with, by what they are for. Throws Error for a file that
/// is none.
std::map<std::string, std::string> checkpoint_configurations(const std::filesystem::path& file);

/// Leaves small runs on the processor to one thread, for the whole process: a team would wait
/// longer at the ends of launches than it works, most of all on a busy machine. Does nothing where
/// OMP_NUM_THREADS says what is wanted.
void suit_threads(const Discretisation& of);

/// Square root of the sum of squares: what is published of a run's energies.
double norm(const std::vector<double>& values);

}  // namespace hone::inline v0_1::solvers::hydro
