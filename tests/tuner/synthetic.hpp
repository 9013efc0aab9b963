#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "generator/search_space.hpp"
#include "generator/value_lists.hpp"
#include "tuner/evaluator.hpp"
#include "tuner/random.hpp"
#include "tuner/statistics.hpp"

namespace hone::test {

/// A made-up search space with a cost for every member, like those of real kernels: a few tunables
/// decide, they interact, the ground is rugged, some members fail, and a constraint takes part of
/// the product away.
class Landscape {
  public:
    /// About `size` assignments.
    explicit Landscape(std::uint64_t seed, std::int64_t size = 600) : random_(seed) {
        std::vector<Tunable> tunables;
        std::vector<Assignment> safe;
        for (std::int64_t product = 1; product < size; product *= std::ssize(tunables.back().values)) {
            const std::size_t d = tunables.size();
            const auto count = static_cast<std::int64_t>(2 + random_.below(6));
            std::vector<std::int64_t> values(static_cast<std::size_t>(count));
            for (std::int64_t v = 0; v < count; ++v) values[static_cast<std::size_t>(v)] = v;
            const std::string name = "t" + std::to_string(d);
            tunables.push_back({name, "", numbers(values)});
            safe.push_back({name, std::int64_t{0}});
            optimum_.push_back(random_.real() * static_cast<double>(count - 1));
            weight_.push_back(std::pow(random_.real(), 2));  // few matter much
        }
        const std::size_t dimensions = tunables.size();
        for (std::size_t i = 0; i < 2 * dimensions; ++i)
            pairs_.push_back({random_.index(dimensions), random_.index(dimensions), 0.3 * random_.real()});
        salt_ = random_.below(1'000'000'007);
        space_ = SearchSpace(std::move(tunables), {{"made up", [](const Config& config) { return excluded(config); }}}, std::move(safe));
    }

    const SearchSpace& space() const { return space_; }

    /// Seconds of one step; infinite for a member that fails. The safe configuration never does.
    double cost(std::int64_t index) const {
        const Config config = space_.at(index);
        std::vector<double> at;
        for (const auto& assignment : config.assignments()) at.push_back(static_cast<double>(std::get<std::int64_t>(assignment.value)));
        double log_cost = 0;
        for (std::size_t d = 0; d < at.size(); ++d) log_cost += weight_[d] * 0.3 * std::abs(at[d] - optimum_[d]);
        for (const auto& [a, b, strength] : pairs_) log_cost += strength * (static_cast<int>(at[a] + at[b]) % 2);
        Random noise(static_cast<std::uint64_t>(index) * 2654435761U + salt_);
        const double rugged = noise.real();
        log_cost += 0.15 * rugged;
        if (index != space_.index_of(space_.safe()) && noise.real() < 0.1) return std::numeric_limits<double>::infinity();
        return 1e-3 * std::exp(log_cost);
    }

    /// An outcome as a device would give it: samples with noise that depends on candidate, round
    /// and seed alone.
    Outcome outcome(std::int64_t index, std::uint64_t round) const {
        Outcome outcome;
        const double seconds = cost(index);
        if (!std::isfinite(seconds)) {
            outcome.status = Status::crashed;
            outcome.reason = "made up";
            return outcome;
        }
        Random noise(static_cast<std::uint64_t>(index) * 7919 + round * 104729 + salt_);
        for (int i = 0; i < 10; ++i) outcome.samples.push_back(seconds * (1 + 0.02 * noise.real()));
        outcome.step = summarise(outcome.samples);
        outcome.tolerance = 1e-6;
        outcome.compile_seconds = 0.5;
        outcome.verify_seconds = 0.01;
        outcome.measure_seconds = 10 * seconds;
        return outcome;
    }

  private:
    static std::optional<std::string> excluded(const Config& config) {
        std::int64_t sum = 0;
        for (const auto& assignment : config.assignments()) sum += std::get<std::int64_t>(assignment.value);
        if (sum % 7 == 3) return "the sum of all values leaves 3";
        return std::nullopt;
    }

    struct Pair {
        std::size_t a, b;
        double strength;
    };
    Random random_;
    SearchSpace space_;
    std::vector<double> optimum_;
    std::vector<double> weight_;
    std::vector<Pair> pairs_;
    std::uint64_t salt_ = 0;
};

/// Evaluates by the landscape, on a clock of its own that every outcome moves on.
class SimulatedEvaluator : public Evaluator {
  public:
    explicit SimulatedEvaluator(const Landscape& landscape) : landscape_(landscape) {}

    void begin(const Problem& /*problem*/, std::uint64_t /*seed*/, double /*most_seconds*/) override { ++begun; }
    void prepare(const Candidate& candidate) override { prepared.push_back(candidate.index); }
    void foresee(std::span<const Config> configs) override { foreseen.assign(configs.begin(), configs.end()); }
    std::optional<Outcome> evaluate(const Candidate& candidate, double /*incumbent*/, const std::function<bool()>& stop) override {
        if (stop()) return std::nullopt;
        evaluated.push_back(candidate.index);
        Outcome outcome = landscape_.outcome(candidate.index, is_finalist(candidate) ? 1 : 0);
        seconds += outcome.verify_seconds + outcome.measure_seconds;
        return outcome;
    }
    void abandon() override {}
    WaitingTime waiting() const override { return waited; }

    WaitingTime waited;
    double seconds = 0;
    int begun = 0;
    std::vector<std::int64_t> prepared;
    std::vector<std::int64_t> evaluated;
    std::vector<Config> foreseen;

  private:
    const Landscape& landscape_;
};

}  // namespace hone::test
