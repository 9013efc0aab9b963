#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "generator/families.hpp"
#include "generator/family.hpp"
#include "runtime/backend.hpp"
#include "runtime/ceilings.hpp"
#include "tuner/evaluator.hpp"
#include "tuner/system_load.hpp"
#include "tuner/tuner.hpp"
#include "tuner/tuning_request.hpp"
#include "tuning_db/database.hpp"
#include "tuning_db/record.hpp"

namespace hone::inline v0_1 {

/// How a problem is to be tuned.
struct TuningOptions : TuningRequest {
    TunerSettings tuner{.window = 0};  ///< window 0: as many as the machine has threads, at least 8; on resumption the journal's
    std::vector<Config> prior;         ///< members to be evaluated right after the safe configuration; on resumption the journal's
    double seconds = 0;                ///< budget, finals included as far as can be foreseen; 0: no bound
    /// Seconds beyond the budget that the first candidate, or finals that take longer than
    /// foreseen, may still have. Then the run ends as it stands.
    double grace = 10;
    int evaluations = 0;           ///< candidates at most, finals not counted; 0: no bound
    double until = 0;              ///< ends when the strategy sees hardly a chance of gaining a further part (GainRule): 0.01 is 1 %; 0: never
    bool resume = false;           ///< go on with the journal that is there
    std::filesystem::path folder;  ///< of the database: its journals/ holds the run's journal
    int least_window = 0;          ///< of a run whose window is open (tuner.window 0): so many devices work ahead of the reports
    std::optional<Team> team;      ///< of the CPU kernels that are measured, where it is not this process's
    Ceilings ceilings;             ///< of the device, unless a hook measures them; zeros: not measured
};

/// Where a run stands; times are of the whole run, before and after a resumption.
struct TuningProgress {
    std::int64_t members = 0;  ///< of the search space
    int evaluations = 0;       ///< candidates evaluated
    int replayed = 0;          ///< of these, taken from the journal
    bool finals = false;
    bool compared = false;         ///< see Tuner
    std::map<Status, int> counts;  ///< candidates by what became of them
    int repeated = 0;              ///< candidates that execute what another one did before
    std::set<std::string> idle;    ///< tunables in which these differ from it
    double elapsed = 0;            ///< seconds
    double compile_seconds = 0;    ///< of the compilers, summed over processes
    double verify_seconds = 0;
    double measure_seconds = 0;
    std::optional<Tuner::Best> best;
    std::optional<Outcome> safe;
    std::optional<Outlook> outlook;  ///< on a gain of TuningOptions::until, or of 1 %; of strategies that have one

    double waiting_seconds() const { return elapsed - verify_seconds - measure_seconds; }  ///< the device had nothing to do
    double measuring_share() const { return elapsed > 0 ? measure_seconds / elapsed : 0; }
    double seconds_per_candidate() const { return evaluations > 0 ? elapsed / evaluations : 0; }
};

/// Where the time of a run went, in seconds of the wall clock. Of this process: what a resumed run
/// did before is left out.
struct TuningProfile {
    double setup = 0;            ///< listing the space, starting processes, laying data out on the device
    double reference = 0;        ///< random data and the plain loops' answer
    double ceilings = 0;         ///< of the device
    double compile = 0;          ///< waiting for compilers, with nothing to measure
    double verify = 0;           ///< loading candidates and comparing their first step with the reference
    double measure = 0;          ///< sampling periods, finals included
    double total = 0;            ///< of all, and of what is none of these: search, messages, journal
    double first_candidate = 0;  ///< until the first candidate was verified and timed; 0: none was
};

/// The gain of a run by prior knowledge.
struct PriorGain {
    int members = 0;             ///< promising members that the run began with
    int reached = 0;             ///< evaluations until the run had a candidate within 1 % of the best that it ever measured in its search
    std::optional<int> without;  ///< evaluations that the previous run, which had no prior knowledge, needed for the same cost; absent: not known
};

/// The result of a run.
struct TuningResult {
    TuningProgress progress;
    std::optional<Record> record;  ///< of the best
    std::string why_none;          ///< why there is no record
    /// Why the record should not be stored; empty: it should. The safe configuration that was
    /// compared with no other would hide what is known of neighbours, and where a restriction
    /// leaves it out it is no result of the search.
    std::string why_not_kept;
    DeviceSide device;               ///< that it is of
    std::vector<WrongResult> wrong;  ///< members that were found wrong
    std::string busy;                ///< what else the machine did during the finals, in words (SystemLoad::busy); empty: nothing worth a word
    std::optional<PriorGain> prior;  ///< when it had promising members
    TuningProfile profile;
    bool interrupted = false;  ///< may go on with `resume`; the record is the best so far
};

/// Functions by which a run reaches its surroundings. All may be left empty.
struct TuningHooks {
    std::function<double()> clock;      ///< seconds, never going back; default: the system's
    std::function<LoadReading()> load;  ///< of the machine; default: the system's
    std::function<bool()> interrupted;  ///< asked often, also while a candidate is compiled or measured
    std::function<void(const TuningProgress&, const Candidate&, const Outcome&)> progress;  ///< after every evaluation
    std::function<Ceilings()> ceilings;  ///< asked once, when the first candidates are known: they need not wait for it
};

/// Tunes one problem on one device.
///
///     WorkerEvaluator evaluator(...);
///     const TuningResult result = tune(family, problem, device, evaluator, {.seconds = 60, .folder = "results"});
///     keep_result(result, families, "results");
///
/// A run whose budget ended before a second candidate was measured goes on when it is resumed with
/// a longer one; others that came to their end stay as they are. With the same seed, options and
/// outcomes the result is the same, whether the run was interrupted or killed in between or not.
/// Throws Error when the problem cannot be set up, or the journal is damaged or another run's.
TuningResult tune(const Family& family, const Problem& problem, const Device& device, Evaluator& evaluator, const TuningOptions& options,
                  const TuningHooks& hooks = {});

/// Merges the result's record into the database in `folder`, unless there is none or a reason not
/// to keep it. Returns that reason: empty when it is stored. Records of what the run found wrong
/// are marked before (mark_wrong), so that a right result replaces a wrong one that was faster.
/// Throws as Database::merge_into does.
std::string keep_result(const TuningResult& result, const Families& families, const std::filesystem::path& folder);

}  // namespace hone::inline v0_1
