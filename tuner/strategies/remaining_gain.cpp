#include "tuner/strategies/remaining_gain.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <vector>

namespace hone::inline v0_1 {
namespace {

constexpr double negligible = 1e-9;  // chance of a single member
constexpr double largest_gain = 0.9;
constexpr int steps = 24;  // of the integral, finer where gains are small

/// The chance that a member's cost is below a bound.
double chance_below(double bound, const Expectation& cost) {
    constexpr double root_of_half = 0.70710678118654752;
    const double valid = std::clamp(1 - cost.failure, 0.0, 1.0);
    return valid * 0.5 * std::erfc((cost.mean - bound) / cost.deviation * root_of_half);
}

}  // namespace

Outlook remaining_gain(std::span<const OpenMember> members, double best, double part) {
    std::vector<OpenMember> hopeful;
    std::copy_if(members.begin(), members.end(), std::back_inserter(hopeful),
                 [&](const OpenMember& member) { return chance_below(best, member.cost) > negligible; });
    // That at least one of them costs less than the best by more than this part.
    const auto chance = [&](double gain) {
        double none = 0;
        for (const OpenMember& member : hopeful)
            none += member.weight * std::log1p(-std::min(1 - negligible, chance_below(best + std::log1p(-gain), member.cost)));
        return -std::expm1(none);
    };
    // The mean of the gain is the integral of the chances to exceed it.
    Outlook outlook{chance(part), 0};
    double before = 0;
    double chance_before = chance(0);
    for (int step = 1; step <= steps && chance_before > negligible; ++step) {
        const double gain = largest_gain * std::pow(static_cast<double>(step) / steps, 2);
        const double here = chance(gain);
        outlook.gain += 0.5 * (gain - before) * (here + chance_before);
        before = gain;
        chance_before = here;
    }
    return outlook;
}

}  // namespace hone::inline v0_1
