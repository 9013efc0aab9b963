// Tuning a problem ahead of its use.
#include <fmt/format.h>

#include "interfaces/c/open_session.hpp"
#include "interfaces/c/structures.hpp"
#include "tuner/prior.hpp"
#include "tuner/tuning_run.hpp"
#include "tuner/worker/memory_need.hpp"
#include "tuner/worker/worker_evaluator.hpp"
#include "tuning_db/places.hpp"

namespace hone::inline v0_1::languages {
namespace {

constexpr double default_seconds = 60;  // as 'hone tune' has for a problem

void check(const char* function, const hone_tuning_options& wanted) {
    const auto refuse = [&](const std::string& found, const char* remedy) { throw Refusal(HONE_BAD_ARGUMENT, function, found, remedy); };
    if (!(wanted.seconds >= 0)) refuse(fmt::format("options->seconds is {}", wanted.seconds), "give a time, or 0 for no bound");
    if (wanted.evaluations < 0 || wanted.evaluations > 1 << 30)
        refuse(fmt::format("options->evaluations is {}", wanted.evaluations), "give 1 to 1073741824, or 0 for no bound");
    if (wanted.seed < 0) refuse(fmt::format("options->seed is {}", wanted.seed), "give a number above 0, or 0 for the default");
}

/// Where this run's journal and result lie.
TuningOptions options_of(OpenSession& session, const Problem& problem, const hone_tuning_options& wanted) {
    TuningOptions options;
    options.folder = own_records(session.settings().database);
    options.seconds = wanted.seconds == 0 && wanted.evaluations == 0 ? default_seconds : wanted.seconds;
    options.evaluations = static_cast<int>(wanted.evaluations);
    if (wanted.strategy != nullptr) options.strategy = wanted.strategy;
    if (wanted.objective != nullptr) options.objective = wanted.objective;
    if (wanted.only != nullptr) options.only = wanted.only;
    if (wanted.seed > 0) options.seed = static_cast<std::uint64_t>(wanted.seed);
    options.resume = wanted.resume != 0;
    for (const Promising& member : promising_members(session.database(), session.families(), problem, session.device()))
        options.prior.push_back(member.config);
    return options;
}

/// Asks the caller's functions. Once one of them wants the run to end, the other is not asked
/// again.
class Caller {
  public:
    explicit Caller(const hone_tuning_options& wanted) : wanted_(wanted) {}

    void tell(const TuningProgress& progress, const Candidate& candidate, const Outcome& outcome) {
        if (wanted_.progress == nullptr || stop_) return;
        const std::string config = candidate.config.key(), status = to_string(outcome.status),
                          best = progress.best ? progress.best->config.key() : "";
        hone_progress told{};
        told.size = sizeof told;
        told.configuration = config.c_str();
        told.status = status.c_str();
        told.seconds = outcome.measured() ? outcome.step.median : 0;
        told.best = best.c_str();
        told.best_seconds = progress.best ? progress.best->outcome.step.median : 0;
        told.elapsed = progress.elapsed;
        told.members = progress.members;
        told.evaluations = progress.evaluations;
        told.finals = progress.finals ? 1 : 0;
        stop_ = wanted_.progress(&told, wanted_.data) != 0;
    }
    bool wants_end() {
        if (!stop_ && wanted_.stop != nullptr) stop_ = wanted_.stop(wanted_.data) != 0;
        return stop_;
    }

  private:
    const hone_tuning_options& wanted_;
    bool stop_ = false;
};

TuningResult tune_with(OpenSession& session, const Problem& problem, const hone_tuning_options& wanted) {
    const Family& family = session.families().of(problem);
    const Target target = session.device().limits.target;
    require_memory(problem, bench_memory(family.arrays(problem), problem.precision(), target), memory_for(session.device()));
    WorkerSettings worker{.device = session.device(), .cache = session.settings().cache};
    if (worker.cache.empty()) worker.cache = DiskCache::default_folder();
    worker.command = session.worker_command();
    if (worker.command.empty())
        throw Error("tuning", "there is no hone program, in whose processes candidates run",
                    "install it beside the library, or name it in HONE_WORKER");
    WorkerEvaluator evaluator(std::move(worker));
    Caller caller(wanted);
    TuningHooks hooks;
    hooks.interrupted = [&] { return caller.wants_end(); };
    hooks.progress = [&](const TuningProgress& progress, const Candidate& candidate, const Outcome& outcome) {
        caller.tell(progress, candidate, outcome);
    };
    return tune(family, problem, session.device(), evaluator, options_of(session, problem, wanted), hooks);
}

void tell(const OpenSession& session, const std::string& text) {
    if (session.settings().warn)
        session.settings().warn(text);
    else
        fmt::print(stderr, "hone: warning: {}\n", text);
}

}  // namespace
}  // namespace hone::inline v0_1::languages

using namespace hone::languages;

hone_status hone_session_tune(hone_session* session, const char* problem, const hone_tuning_options* options, hone_tuning_result* result) {
    return guarded(__func__, [&](const char* function) {
        OpenSession& open = *open_handle<hone_session>(function, session)->content;
        const hone_tuning_options wanted = read(function, options, "options");
        check(function, wanted);
        if (result != nullptr) known_size(function, result, "result");
        const hone::Problem parsed = open.families().parse_problem(given(function, problem, "problem"));
        const hone::TuningResult found = tune_with(open, parsed, wanted);
        const std::string why_not = hone::keep_result(found, open.families(), hone::own_records(open.settings().database));
        if (why_not.empty() || !found.wrong.empty()) open.read_results();
        if (!found.record)
            throw Refusal(HONE_NO_RESULT, parsed.key(), "tuning found nothing: " + found.why_none, "give it more time, or see 'hone tune'");
        if (!why_not.empty() && wanted.evaluations != 1)  // which asks for the safe configuration alone
            tell(open, fmt::format("{}: what was found is not kept: {}", parsed.key(), why_not));
        if (result == nullptr) return;
        hone_tuning_result own{};
        own.configuration = open.keep(found.record->config.key());
        own.seconds = found.record->step.median;
        own.safe_seconds = found.record->safe_seconds;
        own.elapsed = found.progress.elapsed;
        own.evaluations = found.progress.evaluations;
        own.interrupted = found.interrupted ? 1 : 0;
        write(function, own, result, "result");
    });
}
