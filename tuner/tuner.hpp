#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "generator/search_space.hpp"
#include "tuner/objective.hpp"
#include "tuner/outcome.hpp"
#include "tuner/strategy.hpp"

namespace hone::inline v0_1 {

/// A candidate to evaluate.
struct Candidate {
    /// Why it is evaluated.
    enum class Purpose {
        search,   ///< the strategy, or a list of promising members, asks for it
        again,    ///< it was measured while the device was in another state, and is compared with others from now on
        finalist  ///< it is one of the best, which are measured again, alternating with each other
    };
    std::int64_t index = 0;  ///< in the search space
    Config config;
    Purpose purpose = Purpose::search;

    /// Whether both are the same evaluation of the same member.
    bool is(const Candidate& other) const { return index == other.index && purpose == other.purpose; }
};

inline bool is_finalist(const Candidate& candidate) {
    return candidate.purpose == Candidate::Purpose::finalist;
}

struct TunerSettings {
    int window = 8;             ///< candidates chosen ahead of their reports at most, so that compilation keeps ahead of the device
    int finalists = 3;          ///< the best so many, and the safe configuration, are measured again in turn before one wins
    int final_rounds = 3;       ///< how often at least; a lone finalist once
    double tie = 0.01;          ///< costs closer than this, inside each other's noise, are a tie
    int most_final_rounds = 9;  ///< how often at most, while finalists cannot be told apart; not below final_rounds
    /// Once the device is in another state than when the incumbent was measured (see
    /// `another_state`), the incumbent is measured again, at most once in so many candidates; 0:
    /// never.
    int retime = 16;

    bool operator==(const TunerSettings&) const = default;
};

/// The goal of a tuner, and its part of the space.
struct TunerScope {
    Objective objective;
    std::optional<Members> only;          ///< members that it may choose, the safe configuration apart; nothing: all
    std::vector<std::int64_t> promising;  ///< members to be evaluated right after the safe configuration
    int first_ahead = 12;                 ///< candidates, while there is no report: about as many as the plan of a strategy's start
};

/// When to end a search: once its strategy gives less than a chance of 5 % to a further gain of
/// some part, and has for a whole window of reports, and for `fewest_reports`: a model of a dozen
/// costs is soon sure of itself.
///
///     GainRule rule(0.01, settings.window);
///     while (!rule.met()) { ...report...; rule.note(tuner.outlook(0.01)); }
class GainRule {
  public:
    static constexpr double least_chance = 0.05;
    static constexpr int fewest_reports = 16;

    /// `part` 0 never ends anything.
    GainRule(double part, int window) : part_(part), window_(window) {}
    double part() const { return part_; }
    /// After a report.
    void note(const std::optional<Outlook>& outlook) { hopeless_ = outlook && outlook->chance < least_chance ? hopeless_ + 1 : 0; }
    bool met() const { return part_ > 0 && hopeless_ > std::max(window_, fewest_reports); }

  private:
    double part_;
    int window_;
    int hopeless_ = 0;  ///< reports, the last ones
};

/// Whether costs measured in these two states of a device should not be compared: another clock (by
/// more than 3 %), or other reasons for throttling.
bool another_state(const DeviceReading& a, const DeviceReading& b);

/// The tuner as a state machine without clock or device: the same one offline, online and in
/// simulation.
///
///     Tuner tuner(space, find_strategy("local_search"), seed);
///     while (auto candidate = tuner.next()) tuner.report(*candidate, evaluate(*candidate));
///     const auto winner = tuner.best();
///
/// The safe configuration is always the first candidate. Candidates may be fetched ahead, and must
/// be reported in the order of `next`. When a candidate is chosen follows from the reports, however
/// early or late it is fetched, so that a run is determined by its seed and its reports alone: a
/// resumed run that replays its journal goes the same way.
///
/// What is chosen ahead is chosen from less knowledge. So no more is than keeps the device busy, by
/// the reported seconds of compiling and of measuring, or than teaches little beside what is known:
/// 3, or a twelfth of the reports if that is more; never more than the window. There are 12 ahead
/// before the first report (TunerScope::first_ahead).
///
/// What is best is what the objective says; by default the least seconds of a step. Promising
/// members, if there are any, come right after the safe configuration, and the strategy is told of
/// them as of its own candidates.
///
/// When the strategy is at its end, or after `finish`, the finalists are measured again, round by
/// round in turn (tuner/finals.hpp), until one is better than the others with confidence, or they
/// are declared equal, or the rounds are used up. A finalist's first measurement does not count,
/// because it was chosen for being low. Among finalists that tie with the lowest, the earliest
/// candidate wins, and the safe configuration was the first of all. A failure in the finals
/// disqualifies; where the safe configuration alone is left, it meets the next best in new finals.
/// Where the finals say of their winner more than five times, or less than a fifth, of what the
/// search said, they are held once more.
///
/// A strategy that asks for nothing but members that it had throws Error, from the constructor or
/// from `report`.
class Tuner {
  public:
    Tuner(const SearchSpace& space, const StrategyEntry& strategy, std::uint64_t seed, TunerSettings settings = {}, TunerScope scope = {});
    ~Tuner();
    Tuner(Tuner&&) noexcept;
    Tuner& operator=(Tuner&&) noexcept;

    /// The next candidate, or nothing: the window is full (report something), or all is done.
    std::optional<Candidate> next();
    /// Throws Error when it is not the oldest candidate that is still to be reported.
    void report(const Candidate& candidate, const Outcome& outcome);
    /// The budget is spent: candidates that are not yet reported are dropped, and the finals begin.
    /// Once they have begun: one round is enough for each finalist.
    void finish();
    bool finals() const;  ///< they have begun
    bool done() const;    ///< the winner is settled

    struct Best {
        Config config;
        Outcome outcome;  ///< after the finals: of its pooled rounds
    };
    /// The winner so far; nothing before the first measured report.
    std::optional<Best> best() const;
    /// The winner's outcome in the search, where its finals contradict that, and measuring again
    /// was not possible or gave a third figure: then its time is not to be relied on.
    std::optional<Outcome> contradicted() const;
    /// The safe configuration's outcome, once reported; after the finals: of its pooled rounds.
    std::optional<Outcome> safe() const;
    /// Candidates reported; what is measured again is not counted.
    int evaluations() const;
    /// Whether there is a choice: a candidate beside the safe configuration was measured, or all
    /// members were tried.
    bool compared() const;
    /// The strategy's estimate of what is still to gain, see Strategy::outlook. Candidates whose
    /// costs are pending count as known, so a small chance means something once as many reports as
    /// the window holds have said so one after another.
    std::optional<Outlook> outlook(double part) const;
    /// Members of the space that may be chosen.
    std::int64_t members() const;

  private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace hone::inline v0_1
