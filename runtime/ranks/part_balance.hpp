#pragma once

#include "runtime/ranks/communicator.hpp"

namespace hone::inline v0_1 {

/// Whether ranks should share their work anew, by what some of it took each of them.
struct PartBalance {
    double speed = 1;    ///< of this rank: work a second, to be given to what makes parts
    double gain = 0;     ///< what the slowest rank takes longer than all would with parts as their speeds, as a part of the latter
    bool worth = false;  ///< the gain is as large as asked for, on all ranks alike
};

/// All ranks call it, each with its own `work`, in the same unit, and the seconds that its device
/// took for it, without waiting for others. A rank without work, or of no time, counts as fast as
/// the mean of the others. Throws Error, on all ranks, for a number that is negative or none.
PartBalance balance_parts(Communicator& communicator, double work, double seconds, double least_gain);

}  // namespace hone::inline v0_1
