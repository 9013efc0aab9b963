#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tuner/replay/recorded_space.hpp"
#include "tuner/strategy.hpp"

namespace hone::inline v0_1 {

struct SimulationSettings {
    int repetitions = 100;   ///< fewer say little: the community asks for 100
    int evaluations = 400;   ///< of each repetition, all distinct
    std::uint64_t seed = 1;  ///< repetition r of every strategy has the same seed and starting point
    int window = 1;          ///< candidates chosen ahead of their costs (TunerSettings::window); 1 is how searches are compared
    double until = 0;        ///< repetitions end when the strategy sees hardly a chance of gaining a further part (GainRule); 0: never
    int threads = 0;         ///< repetitions side by side; 0: as many as the machine has. The results do not depend on it
};

/// The results of one strategy on one space.
struct Simulation {
    std::string strategy;
    /// [repetition][evaluation - 1]: best cost so far; infinity until something valid was met. A
    /// search that ended sooner keeps its last.
    std::vector<std::vector<double>> best;
    /// [repetition][evaluation - 1]: the member that has this cost; any one that was evaluated,
    /// until something valid was met.
    std::vector<std::vector<std::int64_t>> best_member;
    std::vector<bool> ended;  ///< [repetition]: whether SimulationSettings::until ended it
    double seconds = 0;       ///< processor time of a repetition, in the mean: what the search itself costs
};

/// Replays a strategy. Every repetition builds its own space, with a starting point of its own, its
/// own Tuner and its own Strategy, so that nothing is handed down from one to the next. The Tuner
/// is the state machine that tunes kernels, fed with recorded costs.
///
/// `go_on` is called with the number of repetitions done, from any thread, one at a time; once it
/// says no, those not yet begun are left out of the result. Evaluations are distinct: the tuner
/// passes over what a strategy asks again. Throws Error when it asks for what is no member.
Simulation simulate(const RecordedSpace& recorded, const StrategyEntry& strategy, const SimulationSettings& settings,
                    const std::function<bool(int)>& go_on = {});

/// One repetition: the best after each evaluation, at most `evaluations`.
struct Replay {
    std::vector<double> best;               ///< its cost so far
    std::vector<std::int64_t> best_member;  ///< and which it is
    bool ended = false;                     ///< by GainRule
};
Replay replay(const RecordedSpace& recorded, const StrategyEntry& strategy, std::uint64_t seed, int evaluations, int window = 1, double until = 0);

/// Seed of a repetition.
std::uint64_t repetition_seed(std::uint64_t seed, int repetition);

/// Random search without replacement, exactly: no simulation, but the distribution of the best of k
/// draws, from the sorted costs. Invalid configurations count as draws. Where all draws are
/// invalid, the best is the worst valid cost.
class RandomBaseline {
  public:
    explicit RandomBaseline(const RecordedSpace& recorded);

    /// Expected best cost, and expected fraction of the optimum (optimum over best; 0 while all is
    /// invalid), of so many draws.
    double cost(std::int64_t draws) const;
    double fraction(std::int64_t draws) const;
    /// Expected number of draws until the best is within `part` of the optimum: 0.05 for 5 %.
    double draws_to(double part) const;
    /// The first budget at which the expected best has covered this part of the way from the median
    /// to the optimum: 0.5, 0.95.
    std::int64_t draws_to_cover(double part) const;

    double optimum() const { return costs_.front(); }
    double median() const { return median_; }
    double worst() const { return worst_; }  ///< of the valid ones

  private:
    template <typename Value>
    double expected(std::int64_t draws, Value value) const;
    std::vector<double> costs_;
    double median_ = 0;  ///< of the valid ones
    double worst_ = 0;
};

/// Mean over the repetitions of optimum over best, after so many evaluations; 1 is perfect, what is
/// still infinite counts as 0.
double fraction_of_optimum(const Simulation& simulation, double optimum, std::int64_t evaluations);

/// Mean best cost over the repetitions.
double mean_best(const Simulation& simulation, const RandomBaseline& baseline, std::int64_t evaluations);

/// The `part` (0.1: the best tenth) of repetitions has at most this cost.
double percentile(const Simulation& simulation, double part, std::int64_t evaluations);

/// Evaluations until the best is within `part` of the optimum: the median over the repetitions;
/// infinity when most do not come so far.
double evaluations_to(const Simulation& simulation, double optimum, double part);

/// The score of the autotuning community: P(t) = (baseline(t) - f(t)) / (baseline(t) - optimum), f
/// being the mean best cost, averaged over the budgets from where random search has covered half of
/// the way from the median to the optimum to where it has covered 95 %. 0 is random search, 1 the
/// optimum at once. Source: F.-J. Willemsen et al., A methodology for comparing optimization
/// algorithms for auto-tuning, FGCS 159 (2024).
struct Score {
    double value = 0;
    double error = 0;        ///< half the width of its 95 % confidence interval: Student's t over the single repetitions; infinite for one
    std::int64_t first = 1;  ///< the budgets that it is over
    std::int64_t last = 1;   ///< no more than were simulated
};
Score score(const Simulation& simulation, const RandomBaseline& baseline);

/// The results of repetitions that ended by GainRule.
struct Stops {
    int ended = 0;           ///< repetitions that did
    double evaluations = 0;  ///< when, in the median of these
    double fraction = 0;     ///< optimum over best then, in their mean
    double missed = 0;       ///< the part of them that had as much to gain as the rule waits for, or more
};
Stops stops(const Simulation& simulation, double optimum, double until);

/// A configuration that repetitions had as their best after some evaluations, and did not get away
/// from.
struct StuckAt {
    std::int64_t member = 0;        ///< index in the space
    int repetitions = 0;            ///< that had it
    double excess = 0;              ///< its cost over the optimum's, less one: 0.02 is 2 % slower
    int valley = 0;                 ///< 1 for the optimum, 2 for the second-best local optimum, ...; 0: no local optimum, a neighbour is faster
    std::int64_t nearest_best = 0;  ///< of the configurations that have the optimum's cost, the one that differs in fewest parameters
    std::vector<std::size_t> far;   ///< these parameters
};

/// Where the repetitions stood after so many evaluations, the most frequent first. A local optimum
/// is a valid member none of whose neighbours (one value differs) costs less.
std::vector<StuckAt> stuck_at(const RecordedSpace& recorded, const Simulation& simulation, std::int64_t evaluations);

/// As many evaluations as the score needs, but at least `evaluations` and at most `most`.
int evaluations_for_score(const RandomBaseline& baseline, int evaluations, int most);

}  // namespace hone::inline v0_1
