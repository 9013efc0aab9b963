#include "tuner/worker/worker_evaluator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "foundation/error.hpp"
#include "foundation/json.hpp"
#include "foundation/processors.hpp"
#include "tuner/messages.hpp"
#include "tuning_db/record_json.hpp"

namespace hone::inline v0_1 {
namespace {

constexpr double tick = 0.05;  // seconds between two questions whether to stop
constexpr double most_operations_per_second = 1e20;
const std::string source_of_answers = "answer of a worker";

int processes_for(const WorkerSettings& settings) {
    if (settings.compile_processes > 0) return settings.compile_processes;
    const int usable = processors().usable;
    const int workers = std::max(1, static_cast<int>(settings.places.size()));
    return traits_of(settings.device.limits.target).shares_processors ? usable : std::max(1, usable - workers);
}

CompilePoolSettings pool_settings(const WorkerSettings& settings, const RunFolder& temporary) {
    return {.command = settings.command,
            .architecture = settings.device.fingerprint.architecture,
            .limits = settings.device.limits,
            .cache = settings.cache,
            .processes = processes_for(settings),
            .timeout = settings.compile_timeout,
            .environment = temporary.environment(),
            .further = settings.further_compilers};
}

double seconds_since(std::chrono::steady_clock::time_point begin) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

std::string request_to_open(Target target, int index, const std::filesystem::path& cache, const std::string& further) {
    return fmt::format(R"({{"do": "open", "device": "{}:{}", "cache": {}{}}})", to_string(target), index, json_string(cache.string()), further);
}

std::string threads_word(int threads) {
    return threads > 0 ? fmt::format(R"(, "threads": {})", threads) : "";
}

WorkerEvaluator::WorkerEvaluator(WorkerSettings settings) : settings_(std::move(settings)), pool_(pool_settings(settings_, temporary_)) {
    std::vector<WorkerPlace> places = settings_.places;
    if (places.empty()) places.push_back({.index = settings_.device.index});
    for (WorkerPlace& place : places) lanes_.emplace_back().place = std::move(place);
}

WorkerEvaluator::~WorkerEvaluator() = default;

int WorkerEvaluator::devices() const {
    return static_cast<int>(std::count_if(lanes_.begin(), lanes_.end(), [](const Lane& lane) { return !lane.retired; }));
}

bool WorkerEvaluator::measuring() const {
    return std::any_of(lanes_.begin(), lanes_.end(), [](const Lane& lane) { return lane.at_work.has_value(); });
}

void WorkerEvaluator::start_compilers() {
    constexpr int part = 4;
    pool_.start(on_cpu() && !measured_one_ ? std::max(1, processes_for(settings_) / part) : std::numeric_limits<int>::max());
}

void WorkerEvaluator::start_worker(Lane& lane) {
    if (lane.worker) return;
    const std::vector<int>& bound = lane.place.processors;
    lane.worker = std::make_unique<ChildProcess>(lane.place.command ? lane.place.command() : settings_.command, temporary_.environment(),
                                                 lane.place.command ? std::vector<int>() : bound);
    // On the CPU a worker measures what this process would run: on the same processors, with as
    // many threads.
    std::string team;
    if (on_cpu())
        team = fmt::format(R"(, "processors": {}, "threads": {})", json_string(processor_list(bound.empty() ? processors().numbers : bound)),
                           settings_.device.limits.multiprocessors);
    else
        team = threads_word(settings_.host_threads);
    lane.worker->send(request_to_open(settings_.device.limits.target, on_cpu() ? 0 : lane.place.index, settings_.cache, team));
    lane.setup_answers_due = 1;
    lane.asked = Clock::now();
}

void WorkerEvaluator::adopt(OpenedWorker worker) {
    if (!worker.process) return;
    folder_of_adopted_ = std::move(worker.temporary);
    pool_.adopt(std::move(worker.compilers));
    first().worker = std::move(worker.process);
    first().setup_answers_due = 1;
    first().asked = Clock::now();
}

/// Sends what a worker must know before it can evaluate; its answers are taken as they come, so
/// that candidates compile meanwhile.
void WorkerEvaluator::set_up(Lane& lane) {
    start_worker(lane);
    lane.worker->send(fmt::format(R"({{"do": "problem", "problem": {}, "seed": "{}", "energy_seconds": {}}})", json_string(problem_), seed_,
                                  json_number(energy_seconds(true))));
    ++lane.setup_answers_due;
    lane.placed = false;
    lane.asked = Clock::now();  // also of a worker that was there before
}

/// Has the worker lay the problem's data out on the device, once.
void WorkerEvaluator::place(Lane& lane) {
    if (std::exchange(lane.placed, true)) return;
    lane.worker->send(R"({"do": "place"})");
    ++lane.setup_answers_due;
    lane.asked = Clock::now();
}

void WorkerEvaluator::lay_out(const std::function<bool()>& stop) {
    collect();
    if (!first().worker || first().placed || first().setup_answers_due > 0) return;
    place(first());
    while (first().setup_answers_due > 0 && !stop()) {
        wait_a_moment(may_compile());
        collect();
    }
}

void WorkerEvaluator::begin(const Problem& problem, std::uint64_t seed, double most_seconds) {
    sampling_ = sampling_for(objective_, settings_.sampling);
    sampling_.most_seconds = std::min(sampling_.most_seconds, most_seconds);
    problem_ = problem.key();
    seed_ = seed;
    yardstick_.reset();
    measured_one_ = false;
    queue_.clear();
    finished_.clear();
    pool_.set_problem(problem_);
    for (Lane& lane : lanes_) {
        if (lane.at_work) lane.worker.reset();  // with the problem before
        lane.at_work.reset();
        lane.pace.reset();
        if (!lane.retired) set_up(lane);
    }
}

void WorkerEvaluator::prepare(const Candidate& candidate) {
    pool_.add(candidate.config);
    queue_.push_back(candidate);
    if (!on_cpu()) start_compilers();
}

void WorkerEvaluator::foresee(std::span<const Config> configs) {
    for (const Config& config : configs) pool_.add_spare(config);
}

void WorkerEvaluator::abandon() {
    pool_.cancel(true);  // on the CPU the finals would wait for a compiler that hangs
    queue_.clear();
    finished_.clear();
    for (Lane& lane : lanes_) lane.unwanted = lane.at_work.has_value();
}

bool WorkerEvaluator::compiled(const Candidate& candidate) {
    pool_.add(candidate.config);
    pool_.collect();
    start_compilers();
    return pool_.result(candidate.config).has_value();
}

void WorkerEvaluator::collect() {
    pool_.collect();
    for (Lane& lane : lanes_) collect(lane);
}

void WorkerEvaluator::collect(Lane& lane) {
    while (lane.worker) {
        const auto line = lane.worker->take_line();
        if (!line) break;
        if (lane.setup_answers_due > 0)
            take_setup_answer(lane, *line);
        else if (lane.at_work)
            take_answer(lane, *line);
        else
            lane.worker.reset();  // a candidate left something behind that speaks
    }
    if (!lane.worker) return;
    const bool closed = lane.worker->closed();
    const double waited = seconds_since(lane.asked);
    if (lane.setup_answers_due > 0) {
        if (closed)
            lose(lane, "the worker ended: " + lane.worker->end());
        else if (waited > settings_.setup_timeout)
            lose(lane, "no answer in time");
    } else if (closed) {
        const std::string end = lane.worker->end();
        lane.worker.reset();
        if (lane.at_work) finish(lane, failure(Status::crashed, end));
    } else if (lane.at_work && waited > timeout(*lane.at_work)) {
        lane.worker.reset();
        finish(lane, failure(Status::timed_out, fmt::format("no answer within {:.3g} s; the worker was killed", timeout(*lane.at_work))));
    }
}

void WorkerEvaluator::take_setup_answer(Lane& lane, const std::string& answer) {
    const JsonNode node = parse_json(answer, source_of_answers);
    const JsonPlace place(node, source_of_answers);
    if (const auto error = place.find("error")) return lose(lane, error->string(longest_message_text));
    --lane.setup_answers_due;
    const auto seconds = place.find("reference_seconds");
    if (!seconds || !is_first(lane)) return;
    reference_seconds_ = seconds->number(0, most_message_seconds);
    const double reference = std::min(reference_seconds_, waiting_.setup);
    waiting_.reference += reference;
    waiting_.setup -= reference;
}

/// A device that cannot be set up, which is no candidate's fault.
void WorkerEvaluator::lose(Lane& lane, const std::string& found) {
    lane.worker.reset();
    lane.setup_answers_due = 0;
    if (is_first(lane))
        throw Error(fmt::format("setting up {} on {}", problem_, settings_.device.fingerprint.name), found,
                    "see 'hone doctor'; a smaller problem needs less time and memory");
    lane.retired = true;
    if (settings_.complain) settings_.complain(fmt::format("{} takes no further part: {}", lane.place.name, found));
}

/// Another host's disk may be full where the first device's is not: then its candidate is measured
/// elsewhere.
void WorkerEvaluator::take_answer(Lane& lane, const std::string& answer) try {
    finish(lane, read_answer(lane, answer));
} catch (const MachineError& error) {
    if (is_first(lane)) throw;
    if (!lane.comparing && !lane.unwanted) queue_.push_front(*lane.at_work);
    lane.at_work.reset();
    lane.comparing = lane.unwanted = false;
    lose(lane, error.what());
}

/// What became of the candidate that a device measured.
void WorkerEvaluator::finish(Lane& lane, Outcome outcome) {
    const Candidate candidate = *std::exchange(lane.at_work, std::nullopt);
    if (lane.comparing) return compare(lane, outcome);
    if (std::exchange(lane.unwanted, false)) return;
    measured_one_ = true;
    if (const auto compiled = pool_.result(candidate.config); compiled && !is_finalist(candidate)) outcome.compile_seconds += compiled->seconds;
    if (is_first(lane) && !yardstick_ && outcome.measured()) yardstick_ = {candidate, outcome};
    if (!lane.place.name.empty()) outcome.measured_on = lane.place.name;
    if (lane.pace && *lane.pace != 1) outcome.pace = lane.pace;
    finished_.push_back({candidate, std::move(outcome)});
}

void WorkerEvaluator::compare(Lane& lane, const Outcome& outcome) {
    lane.comparing = false;
    if (!outcome.measured())
        return lose(lane, fmt::format("{} is {} there: {}", yardstick_->candidate.config.key(), to_string(outcome.status), outcome.reason));
    const Statistics& here = outcome.step;
    const Statistics& there = yardstick_->outcome.step;
    const bool differ = here.low > there.high || here.high < there.low;
    lane.pace = differ && there.median > 0 ? here.median / there.median : 1;
}

double WorkerEvaluator::energy_seconds(bool finalist) const {
    return finalist && settings_.meter_finalists ? SamplingRule::enough_for_energy : sampling_.energy_seconds;
}

/// The search tells candidates apart by a few per cent, the finals by less: of steps that take
/// milliseconds it takes fewer samples. On processors, whose compilers wait meanwhile, it takes
/// fewer still, and gives up candidates that are behind by a quarter.
SamplingRule WorkerEvaluator::search_sampling() const {
    constexpr double hopeless_on_cpu = 1.25;
    const double enough_seconds = on_cpu() ? 0.03 : 0.05;
    SamplingRule rule = sampling_;
    if (on_cpu()) rule.hopeless = std::min(rule.hopeless, hopeless_on_cpu);
    if (yardstick_ && rule.period > rule.fewest)
        rule.period = static_cast<int>(
            std::clamp(enough_seconds / yardstick_->outcome.step.median, static_cast<double>(rule.fewest), static_cast<double>(rule.period)));
    return rule;
}

/// Other data are made for it, and it is verified in several ways, on which it spends few seconds
/// at most where a step is short, and some steps where it is long.
double WorkerEvaluator::strict_seconds(const Candidate& candidate) const {
    constexpr double short_steps = 5, verifications = 20, sizes = 2;
    if (!strict(candidate)) return 0;
    const auto compiled = pool_.result(candidate.config);
    return short_steps + 2 * reference_seconds_ + verifications * (yardstick_ ? yardstick_->outcome.step.median : 0) +
           2 * sizes * (compiled ? compiled->seconds : 0);
}

double WorkerEvaluator::timeout(const Candidate& candidate) const {
    if (!yardstick_) return settings_.first_timeout + strict_seconds(candidate);
    // A candidate is dropped after three samples when it is hopeless; with the verified step and
    // the warm-up that is six steps, or twelve where two are needed for a sample. Slower than the
    // safe configuration by a further factor of five is not worth waiting for.
    constexpr double steps = 60;
    constexpr double verifications = 5;
    const double metering = 2 * SamplingRule::longest_metering * energy_seconds(true);  // twice, for the meter's own delay
    const Outcome& safe = yardstick_->outcome;
    return settings_.grace + sampling_.most_seconds + metering + steps * safe.step.median + verifications * safe.verify_seconds +
           strict_seconds(candidate);
}

/// Most candidates are measured within this time: rather than killing the worker, and setting the
/// next one up, let it finish.
double WorkerEvaluator::patience(const Candidate& candidate) const {
    return 2 + strict_seconds(candidate) + (yardstick_ ? 8 * yardstick_->outcome.step.median + 2 * yardstick_->outcome.verify_seconds : 0);
}

void WorkerEvaluator::refuse_uncompilable() {
    for (auto candidate = queue_.begin(); candidate != queue_.end();) {
        const auto result = pool_.result(candidate->config);
        if (!result || result->ok) {
            ++candidate;
            continue;
        }
        Outcome outcome = failure(Status::compile_failed, result->failure);
        outcome.compile_seconds = result->seconds;
        finished_.push_back({*candidate, std::move(outcome)});
        candidate = queue_.erase(candidate);
    }
}

std::ptrdiff_t WorkerEvaluator::place_among_wanted(const Candidate& candidate) const {
    return std::find_if(wanted_.begin(), wanted_.end(), [&](const Candidate& other) { return candidate.is(other); }) - wanted_.begin();
}

/// The oldest candidate that the device may measure now; one device keeps to their order.
std::deque<Candidate>::iterator WorkerEvaluator::next_for(const Lane& lane) {
    for (auto candidate = queue_.begin(); candidate != queue_.end(); ++candidate) {
        const bool own = candidate->purpose != Candidate::Purpose::search;
        if ((own && !is_first(lane)) || place_among_wanted(*candidate) == std::ssize(wanted_)) continue;
        if (is_finalist(*candidate) && measuring()) break;
        if (pool_.result(candidate->config)) return candidate;
        if (devices() == 1) break;
    }
    return queue_.end();
}

void WorkerEvaluator::hand_out(double incumbent) {
    refuse_uncompilable();
    if (on_cpu() && (compilers_turn() || !pool_.hold())) return;
    for (Lane& lane : lanes_)
        if (!lane.retired && !lane.at_work) hand_out(lane, incumbent);
}

void WorkerEvaluator::hand_out(Lane& lane, double incumbent) {
    const bool compares = !is_first(lane) && !lane.pace;
    const auto candidate = next_for(lane);
    if (candidate == queue_.end() || (compares && !yardstick_)) return;
    if (!lane.worker) set_up(lane);
    place(lane);
    if (lane.setup_answers_due > 0) return;
    lane.comparing = compares;
    if (compares) return measure(lane, yardstick_->candidate, 0);
    const Candidate chosen = *candidate;
    queue_.erase(candidate);
    measure(lane, chosen, incumbent * lane.pace.value_or(1));
}

void WorkerEvaluator::measure(Lane& lane, const Candidate& candidate, double incumbent) {
    SamplingRule rule = is_finalist(candidate) ? sampling_ : search_sampling();
    rule.energy_seconds = energy_seconds(is_finalist(candidate));
    const std::string source = settings_.source ? fmt::format(R"(, "source": {})", json_string(settings_.source(candidate.config))) : "";
    lane.worker->send(fmt::format(R"({{"do": "evaluate", "config": {}, "incumbent": {}, "sampling": {}, "finalist": {}{}}})",
                                  json_string(candidate.config.key()), json_number(incumbent), to_json(rule), strict(candidate) ? 1 : 0, source));
    lane.at_work = candidate;
    lane.unwanted = false;
    lane.asked = Clock::now();
}

bool WorkerEvaluator::soon_finished() {
    bool soon = false;
    for (Lane& lane : lanes_) {
        if (!worth_waiting(lane)) continue;
        if (seconds_since(lane.asked) <= patience(*lane.at_work)) {
            soon = true;
            continue;
        }
        queue_.push_front(*lane.at_work);
        lane.at_work.reset();
        lane.worker.reset();
    }
    return soon;
}

void WorkerEvaluator::wait_a_moment(bool compile) {
    const auto begin = Clock::now();
    if (compile) start_compilers();
    std::vector<ChildProcess*> children = pool_.children();
    const bool working = measuring();
    const bool setting_up = first().setup_answers_due > 0;
    for (const Lane& lane : lanes_)
        if (lane.worker) children.push_back(lane.worker.get());
    ChildProcess::wait(children, tick);
    if (!working) (setting_up ? waiting_.setup : waiting_.compile) += seconds_since(begin);
}

std::optional<Evaluated> WorkerEvaluator::evaluate_next(std::span<const Candidate> prepared, double incumbent, const std::function<bool()>& stop) {
    wanted_ = prepared;
    for (const Candidate& candidate : prepared) {
        const auto is_it = [&](const Candidate& other) { return candidate.is(other); };
        const bool known = std::any_of(queue_.begin(), queue_.end(), is_it) ||
                           std::any_of(finished_.begin(), finished_.end(), [&](const Finished& f) { return is_it(f.candidate); }) ||
                           std::any_of(lanes_.begin(), lanes_.end(), [&](const Lane& l) { return worth_waiting(l) && is_it(*l.at_work); });
        if (!known) queue_.push_back(candidate);
        pool_.add(candidate.config);
    }
    if (!first().worker) set_up(first());
    for (Lane& lane : lanes_)
        if (lane.worker) place(lane);
    while (true) {
        collect();
        hand_out(incumbent);
        for (auto it = finished_.begin(); it != finished_.end(); ++it) {
            const auto number = place_among_wanted(it->candidate);
            if (number == std::ssize(prepared)) continue;
            Evaluated evaluated{static_cast<std::size_t>(number), std::move(it->outcome)};
            finished_.erase(it);
            return evaluated;
        }
        if (stop && stop() && !soon_finished()) return std::nullopt;
        // What is abandoned and lasts holds up the finals.
        for (Lane& lane : lanes_)
            if (lane.unwanted && seconds_since(lane.asked) > patience(*lane.at_work)) {
                lane.worker.reset();
                lane.at_work.reset();
                lane.unwanted = false;
            }
        wait_a_moment(may_compile());
    }
}

std::optional<Outcome> WorkerEvaluator::evaluate(const Candidate& candidate, double incumbent, const std::function<bool()>& stop) {
    auto evaluated = evaluate_next({&candidate, 1}, incumbent, stop);
    return evaluated ? std::optional(std::move(evaluated->outcome)) : std::nullopt;
}

/// On the CPU compilers and measurements take turns. While most processes compile, or there is
/// nothing to measure, it is the compilers': few late ones must not keep the other processors idle.
/// Once they are held they stay so while there is something to measure.
bool WorkerEvaluator::compilers_turn() {
    if (measuring()) return false;
    if (first().setup_answers_due > 0) return true;
    const auto ready = std::count_if(queue_.begin(), queue_.end(), [this](const Candidate& c) { return pool_.result(c.config).has_value(); });
    const bool enough = devices() > 1 ? ready >= std::min<std::ptrdiff_t>(devices(), std::ssize(queue_)) : next_for(first()) != queue_.end();
    return !enough || (measured_one_ && !pool_.held() && 2 * pool_.wanted() > processes_for(settings_));
}

bool WorkerEvaluator::may_compile() {
    return !on_cpu() || compilers_turn();
}

Outcome WorkerEvaluator::read_answer(Lane& lane, const std::string& answer) {
    JsonNode node;
    try {
        node = parse_json(answer, source_of_answers);
    } catch (const Error&) {
        lane.worker.reset();  // what it says later cannot be told apart either
        return failure(Status::crashed, "it wrote into the worker's answers");
    }
    const JsonPlace place(node, source_of_answers);
    if (const auto error = place.find("error")) {
        const std::string why = error->string(longest_message_text);
        if (place.find("machine_at_fault")) throw MachineError(why);
        throw Error("worker", why, "this is a mistake in hone: report it");
    }
    Outcome outcome = read_outcome(place["outcome"]);
    if (place["broken"].integer(0, 1) == 1) lane.worker.reset();
    return outcome;
}

std::optional<Ceilings> WorkerEvaluator::ceilings(const std::function<bool()>& stop) {
    Lane& lane = first();
    if (on_cpu()) pool_.hold();
    // In the midst of a problem a worker that a candidate took with it is followed by one that
    // knows the problem.
    if (!lane.worker && !problem_.empty())
        set_up(lane);
    else
        start_worker(lane);
    const auto settled = [&] { return lane.setup_answers_due == 0 && !measuring(); };  // other devices' workers would disturb it
    for (collect(); !settled(); collect()) {
        if (stop && stop()) return std::nullopt;
        wait_a_moment(false);
    }
    lane.worker->send(R"({"do": "ceilings"})");
    const auto begin = Clock::now();
    std::optional<std::string> answer;
    while (!(answer = lane.worker->take_line())) {
        if (stop && stop()) {
            lane.worker.reset();  // it would go on
            return std::nullopt;
        }
        std::string found;
        if (lane.worker->closed())
            found = "the worker ended: " + lane.worker->end();
        else if (seconds_since(begin) > settings_.setup_timeout)
            found = "no answer in time";
        if (!found.empty()) {
            lane.worker.reset();
            throw Error("measuring the ceilings of " + settings_.device.fingerprint.name, found, "see 'hone doctor'");
        }
        ChildProcess* const worker = lane.worker.get();
        ChildProcess::wait({&worker, 1}, tick);
        pool_.collect();
    }
    const JsonNode node = parse_json(*answer, source_of_answers);
    const JsonPlace place(node, source_of_answers);
    if (const auto error = place.find("error"))
        throw Error("measuring the ceilings of " + settings_.device.fingerprint.name, error->string(longest_message_text), "see 'hone doctor'");
    return Ceilings{place["copy_bytes_per_second"].number(0, most_operations_per_second), place["fma_f32"].number(0, most_operations_per_second),
                    place["fma_f64"].number(0, most_operations_per_second), place["how"].string(longest_message_text)};
}

}  // namespace hone::inline v0_1
