#pragma once

#include <span>

#include "tuner/strategies/gaussian_process.hpp"
#include "tuner/strategy.hpp"

namespace hone::inline v0_1 {

/// A member that was not asked, or several like it.
struct OpenMember {
    Expectation cost;   ///< of the logarithm; `failure` counts, too
    double weight = 1;  ///< members that it stands for
};

/// The outlook on a gain of `part` when the logarithm of the best cost is `best`. Members count as
/// independent of each other. Neighbours are not: they are fast or slow together, so the chance is
/// rather too high.
Outlook remaining_gain(std::span<const OpenMember> members, double best, double part);

}  // namespace hone::inline v0_1
