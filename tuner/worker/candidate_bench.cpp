#include "tuner/worker/candidate_bench.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

#include "generator/error.hpp"
#include "generator/random_words.hpp"
#include "runtime/library.hpp"
#include "runtime/uploader.hpp"
#include "tuner/worker/memory_need.hpp"

namespace hone::inline v0_1 {
namespace {

using Clock = std::chrono::steady_clock;

// Samples of a period that tells what is hopeless, and no more: as few as `judge` is content with.
constexpr int few = 3;
// Of each guard. A few rows: a kernel that goes wrong by one of them is found.
constexpr std::int64_t guard_bytes = std::int64_t{16} << 10;

// Where the words of an array begin in its memory, behind the guard: large arrays a large page
// further, at the place in it that an application's would have (allocate_host_memory), and small
// ones as their own allocation would place them in a page.
std::int64_t lead_bytes(std::int64_t bytes) {
    constexpr std::int64_t large_page = std::int64_t{2} << 20;
    return bytes >= 2 * large_page ? large_page : guard_bytes;
}

void* moved(void* pointer, std::int64_t bytes) {
    return static_cast<char*>(pointer) + bytes;
}

double seconds_since(Clock::time_point begin) {
    return std::chrono::duration<double>(Clock::now() - begin).count();
}

DeviceArray uploaded(Backend& backend, Uploader& uploader, const HostArray& array) {
    DeviceArray copy(backend, array.bytes());
    uploader.upload(copy.data(), array.data(), array.bytes());
    return copy;
}

// Both guards of an array: numbers, because a kernel that reads NaN past an end may write what it
// read; of each array others, because it may copy.
HostArray guards_of(std::size_t array, Precision precision) {
    HostArray guards(precision, 2 * guard_bytes / bytes_per_word(precision));
    for (std::int64_t i = 0; i < guards.words(); ++i) guards.set_word(i, random_word(mixed(array), i));
    return guards;
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

Outcome& overwrote(Outcome& outcome, const std::string& found) {
    return wrong(outcome, std::numeric_limits<double>::infinity(), found);
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
    : backend_(backend), family_(family), problem_(problem), instruments_(std::move(instruments)) {
    const std::vector<ArraySpec> specs = family.arrays(problem);
    require_memory(problem, bench_memory(specs, problem.precision(), backend.device().limits.target), memory_for(backend.device()));
    const auto begin = Clock::now();
    workload_ = family.workload(problem, seed);
    reference_seconds_ = seconds_since(begin);
    tolerance_ = workload_->tolerance;
    tolerances_ = workload_->tolerances;
}

void CandidateBench::place() {
    if (!workload_) return;
    if (small_) small_->place();
    const std::vector<ArraySpec> specs = family_.arrays(problem_);
    std::vector<Array> arrays(specs.size());
    Uploader uploader(backend_);
    for (std::size_t i = 0; i < specs.size(); ++i) {
        Array& array = arrays[i];
        array.name = specs[i].name;
        array.access = specs[i].access;
        array.values = value_count(specs[i], problem_.precision());
        array.type = value_type_of(specs[i], problem_.precision());
        array.bytes = workload_->arrays[i].bytes();
        array.memory = DeviceArray(backend_, lead_bytes(array.bytes) + array.bytes + guard_bytes);
        array.working = moved(array.memory.data(), lead_bytes(array.bytes));
        if (specs[i].access != Access::out) array.pristine = uploaded(backend_, uploader, workload_->arrays[i]);
        if (workload_->expected[i].words() != 0) array.expected = uploaded(backend_, uploader, workload_->expected[i]);
        array.guards = uploaded(backend_, uploader, guards_of(i, problem_.precision()));
    }
    backend_.synchronise();
    arrays_ = std::move(arrays);
    for (const Array& array : arrays_) pointers_.push_back(array.working);
    workload_.reset();
}

void CandidateBench::restore(bool inputs) {
    for (const Array& array : arrays_) {
        if (array.pristine.data() == nullptr)
            backend_.fill(array.working, poison_byte(array.type), array.bytes);
        else if (inputs || array.access != Access::in)
            backend_.copy(array.working, array.pristine.data(), array.bytes);
        backend_.copy(moved(array.working, -guard_bytes), array.guards.data(), guard_bytes);
        backend_.copy(moved(array.working, array.bytes), moved(array.guards.data(), guard_bytes), guard_bytes);
    }
}

void CandidateBench::restore_changed() {
    for (const Array& array : arrays_)
        if (array.access == Access::inout) backend_.copy(array.working, array.pristine.data(), array.bytes);
}

std::vector<ArrayPair> CandidateBench::guard_comparisons() const {
    const std::int64_t words = guard_bytes / bytes_per_word(problem_.precision());
    const ValueType type = value_type_of(problem_.precision());
    std::vector<ArrayPair> pairs;
    for (const Array& array : arrays_) {
        pairs.push_back({moved(array.working, -guard_bytes), array.guards.data(), words, type});
        pairs.push_back({moved(array.working, array.bytes), moved(array.guards.data(), guard_bytes), words, type});
    }
    return pairs;
}

std::string CandidateBench::overwritten(std::span<const double> guard_differences) const {
    for (std::size_t i = 0; i < arrays_.size(); ++i) {
        if (guard_differences[2 * i] > 0) return "it wrote before the beginning of array " + arrays_[i].name;
        if (guard_differences[2 * i + 1] > 0) return "it wrote past the end of array " + arrays_[i].name;
    }
    return {};
}

CandidateBench::FirstStep CandidateBench::first_step(const BoundKernel& kernel) {
    kernel.launch();
    backend_.synchronise();
    std::vector<ArrayPair> pairs = guard_comparisons();
    const std::size_t guards = pairs.size();
    for (const Array& array : arrays_)
        pairs.push_back({array.working, array.expected.data() != nullptr ? array.expected.data() : array.pristine.data(), array.values, array.type});
    const std::vector<double> differences = backend_.largest_differences(pairs);
    FirstStep step;
    step.overwritten = overwritten(std::span(differences).first(guards));
    if (!step.overwritten.empty()) return step;
    for (std::size_t i = 0; i < arrays_.size(); ++i) {
        const double found = weighed(differences[guards + i], tolerance_, tolerances_, i);
        if (found <= step.error) continue;
        step.error = found;
        step.where = arrays_[i].name;
    }
    return step;
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

void CandidateBench::verify_first_on(std::unique_ptr<CandidateBench> small) {
    small_ = std::move(small);
    if (small_) small_space_ = family_.space(small_->problem_, backend_.device().limits);
}

std::shared_ptr<const Kernel> CandidateBench::loaded(const Config& config) const {
    Match match;
    match.config = config;
    return std::make_shared<const Kernel>(backend_, family_, problem_, match, backend_.device().limits);
}

bool CandidateBench::verified(BoundKernel& kernel, bool intact, Outcome& outcome) {
    const auto begin = Clock::now();
    FirstStep step = first_step(kernel);
    const bool good = step.overwritten.empty() && step.error <= tolerance_;
    if (intact && !good) {  // a later step of a candidate before may have changed an input
        restore(true);
        kernel.prepare();
        step = first_step(kernel);
    }
    outcome.verify_seconds += seconds_since(begin);
    inputs_intact_ = step.overwritten.empty() && step.error <= tolerance_;
    outcome.verification_error = step.error;
    if (inputs_intact_) return true;
    if (!step.overwritten.empty())
        overwrote(outcome, step.overwritten);
    else
        wrong(outcome, step.error, fmt::format("{} differs from the reference by {:.3g}, allowed are {:.3g}", step.where, step.error, tolerance_));
    return false;
}

bool CandidateBench::verified(const Config& config, Outcome& outcome) {
    const auto kernel = loaded(config);
    const bool intact = std::exchange(inputs_intact_, false);
    restore(!intact);
    BoundKernel bound(kernel, pointers_);
    return verified(bound, intact, outcome);
}

bool CandidateBench::same_on_small(const Config& config, const std::string& text) const {
    return small_ && !small_space_.check(config) && family_.kernel(small_->problem_, config, backend_.device().limits).text == text;
}

Outcome CandidateBench::evaluate(const Config& config, double incumbent, const SamplingRule& rule) {
    Outcome outcome;
    outcome.tolerance = tolerance_;
    place();  // what fails here is no candidate's fault
    try {
        const KernelSource source = family_.kernel(problem_, config, backend_.device().limits);
        const CompileOutcome compiled = backend_.compiler().compile(source);
        if (!compiled.code.from_cache) outcome.compile_seconds = compiled.code.seconds;
        if (!compiled.ok) return failed(outcome, Status::compile_failed, compiled.failure);

        auto begin = Clock::now();
        const bool on_small = (incumbent > 0 || verified_.count(config.key()) != 0) && same_on_small(config, source.text);
        if (on_small && !small_->verified(config, outcome)) return outcome;
        if (const auto whole = verified_.find(config.key()); whole != verified_.end())
            outcome.verification_error = std::max(outcome.verification_error, whole->second);
        const auto kernel = loaded(config);
        const bool intact = std::exchange(inputs_intact_, false);
        if (on_small && intact)
            restore_changed();
        else
            restore(!intact);
        BoundKernel bound(kernel, pointers_);
        if (!on_small && !verified(bound, intact, outcome)) return outcome;
        if (!on_small) verified_[config.key()] = outcome.verification_error;
        outcome.verify_seconds = seconds_since(begin);

        begin = Clock::now();
        if (!on_small) restore_changed();
        inputs_intact_ = true;
        Verdict verdict = Verdict::more;
        std::tie(outcome.samples, verdict) = sample(backend_, bound, incumbent, rule);
        outcome.step = summarise(outcome.samples);
        if (instruments_.state && rule.period > few) outcome.device = instruments_.state();
        if (rule.energy_seconds > 0 && instruments_.power && verdict != Verdict::worse) outcome.energy = metered(bound, outcome.step.median, rule);
        outcome.measure_seconds = seconds_since(begin);
        if (const std::string found = overwritten(backend_.largest_differences(guard_comparisons())); !found.empty()) {
            inputs_intact_ = false;  // nor are the guards
            return overwrote(outcome, found);
        }
        if (!on_small || outcome.step.median >= incumbent) return outcome;
        restore(false);
        bound.prepare();
        if (verified(bound, true, outcome)) verified_[config.key()] = outcome.verification_error;
    } catch (const MachineError&) {
        throw;
    } catch (const std::exception& error) {  // also of a library: out of memory
        return failed(outcome, Status::launch_failed, error.what());
    }
    return outcome;
}

}  // namespace hone::inline v0_1
