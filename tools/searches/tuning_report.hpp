#pragma once

#include <string>
#include <vector>

#include "tools/console/json.hpp"
#include "tuner/tuning_run.hpp"

namespace hone::tools {

/// The result of tuning one problem.
struct TunedProblem {
    Problem problem;
    TuningResult result;
    bool already_tuned = false;   ///< passed over: `result.record` is the database's
    std::string not_stored = {};  ///< why the database does not have `result.record`; empty: it has
    double begun_after = 0;       ///< seconds from the program's start
};

/// The summary that `hone tune` ends with: winners with what their search cost, and problems
/// without a result.
std::string tuning_summary(const std::vector<TunedProblem>& problems);

/// Whether every problem came to what was asked for: a record that is stored, or that a search of
/// other candidates, or a single evaluation that was asked for, left as not worth storing.
bool succeeded(const std::vector<TunedProblem>& problems, int evaluations);

/// What a run that searched for less than half of its time did else, and what to do about it;
/// empty: it searched for longer, or to the space's end.
std::string budget_remark(const TuningResult& result);

/// That an eighth of a run's candidates or more execute what others do, with the tunables that made
/// no difference; empty: fewer do.
std::string repeated_remark(const TuningProgress& run);

/// Where the time went: a row of seconds and share for each kind of work.
std::string profile_table(const TunedProblem& tuned);
/// {"total_seconds", "first_candidate_seconds" from the program's start, "setup_seconds", ...}.
Json profile_json(const TunedProblem& tuned);

/// {"problem", "record" or null, "reason", "search": {...}} of one problem.
Json json_of(const TunedProblem& tuned);

}  // namespace hone::tools
