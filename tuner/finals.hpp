#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace hone {

/// What one round of a finalist came to.
struct Round {
    double cost = 0;   ///< median of the round
    double noise = 0;  ///< standard deviation of that median, relative to it, as the round's own samples tell it
};

enum class Comparison {
    first,   ///< the first costs less, with confidence
    second,  ///< the second does
    equal,   ///< with confidence, they differ by less than counts
    open     ///< cannot be told yet
};

/// Compares two configurations that were measured in turns, round by round, so that drift of the device hits both alike: by the 99 % confidence
/// interval of the mean logarithm of the ratio of their costs, from Student's distribution over the rounds, and no narrower than the rounds' own
/// noise allows.
///
/// 99 %, because the question is asked again after every round: seven looks at that level are right at 95 % together (Pocock, Biometrika 64, 1977).
/// Rounds that only one of them has are left out.
Comparison compare_in_turns(std::span<const Round> first, std::span<const Round> second, double tie);

/// How finalists are compared.
struct FinalsRule {
    int least_rounds = 3;
    int most_rounds = 9;
    double tie = 0.01;  ///< costs closer than this do not differ
    /// A finalist that takes part in every round, also when it is worse: the gain over it then comes from the same minutes as the winner's time.
    std::optional<std::size_t> yardstick = {};
};

/// The finals: candidates are measured round by round in turn, each round starting with the next one, until one is better than all others with
/// confidence, or those that remain are declared equal, or the rounds are used up. Whoever is worse than the leader with confidence takes no part in
/// further rounds, but for the yardstick. A lone finalist has one round.
///
///     Finals finals(3, {});
///     for (auto round = finals.round(); !round.empty(); round = finals.round())
///         for (const std::size_t finalist : round) finals.report(finalist, measure(finalist));
///     const auto winner = finals.winner();
class Finals {
  public:
    Finals(std::size_t finalists, FinalsRule rule) : rule_(rule), finalists_(finalists) {}

    /// Who is to be measured in the next round, in this order; nobody when all is decided. To be asked when the last round was reported.
    std::vector<std::size_t> round();
    /// A finalist's next round; nothing: it failed and is out.
    void report(std::size_t finalist, const std::optional<Round>& round);

    /// The one with the lowest costs; of those that are equal to it for all that was measured, the one with the lowest number. Nothing when nobody
    /// has a round and did not fail.
    std::optional<std::size_t> winner() const;
    /// Who did not fail and has no round yet.
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

}  // namespace hone
