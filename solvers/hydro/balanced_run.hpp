#pragma once

#include <functional>
#include <memory>

#include "solvers/hydro/kernel_operator.hpp"
#include "solvers/hydro/run.hpp"
#include "solvers/hydro/zone_part.hpp"
#include "solvers/mesh/balancing.hpp"

namespace hone::inline v0_1::solvers::hydro {

/// A rank's part of a mesh with its operator.
struct ZoneShare {
    std::unique_ptr<const ZonePart> part;
    std::unique_ptr<KernelOperator> on;
};

struct BalancedRun {
    RunResult result;
    ZoneShare share;  ///< the last one
    int moves = 0;    ///< how often parts were drawn anew
};

/// run_hydro on all ranks. After each period the ranks' devices say what the work of a part takes
/// them (KernelOperator::seconds_of_work); where parts as these speeds gain enough, all of the
/// state moves to new parts, bit by bit, so that no digit of the run knows of it.
///
/// `make` gives a rank its share for its speed, in any unit, and is called on all ranks alike:
/// first with `speed`. Its kernels must not depend on the part. Throws Error for a run with
/// pictures (settings.frames_folder) and periods.
BalancedRun run_balanced(Communicator& ranks, double speed, const std::function<ZoneShare(double speed)>& make, const RunSettings& settings,
                         const Balancing& balancing);

}  // namespace hone::inline v0_1::solvers::hydro
