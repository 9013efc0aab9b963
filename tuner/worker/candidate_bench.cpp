#include "tuner/worker/candidate_bench.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

#include "foundation/error.hpp"
#include "foundation/random_words.hpp"
#include "runtime/code_digest.hpp"
#include "runtime/library.hpp"

namespace hone::inline v0_1 {
namespace {

using Clock = std::chrono::steady_clock;

// Samples of a period that tells what is hopeless, and no more: as few as `judge` is content with.
constexpr int few = 3;

// Of a finalist: many calls, and many steps that are compared.
constexpr double later_seconds = 0.3, repeated_seconds = 0.15;

const char* const far_away = "it wrote far outside of its arrays, into what they are compared with";

double seconds_since(Clock::time_point begin) {
    return std::chrono::duration<double>(Clock::now() - begin).count();
}

Outcome& failed(Outcome& outcome, Status status, std::string reason) {
    outcome.status = status;
    outcome.reason = std::move(reason);
    return outcome;
}

// What was measured of it does not count.
Outcome& wrong(Outcome& outcome, double error, const std::string& found) {
    outcome.verification_error = error;
    outcome.samples.clear();
    outcome.step = {};
    outcome.energy.reset();
    return failed(outcome, Status::wrong, found);
}

// Sizes stand in the text of a kernel folder's function that is called with numbers.
std::string without_numbers(std::string text) {
    std::erase_if(text, [](char c) { return (c >= '0' && c <= '9') || c == '.'; });
    return text;
}

// Whether it is right; a largest difference is that of the first step.
bool accepted(Outcome& outcome, const StepVerdict& verdict) {
    if (!verdict.right()) wrong(outcome, verdict.error, verdict.wrong);
    return verdict.right();
}

StepVerdict overwrote(std::string found) {
    return {std::move(found), std::numeric_limits<double>::infinity(), false};
}

// The times of few steps, which are all queued before the first is waited for: where an application
// keeps the device busy beside, every wait is for its turn, and costs the application one.
std::vector<double> few_samples(Backend& backend, const BoundKernel& kernel, int count) {
    kernel.launch();  // it finds caches and clocks in another state than those that follow
    std::vector<std::unique_ptr<StopWatch>> watches(static_cast<std::size_t>(count));
    for (auto& watch : watches) {
        watch = backend.make_stop_watch();
        watch->start({});
        kernel.launch();
        watch->stop({});
    }
    std::vector<double> seconds;
    seconds.reserve(watches.size());
    for (const auto& watch : watches) seconds.push_back(watch->wait());
    return seconds;
}

/// A sampling period of time steps, and how it ended.
std::pair<std::vector<double>, Verdict> sample(Backend& backend, const BoundKernel& kernel, double incumbent, const SamplingRule& rule) {
    if (rule.period <= few) return {few_samples(backend, kernel, few), Verdict::complete};
    const auto step_seconds = [&](int steps) {
        const auto work = [&] {
            for (int i = 0; i < steps; ++i) kernel.launch();
        };
        return backend.seconds({}, work) / steps;
    };
    // The first step after a copy finds caches and clocks in another state than those that follow.
    int steps = steps_per_sample(step_seconds(1), rule);
    if (steps > 1) steps = steps_per_sample(step_seconds(steps), rule);
    std::vector<double> seconds;
    double elapsed = 0;
    Verdict verdict = Verdict::more;
    while (verdict == Verdict::more) {
        seconds.push_back(step_seconds(steps));
        elapsed += seconds.back() * steps;
        verdict = judge(std::span(seconds).subspan(static_cast<std::size_t>(warm_up_length(seconds))), incumbent, elapsed, rule);
    }
    seconds.erase(seconds.begin(), seconds.begin() + warm_up_length(seconds));
    return {std::move(seconds), verdict};
}

}  // namespace

CandidateBench::CandidateBench(Backend& backend, const Family& family, const Problem& problem, std::uint64_t seed, Instruments instruments)
    : backend_(backend),
      family_(family),
      problem_(problem),
      seed_(seed),
      instruments_(std::move(instruments)),
      whole_(backend, family, problem, seed) {
}

void CandidateBench::place() {
    if (small_) small_->place();
    whole_.place();
}

bool CandidateBench::intact() {
    return whole_.intact() && (!small_ || small_->intact()) &&
           std::all_of(others_.begin(), others_.end(), [](const Other& other) { return !other.verifier || other.verifier->intact(); });
}

std::optional<Energy> CandidateBench::metered(const BoundKernel& kernel, double step_seconds, const SamplingRule& rule) {
    // Long enough that the gaps between batches do not count, short enough to end in time.
    constexpr double batch_seconds = 0.02;
    constexpr double most_steps = 1e5;
    const int batch = static_cast<int>(std::clamp(std::ceil(batch_seconds / step_seconds), 1.0, most_steps));
    PowerMeter meter(*instruments_.power);
    const double most_seconds = instruments_.power->lag + SamplingRule::longest_metering * rule.energy_seconds;
    const auto begin = Clock::now();
    int steps = 0;
    do {
        for (int i = 0; i < batch; ++i) kernel.launch();
        backend_.synchronise();
        steps += batch;
    } while (meter.seconds() < rule.energy_seconds && seconds_since(begin) < most_seconds);
    const double mean_step = seconds_since(begin) / steps;
    const auto power = meter.stop();
    if (!power) return std::nullopt;
    Energy energy;
    std::vector<double> joules;
    for (const double watts : power->windows) joules.push_back(watts * mean_step);
    energy.joules = summarise(joules);
    energy.watts = power->watts;
    energy.idle_watts = instruments_.idle_watts;
    energy.source = instruments_.power->name;
    energy.samples_per_second = power->samples_per_second;
    energy.resolution_seconds = power->resolution_seconds;
    energy.resolution_watts = power->resolution_watts;
    return energy;
}

void CandidateBench::verify_first_on(std::unique_ptr<Verifier> small) {
    small_ = std::move(small);
    if (small_) small_space_ = family_.space(small_->problem(), backend_.device().limits);
}

void CandidateBench::verify_finalists_on(const std::vector<Problem>& problems) {
    others_.clear();
    for (const Problem& problem : problems) others_.push_back({problem, std::nullopt, nullptr});
}

std::shared_ptr<const Kernel> CandidateBench::loaded(const Problem& problem, const Config& config) const {
    Match match;
    match.config = config;
    return std::make_shared<const Kernel>(backend_, family_, problem, match, backend_.device().limits);
}

bool CandidateBench::verified(Verifier& verifier, BoundKernel& kernel, Outcome& outcome) {
    const auto begin = Clock::now();
    const StepVerdict verdict = verifier.first_step(kernel);
    outcome.verify_seconds += seconds_since(begin);
    outcome.verification_error = verdict.error;
    return accepted(outcome, verdict);
}

bool CandidateBench::verified_on_small(const Config& config, Outcome& outcome) {
    const auto kernel = loaded(small_->problem(), config);
    small_->begin();
    BoundKernel bound(kernel, small_->pointers());
    return verified(*small_, bound, outcome);
}

bool CandidateBench::same_source(const Problem& problem, const SearchSpace& space, const Request& request) const {
    return !space.check(request.config) && family_.kernel(problem, request.config, backend_.device().limits).text == request.text;
}

/// A finalist on another problem, whose data are made for the first one; null where it cannot run
/// there.
std::shared_ptr<const Kernel> CandidateBench::loaded_on(Other& other, const Request& request) try {
    const Limits& limits = backend_.device().limits;
    if (!other.space) other.space = family_.space(other.problem, limits);
    if (other.space->check(request.config)) return nullptr;
    if (without_numbers(family_.kernel(other.problem, request.config, limits).text) != without_numbers(request.text)) return nullptr;
    auto kernel = loaded(other.problem, request.config);
    if (other.verifier) return kernel;
    auto verifier = std::make_unique<Verifier>(backend_, family_, other.problem, mixed(seed_));
    verifier->place();
    verifier->add_other_data(seed_);
    other.verifier = std::move(verifier);
    return kernel;
} catch (const MachineError&) {
    throw;
} catch (const Error&) {  // constraints rule the size out, it does not compile, or answers that lie in files are of one size
    return nullptr;
}

StepVerdict CandidateBench::verdict_on(Other& other, const Request& request) {
    const auto kernel = loaded_on(other, request);
    if (!kernel) return {};
    StepVerdict verdict = other.verifier->repeated(kernel, std::min(repeated_seconds, request.rule.most_seconds));
    if (!verdict.right())
        verdict.wrong = fmt::format("at {}: {} (a kernel for some sizes alone says so in a constraint)", other.problem.key(), verdict.wrong);
    return verdict;
}

StepVerdict CandidateBench::finalist_verdict(const Request& request) {
    if (finalists_.count(request.config.key()) != 0) return {};
    StepVerdict verdict = whole_.repeated(loaded(problem_, request.config), std::min(repeated_seconds, request.rule.most_seconds));
    for (Other& other : others_)
        if (verdict.right()) verdict = verdict_on(other, request);
    if (verdict.right() && !intact()) verdict = overwrote(far_away);
    if (verdict.right()) finalists_.insert(request.config.key());
    return verdict;
}

void CandidateBench::time(const Request& request, const BoundKernel& kernel, Outcome& outcome) {
    const auto begin = Clock::now();
    const SamplingRule& rule = request.rule;
    Verdict verdict = Verdict::more;
    std::tie(outcome.samples, verdict) = sample(backend_, kernel, request.incumbent, rule);
    outcome.step = summarise(outcome.samples);
    if (instruments_.state && rule.period > few) outcome.device = instruments_.state();
    if (rule.energy_seconds > 0 && instruments_.power && verdict != Verdict::worse) outcome.energy = metered(kernel, outcome.step.median, rule);
    outcome.measure_seconds = seconds_since(begin);
}

bool CandidateBench::sound_after(const Request& request, BoundKernel& kernel, Outcome& outcome) {
    if (std::string found = whole_.overwritten(); !found.empty()) return accepted(outcome, overwrote(std::move(found)));
    if (request.finalist) {
        whole_.add_other_data(mixed(seed_));
        const bool known = finalists_.count(request.config.key()) != 0;
        const std::int64_t calls = known ? Verifier::many_calls : std::ssize(outcome.samples);
        if (!accepted(outcome, whole_.later_step(kernel, calls, std::min(later_seconds, request.rule.most_seconds)))) return false;
    }
    return intact() || accepted(outcome, overwrote(far_away));
}

void CandidateBench::verify_and_time(const Request& request, Outcome& outcome) {
    auto begin = Clock::now();
    const std::string key = request.config.key();
    const bool known = request.incumbent > 0 || verified_.count(key) != 0;
    const bool on_small = known && small_ && same_source(small_->problem(), small_space_, request);
    if (on_small && !verified_on_small(request.config, outcome)) return;
    if (const auto whole = verified_.find(key); whole != verified_.end())
        outcome.verification_error = std::max(outcome.verification_error, whole->second);
    {  // a finalist is loaded anew, with static variables as they begin
        const auto kernel = loaded(problem_, request.config);
        on_small ? whole_.begin_timed() : whole_.begin();
        BoundKernel bound(kernel, whole_.pointers());
        if (!on_small) {
            if (!verified(whole_, bound, outcome)) return;
            verified_[key] = outcome.verification_error;
            whole_.begin_timed();
        }
        outcome.verify_seconds = seconds_since(begin);
        time(request, bound, outcome);
        begin = Clock::now();
        if (!sound_after(request, bound, outcome)) return;
        if (on_small && outcome.step.median < request.incumbent) {
            whole_.begin();
            bound.prepare();
            if (!verified(whole_, bound, outcome)) return;
            verified_[key] = outcome.verification_error;
        }
    }
    if (!request.finalist) return;
    accepted(outcome, finalist_verdict(request));
    outcome.verify_seconds += seconds_since(begin);
}

Outcome CandidateBench::evaluate(const Config& config, double incumbent, const SamplingRule& rule, bool finalist) {
    Outcome outcome;
    outcome.tolerance = whole_.tolerance();
    place();  // what fails here is no candidate's fault
    try {
        const KernelSource source = family_.kernel(problem_, config, backend_.device().limits);
        const CompileOutcome compiled = backend_.compiler().compile(source);
        if (!compiled.code.from_cache) outcome.compile_seconds = compiled.code.seconds;
        if (!compiled.ok) return failed(outcome, Status::compile_failed, compiled.failure);
        outcome.code = code_digest(source, compiled.code.binary);
        verify_and_time({config, source.text, incumbent, rule, finalist}, outcome);
    } catch (const MachineError&) {
        throw;
    } catch (const std::exception& error) {  // also of a library: out of memory
        return failed(outcome, Status::launch_failed, error.what());
    }
    return outcome;
}

}  // namespace hone::inline v0_1
