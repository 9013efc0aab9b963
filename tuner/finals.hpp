#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace hone::inline v0_1 {

/// The result of one round of a finalist.
struct Round {
    double cost = 0;   ///< median of the round
    double noise = 0;  ///< standard deviation of that median, relative to it, from the round's own samples
};

enum class Comparison {
    first,   ///< the first costs less, with confidence
    second,  ///< the second does
    equal,   ///< with confidence, they differ by less than counts
    open     ///< cannot be told yet
};

/// Compares two configurations that were measured in turns, round by round, so that drift of the
/// device hits both alike: by the 99 % confidence interval of the mean logarithm of the ratio of
/// their costs, from Student's distribution over the rounds, and no narrower than the rounds' own
/// noise allows.
///
/// 99 %, because the question is asked again after every round: seven looks at that level are right
/// at 95 % together (Pocock, Biometrika 64, 1977). Rounds that only one of them has are left out.
Comparison compare_in_turns(std::span<const Round> first, std::span<const Round> second, double tie);

/// How finalists are compared.
struct FinalsRule {
    int least_rounds = 3;
    int most_rounds = 9;
    double tie = 0.01;  ///< costs closer than this do not differ
    /// A finalist that takes part in every round, also when it is worse: the gain over it then
    /// comes from the same minutes as the winner's time.
    std::optional<std::size_t> yardstick = {};
};

/// The finals: candidates are measured round by round in turn, each round starting with the next
/// one, until one is better than all others with confidence, or those that remain are declared
/// equal, or the rounds are used up. Whoever is worse than the leader with confidence takes no part
/// in further rounds, but for the yardstick. A lone finalist has one round.
///
///     Finals finals(3, {});
///     for (auto round = finals.round(); !round.empty(); round = finals.round())
///         for (const std::size_t finalist : round) finals.report(finalist, measure(finalist));
///     const auto winner = finals.winner();
class Finals {
  public:
    Finals(std::size_t finalists, FinalsRule rule) : rule_(rule), finalists_(finalists) {}

    /// The finalists of the next round, in the order in which to measure them; none when all is
    /// decided. Call it after the last round was reported.
    std::vector<std::size_t> round();
    /// Reports a finalist's round. Nothing: it failed, and takes no further part.
    void report(std::size_t finalist, const std::optional<Round>& round);

    /// The finalist with the lowest costs. Of those that the measurements cannot tell from it, the
    /// one with the lowest number. Nothing when no finalist has a round without failing.
    std::optional<std::size_t> winner() const;
    /// The finalists that did not fail and have no round yet.
    std::vector<std::size_t> unmeasured() const;

  private:
    struct Finalist {
        std::vector<Round> rounds;
        bool failed = false;
        bool beaten = false;
    };
    bool stands(const Finalist& finalist) const { return !finalist.failed && !finalist.rounds.empty(); }
    std::optional<std::size_t> leader() const;
    bool ties_with(std::size_t leader, const Finalist& finalist) const;

    FinalsRule rule_;
    std::vector<Finalist> finalists_;
    int begun_ = 0;  ///< rounds
};

}  // namespace hone::inline v0_1
