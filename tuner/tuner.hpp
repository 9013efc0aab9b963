#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "generator/search_space.hpp"
#include "tuner/outcome.hpp"
#include "tuner/strategy.hpp"

namespace hone {

/// A candidate to evaluate.
struct Candidate {
    std::int64_t index = 0;  ///< in the search space
    Config config;
    bool finalist = false;  ///< measured before; measure it again, in turn with the others
};

struct TunerSettings {
    int window = 8;            ///< candidates handed out ahead of their reports, so that compilation keeps ahead of the device
    int most_evaluations = 0;  ///< 0: no bound
    int finalists = 3;         ///< the best so many are measured again in turn before one wins
    int final_rounds = 3;
};

/// The tuner as a state machine without clock or device: the same one offline, online and in simulation.
///
///     while (auto candidate = tuner.next()) tuner.report(*candidate, evaluate(*candidate));
///
/// The safe configuration is always the first candidate. Reports must come in the order of `next`, so that a run is determined by its seed and its
/// reports alone: a resumed run that replays its journal goes the same way. `next` returns nothing when the window is full (report something), or
/// when done.
class Tuner {
  public:
    Tuner(const SearchSpace& space, const StrategyEntry& strategy, std::uint64_t seed, TunerSettings settings = {});
    ~Tuner();

    std::optional<Candidate> next();
    void report(const Candidate& candidate, const Outcome& outcome);
    /// No new candidates from now on (the budget is spent): go to the finals with what is there.
    void finish();
    bool done() const;

    struct Best {
        Config config;
        Outcome outcome;
    };
    /// The winner so far; nothing before the first measured report.
    std::optional<Best> best() const;
    /// The safe configuration's outcome, once reported.
    std::optional<Outcome> safe() const;
    int evaluations() const;

  private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace hone
