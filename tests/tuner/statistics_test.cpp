#include "tuner/statistics.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

namespace hone::statistics_test {
namespace {

TEST(Statistics, OfNothingAreZero) {
    EXPECT_EQ(summarise({}), Statistics{});
}

TEST(Statistics, DoNotDependOnTheOrderOfTheSamples) {
    const unsigned seed = std::random_device{}();
    std::mt19937 random(seed);
    std::vector<double> samples(37);
    for (double& sample : samples) sample = std::uniform_real_distribution<double>(1, 2)(random);
    const Statistics before = summarise(samples);
    std::shuffle(samples.begin(), samples.end(), random);
    EXPECT_EQ(summarise(samples), before) << "seed " << seed;
}

TEST(Statistics, AreOrderStatistics) {
    std::vector<double> samples;
    for (int i = 40; i >= 1; --i) samples.push_back(i);
    const Statistics summary = summarise(samples);
    EXPECT_EQ(summary.median, 20.5);
    EXPECT_EQ(summary.minimum, 1);
    EXPECT_EQ(summary.samples, 40);
    // Tables of the binomial distribution: n = 40 gives the 14th and 27th of the sorted values.
    EXPECT_EQ(summary.low, 14);
    EXPECT_EQ(summary.high, 27);
}

TEST(Statistics, TheMedianIsTheMiddleOneOrBetweenTheMiddleTwo) {
    EXPECT_EQ(summarise({7}).median, 7);
    EXPECT_EQ(summarise({4, 1}).median, 2.5);
    EXPECT_EQ(summarise({9, 1, 2}).median, 2);
    EXPECT_EQ(summarise({9, 1, 2, 3}).median, 2.5);
    EXPECT_EQ(summarise({9, 4, 1, 2, 3}).median, 3);
}

TEST(Statistics, OneInterruptedStepMovesNothing) {
    std::vector<double> samples(39, 1.0);
    samples.push_back(1000);
    const Statistics summary = summarise(samples);
    EXPECT_EQ(summary.median, 1);
    EXPECT_EQ(summary.high, 1);
}

// Published ranks of 95 % intervals of a median (from 0 here): n = 6: 1st and 6th, n = 9: 2nd and
// 8th, n = 20: 6th and 15th, n = 100: 40th and 61st.
TEST(Statistics, IntervalRanksAreThoseOfTheTables) {
    EXPECT_EQ(median_interval(1), std::pair(0, 0));
    EXPECT_EQ(median_interval(5), std::pair(0, 4));
    EXPECT_EQ(median_interval(6), std::pair(0, 5));
    EXPECT_EQ(median_interval(9), std::pair(1, 7));
    EXPECT_EQ(median_interval(20), std::pair(5, 14));
    EXPECT_EQ(median_interval(100), std::pair(39, 60));
}

TEST(Statistics, IntervalRanksGrowSmoothlyToAnyNumber) {
    int before = 0;
    for (int n = 6; n < 3000; ++n) {
        const auto [low, high] = median_interval(n);
        EXPECT_EQ(high, n - 1 - low) << n;
        EXPECT_GE(low, before) << n;
        EXPECT_LE(low, before + 1) << n;
        before = low;
    }
}

// P(Binomial(n, 1/2) <= k), added up from logarithms of factorials: no 0.5^n that underflows.
double binomial_tail(int n, int k) {
    double sum = 0;
    for (int i = 0; i <= k; ++i) sum += std::exp(std::lgamma(n + 1.0) - std::lgamma(i + 1.0) - std::lgamma(n - i + 1.0) - n * std::log(2.0));
    return sum;
}

TEST(Statistics, IntervalRanksOfManySamplesAreThoseOfTheBinomialDistribution) {
    for (const int n : {6, 57, 999, 1000, 1001, 1002, 1708, 2000, 2062, 4001}) {
        const int low = median_interval(n).first;
        EXPECT_LE(2 * binomial_tail(n, low), 0.05) << n;
        EXPECT_GT(2 * binomial_tail(n, low + 1), 0.05) << n;
    }
}

TEST(Statistics, IntervalsCoverTheMedianAsOftenAsTheySay) {
    const unsigned seed = std::random_device{}();
    std::mt19937 random(seed);
    std::lognormal_distribution<double> skewed(0, 1);  // median 1
    int covered = 0;
    constexpr int trials = 4000;
    for (int trial = 0; trial < trials; ++trial) {
        std::vector<double> samples(25);
        for (double& sample : samples) sample = skewed(random);
        const Statistics summary = summarise(samples);
        covered += summary.low <= 1 && 1 <= summary.high ? 1 : 0;
    }
    // At least 95 %; 5 standard deviations of the count below that. Ranks 8 and 18 of 25 cover 95.7
    // %: less than that is seen once in 10^11 runs.
    EXPECT_GE(covered, trials * 0.95 - 5 * std::sqrt(trials * 0.95 * 0.05)) << "seed " << seed;
}

TEST(WarmUp, IsTheSlowStart) {
    const std::vector<double> seconds{9, 5, 1.0, 1.1, 1.2, 1.0, 1.1, 1.2, 1.0, 1.1, 1.2, 1.0};
    EXPECT_EQ(warm_up_length(seconds), 2);
}

TEST(WarmUp, IsAtMostAQuarter) {
    const std::vector<double> falling{8, 7, 6, 5, 4, 3, 2, 1};
    EXPECT_EQ(warm_up_length(falling), 2);
    for (std::size_t n = 4; n < 50; ++n) {
        std::vector<double> always_falling(n);
        std::iota(always_falling.rbegin(), always_falling.rend(), 1.0);
        EXPECT_EQ(warm_up_length(always_falling), static_cast<int>(n / 4)) << n;
    }
    EXPECT_EQ(warm_up_length(std::vector<double>{9, 1, 1}), 0);
    EXPECT_EQ(warm_up_length({}), 0);
}

TEST(WarmUp, IsNothingWhenTheStartIsNoSlowerThanTheEnd) {
    EXPECT_EQ(warm_up_length(std::vector<double>{1.2, 1, 1, 1, 1, 1, 1, 1.2}), 0);
}

// A step of the first half may have been disturbed, and its second quarter may still be warm-up.
TEST(WarmUp, IsComparedWithTheSecondHalf) {
    EXPECT_EQ(warm_up_length(std::vector<double>{5, 4, 9, 9, 1, 1, 1, 1}), 2);
    EXPECT_EQ(warm_up_length(std::vector<double>{5, 4, 1, 1, 9, 1, 1, 1}), 0);
    EXPECT_EQ(warm_up_length(std::vector<double>{5, 4, 1, 1, 1, 1, 1, 4}), 1);
}

TEST(Sampling, SettlesWhenTheIntervalIsNarrow) {
    const SamplingRule rule;
    std::vector<double> seconds(5, 1.0);
    EXPECT_EQ(judge(seconds, 0, 0.1, rule), Verdict::more);
    seconds.push_back(1.0);
    EXPECT_EQ(judge(seconds, 0, 0.1, rule), Verdict::settled);
}

TEST(Sampling, GoesOnWhileTheIntervalIsWide) {
    const SamplingRule rule;
    std::vector<double> seconds;
    for (int i = 0; i < rule.period - 1; ++i) seconds.push_back(i % 2 == 0 ? 1.0 : 1.1);
    EXPECT_EQ(judge(seconds, 1.05, 0.1, rule), Verdict::more);
    seconds.push_back(1.1);
    EXPECT_EQ(judge(seconds, 1.05, 0.1, rule), Verdict::complete);
}

TEST(Sampling, DropsWhatIsClearlyWorse) {
    const SamplingRule rule;
    EXPECT_EQ(judge(std::vector<double>{2, 3, 2.5}, 1, 0.1, rule), Verdict::worse);
    EXPECT_EQ(judge(std::vector<double>{2, 3, 1.2}, 1, 0.1, rule), Verdict::more);
    EXPECT_EQ(judge(std::vector<double>{2}, 1, 0.1, rule), Verdict::more) << "one sample may have been disturbed";
    EXPECT_EQ(judge(std::vector<double>{3.1}, 1, 0.1, rule), Verdict::worse) << "but hardly as much as that";
    EXPECT_EQ(judge(std::vector<double>{1.2, 1.3, 1.2, 1.4, 1.3, 1.2}, 1, 0.1, rule), Verdict::worse);
    EXPECT_EQ(judge(std::vector<double>{1.2, 1.3, 1.2, 1.4, 1.3, 1.2}, 1.2, 0.1, rule), Verdict::more);
}

// The median is far above the incumbent's, but its interval is not: noise alone may have lifted it.
TEST(Sampling, KeepsWhatMayBeAsGood) {
    const SamplingRule rule;
    EXPECT_EQ(judge(std::vector<double>{1, 1.3, 1.3, 1.3, 1.3, 1.3}, 1, 0.1, rule), Verdict::more);
    std::vector<double> seconds(20, 1.3);
    std::fill_n(seconds.begin(), 6, 1.05);  // of 20, the interval goes from the 6th to the 15th
    EXPECT_EQ(judge(seconds, 1, 0.1, rule), Verdict::more);
    seconds[5] = 1.3;
    EXPECT_EQ(judge(seconds, 1, 0.1, rule), Verdict::worse);
}

TEST(Sampling, NeverDropsWithoutAnIncumbent) {
    EXPECT_EQ(judge(std::vector<double>{100, 300, 200}, 0, 0.1, SamplingRule{}), Verdict::more);
}

TEST(Sampling, EndsWhenItsTimeIsSpent) {
    const SamplingRule rule;
    const std::vector<double> seconds{0.5, 0.9, 0.7};
    EXPECT_EQ(judge(seconds, 0, 2.1, rule), Verdict::complete);
    EXPECT_EQ(judge(std::span(seconds).first(2), 0, 2.1, rule), Verdict::more) << "two samples are no period";
}

TEST(Sampling, TakesSeveralStepsWhereOneIsTooShortForTheClock) {
    const SamplingRule rule;
    EXPECT_EQ(steps_per_sample(1, rule), 1);
    EXPECT_EQ(steps_per_sample(rule.shortest_sample, rule), 1);
    EXPECT_EQ(steps_per_sample(1e-5, rule), 5);
    EXPECT_GT(steps_per_sample(0, rule), 1);
    EXPECT_LE(steps_per_sample(0, rule), 1000);
}

}  // namespace
}  // namespace hone::statistics_test
