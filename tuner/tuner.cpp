#include "tuner/tuner.hpp"

#include <algorithm>
#include <deque>
#include <limits>

#include "generator/error.hpp"
#include "tuner/statistics.hpp"

namespace hone {
namespace {

/// A reported candidate; its place in the list is its age.
struct Entry {
    std::int64_t index = 0;
    Outcome search;               ///< as first measured
    std::optional<Outcome> pool;  ///< all rounds of the finals
};

/// A further round of a finalist. A failure replaces what was measured.
void add_round(Entry& entry, const Outcome& round) {
    if (!entry.pool || !round.measured()) {
        entry.pool = round;
        return;
    }
    Outcome& pool = *entry.pool;
    if (!pool.measured()) return;
    pool.samples.insert(pool.samples.end(), round.samples.begin(), round.samples.end());
    pool.step = summarise(pool.samples);
    pool.verification_error = std::max(pool.verification_error, round.verification_error);
    pool.compile_seconds += round.compile_seconds;
    pool.verify_seconds += round.verify_seconds;
    pool.measure_seconds += round.measure_seconds;
}

/// Whether `slower`, with the higher median, is as good as `fastest` for all that was measured.
bool ties(const Statistics& slower, const Statistics& fastest, double tie) {
    return slower.median <= fastest.median * (1 + tie) && slower.low <= fastest.high;
}

}  // namespace

struct Tuner::State {
    const SearchSpace* space = nullptr;
    TunerSettings settings;
    std::vector<std::int64_t> members;
    std::unique_ptr<Strategy> strategy;
    std::deque<Candidate> chosen;  ///< not yet handed out
    std::deque<Candidate> handed;  ///< not yet reported
    std::vector<Entry> entries;
    bool strategy_ended = false;
    bool in_finals = false;
    bool finished = false;
    std::vector<std::size_t> finalists;  ///< by age

    const Outcome& standing(const Entry& entry) const { return entry.pool ? *entry.pool : entry.search; }

    void choose() {
        while (!in_finals && !strategy_ended && static_cast<int>(chosen.size() + handed.size()) < settings.window) {
            const auto index = strategy->ask();
            if (index) chosen.push_back({*index, space->at(*index), false});
            strategy_ended = !index;
        }
        if (!in_finals && strategy_ended && chosen.empty() && handed.empty()) begin_finals();
    }

    /// The measured entries that were not in finals before, fastest first, the older first among equals.
    std::vector<std::size_t> ranking() const {
        std::vector<std::size_t> order;
        for (std::size_t i = 0; i < entries.size(); ++i)
            if (entries[i].search.measured() && !entries[i].pool) order.push_back(i);
        std::stable_sort(order.begin(), order.end(),
                         [&](std::size_t a, std::size_t b) { return entries[a].search.step.median < entries[b].search.step.median; });
        return order;
    }

    void begin_finals() {
        in_finals = true;
        finalists = ranking();
        finalists.resize(std::min(finalists.size(), static_cast<std::size_t>(std::max(1, settings.finalists))));
        const bool has_safe = std::find(finalists.begin(), finalists.end(), 0U) != finalists.end();
        if (!has_safe && !finalists.empty() && !entries[0].pool && entries[0].search.measured()) finalists.push_back(0);
        std::sort(finalists.begin(), finalists.end());
        finished = finalists.empty();
        const int rounds = finalists.size() == 1 ? 1 : settings.final_rounds;
        for (int round = 0; round < rounds; ++round)
            for (std::size_t i = 0; i < finalists.size(); ++i) {
                const std::size_t turn = (i + static_cast<std::size_t>(round)) % finalists.size();
                const std::int64_t index = entries[finalists[turn]].index;
                chosen.push_back({index, space->at(index), true});
            }
    }

    /// Leaves one round to finalists that have none yet.
    void shorten_finals() {
        chosen.clear();
        handed.clear();
        for (const std::size_t finalist : finalists)
            if (!entries[finalist].pool) chosen.push_back({entries[finalist].index, space->at(entries[finalist].index), true});
        if (chosen.empty()) conclude();
    }

    void conclude() {
        const bool survivor = std::any_of(finalists.begin(), finalists.end(), [&](std::size_t i) { return entries[i].pool->measured(); });
        finished = survivor;
        if (!survivor) begin_finals();
    }

    void report_finalist(const Candidate& candidate, const Outcome& outcome) {
        const auto entry = std::find_if(entries.begin(), entries.end(), [&](const Entry& e) { return e.index == candidate.index; });
        add_round(*entry, outcome);
        if (!outcome.measured()) std::erase_if(chosen, [&](const Candidate& c) { return c.index == candidate.index; });
        if (chosen.empty() && handed.empty()) conclude();
    }

    const Entry* winner() const {
        const Entry* fastest = nullptr;
        const auto stands = [&](const Entry& entry) { return standing(entry).measured() && (!finished || entry.pool); };
        for (const Entry& entry : entries)
            if (stands(entry) && (fastest == nullptr || standing(entry).step.median < standing(*fastest).step.median)) fastest = &entry;
        if (fastest == nullptr || !finished) return fastest;
        for (const Entry& entry : entries)
            if (stands(entry) && ties(standing(entry).step, standing(*fastest).step, settings.tie)) return &entry;
        return fastest;
    }
};

Tuner::Tuner(const SearchSpace& space, const StrategyEntry& strategy, std::uint64_t seed, TunerSettings settings)
    : state_(std::make_unique<State>()) {
    if (settings.window < 1) throw Error("tuner", "its window is " + std::to_string(settings.window), "use at least 1");
    if (settings.final_rounds < 1) throw Error("tuner", "it has " + std::to_string(settings.final_rounds) + " final rounds", "use at least 1");
    state_->space = &space;
    state_->settings = settings;
    state_->members = space.members();
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
    if (state.handed.empty() || state.handed.front().index != candidate.index || state.handed.front().finalist != candidate.finalist)
        throw Error("tuner", "a report of " + candidate.config.key() + ", which is not the oldest candidate that is due",
                    "report candidates in the order of next()");
    state.handed.pop_front();
    if (candidate.finalist) return state.report_finalist(candidate, outcome);
    state.entries.push_back({candidate.index, outcome, std::nullopt});
    state.strategy->tell(candidate.index, outcome.measured() ? outcome.step.median : std::numeric_limits<double>::infinity());
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

std::optional<Outcome> Tuner::safe() const {
    if (state_->entries.empty()) return std::nullopt;
    return state_->standing(state_->entries.front());
}

int Tuner::evaluations() const {
    return static_cast<int>(state_->entries.size());
}

std::int64_t Tuner::members() const {
    return static_cast<std::int64_t>(state_->members.size());
}

}  // namespace hone
