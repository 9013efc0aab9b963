#pragma once

#include <string>
#include <vector>

#include "tuner/journal.hpp"
#include "tuning_db/record.hpp"

namespace hone::tools {

/// Time, power and energy of every way that a problem was computed and metered: processor alone,
/// GPU alone, both together; with speed-up, powerup and greenup (tuner/sharing/greenup.hpp) over
/// the processor alone. One group of rows per problem; a way's record is the one of least time.
/// Where the processor's energy was not metered the gains are "-". Problems of which one way alone
/// was metered are left out; empty when there are no others.
std::string greenup_table(const std::vector<Record>& records);

/// A configuration with both costs.
struct TimeAndEnergy {
    std::string config;
    double seconds = 0;
    double joules = 0;

    bool operator==(const TimeAndEnergy&) const = default;
};

/// Those that no other beats in one without being beaten in the other, fastest first.
std::vector<TimeAndEnergy> pareto_front(std::vector<TimeAndEnergy> points);

/// The configurations of a journal whose energy was measured, each with its last measurement.
std::vector<TimeAndEnergy> metered_points(const std::vector<JournalEntry>& entries);

/// The front as a table: what a step less fast saves. Empty without points.
std::string pareto_table(const std::vector<TimeAndEnergy>& points);

}  // namespace hone::tools
