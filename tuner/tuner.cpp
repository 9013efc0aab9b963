#include "tuner/tuner.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <set>
#include <unordered_set>
#include <utility>

#include "foundation/error.hpp"
#include "tuner/finals.hpp"
#include "tuner/statistics.hpp"

namespace hone::inline v0_1 {
namespace {

constexpr int fewest_ahead = 3;    // ... and from then on; more, ...
constexpr int reports_ahead = 12;  // ... one for so many reports: when much is known, what is pending would teach little
constexpr double slack = 4;        // compilers stop while processors are measured, and not all take equally long

/// A reported candidate; its place in the list is its age.
struct Entry {
    std::int64_t index = 0;
    Outcome search;                        ///< as measured in the search, last
    std::optional<Outcome> pool = {};      ///< all rounds of the finals
    std::optional<Outcome> repeated = {};  ///< the pool of finals that were held again
    std::vector<double> joules = {};       ///< medians of these rounds
    double watts = 0;                      ///< their mean
};

/// How many times as long one of two measurements says that a step takes.
double apart(const Outcome& a, const Outcome& b) {
    const double ratio = a.seconds() / b.seconds();
    return std::max(ratio, 1 / ratio);
}

/// Whether the finals contradict all that was measured of a candidate before: a busy machine, or a
/// kernel that does not do its work every time. Clocks and caches make less of a difference.
bool contradicts_itself(const Entry& entry) {
    constexpr double most = 5;
    if (!entry.pool || !entry.pool->measured() || apart(entry.search, *entry.pool) <= most) return false;
    return !entry.repeated || apart(*entry.repeated, *entry.pool) > most;
}

/// A further round of a finalist. A failure replaces what was measured.
void add_round(Entry& entry, const Outcome& round) {
    if (round.measured() && round.energy) {
        entry.joules.push_back(round.energy->joules.median);
        entry.watts += (round.energy->watts - entry.watts) / static_cast<double>(entry.joules.size());
    }
    if (!entry.pool || !round.measured()) {
        entry.pool = round;
        return;
    }
    Outcome& pool = *entry.pool;
    if (!pool.measured()) return;
    pool.samples.insert(pool.samples.end(), round.samples.begin(), round.samples.end());
    pool.step = summarise(pool.samples);
    pool.energy = round.energy ? round.energy : pool.energy;
    if (pool.energy) {
        pool.energy->joules = summarise(entry.joules);
        pool.energy->watts = entry.watts;
    }
    pool.device = round.device;
    pool.verification_error = std::max(pool.verification_error, round.verification_error);
    pool.compile_seconds += round.compile_seconds;
    pool.verify_seconds += round.verify_seconds;
    pool.measure_seconds += round.measure_seconds;
}

}  // namespace

bool another_state(const DeviceReading& a, const DeviceReading& b) {
    constexpr double clock_tolerance = 0.03;
    const auto differ = [](const std::optional<double>& x, const std::optional<double>& y) {
        return x && y && std::abs(*x - *y) > clock_tolerance * std::max(*x, *y);
    };
    const std::set<std::string> of_a(a.throttle_reasons.begin(), a.throttle_reasons.end());
    const std::set<std::string> of_b(b.throttle_reasons.begin(), b.throttle_reasons.end());
    return differ(a.sm_megahertz, b.sm_megahertz) || differ(a.memory_megahertz, b.memory_megahertz) || of_a != of_b;
}

struct Tuner::State {
    const SearchSpace* space = nullptr;
    TunerSettings settings;
    TunerScope scope;
    Members members;
    std::string strategy_name;
    std::unique_ptr<Strategy> strategy;
    std::deque<Candidate> chosen;            ///< not yet handed out
    std::deque<Candidate> handed;            ///< not yet reported
    std::unordered_set<std::int64_t> asked;  ///< every candidate that was ever chosen
    std::size_t promised = 0;                ///< promising members that had their turn
    std::vector<Entry> entries;
    double watts = 0;                      ///< of the first candidate whose energy was measured
    std::optional<std::int64_t> retiming;  ///< the incumbent, to be measured again
    int candidates_since_retiming = 0;
    double compiling = 0;           ///< seconds of all candidates
    int compiled = 0;               ///< of them, those whose code was not there already
    double running = 0;             ///< ... to verify and measure them
    std::set<std::string> devices;  ///< that have measured any, where a run has several
    bool strategy_ended = false;
    bool in_finals = false;
    bool finished = false;
    bool shortened = false;  ///< the finals
    std::optional<Finals> finals;
    std::vector<std::size_t> finalists;  ///< by age

    const Outcome& standing(const Entry& entry) const { return entry.pool ? *entry.pool : entry.search; }
    double cost_of(const Outcome& outcome) const { return cost(scope.objective, outcome, watts); }
    bool may_win(const Outcome& outcome) const { return outcome.measured() && (outcome.energy || !scope.objective.needs_energy()); }

    /// The safe configuration, then the promising members, then what the strategy asks for and was
    /// not among them.
    std::optional<std::int64_t> next_member() {
        const auto is_new = [&](std::int64_t index) { return asked.insert(index).second; };
        while (!asked.empty() && promised < scope.promising.size()) {
            const std::int64_t index = scope.promising[promised++];
            if (members.contains(index) && is_new(index)) return index;
        }
        for (std::size_t repeats = 0; const auto index = strategy->ask(); ++repeats) {
            if (is_new(*index)) return index;
            if (repeats > asked.size())
                throw Error("strategy " + strategy_name, "it asks for members that it had, and for nothing else", "end it, or ask for others");
        }
        return std::nullopt;
    }

    /// How many candidates may be ahead of their reports now.
    int ahead() const {
        if (entries.empty()) return std::min(settings.window, scope.first_ahead);
        const int known = static_cast<int>(entries.size()) / reports_ahead;
        // The one that a device works on, and those that it gets through while one is compiled.
        const double compiler = compiled > 0 ? compiling / compiled : 0, candidate = running / static_cast<double>(entries.size());
        const double kept_busy = running > 0 ? std::ceil((1 + slack * compiler / candidate) * std::max(1.0, static_cast<double>(devices.size()))) : 0;
        const double wanted = std::max(kept_busy, static_cast<double>(std::max(fewest_ahead, known)));
        return static_cast<int>(std::min(wanted, static_cast<double>(settings.window)));
    }

    void choose() {
        while (!in_finals && !strategy_ended && static_cast<int>(chosen.size() + handed.size()) < ahead()) {
            if (retiming) {
                chosen.push_back({*retiming, space->at(*retiming), Candidate::Purpose::again});
                retiming.reset();
                continue;
            }
            const auto index = next_member();
            if (index) chosen.push_back({*index, space->at(*index)});
            strategy_ended = !index;
        }
        if (!in_finals && strategy_ended && chosen.empty() && handed.empty()) begin_finals();
    }

    void report_candidate(const Candidate& candidate, const Outcome& outcome) {
        compiling += outcome.compile_seconds;
        compiled += outcome.compile_seconds > 0 ? 1 : 0;
        running += outcome.verify_seconds + outcome.measure_seconds;
        if (outcome.measured_on) devices.insert(*outcome.measured_on);
        if (watts == 0 && outcome.energy) watts = outcome.energy->watts;
        const Entry* incumbent = winner();
        ++candidates_since_retiming;
        if (incumbent != nullptr && incumbent->search.device && outcome.device && incumbent->search.measured_on == outcome.measured_on &&
            settings.retime > 0 && candidates_since_retiming >= settings.retime && another_state(*incumbent->search.device, *outcome.device)) {
            retiming = incumbent->index;
            candidates_since_retiming = 0;
        }
        entries.push_back({.index = candidate.index, .search = outcome});
        strategy->tell(candidate.index, cost_of(outcome));
    }

    /// The measured entries that were not in finals before, best first, the older first among
    /// equals.
    std::vector<std::size_t> ranking() const {
        std::vector<std::size_t> order;
        for (std::size_t i = 0; i < entries.size(); ++i)
            if (may_win(entries[i].search) && !entries[i].pool) order.push_back(i);
        std::stable_sort(order.begin(), order.end(),
                         [&](std::size_t a, std::size_t b) { return cost_of(entries[a].search) < cost_of(entries[b].search); });
        return order;
    }

    void begin_finals() {
        in_finals = true;
        finalists = ranking();
        finalists.resize(std::min(finalists.size(), static_cast<std::size_t>(std::max(1, settings.finalists))));
        const bool has_safe = std::find(finalists.begin(), finalists.end(), 0U) != finalists.end();
        if (!has_safe && !finalists.empty() && !entries[0].pool && may_win(entries[0].search)) finalists.push_back(0);
        std::sort(finalists.begin(), finalists.end());
        finals.emplace(finalists.size(), finals_rule());
        next_round();
    }

    FinalsRule finals_rule() const {
        FinalsRule rule{settings.final_rounds, settings.most_final_rounds, settings.tie};
        if (!finalists.empty() && finalists.front() == 0) rule.yardstick = 0;  // the safe configuration is the oldest
        return rule;
    }

    /// The same finalists once more, but for those that failed.
    void repeat_finals() {
        finished = false;
        finals.emplace(finalists.size(), finals_rule());
        for (std::size_t i = 0; i < finalists.size(); ++i) {
            Entry& entry = entries[finalists[i]];
            if (entry.pool && !entry.pool->measured()) {
                finals->report(i, std::nullopt);
                continue;
            }
            entry.repeated = std::exchange(entry.pool, std::nullopt);
            entry.joules.clear();
            entry.watts = 0;
        }
        next_round();
    }

    void choose_finalists(const std::vector<std::size_t>& round) {
        for (const std::size_t finalist : round) {
            const std::int64_t index = entries[finalists[finalist]].index;
            chosen.push_back({index, space->at(index), Candidate::Purpose::finalist});
        }
    }

    void next_round() {
        choose_finalists(finals->round());
        if (chosen.empty()) conclude();
    }

    /// Leaves one round to finalists that have none yet.
    void shorten_finals() {
        chosen.clear();
        handed.clear();
        shortened = true;
        choose_finalists(finals->unmeasured());
        if (chosen.empty()) conclude();
    }

    /// Whether the others of the finals failed, so that the next best may be faster.
    bool safe_is_left_alone() const {
        const auto failed = [this](std::size_t finalist) { return !may_win(standing(entries[finalist])); };
        return finalists.size() > 1 && finalists.front() == 0 && !failed(0) && std::all_of(finalists.begin() + 1, finalists.end(), failed) &&
               !ranking().empty();
    }

    /// New finals where nobody is left but the safe configuration, which takes part again.
    void conclude() {
        finished = finalists.empty() || finals->winner().has_value();
        if (finished && !shortened && safe_is_left_alone()) {
            entries[0] = {.index = entries[0].index, .search = entries[0].search};
            finished = false;
        }
        if (!finished) return begin_finals();
        const Entry* const best = winner();
        if (best != nullptr && !best->repeated && !shortened && contradicts_itself(*best)) repeat_finals();
    }

    void report_finalist(const Candidate& candidate, const Outcome& outcome) {
        const auto place = std::find_if(finalists.begin(), finalists.end(), [&](std::size_t i) { return entries[i].index == candidate.index; });
        Entry& entry = entries[*place];
        add_round(entry, outcome);
        const auto number = static_cast<std::size_t>(place - finalists.begin());
        if (may_win(outcome))
            finals->report(number, Round{cost_of(outcome), relative_noise(scope.objective, outcome)});
        else
            finals->report(number, std::nullopt);
        if (!chosen.empty() || !handed.empty()) return;
        shortened ? conclude() : next_round();
    }

    const Entry* winner() const {
        if (finished) {
            const auto number = finals ? finals->winner() : std::nullopt;
            return number ? &entries[finalists[*number]] : nullptr;
        }
        const Entry* best = nullptr;
        for (const Entry& entry : entries)
            if (may_win(standing(entry)) && (best == nullptr || cost_of(standing(entry)) < cost_of(standing(*best)))) best = &entry;
        return best;
    }
};

Tuner::Tuner(const SearchSpace& space, const StrategyEntry& strategy, std::uint64_t seed, TunerSettings settings, TunerScope scope)
    : state_(std::make_unique<State>()) {
    if (settings.window < 1) throw Error("tuner", "its window is " + std::to_string(settings.window), "use at least 1");
    if (settings.final_rounds < 1) throw Error("tuner", "it has " + std::to_string(settings.final_rounds) + " final rounds", "use at least 1");
    state_->space = &space;
    state_->settings = settings;
    state_->settings.most_final_rounds = std::max(settings.final_rounds, settings.most_final_rounds);
    state_->scope = std::move(scope);
    state_->members = state_->scope.only ? state_->scope.only->with(space.index_of(space.safe())) : space.members();
    state_->strategy_name = strategy.name;
    state_->strategy = strategy.make(space, state_->members, seed);
    state_->choose();
}

Tuner::~Tuner() = default;
Tuner::Tuner(Tuner&&) noexcept = default;
Tuner& Tuner::operator=(Tuner&&) noexcept = default;

std::optional<Candidate> Tuner::next() {
    State& state = *state_;
    if (state.chosen.empty() || static_cast<int>(state.handed.size()) >= state.settings.window) return std::nullopt;
    Candidate candidate = std::move(state.chosen.front());
    state.chosen.pop_front();
    state.handed.push_back(candidate);
    return candidate;
}

void Tuner::report(const Candidate& candidate, const Outcome& outcome) {
    State& state = *state_;
    if (state.handed.empty() || !state.handed.front().is(candidate))
        throw Error("tuner", "a report of " + candidate.config.key() + ", which is not the oldest candidate that is due",
                    "report candidates in the order of next()");
    state.handed.pop_front();
    if (candidate.purpose == Candidate::Purpose::finalist) return state.report_finalist(candidate, outcome);
    if (candidate.purpose == Candidate::Purpose::again)
        std::find_if(state.entries.begin(), state.entries.end(), [&](const Entry& e) { return e.index == candidate.index; })->search = outcome;
    else
        state.report_candidate(candidate, outcome);
    state.choose();
}

void Tuner::finish() {
    if (state_->finished) return;
    if (state_->in_finals) return state_->shorten_finals();
    state_->chosen.clear();
    state_->handed.clear();
    state_->begin_finals();
}

bool Tuner::finals() const {
    return state_->in_finals;
}

bool Tuner::done() const {
    return state_->finished;
}

std::optional<Tuner::Best> Tuner::best() const {
    const Entry* winner = state_->winner();
    if (winner == nullptr) return std::nullopt;
    return Best{state_->space->at(winner->index), state_->standing(*winner)};
}

std::optional<Outcome> Tuner::contradicted() const {
    const Entry* const winner = state_->finished ? state_->winner() : nullptr;
    return winner != nullptr && contradicts_itself(*winner) ? std::optional(winner->search) : std::nullopt;
}

std::optional<Outcome> Tuner::safe() const {
    if (state_->entries.empty()) return std::nullopt;
    return state_->standing(state_->entries.front());
}

int Tuner::evaluations() const {
    return static_cast<int>(state_->entries.size());
}

bool Tuner::compared() const {
    const std::vector<Entry>& entries = state_->entries;
    const auto measured = [&](const Entry& entry) { return state_->may_win(entry.search); };
    return std::ssize(entries) >= members() || (!entries.empty() && std::any_of(entries.begin() + 1, entries.end(), measured));
}

std::optional<Outlook> Tuner::outlook(double part) const {
    return state_->strategy->outlook(part);
}

std::int64_t Tuner::members() const {
    return static_cast<std::int64_t>(state_->members.size());
}

}  // namespace hone::inline v0_1
