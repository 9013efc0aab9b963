#pragma once

#include <string>
#include <vector>

#include "generator/limits.hpp"
#include "runtime/ceilings.hpp"
#include "tools/records/record_check.hpp"
#include "tuner/outcome.hpp"
#include "tuning_db/record.hpp"

namespace hone::tools {

/// Facts that measuring a record's configuration again would bring, in words: of those that it
/// lacks (lacking, in tools/records/database_stats.hpp) all that is no fact of the search; and
/// "kernel", where hone makes another of the configuration than the one that was measured.
std::vector<std::string> worth_measuring(const Record& record, bool same_kernel);

/// One sitting with a record's configuration and the safe one of its problem.
struct Sitting {
    Outcome winner;
    Outcome safe;
    Surroundings now;
    Ceilings ceilings;
    Limits limits;                   ///< of the device
    Counts counts;                   ///< of the problem
    double executed_operations = 0;  ///< of the winner (KernelSource)
};

/// Puts the record as it was measured now into `check.update`, or why not into `check.kept`. How it
/// was found (strategy, seed, candidates) stays as it is; all that a measurement says is of this
/// sitting. A record is kept as it was
///
/// - when it does not hold (the verdict says so);
/// - when the machine was busy, or the figures cannot be right (disturbance);
/// - when the new median is less sure than before: half its interval wider than the old one's and
///   than 2 %;
/// - when the safe configuration, or a ceiling or energy that the record has, could not be
///   measured.
void refresh(RecordCheck& check, const Sitting& sitting);

}  // namespace hone::tools
