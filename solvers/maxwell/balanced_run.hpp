#pragma once

#include <functional>
#include <memory>

#include "solvers/maxwell/wave_part.hpp"
#include "solvers/maxwell/wave_run.hpp"
#include "solvers/mesh/balancing.hpp"

namespace hone::inline v0_1::solvers::maxwell {

/// A rank's part of a mesh with its solver.
struct WaveShare {
    std::unique_ptr<const WavePart> part;
    std::unique_ptr<WaveSolver> solver;
};

struct BalancedRun {
    WaveRunResult result;
    WaveShare share;  ///< the last one
    int moves = 0;    ///< how often parts were drawn anew
};

/// Runs a solver on all ranks as run_waves does. After each period the last step's times on the
/// devices say how fast ranks are; where parts as these speeds gain enough, all of the state moves
/// to new parts, bit by bit, so that no digit of the run knows of it.
///
/// `make` gives a rank its share for its speed, in any unit, and is called on all ranks alike:
/// first with `speed`. The solver's kernels must not depend on the part. Throws Error for a run
/// with pictures (settings.frames_folder) and periods.
BalancedRun run_balanced(Communicator& ranks, double speed, const std::function<WaveShare(double speed)>& make, Precision precision, StageForm form,
                         const Discretisation::Solution& first, const WaveRunSettings& settings, const Balancing& balancing);

}  // namespace hone::inline v0_1::solvers::maxwell
