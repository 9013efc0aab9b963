#include "tuner/online/session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <random>
#include <utility>

#include "foundation/error.hpp"
#include "foundation/processors.hpp"
#include "runtime/disk_cache.hpp"
#include "tuner/online/early_worker.hpp"
#include "tuner/worker/worker_program.hpp"
#include "tuning_db/database.hpp"
#include "tuning_db/places.hpp"

namespace hone::inline v0_1 {
namespace {

constexpr std::size_t enough_queued = 8;  // timed launches: beyond, the incumbent's steps are not timed
// While candidates are tried, so much work is queued on the device at most: enough for it never to
// wait for the host, and little enough for times to come while they are of use. A GPU's own queue
// holds a thousand launches.
constexpr double most_queued_seconds = 0.002;
constexpr double fewest_steps_ahead = 4;
constexpr double most_steps_ahead = 64;
constexpr int disturbed_sparse_on_gpu = 4;  // an event costs the device a microsecond or two; on the CPU a clock costs nothing

SamplingRule vetting_rule() {
    SamplingRule rule;
    rule.period = 3;  // the worker's times only tell what is hopeless, and its device is the application's
    rule.most_seconds = 0.2;
    return rule;
}

WorkerSettings worker_settings(const Device& device, const OnlineSettings& settings, const std::vector<std::string>& command) {
    const bool cpu = traits_of(device.limits.target).shares_processors;
    WorkerSettings worker;
    worker.device = device;
    worker.cache = settings.cache.empty() ? DiskCache::default_folder() : settings.cache;
    worker.command = command;
    worker.compile_processes = compile_processes(settings, device.limits.target);
    if (!cpu) worker.host_threads = worker_threads();
    worker.sampling = vetting_rule();
    // On the CPU processes are stopped for as long as the budget is used up. On a GPU a candidate
    // that hangs slows the application: not for long.
    worker.compile_timeout = cpu ? 900 : 120;
    worker.grace = cpu ? 60 : 1;
    return worker;
}

double seconds_of_process() {
    static const auto begin = std::chrono::steady_clock::now();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

OnlineSession::OnlineSession(Backend& backend, const Families& families, const std::filesystem::path& folder, const Problem& problem,
                             std::span<void* const> arrays, const OnlineSettings& settings)
    : backend_(backend),
      families_(families),
      problem_(problem),
      arrays_(arrays.begin(), arrays.end()),
      library_(backend, folder.empty() ? known_records(families, {}, settings.warn) : Database::load(folder, families), families, settings.warn),
      warn_(settings.warn) {
    if (!warn_) warn_ = [](const std::string& text) { fmt::print(stderr, "hone: warning: {}\n", text); };
    // While the first kernel is compiled a worker opens its device, the space is listed, and what
    // is to be tried first is compiled, too.
    const Config expected = library_.database().best(problem, backend.device().fingerprint, backend.device().limits).config;
    start(folder, settings, expected);
    first_ = library_.kernel(problem);
    plain_ = std::make_shared<BoundKernel>(first_, arrays);
    started_with_ = first_->match().config.key();
    if (!vetter_) return;
    if (first_->is_reference()) {
        vetter_.reset();
        tell_why_not("nothing can be compiled here");
        return;
    }
    if (first_->match().config == expected) return;
    // What was known best does not compile here.
    vetter_.reset();
    notes_ = std::make_shared<OnlineNotes>();
    start(folder, settings, first_->match().config);
}

OnlineSession::~OnlineSession() {
    try {
        finish();
    } catch (const std::exception& error) {
        warn_(fmt::format("online tuning of {} ended badly: {}", problem_.key(), error.what()));
    }
}

void OnlineSession::start(const std::filesystem::path& folder, const OnlineSettings& settings, const Config& incumbent) {
    if (!settings.enabled) {
        why_not_ = "switched off";
        return;
    }
    const std::vector<std::string> command = settings.worker.empty() ? find_worker_command() : settings.worker;
    if (command.empty()) return tell_why_not("there is no hone program to verify candidates with: install it, or name it in HONE_WORKER");
    VetterSettings vetting{worker_settings(backend_.device(), settings, command), settings.vetting_words, !settings.verify_reduced,
                           std::random_device{}(), settings.early};
    vetter_ = std::make_unique<BackgroundVetter>(backend_, families_, problem_, std::move(vetting));
    OnlineRules rules = settings.rules;
    if (!traits_of(backend_.device().limits.target).shares_processors) rules.disturbed_sparse = disturbed_sparse_on_gpu;
    // Listing a search space takes longer than many steps.
    vetter_->post([&vetter = *vetter_, notes = notes_, folder, rules, strategy = settings.strategy, seed = settings.seed,
                   &family = families_.of(problem_), problem = problem_, device = backend_.device(), incumbent] {
        try {
            open_notes(*notes, own_records(folder), family, problem, device, incumbent, rules, strategy, seed, [&] { return vetter.ending(); });
            if (notes->policy) vetter.want(notes->policy->take_wanted());
        } catch (const std::exception& error) {
            notes->policy.reset();
            notes->why_none = error.what();
        }
        if (!vetter.ending()) notes->opened = true;
    });
}

void OnlineSession::tell_why_not(const std::string& reason) {
    why_not_ = reason;
    warn_(fmt::format("{} runs as it is known and is not tuned online: {}", problem_.key(), reason));
}

OnlinePolicy* OnlineSession::policy() {
    if (finished_ || !notes_->opened.load(std::memory_order_acquire)) return nullptr;
    if (notes_->policy) return &*notes_->policy;
    if (why_not_.empty()) tell_why_not(notes_->why_none);
    return nullptr;
}

void OnlineSession::step(Stream stream) {
    if (!stepping_ && vetter_) vetter_->stepping();
    stepping_ = true;
    OnlinePolicy* const tuning = policy();
    if (tuning == nullptr) {
        plain_->launch(stream);
        if (++untuned_steps_ % static_cast<std::int64_t>(most_steps_ahead) == 0 && why_not_.empty() && !finished_) await_earlier(stream);
        return;
    }
    poll(*tuning, false);
    exchange(*tuning);
    explore(*tuning, stream);
}

/// Waits for what was queued at its last call. An application that may queue all its steps at once
/// has none left when the policy is there.
void OnlineSession::await_earlier(Stream stream) {
    std::unique_ptr<StopWatch> mark = watch();
    mark->start(stream);
    mark->stop(stream);
    if (mark_) {
        mark_->wait();
        watches_.push_back(std::move(mark_));
    }
    mark_ = std::move(mark);
}

/// One step as the policy wants it. A candidate that cannot be bound gives way to what the policy
/// wants then.
void OnlineSession::explore(OnlinePolicy& tuning, Stream stream) {
    while (true) {
        const OnlineStep step = tuning.next(working_ && !paused_, outstanding_.size() < enough_queued);
        BoundKernel* kernel = nullptr;
        try {
            kernel = &bound(tuning, step.index, stream);
        } catch (const Error& error) {
            if (!step.explores) throw;
            tuning.unusable(step.index, error.what());
            tuning.told(step, 0);
            continue;
        }
        ++steps_;
        if (!step.timed) return kernel->launch(stream);
        Timed timed{step, watch(), ++launched_, steps_};
        timed.watch->start(stream);
        kernel->launch(stream);
        timed.watch->stop(stream);
        outstanding_.push_back(std::move(timed));
        return;
    }
}

BoundKernel& OnlineSession::bound(OnlinePolicy& tuning, std::int64_t index, Stream stream) {
    Loaded& loaded = loaded_[index];
    if (loaded.bound) return *loaded.bound;
    if (!loaded.kernel) {
        const bool is_first = index == tuning.progress().first;
        loaded.kernel = is_first ? first_ : library_.kernel(problem_, notes_->space.at(index));
        if (is_first && plain_) {
            loaded.bound = std::exchange(plain_, nullptr);
            return *loaded.bound;
        }
    }
    if (!loaded.kernel->needs_binding()) {
        loaded.bound = std::make_shared<BoundKernel>(loaded.kernel, arrays_, stream);
        return *loaded.bound;
    }
    Timed timed{std::nullopt, watch(), ++launched_, steps_};
    timed.watch->start(stream);
    loaded.bound = std::make_shared<BoundKernel>(loaded.kernel, arrays_, stream);
    timed.watch->stop(stream);
    outstanding_.push_back(std::move(timed));
    return *loaded.bound;
}

std::unique_ptr<StopWatch> OnlineSession::watch() {
    if (watches_.empty()) return backend_.make_stop_watch();
    auto last = std::move(watches_.back());
    watches_.pop_back();
    return last;
}

/// Tells the policy the times that are there; all of them when waiting for them.
void OnlineSession::poll(OnlinePolicy& tuning, bool all) {
    while (!outstanding_.empty()) {
        Timed& oldest = outstanding_.front();
        const bool wait = all || is_far_ahead(tuning);
        const std::optional<double> seconds = wait ? oldest.watch->wait() : oldest.watch->seconds();
        if (!seconds) return;
        if (oldest.step)
            tuning.told(*oldest.step, *seconds);
        else
            tuning.stalled(*seconds);
        over_ = oldest.number;
        watches_.push_back(std::move(oldest.watch));
        outstanding_.pop_front();
    }
}

bool OnlineSession::is_far_ahead(const OnlinePolicy& tuning) const {
    if (tuning.settled()) return false;
    const double pace = tuning.pace();  // 0: not known yet
    const double ahead = pace > 0 ? std::clamp(most_queued_seconds / pace, fewest_steps_ahead, most_steps_ahead) : most_steps_ahead;
    return static_cast<double>(steps_ - outstanding_.front().at) >= ahead;
}

/// What the background found out goes to the policy, what the policy wants to the background.
void OnlineSession::exchange(OnlinePolicy& tuning) {
    bool changed = false;
    if (kept_ < 0) kept_ = tuning.incumbent();
    while (auto vetted = vetter_->take()) {
        const std::int64_t index = vetted->candidate.index;
        if (vetted->kernel && tuning.wants(index) && !loaded_[index].kernel) loaded_[index].kernel = std::move(vetted->kernel);
        tuning.vetted(index, vetted->outcome);
        if (vetted->outcome.status == Status::wrong) mark(index, vetted->outcome);
        if (vetted->outcome.verified_on) tell_why_reduced();
        changed = true;
    }
    supervise(tuning);
    vetter_->want(tuning.take_wanted());
    const auto events = tuning.take_events();
    if (!events.empty()) {
        vetter_->post([notes = notes_, events, elapsed = seconds_of_process()] {
            try {
                append(*notes, events, elapsed);
            } catch (const std::exception& error) {
                notes->fail(error.what());
            }
        });
        vetter_->drop([&](std::int64_t index) { return tuning.wants(index); });
        changed = true;
    }
    if (changed) retire_unwanted(tuning);
    bury();
    const bool settled = std::any_of(events.begin(), events.end(), [](const OnlineEvent& e) { return e.kind == OnlineEvent::Kind::done; });
    if (settled || kept_ != tuning.incumbent()) keep(tuning);
}

/// Jobs in the background begin, stand still and go on as the policy says.
void OnlineSession::supervise(OnlinePolicy& tuning) {
    const bool working = vetter_->working();
    if (working_ && !working) tuning.work_done();
    working_ = working;
    if (working_) {
        const bool pause = tuning.must_pause();
        if (pause != paused_) vetter_->pause(pause);
        paused_ = pause;
        return;
    }
    if (paused_) vetter_->pause(false);
    paused_ = false;
    if (vetter_->job_waits() && tuning.may_work()) {
        vetter_->permit();
        working_ = true;
    }
    constexpr std::int64_t seldom = 256;
    if (const std::string broken = steps_ % seldom == 0 && why_not_.empty() ? vetter_->broken() : std::string(); !broken.empty())
        tell_why_not(broken);
}

/// The incumbent's record goes into the database, unless it came from there, or is what runs
/// without tuning and was compared with nothing.
void OnlineSession::keep(OnlinePolicy& tuning) {
    const std::int64_t index = tuning.incumbent();
    const auto standing = tuning.standing();
    const bool known = index == tuning.progress().first && (first_->match().grade == Grade::exact || !tuning.compared());
    if (known || !standing) return;
    kept_ = index;
    vetter_->post([notes = notes_, &families = families_, problem = problem_, device = backend_.device(), config = notes_->space.at(index),
                   outcome = *standing, safe = tuning.safe_seconds(), evaluations = tuning.progress().evaluations] {
        try {
            keep_record(*notes, families, problem, device, config, outcome, safe, evaluations);
        } catch (const std::exception& error) {
            notes->fail(error.what());
        }
    });
}

/// What was found wrong is handed out no more, wherever its record came from. Most candidates that
/// are wrong have none.
void OnlineSession::mark(std::int64_t index, const Outcome& outcome) {
    const std::vector<Record>& records = library_.database().records();
    const bool handed_out = index == notes_->policy->progress().first;
    if (!handed_out &&
        std::none_of(records.begin(), records.end(), [&](const Record& record) { return record.problem.class_key() == problem_.class_key(); }))
        return;
    vetter_->post([notes = notes_, &families = families_, problem = problem_, device = backend_.device(), config = notes_->space.at(index),
                   reason = outcome.reason] {
        try {
            mark_found_wrong(*notes, families, problem, device, config, reason);
        } catch (const std::exception& error) {
            notes->fail(error.what());
        }
    });
}

/// Once, where the whole problem was to be verified, too.
void OnlineSession::tell_why_reduced() {
    const std::string reason = vetter_->why_reduced();
    if (reason.empty() || std::exchange(told_why_reduced_, true)) return;
    warn_(fmt::format("candidates of {} are verified on smaller arrays only, and their records say so: {}", problem_.key(), reason));
}

void OnlineSession::retire_unwanted(OnlinePolicy& tuning) {
    for (auto loaded = loaded_.begin(); loaded != loaded_.end();) {
        if (tuning.wants(loaded->first)) {
            ++loaded;
            continue;
        }
        retired_.push_back({std::move(loaded->second), launched_ + 1});
        loaded = loaded_.erase(loaded);
    }
}

/// Memory and code are given back once nothing that uses them can be queued any more, in the
/// background, because that may wait for the device.
void OnlineSession::bury() {
    std::vector<Loaded> dead;
    std::erase_if(retired_, [&](Retired& retired) {
        if (over_ < retired.number) return false;
        dead.push_back(std::move(retired.loaded));
        return true;
    });
    if (!dead.empty()) vetter_->post([dead = std::make_shared<std::vector<Loaded>>(std::move(dead))] { dead->clear(); });
}

void OnlineSession::prepare(Stream stream) {
    if (plain_) plain_->prepare(stream);  // no step has run it under a policy yet
    OnlinePolicy* const tuning = policy();
    if (tuning == nullptr) return;
    for (auto& [index, loaded] : loaded_) {
        if (!loaded.bound) continue;
        if (index == tuning->incumbent())
            loaded.bound->prepare(stream);
        else
            retired_.push_back({{nullptr, std::exchange(loaded.bound, nullptr)}, launched_ + 1});
    }
}

void OnlineSession::set_arrays(std::span<void* const> arrays, Stream stream) {
    arrays_.assign(arrays.begin(), arrays.end());
    for (auto& [index, loaded] : loaded_)
        if (loaded.bound) retired_.push_back({{nullptr, std::exchange(loaded.bound, nullptr)}, launched_ + 1});
    if (!plain_) return;
    backend_.synchronise(stream);
    plain_ = std::make_shared<BoundKernel>(first_, arrays_, stream);
}

void OnlineSession::finish() {
    // First, so that nothing new begins; what is posted below is done by this thread.
    if (vetter_) vetter_->end();
    OnlinePolicy* const tuning = policy();
    if (tuning != nullptr) {
        poll(*tuning, true);
        exchange(*tuning);
        if (tuning->progress().evaluations > 0) keep(*tuning);
        bound(*tuning, tuning->incumbent(), {});
        plain_ = loaded_[tuning->incumbent()].bound;
        first_ = loaded_[tuning->incumbent()].kernel;
    }
    finished_ = true;
    compiled_after_ = report().compiled_after;
    vetted_after_ = report().vetted_after;
    vetter_.reset();
    // The device is done with all but the incumbent's steps.
    loaded_.clear();
    retired_.clear();
}

OnlineReport OnlineSession::report() const {
    OnlineReport report;
    report.problem = problem_.key();
    report.device = backend_.device().fingerprint.name;
    report.first_config = report.config = started_with_;
    report.state = finished_ ? "finished" : "starting";
    if (notes_->opened.load(std::memory_order_acquire) && notes_->policy) {
        report.progress = notes_->policy->progress();
        report.config = notes_->space.at(report.progress.incumbent).key();
        if (const auto standing = notes_->policy->standing()) report.verified_on = standing->verified_on.value_or("");
        report.state = report.progress.settled ? "settled" : report.progress.finals ? "comparing the finalists" : "trying candidates";
    }
    report.progress.steps += untuned_steps_;
    report.compiled_after = vetter_ ? vetter_->compiled_after() : compiled_after_;
    report.vetted_after = vetter_ ? vetter_->vetted_after() : vetted_after_;
    if (!why_not_.empty()) report.state = "not tuned: " + why_not_;
    return report;
}

}  // namespace hone::inline v0_1
