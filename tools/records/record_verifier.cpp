#include "tools/records/record_verifier.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>

#include "foundation/error.hpp"
#include "foundation/processors.hpp"
#include "foundation/run_folder.hpp"
#include "runtime/kernel_hash.hpp"
#include "tools/console/format.hpp"
#include "tools/console/problem_words.hpp"
#include "tools/console/target.hpp"
#include "tools/records/record_refresh.hpp"
#include "tuner/worker/compile_pool.hpp"

namespace hone::tools {
namespace {

constexpr double tick = 0.1;              // seconds between two looks at the compilers
constexpr double plain_seconds = 5;       // between two lines of progress of many
constexpr std::size_t few = 20;           // records: each gets a line
constexpr double compile_timeout = 120;   // seconds: nothing waits for these kernels
constexpr double most_step_seconds = 30;  // of one sampling period
constexpr std::uint64_t data_seed = 1;    // as in a tuning run

double now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Problems whose data are made or measured at a time. On a processor making them would disturb the
// one that is measured.
std::size_t lanes_for(const Device& device) {
    constexpr int enough_for_three = 8;
    constexpr int enough_for_two = 4;
    if (traits_of(device.limits.target).shares_processors) return 1;
    const int usable = processors().usable;
    return usable >= enough_for_three ? 3 : usable >= enough_for_two ? 2 : 1;
}

}  // namespace

RecordVerifier::RecordVerifier(Device device, VerifierSettings settings, Console& console)
    : device_(std::move(device)), settings_(std::move(settings)), console_(console), cache_(DiskCache::default_folder()), began_(now()) {
    open_compiler({device_.limits, device_.fingerprint.architecture, device_.fingerprint.name}, cache_);
}

bool RecordVerifier::out_of_time() const {
    return settings_.seconds > 0 && now() - began_ > settings_.seconds;
}

std::optional<bool> RecordVerifier::makes_same_kernel(const Record& record) const {
    RecordCheck check{record};
    const auto job = job_of(record, check);
    return job ? std::optional(job->same_kernel) : std::nullopt;
}

// Nothing: the check says why.
std::optional<RecordVerifier::Job> RecordVerifier::job_of(const Record& record, RecordCheck& check) const {
    try {
        const Family& family = known_families().of(record.problem);
        const SearchSpace space = family.space(record.problem, device_.limits);
        const Config config = space.completed(record.config);
        if (const auto rejection = space.check(config)) {
            check.verdict = Verdict::impossible;
            check.found = rejection->constraint + ": " + rejection->reason;
            check.remedy = "tune again: look-ups pass over this record";
            return std::nullopt;
        }
        const Config& safe = space.safe();
        const KernelSource source = family.kernel(record.problem, config, device_.limits);
        const std::string hash = kernel_hash(source.text);
        const auto purpose = [](bool final) { return final ? Candidate::Purpose::finalist : Candidate::Purpose::search; };
        return Job{record,
                   &family,
                   {.index = space.index_of(config), .config = config, .purpose = purpose(settings_.update)},
                   {.index = space.index_of(safe), .config = safe, .purpose = purpose(settings_.update && record.safe_joules > 0)},  // metered, too
                   hash,
                   record.versions.source_hash == hash,
                   source.executed_operations};
    } catch (const Error& error) {
        check.found = error.what();
        return std::nullopt;
    }
}

WorkerSettings RecordVerifier::worker(std::size_t lanes, bool energy) const {
    WorkerSettings worker{.device = device_, .cache = cache_.folder(), .command = settings_.command, .meter_finalists = energy, .strict = true};
    if (lanes > 1) {
        // The thread that measures and this one have processors of their own.
        constexpr int spared = 2;
        worker.host_threads = std::max(1, (processors().usable - spared) / static_cast<int>(lanes - 1));
        worker.compile_processes = 1;  // the kernels are in the cache
    }
    return worker;
}

void RecordVerifier::show(const std::string& step, std::size_t done, std::size_t of, const std::string& what) {
    const std::string text = fmt::format("{} {}/{}{}{}", step, done, of, what.empty() ? "" : "  ", what);
    if (of > few && console_.error_is_terminal) {
        console_.redraw(cut(text, console_.columns - 1));
    } else if (of <= few || now() - shown_ > plain_seconds) {
        console_.message("{}\n", text);
        shown_ = now();
    }
}

void RecordVerifier::measure_ceilings() {
    WorkerEvaluator evaluator(worker(1, false));
    try {
        const auto found = evaluator.ceilings([this] { return stopped(); });
        if (found) ceilings_ = *found;
    } catch (const Error& error) {
        console_.message("ceilings could not be measured: {}\n", error.what());
    }
}

void RecordVerifier::compile(const std::vector<Job>& jobs) {
    const RunFolder temporary;  // of compilers that are killed
    CompilePool pool({.command = settings_.command,
                      .architecture = device_.fingerprint.architecture,
                      .limits = device_.limits,
                      .cache = cache_.folder(),
                      .processes = processors().usable,
                      .timeout = compile_timeout,
                      .environment = temporary.environment()});
    std::vector<std::pair<std::string, Config>> waiting;
    for (const Job& job : jobs) {
        waiting.emplace_back(job.record.problem.key(), job.winner.config);
        if (settings_.update && job.safe.config != job.winner.config) waiting.emplace_back(job.record.problem.key(), job.safe.config);
    }
    for (const auto& [problem, config] : waiting) pool.add(problem, config);
    const std::size_t all = waiting.size();
    while (!waiting.empty() && !stopped()) {
        pool.start();
        ChildProcess::wait(pool.children(), tick);
        pool.collect();
        std::erase_if(waiting, [&](const auto& kernel) { return pool.result(kernel.first, kernel.second).has_value(); });
        if (all > few) show("compiled", all - waiting.size(), all, "");
    }
}

std::optional<RecordCheck> RecordVerifier::measured_again(WorkerEvaluator& evaluator, const Job& job) {
    constexpr int most_times = 3;
    const auto stop = [this] { return stopped(); };
    Sitting sitting{.now = {device_.fingerprint, HONE_VERSION, job.source_hash, job.same_kernel, ""},
                    .ceilings = ceilings_,
                    .limits = device_.limits,
                    .counts = job.family->counts(job.record.problem),
                    .executed_operations = job.executed_operations};
    const bool also_safe = settings_.update && job.safe.config != job.winner.config;
    if (also_safe) {
        const auto safe = evaluator.evaluate(job.safe, 0, stop);
        if (!safe) return std::nullopt;
        sitting.safe = *safe;
    }
    std::optional<RecordCheck> best;
    for (int times = 0; times < (settings_.update ? most_times : 1); ++times) {
        const LoadReading before = settings_.load.read();
        const auto outcome = evaluator.evaluate(job.winner, 0, stop);
        if (!outcome) return std::nullopt;
        sitting.winner = *outcome;
        if (!also_safe) sitting.safe = *outcome;
        sitting.now.busy = SystemLoad::busy_beside(device_, before, settings_.load.read());
        RecordCheck check = judged(job.record, *outcome, sitting.now, settings_.tolerance);
        if (outcome->status == Status::wrong) {
            check.wrong = WrongResult{job.record.problem, job.winner.config, job.source_hash, outcome->reason + "; found by 'hone verify'"};
            check.remedy = "tune again: look-ups pass over this record from now on";
        }
        if (settings_.update) refresh(check, sitting);
        const bool decided = check.update || !outcome->measured() || !settings_.update;
        if (!best || check.update || !outcome->measured() || (!best->update && check.step->high < best->step->high)) best = std::move(check);
        if (decided) break;
    }
    return best;
}

void RecordVerifier::tell(RecordCheck check) {
    show("measured", checks_.size() + 1, records_, short_key(check.record.problem, known_families()));
    if (done_) done_(check);
    checks_.push_back(std::move(check));
}

std::vector<std::pair<RecordVerifier::Job, std::string>> RecordVerifier::measure(const std::vector<Job>& jobs, std::size_t lanes, bool energy) {
    std::vector<std::pair<Job, std::string>> not_set_up;
    std::vector<std::unique_ptr<WorkerEvaluator>> evaluators;
    const auto begin = [&](std::size_t i) {
        if (i >= jobs.size()) return;
        try {
            evaluators[i % lanes]->begin(jobs[i].record.problem, data_seed, most_step_seconds);
        } catch (const Error&) {  // said again by what is measured next in this lane
        }
    };
    lanes = std::max<std::size_t>(1, std::min(lanes, jobs.size()));
    for (std::size_t lane = 0; lane < lanes; ++lane) {
        evaluators.push_back(std::make_unique<WorkerEvaluator>(worker(lanes, energy)));
        begin(lane);
    }
    for (std::size_t i = 0; i < jobs.size() && !stopped(); ++i) {
        WorkerEvaluator& evaluator = *evaluators[i % lanes];
        try {
            auto check = measured_again(evaluator, jobs[i]);
            if (!check) break;
            tell(std::move(*check));
        } catch (const Error& error) {
            not_set_up.emplace_back(jobs[i], error.what());
        }
        evaluator.abandon();
        begin(i + lanes);
    }
    return not_set_up;
}

std::vector<RecordCheck> RecordVerifier::run(const std::vector<Record>& records, const std::function<void(const RecordCheck&)>& done) {
    records_ = records.size();
    done_ = done;
    checks_.clear();
    std::vector<Job> ordinary;
    std::vector<Job> metered;  // alone on the machine: the idle device is metered, too
    for (const Record& record : records) {
        RecordCheck check{record};
        if (auto job = job_of(record, check))
            (settings_.update && record.energy ? metered : ordinary).push_back(std::move(*job));
        else
            tell(std::move(check));
    }
    if (settings_.update && !stopped()) measure_ceilings();
    std::vector<Job> all = ordinary;
    all.insert(all.end(), metered.begin(), metered.end());
    if (!stopped()) compile(all);
    const std::size_t lanes = settings_.lanes > 0 ? settings_.lanes : lanes_for(device_);
    auto left = measure(ordinary, lanes, false);
    // Side by side they may have lacked memory.
    std::vector<Job> again;
    if (lanes > 1 && !stopped())
        for (auto& [job, reason] : std::exchange(left, {})) again.push_back(std::move(job));
    for (auto& later : {measure(again, 1, false), measure(metered, 1, true)}) left.insert(left.end(), later.begin(), later.end());
    for (auto& [job, reason] : left) {
        RecordCheck check{job.record};
        check.found = reason;
        tell(std::move(check));
    }
    if (records_ > few && console_.error_is_terminal) console_.redraw("");
    return std::move(checks_);
}

}  // namespace hone::tools
