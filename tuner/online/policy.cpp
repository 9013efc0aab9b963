// How online tuning decides, from times alone. One state machine around `Tuner`; about 400 lines,
// because trials, budget and search share nearly all of their state.
#include "tuner/online/policy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <optional>

#include "tuner/online/trial.hpp"

namespace hone::inline v0_1 {
namespace {

constexpr std::size_t most_rejections = 100;  // that a report lists
constexpr double clearly_faster = 0.95;       // of the incumbent's time, in the worker
constexpr double excess_weight = 0.01;        // of one step in the running mean of what steps take longer than their median

}  // namespace

struct OnlinePolicy::State {
    const SearchSpace& space;
    const StrategyEntry& strategy;
    std::uint64_t seed;
    std::vector<std::int64_t> promising;
    OnlineRules rules;
    std::optional<Tuner> tuner;
    std::deque<Trial> trials;  ///< in the tuner's order
    std::int64_t trials_made = 0;
    std::map<std::int64_t, Outcome> vettings;            ///< what workers said
    std::map<std::int64_t, Outcome> told;                ///< to this search's tuner
    std::map<std::int64_t, std::vector<double>> latest;  ///< times of its last trial, as they were
    std::vector<Candidate> wanted;
    std::vector<OnlineEvent> events;
    Pace pace;
    OnlineProgress progress;
    double scale = 0;         ///< the incumbent's cost as this search counts, whatever pace the device has; 0: not known yet
    double relative = 1;      ///< the incumbent's cost when the first one's is 1
    int confirming = 0;       ///< own steps that the incumbent's cost is still corrected by
    double reserved = 0;      ///< for steps whose times are outstanding
    double switching = 0;     ///< what the last switch cost
    double job_cost = 0;      ///< what the last job cost
    double job_began = 0;     ///< the disturbance then
    double usual_excess = 0;  ///< of undisturbed steps: other programs' doing
    double disturbed = 0;     ///< with its sign
    int untimed = 0;          ///< steps of the incumbent since the last timed one, all disturbed or none
    bool was_disturbed = false;
    bool pausing = false;

    State(const SearchSpace& of, const StrategyEntry& by, std::uint64_t from, std::int64_t incumbent, OnlineRules numbers,
          std::vector<std::int64_t> first)
        : space(of),
          strategy(by),
          seed(from),
          promising(std::move(first)),
          rules(numbers),
          pace(rules.sampling.period, rules.sampling.fewest, rules.drift, rules.drift_block),
          job_cost(rules.first_job) {
        progress.bound = rules.bound;
        progress.first = progress.incumbent = incumbent;
        tuner.emplace(space, strategy, seed, rules.tuner, scope());
    }

    /// The strategy's own beginning, too, is compiled before the application's first steps.
    TunerScope scope() const {
        TunerScope scope{.promising = promising};
        scope.first_ahead += static_cast<int>(promising.size());
        return scope;
    }

    double regret() const { return progress.explored_cost + std::max(0.0, disturbed) + progress.stalls; }
    double allowance() const { return rules.bound * progress.seconds - regret() - reserved; }
    std::int64_t incumbent() const { return progress.incumbent; }

    // --- the tuner

    /// Takes all that the tuner gives.
    void pull() {
        report();
        while (!progress.settled) {
            const bool spent = rules.evaluations > 0 && tuner->evaluations() + fetched() >= rules.evaluations;
            if (!tuner->finals() && spent) return;
            auto candidate = tuner->next();
            if (!candidate) return;
            Trial& trial = trials.emplace_back(trials_made++, std::move(*candidate));
            const auto known = vettings.find(trial.candidate.index);
            if (known != vettings.end() && !known->second.measured())
                end(trial, known->second);
            else if (is_finalist(trial.candidate) && is_beaten(trial.candidate.index))
                end(trial, told.at(trial.candidate.index));
            else if (known != vettings.end() && is_incumbent(trial))
                trial.stage = Trial::Stage::ready;  // it is loaded: it runs
            report();
        }
    }

    /// A finalist for want of better ones: what it costs is known well enough, and running it again
    /// would cost the application more.
    bool is_beaten(std::int64_t index) {
        constexpr double clearly = 1.1;
        const auto before = told.find(index);
        return index != incumbent() && scale > 0 && before != told.end() && before->second.measured() && before->second.step.low > clearly * scale;
    }

    int fetched() const {
        return static_cast<int>(std::count_if(trials.begin(), trials.end(), [](const Trial& t) { return !is_finalist(t.candidate); }));
    }

    void end(Trial& trial, Outcome outcome) {
        trial.stage = Trial::Stage::over;
        trial.outcome = std::move(outcome);
    }

    /// Tells the tuner, in its order, what is over.
    void report() {
        while (!trials.empty() && trials.front().stage == Trial::Stage::over) {
            const Trial trial = std::move(trials.front());
            trials.pop_front();
            tell(trial.candidate, trial.outcome);
            events.push_back({OnlineEvent::Kind::evaluation, trial.candidate, trial.outcome});
        }
        if (!tuner->finals() && rules.evaluations > 0 && tuner->evaluations() >= rules.evaluations) {
            tuner->finish();
            trials.clear();
            events.push_back({OnlineEvent::Kind::finish, {}, {}});
        }
        if (tuner->done() && !progress.settled) settle();
    }

    void tell(const Candidate& candidate, const Outcome& outcome) {
        tuner->report(candidate, outcome);
        told[candidate.index] = outcome;
        // Of an earlier search or run, perhaps: a failure is not tried again.
        if (!outcome.measured()) vettings[candidate.index] = outcome;
    }

    /// The finals are over.
    void settle() {
        progress.settled = true;
        events.push_back({OnlineEvent::Kind::done, {}, {}});
        const auto best = tuner->best();
        if (!best) return;
        const std::int64_t index = space.index_of(best->config);
        const auto times = latest.find(index);
        if (index == incumbent() || times == latest.end()) return;
        // An incumbent that the tuner never met, the database's perhaps, has not been in its
        // finals.
        const bool met = told.count(incumbent()) != 0;
        if (met || (scale > 0 && best->outcome.step.median < scale * (1 - rules.tuner.tie))) adopt(index, times->second);
    }

    void reopen() {
        promising = {incumbent()};
        tuner.emplace(space, strategy, ++seed, rules.tuner, scope());
        trials.clear();
        told.clear();
        scale = 0;
        progress.settled = false;
        events.push_back({OnlineEvent::Kind::reopened, {incumbent(), space.at(incumbent())}, {}});
    }

    // --- trials

    Trial* running() {
        const auto found = std::find_if(trials.begin(), trials.end(), [](const Trial& t) { return t.stage == Trial::Stage::running; });
        return found == trials.end() ? nullptr : &*found;
    }

    bool is_incumbent(const Trial& trial) { return trial.candidate.index == incumbent(); }

    double excess(const Trial& trial) { return is_incumbent(trial) ? 0 : std::max(0.0, trial.worst(rules) - pace.median()); }

    /// The trial under way, or of those that can be afforded now the first that the worker found
    /// fastest.
    Trial* active(bool disturbed_now) {
        if (!pace.known()) return nullptr;
        if (Trial* const trial = running()) return trial;
        if (disturbed_now) return nullptr;
        Trial* chosen = nullptr;
        for (Trial& trial : trials) {
            if (trial.stage != Trial::Stage::ready) continue;
            screen(trial);  // there may have been no pace to compare with when it passed
            trial.guess = guess(trial.candidate.index);
            if (trial.stage != Trial::Stage::ready || excess(trial) + (is_incumbent(trial) ? 0 : switching) > allowance()) continue;
            if (is_incumbent(trial) && others_come_first()) continue;
            if (chosen == nullptr || rank(trial) < rank(*chosen)) chosen = &trial;
        }
        if (chosen == nullptr) return nullptr;
        chosen->stage = Trial::Stage::running;
        if (!is_incumbent(*chosen)) ++progress.tried;
        return chosen;
    }

    /// The incumbent's own trial can wait for the first candidate: nothing is vetted beside a
    /// trial.
    bool others_come_first() {
        return progress.tried == 0 && std::any_of(trials.begin(), trials.end(), [this](const Trial& trial) {
                   return trial.stage == Trial::Stage::vetting && !is_finalist(trial.candidate) && !is_incumbent(trial);
               });
    }

    /// Finalists are compared in turns, by the tuner's order.
    double rank(const Trial& trial) {
        const double found = is_finalist(trial.candidate) ? 0 : ratio(trial.candidate.index);
        return found > 0 ? found : 1;
    }

    /// How many times slower than the incumbent the worker found it; 0: not known.
    double ratio(std::int64_t index) const {
        const auto own = vettings.find(index);
        const auto incumbents = vettings.find(incumbent());
        if (own == vettings.end() || incumbents == vettings.end() || own->second.step.minimum <= 0 || incumbents->second.step.minimum <= 0) return 0;
        return own->second.step.minimum / incumbents->second.step.minimum;
    }

    double guess(std::int64_t index) {
        if (const auto times = latest.find(index); times != latest.end()) return *std::max_element(times->second.begin(), times->second.end());
        const double found = ratio(index);
        return pace.median() * (found > 0 ? std::max(1.0, found) : rules.unknown);
    }

    /// What was found out about a candidate may spare the application its steps.
    void screen(Trial& trial) {
        const Outcome& vetting = vettings.at(trial.candidate.index);
        trial.stage = Trial::Stage::ready;
        if (!vetting.measured()) return end(trial, vetting);
        const double found = ratio(trial.candidate.index);
        if (is_finalist(trial.candidate) || rules.screen <= 0 || found <= rules.screen || !pace.known()) return;
        Outcome outcome = vetting;
        const double factor = campaign_scale() / vettings.at(incumbent()).step.minimum;
        for (double& seconds : outcome.samples) seconds *= factor;
        outcome.step = summarise(outcome.samples);
        outcome.reason = fmt::format("{:.3g} times the incumbent's step in the worker", found);
        reject(trial.candidate, outcome.reason);
        end(trial, std::move(outcome));
    }

    void reject(const Candidate& candidate, const std::string& reason) {
        std::erase_if(progress.rejections, [&](const OnlineRejection& earlier) { return earlier.config == candidate.config.key(); });
        if (progress.rejections.size() == most_rejections) progress.rejections.erase(progress.rejections.begin());
        progress.rejections.push_back({candidate.config.key(), reason});
    }

    /// The incumbent's cost in this search's count. After a resumption the count is the earlier
    /// run's.
    double campaign_scale() {
        if (scale == 0) {
            const auto earlier = told.find(incumbent());
            scale = earlier != told.end() && earlier->second.measured() ? earlier->second.step.median : pace.median();
        }
        return scale;
    }

    void judge(Trial& trial) {
        const Trial::Verdict verdict = trial.judge(pace.median(), is_incumbent(trial), rules);
        if (verdict == Trial::Verdict::more) return;
        const std::vector<double> times(trial.warm().begin(), trial.warm().end());
        const auto vetting = vettings.find(trial.candidate.index);
        Outcome outcome = vetting == vettings.end() ? Outcome{} : vetting->second;
        outcome.samples = times;
        const double factor = campaign_scale() / pace.median();
        for (double& seconds : outcome.samples) seconds *= factor;
        outcome.step = summarise(outcome.samples);
        outcome.measure_seconds = 0;
        for (const double seconds : trial.samples) outcome.measure_seconds += seconds;
        latest[trial.candidate.index] = times;
        const std::int64_t index = trial.candidate.index;
        if (verdict == Trial::Verdict::slower && !is_incumbent(trial))
            reject(trial.candidate, fmt::format("{:.3g} times the incumbent's step", summarise(times).median / pace.median()));
        const bool faster = faster_than_rivals(trial, times);
        end(trial, std::move(outcome));
        if (faster) adopt(index, times);
        report();
    }

    bool faster_than_rivals(const Trial& trial, const std::vector<double>& times) {
        const auto fewest = static_cast<std::size_t>(rules.sampling.fewest);
        if (is_incumbent(trial) || times.size() < fewest || trial.rivals.size() < fewest) return false;
        return summarise(times).high < summarise(trial.rivals).low;
    }

    /// What the incumbent that is replaced costs is known: its own trial needs no further steps.
    void end_own_trial() {
        const auto vetting = vettings.find(incumbent());
        for (Trial& trial : trials) {
            if (!is_incumbent(trial) || trial.stage != Trial::Stage::ready || is_finalist(trial.candidate) || vetting == vettings.end()) continue;
            Outcome outcome = vetting->second;
            outcome.samples = pace.samples();
            const double factor = campaign_scale() / pace.median();
            for (double& seconds : outcome.samples) seconds *= factor;
            outcome.step = summarise(outcome.samples);
            end(trial, std::move(outcome));
        }
    }

    void adopt(std::int64_t index, const std::vector<double>& times) {
        end_own_trial();
        latest[progress.incumbent] = pace.samples();
        const double replaced = pace.median();
        pace.restart(times);
        rescale(pace.median() / replaced);
        confirming = rules.sampling.period;
        progress.incumbent = index;
        if (++progress.adopted == 1) progress.first_adopted = progress.steps;
    }

    void rescale(double factor) {
        if (scale > 0) scale *= factor;
        relative *= factor;
    }

    /// A trial is short, and who wins it was lucky, too: a whole period of the new incumbent's own
    /// steps says what it costs.
    void confirm(double before) {
        if (confirming == 0) return;
        --confirming;
        rescale(pace.median() / before);
    }

    /// A result from elsewhere that is wrong here gives way to what runs everywhere.
    void distrust(const Outcome& outcome) {
        const std::int64_t safe = space.index_of(space.safe());
        if (incumbent() == safe) return;
        reject({incumbent(), space.at(incumbent())}, fmt::format("{}: {}", to_string(outcome.status), outcome.reason));
        progress.incumbent = safe;
        pace.restart({});
        confirming = 0;
    }

    // --- steps

    void count(double seconds) {
        progress.seconds += seconds;
        // By medians: what other programs do to a step would have been done to the first
        // configuration's, too.
        if (progress.first_median > 0) progress.saved += pace.median() / relative - pace.median();
    }

    OnlineStep explore(Trial& trial) {
        OnlineStep step{.index = trial.candidate.index, .timed = true, .explores = true, .trial = trial.number};
        step.reserved = excess(trial);
        reserved += step.reserved;
        trial.launched(rules);
        ++progress.explored_steps;
        return step;
    }

    OnlineStep run_incumbent(Trial* trial, bool disturbed_now, bool may_time) {
        OnlineStep step{.index = incumbent(), .disturbed = disturbed_now};
        if (trial != nullptr && is_incumbent(*trial)) {
            step.timed = trial->wants_step(rules);
            if (step.timed) {
                step.trial = trial->number;
                trial->launched_alone();
            }
        } else if (trial != nullptr && trial->wants_rival(rules)) {
            step.timed = true;
            step.trial = trial->number;
            trial->launched_rival();
        }
        if (disturbed_now != was_disturbed) untimed = 0;
        was_disturbed = disturbed_now;
        const int every = !pace.known() ? 1 : disturbed_now ? rules.disturbed_sparse : rules.sparse;
        step.timed = step.timed || (may_time && untimed + 1 >= every);
        if (!step.timed) {
            ++untimed;
            count(pace.median());
            return step;
        }
        step.stands_for = untimed + 1;
        untimed = 0;
        return step;
    }

    void told_incumbent(const OnlineStep& step, double seconds) {
        if (step.disturbed && pace.known()) {
            disturbed = std::max(0.0, disturbed + step.stands_for * (seconds - pace.median() - usual_excess));
            progress.disturbance = disturbed;
            return;
        }
        if (pace.known()) usual_excess = std::max(0.0, usual_excess + excess_weight * (seconds - pace.median() - usual_excess));
        const double before = pace.median();
        const bool drifted = pace.add(seconds);
        if (drifted)
            confirming = 0;
        else
            confirm(before);
        if (progress.first_median == 0 && pace.known() && incumbent() == progress.first) progress.first_median = pace.median();
        if (!drifted) return;
        ++progress.drifts;
        if (progress.settled) reopen();
    }
};

OnlinePolicy::OnlinePolicy(const SearchSpace& space, const StrategyEntry& strategy, std::uint64_t seed, std::int64_t incumbent, OnlineRules rules,
                           std::vector<std::int64_t> promising)
    : state_(std::make_unique<State>(space, strategy, seed, incumbent, rules, std::move(promising))) {
    // The first to be vetted: what the worker's times of all others are compared with.
    state_->wanted.push_back({incumbent, space.at(incumbent)});
}

OnlinePolicy::~OnlinePolicy() = default;
OnlinePolicy::OnlinePolicy(OnlinePolicy&&) noexcept = default;
OnlinePolicy& OnlinePolicy::operator=(OnlinePolicy&&) noexcept = default;

bool OnlinePolicy::resume(const Candidate& was, const Outcome& outcome) {
    State& state = *state_;
    const auto candidate = state.tuner->next();
    if (!candidate || !candidate->is(was)) return false;
    state.tell(*candidate, outcome);
    state.progress.settled = state.tuner->done();
    return true;
}

void OnlinePolicy::resume_finish() {
    state_->tuner->finish();
}

std::vector<Candidate> OnlinePolicy::take_wanted() {
    State& state = *state_;
    state.pull();
    for (Trial& trial : state.trials) {
        if (trial.wanted || trial.stage != Trial::Stage::vetting) continue;
        trial.wanted = true;
        const bool listed =
            std::any_of(state.wanted.begin(), state.wanted.end(), [&](const Candidate& c) { return c.index == trial.candidate.index; });
        if (!listed) state.wanted.push_back(trial.candidate);
    }
    return std::exchange(state.wanted, {});
}

bool OnlinePolicy::wants(std::int64_t index) const {
    if (index == state_->incumbent()) return true;
    return std::any_of(state_->trials.begin(), state_->trials.end(),
                       [&](const Trial& t) { return t.candidate.index == index && t.stage != Trial::Stage::over; });
}

void OnlinePolicy::vetted(std::int64_t index, const Outcome& outcome) {
    State& state = *state_;
    state.vettings[index] = outcome;
    // The worker's power and clocks are not the application's.
    state.vettings[index].energy.reset();
    state.vettings[index].device.reset();
    if (outcome.status == Status::wrong && index == state.incumbent()) state.distrust(outcome);
    for (Trial& trial : state.trials)
        if (trial.candidate.index == index && trial.stage == Trial::Stage::vetting) {
            if (!outcome.measured()) state.reject(trial.candidate, fmt::format("{}: {}", to_string(outcome.status), outcome.reason));
            state.screen(trial);
        }
    state.report();
}

void OnlinePolicy::unusable(std::int64_t index, const std::string& reason) {
    State& state = *state_;
    const Outcome outcome = failure(Status::launch_failed, reason);
    state.vettings[index] = outcome;
    for (Trial& trial : state.trials)
        if (trial.candidate.index == index && trial.stage != Trial::Stage::over) {
            state.reject(trial.candidate, reason);
            state.end(trial, outcome);
        }
    state.report();
}

bool OnlinePolicy::may_work() const {
    const State& state = *state_;
    int ready = 0;
    for (const Trial& trial : state.trials) {
        if (trial.stage == Trial::Stage::running) return false;
        if (trial.stage != Trial::Stage::ready) continue;
        // No trial begins beside work: what is clearly faster, as the worker found, goes first. On
        // an H100 a candidate that was ready before the first step was tried in step 217.
        const double found = state.ratio(trial.candidate.index);
        if (found > 0 && found < clearly_faster) return false;
        // What is slower waits for its turn after what comes yet.
        if (found <= 1) ++ready;
    }
    return ready < state.rules.ahead && state.pace.known() && state.allowance() >= state.job_cost && state.allowance() > 0;
}

bool OnlinePolicy::must_pause() {
    State& state = *state_;
    // Not on and off with every step.
    state.pausing = state.allowance() < (state.pausing ? 2 * state.pace.median() : 0.0);
    return state.pausing;
}

void OnlinePolicy::work_done() {
    State& state = *state_;
    state.job_cost = std::max(0.0, state.disturbed - state.job_began);
    state.job_began = state.disturbed;
}

OnlineStep OnlinePolicy::next(bool disturbed, bool may_time) {
    State& state = *state_;
    state.pull();
    ++state.progress.steps;
    Trial* const trial = state.active(disturbed);
    if (trial != nullptr && !state.is_incumbent(*trial) && trial->wants_step(state.rules) && state.excess(*trial) <= state.allowance())
        return state.explore(*trial);
    return state.run_incumbent(trial, disturbed, may_time);
}

void OnlinePolicy::told(const OnlineStep& step, double seconds) {
    State& state = *state_;
    state.count(seconds);
    state.reserved = std::max(0.0, state.reserved - step.reserved);
    if (step.explores)
        state.progress.explored_cost += std::max(0.0, seconds - state.pace.median());
    else if (step.index == state.incumbent())
        state.told_incumbent(step, seconds);
    Trial* const trial = state.running();
    if (trial == nullptr || trial->number != step.trial) return;
    if (step.index == trial->candidate.index)
        trial->sampled(seconds);
    else
        trial->sampled_rival(seconds);
    state.judge(*trial);
}

void OnlinePolicy::stalled(double seconds) {
    state_->progress.stalls += seconds;
    state_->switching = seconds;
}

std::vector<OnlineEvent> OnlinePolicy::take_events() {
    return std::exchange(state_->events, {});
}

std::int64_t OnlinePolicy::incumbent() const {
    return state_->incumbent();
}

double OnlinePolicy::pace() const {
    return state_->pace.median();
}

bool OnlinePolicy::settled() const {
    return state_->progress.settled;
}

bool OnlinePolicy::compared() const {
    return state_->tuner->compared();
}

std::optional<Outcome> OnlinePolicy::standing() const {
    const State& state = *state_;
    const auto vetting = state.vettings.find(state.incumbent());
    if (vetting == state.vettings.end() || !vetting->second.measured() || !state.pace.known()) return std::nullopt;
    Outcome outcome = vetting->second;
    outcome.samples = state.pace.samples();
    outcome.step = summarise(outcome.samples);
    return outcome;
}

double OnlinePolicy::safe_seconds() const {
    const auto safe = state_->tuner->safe();
    return safe && safe->measured() ? safe->step.median : 0;
}

OnlineProgress OnlinePolicy::progress() const {
    OnlineProgress progress = state_->progress;
    progress.evaluations = state_->tuner->evaluations();
    progress.finals = state_->tuner->finals();
    progress.median = state_->pace.median();
    progress.saved -= progress.regret();
    return progress;
}

}  // namespace hone::inline v0_1
