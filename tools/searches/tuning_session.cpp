#include "tools/searches/tuning_session.hpp"

#include <algorithm>
#include <chrono>

#include "runtime/power.hpp"
#include "tools/console/format.hpp"
#include "tools/console/problem_words.hpp"
#include "tools/console/target.hpp"
#include "tools/records/database_folder.hpp"
#include "tools/records/record_table.hpp"
#include "tools/searches/remembered_ceilings.hpp"
#include "tuner/journal.hpp"
#include "tuner/prior.hpp"
#include "tuner/system_load.hpp"
#include "tuner/worker/memory_need.hpp"
#include "tuning_db/database.hpp"
#include "tuning_db/places.hpp"

namespace hone::tools {
namespace {

double now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Before main, so that what the program does at first is seen.
const double program_start = now();

// What a problem may take beyond its share of the budget, see TuningOptions.
constexpr double least_grace = 10;  // seconds
constexpr double grace_share = 0.1;

std::string rate(double per_second, const char* unit) {
    return per_second > 0 ? significant(per_second * 1e-9) + unit : "not measured";
}

std::string in_words(const Ceilings& ceilings) {
    return fmt::format("copy {}, f32 {}, f64 {}", rate(ceilings.copy_bytes_per_second, " GB/s"), rate(ceilings.fma_f32, " GFLOP/s"),
                       rate(ceilings.fma_f64, " GFLOP/s"));
}

std::string outcome_line(const TuningResult& result) {
    if (!result.record) return "no result: " + result.why_none;
    const double times = gain(*result.record);
    return fmt::format("{} a step, {} GB/s{}, {} candidate{} in {}", duration(result.record->step.median),
                       significant(result.record->gigabytes_per_second()), times > 0 ? fmt::format(", {:.2f}x safe", times) : "",
                       result.progress.evaluations, result.progress.evaluations == 1 ? "" : "s", duration(result.progress.elapsed));
}

SessionPlan plan_of(const TuneSettings& settings) {
    SessionPlan plan{settings.device.fingerprint, {}, settings.seconds, settings.evaluations};
    for (const Problem& problem : settings.problems) plan.problems.push_back(problem.key());
    return plan;
}

WatchedSession watched_plan(const TuneSettings& settings) {
    WatchedSession session;
    session.device = settings.device.fingerprint.name;
    session.seconds = settings.seconds;
    for (const Problem& problem : settings.problems) {
        WatchedProblem& watched = session.problems.emplace_back();
        watched.progress.problem = short_key(problem, known_families());
    }
    return session;
}

TunedProblem without_result(const Problem& problem, const std::string& reason) {
    TunedProblem tuned{problem, {}, false};
    tuned.result.why_none = reason;
    return tuned;
}

}  // namespace

TuningSession::TuningSession(TuneSettings settings, Console& console)
    : settings_(std::move(settings)),
      console_(console),
      cache_(DiskCache::default_folder()),
      log_(settings_.folder, plan_of(settings_)),
      watched_(watched_plan(settings_)),
      printer_(console, settings_.watch ? &watched_ : nullptr) {
    make_database_folder(settings_.folder);
    // Compiling happens in other processes, but whether it can be done is better said now than by
    // each of them.
    open_compiler({settings_.device.limits, settings_.device.fingerprint.architecture, settings_.device.fingerprint.name}, cache_);
    if (settings_.energy) require_meter("--energy");
    if (!settings_.objective.empty() && parse_objective(settings_.objective).needs_energy()) require_meter("--objective " + settings_.objective);
    WorkerSettings worker{.device = settings_.device, .cache = cache_.folder(), .command = worker_words()};
    worker.sampling.period = settings_.samples;
    worker.meter_finalists = settings_.energy;
    worker.places = settings_.places;
    worker.further_compilers = settings_.compilers;
    worker.complain = [this](const std::string& text) {
        printer_.clear();
        console_.message("  {}\n", text);
    };
    evaluator_ = std::make_unique<WorkerEvaluator>(std::move(worker));
}

void TuningSession::require_meter(const std::string& option) const {
    std::string missing;
    if (find_power_source(settings_.device, missing)) return;
    throw MissingError(option, "energy cannot be measured on this device: " + missing, "'hone doctor' lists the meters; --objective time needs none");
}

bool TuningSession::stop_requested(const std::string& awaited) {
    if (guard_.requested() && !told_) {
        printer_.clear();
        console_.message("stopping: waiting for {}; the best so far is kept; Ctrl-C again quits at once\n", awaited);
        told_ = true;
    }
    return guard_.requested();
}

/// Whether the worker can have the buffers of the ceilings beside the problem's data.
bool TuningSession::room_for_ceilings(const Problem& problem) const {
    const Target target = settings_.device.limits.target;
    const MemoryBytes needed = bench_memory(families_.of(problem).arrays(problem), problem.precision(), target);
    const MemoryBytes there = memory_for(settings_.device);
    return traits_of(target).host_memory ? needed.host + most_ceiling_bytes < there.host : needed.device + most_gpu_ceiling_bytes < there.device;
}

bool TuningSession::recall_ceilings() {
    if (settings_.measure_ceilings) return false;
    const auto remembered = remembered_ceilings(cache_, settings_.device.fingerprint);
    if (!remembered) return false;
    ceilings_ = remembered->ceilings;
    console_.message("ceilings, remembered from {}: {}; --measure-ceilings measures them anew\n", remembered->date.substr(0, 10),
                     in_words(ceilings_));
    return true;
}

void TuningSession::measure_ceilings() {
    measured_ceilings_ = true;
    // They come out of the budget, which is for candidates.
    constexpr double most_of_budget = 0.1;
    const double deadline = settings_.seconds > 0 ? now() + most_of_budget * settings_.seconds : 0;
    const LoadReading before = SystemLoad().read();
    try {
        const auto found = evaluator_->ceilings([&] { return stop_requested("the ceilings") || (deadline > 0 && now() >= deadline); });
        printer_.clear();
        if (!found) {
            console_.message("ceilings were not measured within a tenth of the budget, so no percentages will be given\n");
            return;
        }
        ceilings_ = *found;
        console_.message("ceilings, measured now: {}\n", in_words(ceilings_));
        const std::string busy = SystemLoad::busy_beside(settings_.device, before, SystemLoad().read());
        if (busy.empty())
            remember_ceilings(cache_, settings_.device.fingerprint, ceilings_);
        else
            console_.message("the machine was busy meanwhile, so the next run measures them again: {}\n", busy);
    } catch (const Error& error) {
        console_.message("ceilings could not be measured, so no percentages will be given: {}\n", error.what());
    }
}

std::optional<TunedProblem> TuningSession::already_tuned(const Problem& problem) const {
    if (!settings_.skip_tuned) return std::nullopt;
    const Database database = Database::load(settings_.folder, families_);
    const std::string purpose = settings_.objective.empty() ? "" : parse_objective(settings_.objective).purpose;
    const std::string wanted = subject(problem, settings_.device.fingerprint, purpose);
    const SearchSpace space = families_.of(problem).space(problem, settings_.device.limits);
    for (const Record& record : database.records()) {
        if (!record.verified() || !record.disturbed.empty() || subject(record) != wanted || space.check(space.completed(record.config))) continue;
        TunedProblem tuned{problem, {}, true};
        tuned.result.record = record;
        return tuned;
    }
    return std::nullopt;
}

std::optional<TunedProblem> TuningSession::passed_over(const Problem& problem) const {
    try {
        return already_tuned(problem);
    } catch (const Error& error) {
        // A database that cannot be read cannot be written either.
        console_.message("  {}: {}\n", short_key(problem, families_), error.what());
        return without_result(problem, error.what());
    }
}

double TuningSession::share_of_budget(int number) const {
    const auto remaining = static_cast<double>(std::ssize(settings_.problems) - number + 1);
    // The first problem has at least this, whatever the ceilings took: with the grace its safe
    // configuration is measured.
    return settings_.seconds > 0 ? std::max(1.0, (began_ + settings_.seconds - now()) / remaining) : 0;
}

void TuningSession::keep(TunedProblem& tuned) {
    try {
        const std::string why_not = keep_result(tuned.result, families_, settings_.folder);
        if (!tuned.result.record) return;  // the summary says why there is none
        tuned.not_stored = why_not;
        if (!tuned.result.progress.compared && !tuned.result.interrupted && settings_.evaluations != 1)
            tuned.not_stored += "; with a longer budget --resume goes on";
    } catch (const Error& error) {
        tuned.not_stored = error.what();
    }
    if (!tuned.not_stored.empty()) console_.message("  not stored: {}\n", tuned.not_stored);
}

std::vector<Config> TuningSession::prior(const Problem& problem) {
    std::vector<Config> configs;
    if (!settings_.prior) return configs;
    const Database database = settings_.named_folder ? Database::load(settings_.folder, families_) : known_records(families_, {}, [](const auto&) {});
    for (const Promising& member : promising_members(database, families_, problem, settings_.device)) {
        console_.message("  begins with {} as tuned for {}\n", member.config.key(), member.from);
        configs.push_back(member.config);
    }
    return configs;
}

TuningResult TuningSession::watch(const Problem& problem, ProgressState& state) {
    double reported = now();
    TuningHooks hooks;
    hooks.interrupted = [&] {
        const bool stop = stop_requested(state.run.evaluations == 0 ? "the safe configuration to be set up, compiled or measured"
                                                                    : "the candidate that is being compiled or measured");
        watched_.elapsed = now() - began_;
        if (!stop) printer_.tick(state, state.run.elapsed + now() - reported);
        return stop;
    };
    hooks.progress = [&](const TuningProgress& progress, const Candidate&, const Outcome&) {
        state.run = progress;
        reported = now();
        printer_.evaluated(state);
    };
    // They come after the first candidates, where they can: how fast these are does not wait for
    // what the device can do.
    measured_ceilings_ = measured_ceilings_ || recall_ceilings();
    if (!measured_ceilings_ && room_for_ceilings(problem))
        hooks.ceilings = [this] {
            measure_ceilings();
            return ceilings_;
        };
    else if (!measured_ceilings_)
        measure_ceilings();
    TuningOptions options;
    options.take(settings_);
    options.prior = prior(problem);
    options.seconds = state.seconds;
    options.grace = least_grace + grace_share * state.seconds;
    options.evaluations = settings_.evaluations;
    options.until = settings_.until;
    options.resume = settings_.resume;
    options.team = settings_.team;
    options.least_window = settings_.window;
    options.folder = settings_.folder;
    options.ceilings = ceilings_;
    return tune(families_.of(problem), problem, settings_.device, *evaluator_, options, hooks);
}

TunedProblem TuningSession::tune_next(const Problem& problem, int number) {
    ProgressState state;
    state.number = number;
    state.problems = static_cast<int>(settings_.problems.size());
    state.problem = short_key(problem, families_);
    state.counts = families_.of(problem).counts(problem);
    state.seconds = share_of_budget(number);
    state.evaluations = settings_.evaluations;
    printer_.begin(state);
    TunedProblem tuned{problem, {}, false};
    tuned.begun_after = now() - program_start;
    try {
        tuned.result = watch(problem, state);
    } catch (const OtherRunError& error) {
        if (settings_.problems.size() == 1) throw;  // options that do not fit the journal: the user's to change
        tuned.result.why_none = error.what();
    } catch (const MachineError& error) {
        tuned.result.why_none = fmt::format("{}; what was measured is kept: go on with --resume", error.what());
    } catch (const Error& error) {
        tuned.result.why_none = error.what();
    }
    printer_.clear();
    console_.message("  {}\n", outcome_line(tuned.result));
    for (const std::string& remark : {budget_remark(tuned.result), repeated_remark(tuned.result.progress)})
        if (!remark.empty()) console_.message("  {}\n", remark);
    if (tuned.result.record && !tuned.result.record->disturbed.empty())
        console_.message("  disturbed: {}; tune it again on an idle machine\n", tuned.result.record->disturbed);
    else if (!tuned.result.busy.empty())
        console_.message("  the machine was busy during the finals: {}\n", tuned.result.busy);
    keep(tuned);
    return tuned;
}

void TuningSession::over(std::size_t place, const TunedProblem& tuned) {
    WatchedProblem& watched = watched_.problems[place];
    const bool result = tuned.result.record && !tuned.already_tuned;
    watched.state = result ? SessionStep::State::done : SessionStep::State::passed_over;
    watched.outcome = tuned.already_tuned ? "tuned already" : outcome_line(tuned.result);
    watched.progress.run = tuned.result.progress;
    log_.end(place, watched.state, watched.outcome, tuned.result.progress);
}

TunedProblem TuningSession::tuned_at(std::size_t place) {
    const Problem& problem = settings_.problems[place];
    if (auto tuned = passed_over(problem)) return *tuned;
    if (began_ == 0)
        began_ = now();
    else if (settings_.seconds > 0 && now() >= began_ + settings_.seconds)
        return without_result(problem, "the budget was spent before its turn");
    const int number = static_cast<int>(place) + 1;
    watched_.problems[place].state = SessionStep::State::running;
    log_.begin(place, share_of_budget(number), settings_.resume);
    return tune_next(problem, number);
}

std::vector<TunedProblem> TuningSession::run() {
    if (!log_.missing().empty()) console_.message("'hone watch' will not see this run: {}\n", log_.missing());
    if (settings_.watch && !console_.error_is_terminal) console_.message("standard error is not a terminal: progress is printed as lines\n");
    std::vector<TunedProblem> results;
    for (std::size_t place = 0; place < settings_.problems.size() && !interrupted_; ++place) {
        results.push_back(tuned_at(place));
        interrupted_ = results.back().result.interrupted;
        over(place, results.back());
    }
    log_.done(interrupted_);
    return results;
}

}  // namespace hone::tools
