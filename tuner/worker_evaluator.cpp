#include "tuner/worker_evaluator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "generator/error.hpp"
#include "runtime/processors.hpp"
#include "tuner/messages.hpp"
#include "tuning_db/json.hpp"
#include "tuning_db/json_tree.hpp"

namespace hone {
namespace {

constexpr double tick = 0.05;  // seconds between two questions whether to stop
constexpr double most_operations_per_second = 1e20;
const std::string source_of_answers = "answer of a worker";

int processes_for(const WorkerSettings& settings) {
    if (settings.compile_processes > 0) return settings.compile_processes;
    const int usable = processors().usable;
    return settings.device.limits.target == Target::cpu ? usable : std::max(1, usable - 1);
}

CompilePoolSettings pool_settings(const WorkerSettings& settings, const RunFolder& temporary) {
    return {.command = settings.command,
            .architecture = settings.device.fingerprint.architecture,
            .limits = settings.device.limits,
            .cache = settings.cache,
            .processes = processes_for(settings),
            .timeout = settings.compile_timeout,
            .environment = temporary.environment()};
}

double seconds_since(std::chrono::steady_clock::time_point begin) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// Adds the seconds of its life to a sum, however it ends.
class Adding {
  public:
    explicit Adding(double& sum) : sum_(sum) {}
    ~Adding() { sum_ += seconds_since(begin_); }
    Adding(const Adding&) = delete;
    Adding& operator=(const Adding&) = delete;

  private:
    double& sum_;
    std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace

WorkerEvaluator::WorkerEvaluator(WorkerSettings settings) : settings_(std::move(settings)), pool_(pool_settings(settings_, temporary_)) {
}

WorkerEvaluator::~WorkerEvaluator() = default;

void WorkerEvaluator::start_compilers() {
    constexpr int part = 4;
    pool_.start(on_cpu() && !measured_one_ ? std::max(1, processes_for(settings_) / part) : processes_for(settings_));
}

void WorkerEvaluator::start_worker() {
    if (worker_) return;
    worker_ = std::make_unique<ChildProcess>(settings_.command, temporary_.environment());
    const std::string device = fmt::format("{}:{}", to_string(settings_.device.limits.target), settings_.device.index);
    // On the CPU a worker measures what this process would run: on the same processors, with as many threads.
    std::string team;
    if (on_cpu())
        team = fmt::format(R"(, "processors": {}, "threads": {})", json_string(processor_list(processors().numbers)),
                           settings_.device.limits.multiprocessors);
    else if (settings_.host_threads > 0)
        team = fmt::format(R"(, "threads": {})", settings_.host_threads);
    worker_->send(fmt::format(R"({{"do": "open", "device": {}, "cache": {}{}}})", json_string(device), json_string(settings_.cache.string()), team));
    setup_answers_due_ = 1;
}

/// Sends what a worker must know before it can evaluate; its answers are awaited later, so that candidates compile meanwhile.
void WorkerEvaluator::set_up() {
    start_worker();
    worker_->send(fmt::format(R"({{"do": "problem", "problem": {}, "seed": "{}", "energy_seconds": {}}})", json_string(problem_), seed_,
                              json_number(energy_seconds(true))));
    ++setup_answers_due_;
    placed_ = false;
}

void WorkerEvaluator::begin(const Problem& problem, std::uint64_t seed, double most_seconds) {
    sampling_ = sampling_for(objective_, settings_.sampling);
    sampling_.most_seconds = std::min(sampling_.most_seconds, most_seconds);
    problem_ = problem.key();
    seed_ = seed;
    safe_step_ = 0;
    safe_verify_ = 0;
    measured_one_ = false;
    pool_.set_problem(problem_);
    set_up();
}

void WorkerEvaluator::prepare(const Candidate& candidate) {
    pool_.add(candidate.config);
    if (!on_cpu()) start_compilers();
}

void WorkerEvaluator::abandon() {
    pool_.cancel(true);  // on the CPU the finals would wait for a compiler that hangs
}

bool WorkerEvaluator::compiled(const Candidate& candidate) {
    pool_.add(candidate.config);
    pool_.collect();
    start_compilers();
    return pool_.result(candidate.config).has_value();
}

WorkerEvaluator::Wait WorkerEvaluator::wait_for_answer(double timeout, bool compile, const std::function<bool()>& stop, std::string& answer) {
    const auto begin = Clock::now();
    while (true) {
        if (auto line = worker_->take_line()) {
            answer = std::move(*line);
            return Wait::answered;
        }
        if (worker_->closed()) return Wait::closed;
        if (seconds_since(begin) > timeout) return Wait::timed_out;
        if (stop && stop()) return Wait::stopped;
        if (compile) start_compilers();
        auto children = pool_.children();
        children.push_back(worker_.get());
        ChildProcess::wait(children, tick);
        pool_.collect();
    }
}

/// Requires success of what is no candidate's fault.
void WorkerEvaluator::require(Wait wait, const std::string& answer, const std::string& purpose) {
    std::string found;
    if (wait == Wait::closed) found = "the worker ended: " + worker_->end();
    if (wait == Wait::timed_out) found = "no answer in time";
    if (wait == Wait::answered) {
        const JsonNode node = parse_json(answer, source_of_answers);
        if (const auto error = JsonPlace(node, source_of_answers).find("error")) found = error->string(longest_message_text);
    }
    if (found.empty()) return;
    worker_.reset();
    throw Error(purpose, found, "see 'hone doctor'; a smaller problem needs less time and memory");
}

bool WorkerEvaluator::await_setup(const std::function<bool()>& stop) {
    if (!worker_) set_up();
    if (!std::exchange(placed_, true)) {
        worker_->send(R"({"do": "place"})");
        ++setup_answers_due_;
    }
    const auto begin = Clock::now();
    const Adding waiting(waiting_.setup);
    double reference = 0;
    for (; setup_answers_due_ > 0; --setup_answers_due_) {
        std::string answer;
        // The worker prepares data on the host; candidates may be compiled beside it on any device.
        const Wait wait = wait_for_answer(settings_.setup_timeout, true, stop, answer);
        if (wait == Wait::stopped) return false;
        require(wait, answer, fmt::format("setting up {} on {}", problem_, settings_.device.fingerprint.name));
        const JsonNode node = parse_json(answer, source_of_answers);
        if (const auto seconds = JsonPlace(node, source_of_answers).find("reference_seconds")) reference = seconds->number(0, most_message_seconds);
    }
    reference = std::min(reference, seconds_since(begin));
    waiting_.reference += reference;
    waiting_.setup -= reference;
    return true;
}

bool WorkerEvaluator::await_code(const Config& config, const std::function<bool()>& stop) {
    const Adding waiting(waiting_.compile);
    while (!pool_.result(config) || (on_cpu() && pool_.busy())) {
        if (stop && stop()) return false;
        if (!on_cpu() || !pool_.result(config)) start_compilers();
        ChildProcess::wait(pool_.children(), tick);
        pool_.collect();
    }
    return true;
}

double WorkerEvaluator::energy_seconds(bool finalist) const {
    return finalist && settings_.meter_finalists ? SamplingRule::enough_for_energy : sampling_.energy_seconds;
}

/// The search tells candidates apart by a few per cent, the finals by less: of steps that take milliseconds it takes fewer samples.
SamplingRule WorkerEvaluator::search_sampling() const {
    constexpr double enough_seconds = 0.05;
    SamplingRule rule = sampling_;
    if (safe_step_ > 0 && rule.period > rule.fewest)
        rule.period = static_cast<int>(std::clamp(enough_seconds / safe_step_, static_cast<double>(rule.fewest), static_cast<double>(rule.period)));
    return rule;
}

double WorkerEvaluator::timeout() const {
    if (safe_step_ == 0) return settings_.first_timeout;
    // A candidate is dropped after three samples when it is hopeless; with the verified step and the warm-up that is six steps, or twelve where
    // two are needed for a sample. Slower than the safe configuration by a further factor of five is not worth waiting for.
    constexpr double steps = 60;
    constexpr double verifications = 5;
    const double metering = 2 * SamplingRule::longest_metering * energy_seconds(true);  // twice, for the meter's own delay
    return settings_.grace + sampling_.most_seconds + metering + steps * safe_step_ + verifications * safe_verify_;
}

std::optional<Outcome> WorkerEvaluator::evaluate(const Candidate& candidate, double incumbent, const std::function<bool()>& stop) {
    pool_.add(candidate.config);
    if (!await_setup(stop) || !await_code(candidate.config, stop)) return std::nullopt;
    const CompilePool::Result compiled = *pool_.result(candidate.config);
    if (!compiled.ok) {
        Outcome outcome = failure(Status::compile_failed, compiled.failure);
        outcome.compile_seconds = compiled.seconds;
        return outcome;
    }
    auto outcome = measure(candidate, incumbent, stop);
    if (!outcome) return std::nullopt;
    measured_one_ = true;
    if (!candidate.finalist) outcome->compile_seconds += compiled.seconds;
    if (safe_step_ == 0 && outcome->measured()) {
        safe_step_ = outcome->step.median;
        safe_verify_ = outcome->verify_seconds;
    }
    return outcome;
}

std::optional<Outcome> WorkerEvaluator::measure(const Candidate& candidate, double incumbent, const std::function<bool()>& stop) {
    SamplingRule rule = candidate.finalist ? sampling_ : search_sampling();
    rule.energy_seconds = energy_seconds(candidate.finalist);
    const std::string source = settings_.source ? fmt::format(R"(, "source": {})", json_string(settings_.source(candidate.config))) : "";
    worker_->send(fmt::format(R"({{"do": "evaluate", "config": {}, "incumbent": {}, "sampling": {}{}}})", json_string(candidate.config.key()),
                              json_number(incumbent), to_json(rule), source));
    const auto began = Clock::now();
    // Most candidates are measured within this time: rather than killing the worker, and setting the next one up, let it finish.
    const double patience = 2 + 8 * safe_step_ + 2 * safe_verify_;
    const auto stop_soon = [&] { return stop && stop() && seconds_since(began) > patience; };  // asked from the start, so that it can say so
    std::string answer;
    const Wait wait = wait_for_answer(timeout(), !on_cpu(), stop_soon, answer);
    if (wait == Wait::answered) return read_answer(answer);
    const std::string end = worker_->end();
    worker_.reset();
    if (wait == Wait::stopped) return std::nullopt;
    if (wait == Wait::timed_out) return failure(Status::timed_out, fmt::format("no answer within {:.3g} s; the worker was killed", timeout()));
    return failure(Status::crashed, end);
}

Outcome WorkerEvaluator::read_answer(const std::string& answer) {
    JsonNode node;
    try {
        node = parse_json(answer, source_of_answers);
    } catch (const Error&) {
        worker_.reset();  // what it says later cannot be told apart either
        return failure(Status::crashed, "it wrote into the worker's answers");
    }
    const JsonPlace place(node, source_of_answers);
    if (const auto error = place.find("error")) throw Error("worker", error->string(longest_message_text), "this is a mistake in hone: report it");
    Outcome outcome = read_outcome(place["outcome"]);
    if (place["broken"].integer(0, 1) == 1) worker_.reset();
    return outcome;
}

std::optional<Ceilings> WorkerEvaluator::ceilings(const std::function<bool()>& stop) {
    // In the midst of a problem a worker that a candidate took with it is followed by one that knows the problem.
    if (!worker_ && !problem_.empty())
        set_up();
    else
        start_worker();
    const std::string purpose = "measuring the ceilings of " + settings_.device.fingerprint.name;
    std::string answer;
    worker_->send(R"({"do": "ceilings"})");
    ++setup_answers_due_;
    for (; setup_answers_due_ > 0; --setup_answers_due_) {
        const Wait wait = wait_for_answer(settings_.setup_timeout, false, stop, answer);
        if (wait == Wait::stopped) {
            worker_.reset();  // it would go on
            return std::nullopt;
        }
        require(wait, answer, purpose);
    }
    const JsonNode node = parse_json(answer, source_of_answers);
    const JsonPlace place(node, source_of_answers);
    return Ceilings{place["copy_bytes_per_second"].number(0, most_operations_per_second), place["fma_f32"].number(0, most_operations_per_second),
                    place["fma_f64"].number(0, most_operations_per_second), place["how"].string(longest_message_text)};
}

}  // namespace hone
