#include "tuner/objective.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include "foundation/error.hpp"

namespace hone::inline v0_1 {
namespace {

constexpr const char* weighted = "weighted:";

const std::array<ObjectiveEntry, 3> entries{{
    {{"time", 1, 0, ""}, "seconds of a step"},
    {{"energy", 0, 1, "energy"}, "joules of a step"},
    {{"edp", 1, 1, "energy_delay"}, "joules times seconds of a step"},
}};

[[noreturn]] void refuse(const std::string& text) {
    throw Error("objective", "found \"" + text + "\"",
                "use time, energy, edp or weighted:W with a weight of energy between 0 and 1, e.g. weighted:0.5");
}

/// 0.95 intervals are 2 x 1.96 standard deviations wide.
double relative_deviation(const Statistics& summary) {
    return summary.median > 0 ? (summary.high - summary.low) / summary.median / (2 * 1.96) : 0;
}

}  // namespace

std::span<const ObjectiveEntry> objectives() {
    return entries;
}

Objective parse_objective(const std::string& text) {
    for (const auto& entry : entries)
        if (entry.objective.name == text) return entry.objective;
    if (text.rfind(weighted, 0) != 0) refuse(text);
    const std::string number = text.substr(std::string(weighted).size());
    double weight = 0;
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), weight);
    if (error != std::errc() || end != number.data() + number.size() || !(weight >= 0 && weight <= 1)) refuse(text);
    return {text, 1 - weight, weight, weight > 0 ? "weighted_" + number : ""};
}

double cost(const Objective& objective, const Outcome& outcome, double watts) {
    if (!outcome.measured()) return std::numeric_limits<double>::infinity();
    const double seconds = outcome.seconds();
    if (!objective.needs_energy()) return std::pow(seconds, objective.time);
    const double joules = outcome.energy ? outcome.energy->joules.median : watts * seconds;
    return joules > 0 ? std::pow(seconds, objective.time) * std::pow(joules, objective.energy) : std::numeric_limits<double>::infinity();
}

double relative_noise(const Objective& objective, const Outcome& outcome) {
    const double of_time = objective.time * relative_deviation(outcome.step);
    const double of_energy = outcome.energy ? objective.energy * relative_deviation(outcome.energy->joules) : 0;
    return std::hypot(of_time, of_energy);
}

SamplingRule sampling_for(const Objective& objective, SamplingRule rule) {
    if (!objective.needs_energy()) return rule;
    constexpr double power_range = 2;
    const double factor = std::pow(power_range, objective.energy / (objective.time + objective.energy));
    rule.worse *= factor;
    rule.hopeless *= factor;
    rule.energy_seconds = SamplingRule::enough_for_energy;
    return rule;
}

}  // namespace hone::inline v0_1
