#pragma once

#include <span>
#include <string>

#include "tuner/outcome.hpp"
#include "tuner/statistics.hpp"

namespace hone::inline v0_1 {

/// The objective that a tuning run minimises: seconds^time * joules^energy of one time step.
///
/// It is a product and no sum. A sum of seconds and joules needs a rate of exchange, which nobody
/// has. A product ranks configurations the same in every unit: with weight w of energy, 1 % of
/// energy is worth w / (1 - w) per cent of time.
struct Objective {
    std::string name = "time";  ///< as on the command line
    double time = 1;
    double energy = 0;
    std::string purpose;  ///< of its records (Record::purpose)

    bool needs_energy() const { return energy > 0; }
    bool operator==(const Objective&) const = default;
};

/// One row of the table of objectives.
struct ObjectiveEntry {
    Objective objective;
    std::string summary;
};

/// The table; the first row is the default. Beside these there is `weighted:W`.
std::span<const ObjectiveEntry> objectives();

/// "time", "energy", "edp" or "weighted:0.5" (the weight of energy, between 0 and 1). Throws Error
/// for anything else.
Objective parse_objective(const std::string& text);

/// The objective's value. A measured outcome without energy, where energy is needed, costs what it
/// would at `watts`; infinity when it was not measured.
double cost(const Objective& objective, const Outcome& outcome, double watts = 0);

/// Standard deviation of the objective's median in one outcome, relative to it, from the confidence
/// intervals.
double relative_noise(const Objective& objective, const Outcome& outcome);

/// The time rule under which a candidate may be dropped without its energy being measured.
///
/// Of two kernels on one device the slower may draw less power, but hardly less than half: half of
/// a busy device's power is spent whatever runs (idle power, memory's refresh, leakage). So with
/// seconds^a joules^b = seconds^(a+b) watts^b, a candidate that is slower than the incumbent by
/// more than 2^(b/(a+b)) costs more: 2 for energy, 1.41 for energy-delay, 1 for time. `worse` and
/// `hopeless` are widened by that factor, and what survives runs under the meter for
/// `energy_seconds`.
SamplingRule sampling_for(const Objective& objective, SamplingRule rule);

}  // namespace hone::inline v0_1
