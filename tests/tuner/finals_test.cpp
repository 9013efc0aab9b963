#include "tuner/finals.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>

#include "tests/support/fresh_random.hpp"

namespace hone::finals_test {
namespace {

std::vector<Round> rounds(const std::vector<double>& costs, double noise = 0) {
    std::vector<Round> result;
    for (const double cost : costs) result.push_back({cost, noise});
    return result;
}

TEST(CompareInTurns, TellsApartWhatIsBeyondTheNoise) {
    const auto compare = [](const std::vector<double>& a, const std::vector<double>& b) { return compare_in_turns(rounds(a), rounds(b), 0.01); };
    EXPECT_EQ(compare({1, 1, 1}, {1.005, 1.005, 1.005}), Comparison::first) << "without noise the least difference is one";
    EXPECT_EQ(compare({1.2, 1.2, 1.2}, {1, 1, 1}), Comparison::second);
    EXPECT_EQ(compare({1, 1, 1}, {1, 1, 1}), Comparison::equal);
    EXPECT_EQ(compare({1, 1.01, 0.99}, {1.02, 0.99, 1.01}), Comparison::open) << "three rounds with 1 % noise";
    EXPECT_EQ(compare({1}, {1.1}), Comparison::first) << "one round whose own noise is nought";
    EXPECT_EQ(compare({}, {1.1}), Comparison::open);
}

TEST(CompareInTurns, DriftThatHitsBothAlikeDoesNotCount) {
    EXPECT_EQ(compare_in_turns(rounds({1, 1.1, 1.3, 1.6}), rounds({1.02, 1.122, 1.326, 1.632}), 0.01), Comparison::first);
}

TEST(CompareInTurns, IsNoMoreCertainThanTheRoundsThemselves) {
    EXPECT_EQ(compare_in_turns(rounds({1, 1, 1}, 0.01), rounds({1.01, 1.01, 1.01}, 0.01), 0.01), Comparison::open);
    EXPECT_EQ(compare_in_turns(rounds({1, 1, 1}, 0.01), rounds({1.1, 1.1, 1.1}, 0.01), 0.01), Comparison::first);
}

TEST(CompareInTurns, SwappingTheTwoSwapsTheVerdict) {
    const unsigned seed = std::random_device{}();
    std::mt19937 random(seed);
    std::normal_distribution<double> noise(0, 0.01);
    for (int repetition = 0; repetition < 200; ++repetition) {
        std::vector<double> a;
        std::vector<double> b;
        const double ratio = std::exp(5 * noise(random));
        for (int round = 0; round < 3 + repetition % 7; ++round) {
            a.push_back(std::exp(noise(random)));
            b.push_back(ratio * std::exp(noise(random)));
        }
        const auto forward = compare_in_turns(rounds(a), rounds(b), 0.01);
        const auto backward = compare_in_turns(rounds(b), rounds(a), 0.01);
        const auto mirrored = backward == Comparison::first ? Comparison::second : backward == Comparison::second ? Comparison::first : backward;
        EXPECT_EQ(forward, mirrored) << "seed " << seed;
    }
}

struct Played {
    std::size_t winner;
    int measurements;
    int rounds;
};

/// Plays finals by a function of finalist and round.
Played play(std::size_t count, const std::function<double(std::size_t, int)>& cost, double noise = 0, FinalsRule rule = {}) {
    Finals finals(count, rule);
    Played played{0, 0, 0};
    for (auto round = finals.round(); !round.empty(); round = finals.round(), ++played.rounds)
        for (const std::size_t finalist : round) {
            finals.report(finalist, Round{cost(finalist, played.rounds), noise});
            ++played.measurements;
        }
    played.winner = finals.winner().value();
    return played;
}

TEST(Finals, EndAfterTheLeastRoundsWhereAllIsClear) {
    const Played played = play(3, [](std::size_t finalist, int) { return 3.0 - static_cast<double>(finalist); });
    EXPECT_EQ(played.winner, 2U);
    EXPECT_EQ(played.rounds, 3);
    EXPECT_EQ(played.measurements, 9);
}

TEST(Finals, GoOnBetweenThoseThatCannotBeToldApartYet) {
    test::FreshRandom random;
    std::normal_distribution<double> noise(0, 0.01);
    // Finalist 2 is twice as slow: out after three rounds. The other two differ by 0.2 %, which 1 %
    // of noise hides.
    const Played played = play(
        3, [&](std::size_t finalist, int) { return (finalist == 2   ? 2.0
                                                    : finalist == 1 ? 0.998
                                                                    : 1.0) *
                                                   std::exp(noise(random)); }, 0.01);
    EXPECT_GT(played.rounds, 3);
    EXPECT_LE(played.rounds, 9);
    EXPECT_EQ(played.measurements, 9 + 2 * (played.rounds - 3));
    EXPECT_LE(played.winner, 1U);
}

TEST(Finals, EqualOnesGoToTheFirst) {
    const Played played = play(4, [](std::size_t, int) { return 7.0; });
    EXPECT_EQ(played.winner, 0U);
    EXPECT_EQ(played.rounds, 3);
}

TEST(Finals, NameTheBetterOneAlmostAlwaysAndNeverOneThatIsClearlyWorse) {
    const unsigned seed = std::random_device{}();
    std::mt19937 random(seed);
    std::normal_distribution<double> noise(0, 0.005);
    int right = 0;
    constexpr int repetitions = 400;
    for (int repetition = 0; repetition < repetitions; ++repetition) {
        const auto winner =
            play(
                3, [&](std::size_t finalist, int) { return (1 + 0.03 * static_cast<double>(finalist)) * std::exp(noise(random)); }, 0.005)
                .winner;
        EXPECT_LE(winner, 1U) << "6 % is twelve times the noise; seed " << seed;
        right += winner == 0 ? 1 : 0;
    }
    // 3 % is six times the noise of one round; the order is told with 99 % confidence.
    EXPECT_GE(right, repetitions * 95 / 100) << "seed " << seed;
}

TEST(Finals, ALoneFinalistHasOneRound) {
    EXPECT_EQ(play(1, [](std::size_t, int) { return 1.0; }).measurements, 1);
}

TEST(Finals, WhoFailsIsOut) {
    Finals finals(3, {});
    EXPECT_EQ(finals.round(), (std::vector<std::size_t>{0, 1, 2}));
    finals.report(0, Round{2, 0});
    finals.report(1, std::nullopt);
    finals.report(2, Round{3, 0});
    EXPECT_EQ(finals.round(), (std::vector<std::size_t>{2, 0}));
    EXPECT_EQ(finals.winner(), 0U);
    finals.report(0, std::nullopt);
    EXPECT_EQ(finals.winner(), 2U);
    finals.report(2, std::nullopt);
    EXPECT_TRUE(finals.round().empty());
    EXPECT_FALSE(finals.winner());
    EXPECT_TRUE(finals.unmeasured().empty());
}

TEST(Finals, OfNobodyHaveNoWinner) {
    Finals finals(0, {});
    EXPECT_TRUE(finals.round().empty());
    EXPECT_FALSE(finals.winner());
}

TEST(Finals, TheYardstickIsMeasuredBesideTheOthersToTheEnd) {
    Finals finals(3, {3, 9, 0.01, 0});
    int rounds = 0;
    for (auto round = finals.round(); !round.empty(); round = finals.round(), ++rounds) {
        EXPECT_NE(std::find(round.begin(), round.end(), std::size_t{0}), round.end()) << rounds;
        // The last two cross each other, so that they cannot be told apart; the first is far worse
        // from the start.
        for (const std::size_t finalist : round)
            finals.report(finalist, Round{finalist == 0 ? 50.0 : (static_cast<int>(finalist) + rounds) % 2 == 0 ? 1.0 : 1.2, 0.001});
    }
    EXPECT_GT(rounds, 3);
    EXPECT_NE(finals.winner(), std::optional<std::size_t>(0));
}

}  // namespace
}  // namespace hone::finals_test
