#include "tuner/objective.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "foundation/error.hpp"

namespace hone::objective_test {
namespace {

Outcome outcome_of(double seconds, double joules) {
    Outcome outcome;
    outcome.step = {seconds, seconds, seconds, seconds, 9};
    if (joules > 0) outcome.energy = Energy{{joules, joules, joules, joules, 4}, joules / seconds, 0, "nvml", 200, 0.1, 0.001};
    return outcome;
}

TEST(Objective, HasATableWhoseFirstRowIsTime) {
    EXPECT_EQ(objectives().front().objective, Objective{});
    for (const auto& entry : objectives()) {
        EXPECT_EQ(parse_objective(entry.objective.name), entry.objective);
        EXPECT_NE(entry.summary, "");
        EXPECT_EQ(entry.objective.purpose.empty(), !entry.objective.needs_energy())
            << "a record of another purpose must not be handed out as the fastest";
    }
}

TEST(Objective, CostsAreSecondsJoulesAndTheirProducts) {
    const Outcome outcome = outcome_of(0.25, 8);
    EXPECT_EQ(cost(parse_objective("time"), outcome), 0.25);
    EXPECT_EQ(cost(parse_objective("energy"), outcome), 8);
    EXPECT_EQ(cost(parse_objective("edp"), outcome), 2);
    EXPECT_DOUBLE_EQ(cost(parse_objective("weighted:0.5"), outcome), std::sqrt(2.0));
    EXPECT_EQ(cost(parse_objective("weighted:0"), outcome), 0.25);
    EXPECT_EQ(cost(parse_objective("weighted:1"), outcome), 8);
}

TEST(Objective, WeightedRanksTheSameInEveryUnit) {
    const unsigned seed = std::random_device{}();
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> value(0.1, 10);
    for (int repetition = 0; repetition < 100; ++repetition) {
        const Objective objective = parse_objective("weighted:0.3");
        const double s1 = value(random), s2 = value(random), j1 = value(random), j2 = value(random);
        const bool better = cost(objective, outcome_of(s1, j1)) < cost(objective, outcome_of(s2, j2));
        EXPECT_EQ(cost(objective, outcome_of(1e3 * s1, 1e-6 * j1)) < cost(objective, outcome_of(1e3 * s2, 1e-6 * j2)), better) << "seed " << seed;
    }
}

TEST(Objective, WhatWasNotMeteredCostsWhatItWouldAtTheGivenPower) {
    EXPECT_DOUBLE_EQ(cost(parse_objective("energy"), outcome_of(0.5, 0), 300), 150);
    EXPECT_DOUBLE_EQ(cost(parse_objective("edp"), outcome_of(0.5, 0), 300), 75);
    EXPECT_EQ(cost(parse_objective("energy"), outcome_of(0.5, 0)), std::numeric_limits<double>::infinity());
    Outcome failed = outcome_of(0.5, 3);
    failed.status = Status::wrong;
    EXPECT_EQ(cost(parse_objective("energy"), failed), std::numeric_limits<double>::infinity());
    EXPECT_EQ(cost(parse_objective("time"), failed), std::numeric_limits<double>::infinity());
}

TEST(Objective, NoiseFollowsFromTheIntervals) {
    Outcome outcome = outcome_of(1, 10);
    EXPECT_EQ(relative_noise(parse_objective("edp"), outcome), 0);
    outcome.step.low = 1 - 0.0196;
    outcome.step.high = 1 + 0.0196;
    EXPECT_NEAR(relative_noise(parse_objective("time"), outcome), 0.01, 1e-12);
    EXPECT_EQ(relative_noise(parse_objective("energy"), outcome), 0);
    outcome.energy->joules.low = 9.804;
    outcome.energy->joules.high = 10.196;
    EXPECT_NEAR(relative_noise(parse_objective("energy"), outcome), 0.01, 1e-12);
    EXPECT_NEAR(relative_noise(parse_objective("edp"), outcome), 0.01 * std::sqrt(2.0), 1e-12);
}

TEST(Objective, WhatItDoesNotKnowIsAnError) {
    for (const char* text : {"", "speed", "weighted", "weighted:", "weighted:2", "weighted:-0.1", "weighted:half", "weighted:0.5x", "weighted:nan"})
        EXPECT_THROW(parse_objective(text), Error) << text;
}

// No candidate that draws at least half the incumbent's power and is slower than the rule allows
// can cost less.
TEST(Objective, TheTimeRuleOnlyDropsWhatCannotWin) {
    for (const char* text : {"energy", "edp", "weighted:0.25"}) {
        const Objective objective = parse_objective(text);
        const SamplingRule rule = sampling_for(objective, {});
        EXPECT_GE(rule.energy_seconds, 0.5) << text;
        const Outcome incumbent = outcome_of(1, 400);
        const double slow = rule.worse / SamplingRule{}.worse;
        EXPECT_GE(cost(objective, outcome_of(slow * 1.000001, slow * 200)), cost(objective, incumbent) * 0.999999) << text;
        EXPECT_LT(cost(objective, outcome_of(slow * 0.999, slow * 199)), cost(objective, incumbent)) << text << ": and it is no stricter than that";
        EXPECT_DOUBLE_EQ(rule.hopeless / SamplingRule{}.hopeless, slow) << text;
    }
    EXPECT_EQ(sampling_for(parse_objective("time"), {}).worse, SamplingRule{}.worse);
    EXPECT_EQ(sampling_for(parse_objective("time"), {}).energy_seconds, 0);
}

}  // namespace
}  // namespace hone::objective_test
