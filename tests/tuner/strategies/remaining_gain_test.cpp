#include "tuner/strategies/remaining_gain.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace hone::remaining_gain_test {
namespace {

// Members drawn from their distributions, again and again.
TEST(RemainingGain, IsWhatDrawsOfTheMembersHaveInTheMean) {
    const unsigned seed = std::random_device{}();
    SCOPED_TRACE(fmt::format("seed {}", seed));
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> uniform;
    std::normal_distribution<double> normal;
    std::vector<OpenMember> members;
    for (int i = 0; i < 12; ++i) members.push_back({{0.1 + uniform(random), 0.02 + 0.2 * uniform(random), 0.5 * uniform(random)}, 1.0 + i % 3});
    constexpr double part = 0.02;
    constexpr int draws = 40'000;
    double chance = 0;
    double gain = 0;
    for (int draw = 0; draw < draws; ++draw) {
        double best = 0;
        for (const auto& [cost, weight] : members)
            for (int i = 0; i < static_cast<int>(weight); ++i) {
                if (uniform(random) < cost.failure) continue;
                best = std::min(best, cost.mean + cost.deviation * normal(random));
            }
        chance += std::exp(best) < 1 - part ? 1.0 / draws : 0;
        gain += (1 - std::exp(best)) / draws;
    }
    const Outlook outlook = remaining_gain(members, 0, part);
    EXPECT_NEAR(outlook.chance, chance, 5 * std::sqrt(0.25 / draws));
    EXPECT_NEAR(outlook.gain, gain, 0.003 + 0.02 * gain);
}

TEST(RemainingGain, IsNothingWhereAllIsKnown) {
    const Outlook none = remaining_gain({}, 0, 0.01);
    EXPECT_EQ(none.chance, 0);
    EXPECT_EQ(none.gain, 0);
    const std::vector<OpenMember> hopeless{{{5, 0.01, 0}, 1}};
    EXPECT_LT(remaining_gain(hopeless, 0, 0.01).chance, 1e-6);
    const std::vector<OpenMember> certain{{{-1, 0.001, 0}, 1}};
    EXPECT_GT(remaining_gain(certain, 0, 0.01).chance, 0.999);
    EXPECT_NEAR(remaining_gain(certain, 0, 0.01).gain, 1 - std::exp(-1), 0.03);
    const std::vector<OpenMember> failing{{{-1, 0.001, 1}, 1}};
    EXPECT_EQ(remaining_gain(failing, 0, 0.01).chance, 0);
}

}  // namespace
}  // namespace hone::remaining_gain_test
