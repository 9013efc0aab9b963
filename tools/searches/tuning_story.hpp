#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "generator/families.hpp"
#include "tuner/journal.hpp"
#include "tuner/strategies/cost_model.hpp"

namespace hone::tools {

/// The course of a search by its journal, each candidate by its first evaluation: later ones are
/// made to compare a few.
struct TuningStory {
    /// Candidates that failed for one reason, but for the numbers in it.
    struct Failure {
        Status status = Status::wrong;
        std::string reason;  ///< of the first of them
        int count = 0;
    };
    /// A candidate that was better than all before.
    struct Improvement {
        int evaluation = 0;  ///< from 1
        double elapsed = 0;  ///< seconds of the run
        double cost = 0;
        std::string config;
    };
    struct Measured {
        std::string config;
        double cost = 0;
    };

    Objective objective;
    int evaluations = 0;
    std::vector<Failure> failures;   ///< the most frequent first
    std::vector<Measured> measured;  ///< the best first
    std::vector<Improvement> improvements;
    double safe = 0;     ///< cost of the first candidate, which is the safe configuration; 0: it failed
    double elapsed = 0;  ///< seconds
    double compile_seconds = 0;
    double verify_seconds = 0;
    double measure_seconds = 0;
    bool complete = false;  ///< the run came to its end

    double best() const { return measured.empty() ? 0 : measured.front().cost; }
    double worst() const { return measured.empty() ? 0 : measured.back().cost; }
    double median() const { return measured.empty() ? 0 : measured[measured.size() / 2].cost; }
    /// Evaluations until a cost within `part` of the best was reached; 0 when nothing was measured.
    int evaluations_to(double part) const;
    /// By what part the best at the end is below the best after two thirds of the evaluations.
    double late_gain() const;
};

TuningStory story_of(const JournalText& journal);

/// How many candidates cost up to each multiple of the best.
struct CostBin {
    double low = 1;  ///< multiples of the best cost
    double high = 1;
    int count = 0;
};
std::vector<CostBin> cost_histogram(const TuningStory& story);

/// A configuration that differs from another one in one value.
struct Neighbour {
    enum class Kind { measured, predicted, impossible };
    std::size_t tunable = 0;
    Value value;
    Kind kind = Kind::impossible;
    double ratio = 0;  ///< of its cost over the winner's; 0: impossible
    double low = 0;    ///< of a prediction, with 95 %
    double high = 0;
    double improvement = 0;  ///< of a prediction: mean part by which it is below the winner
    std::string reason;      ///< why it is impossible
};

/// A search space with what was measured in it, and the model of it.
struct MeasuredSpace {
    SearchSpace space;
    std::vector<MeasuredCost> costs;
    bool whole = false;  ///< the family's own space; else that of the values which occur in the journal, where nothing is known to be impossible
};

/// The costs that a model is fitted to: those beyond five times the median count as five times the
/// median. How bad a bad candidate is, or how long the machine was busy meanwhile, is not what a
/// search is about, and a few such times would outweigh all others.
std::vector<MeasuredCost> tempered(std::vector<MeasuredCost> costs);

/// The space of the family within `limits`, when it is known and has the journal's configurations;
/// else what the journal shows of it.
MeasuredSpace measured_space(const TuningStory& story, const std::string& problem, const Families& families, const Limits& limits);

/// Every neighbour of the winner, which is a configuration of the space, tunable by tunable.
/// `model` may be null: then what was not measured is left out.
std::vector<Neighbour> neighbours_of(const Config& winner, const MeasuredSpace& measured, const CostModel* model);

/// Reads a key as a configuration of a space, with the values of tunables that came later. Throws
/// Error for other text.
Config config_in(const SearchSpace& space, const std::string& key);

}  // namespace hone::tools
