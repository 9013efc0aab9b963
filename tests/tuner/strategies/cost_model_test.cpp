#include "tuner/strategies/cost_model.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>
#include <set>

#include "tests/support/fresh_random.hpp"

namespace hone::cost_model_test {
namespace {

SearchSpace space_of(const std::vector<std::vector<std::int64_t>>& values) {
    std::vector<Tunable> tunables;
    std::vector<Assignment> safe;
    for (std::size_t d = 0; d < values.size(); ++d) {
        const std::string name(1, static_cast<char>('a' + d));
        tunables.push_back({name, "", numbers(values[d])});
        safe.push_back({name, values[d].front()});
    }
    return SearchSpace(std::move(tunables), {}, std::move(safe));
}

using Law = std::function<double(const Config&)>;

std::vector<MeasuredCost> all_of(const SearchSpace& space, const Law& law) {
    std::vector<MeasuredCost> costs;
    for (std::int64_t index = 0; index < space.product(); ++index) costs.push_back({index, law(space.at(index))});
    return costs;
}

std::vector<MeasuredCost> some_of(const SearchSpace& space, std::size_t count, const Law& law, test::FreshRandom& random) {
    std::vector<MeasuredCost> costs = all_of(space, law);
    std::shuffle(costs.begin(), costs.end(), random);
    costs.resize(count);
    return costs;
}

double share(const CostModel& model, const std::vector<std::size_t>& tunables) {
    for (const CostModel::Effect& effect : model.effects())
        if (effect.tunables == tunables) return effect.share;
    return 0;
}

// log cost = sin(a) + 2 [b = 4] + 0.5 a' b', known everywhere: the shares are those of the
// textbook's decomposition, computed here by sums over all.
TEST(CostModel, SharesAreThoseOfTheAnalysisOfVarianceWhereAllIsMeasured) {
    const SearchSpace space = space_of({{1, 2, 4, 8}, {1, 4, 16}, {1, 2, 3}});
    test::FreshRandom random;
    std::normal_distribution<double> normal;
    std::vector<double> a(4);
    std::vector<double> b(3);
    std::vector<double> both(12);
    for (auto* list : {&a, &b, &both})
        for (double& value : *list) value = normal(random) * (list == &both ? 0.5 : 1);
    const auto logarithm = [&](std::int64_t index) {
        const auto place = static_cast<std::size_t>(index / 3);
        return a[place / 3] + b[place % 3] + both[place];
    };
    std::vector<MeasuredCost> costs;
    for (std::int64_t index = 0; index < space.product(); ++index) costs.push_back({index, std::exp(logarithm(index))});
    const CostModel model(space, costs);

    double mean = 0;
    std::vector<double> main_a(4);
    std::vector<double> main_b(3);
    for (std::int64_t index = 0; index < 36; ++index) {
        const auto place = static_cast<std::size_t>(index / 3);
        mean += logarithm(index) / 36;
        main_a[place / 3] += logarithm(index) / 9;
        main_b[place % 3] += logarithm(index) / 12;
    }
    double total = 0;
    double of_a = 0;
    double of_b = 0;
    for (std::int64_t index = 0; index < 36; ++index) total += std::pow(logarithm(index) - mean, 2) / 36;
    for (const double value : main_a) of_a += std::pow(value - mean, 2) / 4;
    for (const double value : main_b) of_b += std::pow(value - mean, 2) / 3;
    EXPECT_NEAR(share(model, {0}), of_a / total, 0.05);
    EXPECT_NEAR(share(model, {1}), of_b / total, 0.05);
    EXPECT_NEAR(share(model, {0, 1}), 1 - (of_a + of_b) / total, 0.05);
    EXPECT_LT(share(model, {2}), 0.02);
    for (std::size_t value = 0; value < 4; ++value) EXPECT_NEAR(std::log(model.main_effect(0)[value]), main_a[value] - mean, 0.15);
}

TEST(CostModel, SharesOfAllEffectsAddUpToNoMoreThanOne) {
    const SearchSpace space = space_of({{1, 2, 3, 4}, {1, 2, 4, 8, 16}, {1, 2}, {7}});
    test::FreshRandom random;
    std::lognormal_distribution<double> noise(0, 0.7);
    const CostModel model(space, some_of(
                                     space, 30, [&](const Config&) { return noise(random); }, random));
    double sum = 0;
    for (const CostModel::Effect& effect : model.effects()) {
        EXPECT_GE(effect.share, -1e-9);
        sum += effect.share;
        for (const std::size_t tunable : effect.tunables) EXPECT_NE(tunable, 3U) << "a single value has no effect";
    }
    EXPECT_LE(sum, 1 + 1e-6);
}

double smooth(const Config& config) {
    const double a = std::log2(static_cast<double>(config.integer("a")));
    const double b = std::log2(static_cast<double>(config.integer("b")));
    return 1e-3 * std::exp(0.2 * (a - 3) * (a - 3) + 0.1 * (b - 1) * (b - 1));
}

TEST(CostModel, PredictsWhatWasNotMeasuredAndSaysHowWell) {
    const SearchSpace space = space_of({{1, 2, 4, 8, 16, 32}, {1, 2, 4, 8, 16, 32}});
    test::FreshRandom random;
    const std::vector<MeasuredCost> costs = some_of(space, 24, smooth, random);
    const CostModel model(space, costs);
    EXPECT_GT(model.explained(), 0.5);
    std::set<std::int64_t> measured;
    for (const MeasuredCost& cost : costs) measured.insert(cost.index);
    int within = 0;
    for (std::int64_t index = 0; index < space.product(); ++index) {
        const CostModel::Prediction prediction = model.predict(index);
        EXPECT_LE(prediction.low, prediction.cost);
        EXPECT_LE(prediction.cost, prediction.high);
        const double truth = smooth(space.at(index));
        if (measured.count(index) != 0) EXPECT_NEAR(prediction.cost / truth, 1, 0.3);
        within += prediction.low <= truth && truth <= prediction.high ? 1 : 0;
    }
    EXPECT_GT(within, 24) << "of 36, at a nominal 95 %";
}

TEST(CostModel, NoiseIsNotExplained) {
    const SearchSpace space = space_of({{1, 2, 3, 4, 5, 6}, {1, 2, 3, 4, 5, 6}});
    test::FreshRandom random;
    std::lognormal_distribution<double> noise(0, 1);
    EXPECT_LT(CostModel(space, all_of(space, [&](const Config&) { return noise(random); })).explained(), 0.5);
    EXPECT_LE(CostModel(space, all_of(space, [](const Config&) { return 1e-3; })).explained(), 1e-6);
    EXPECT_TRUE(CostModel(space, all_of(space, [](const Config&) { return 1e-3; })).effects().empty());
}

TEST(CostModel, ManyCostsAreThinnedToTheBestAndOthers) {
    const SearchSpace space = space_of({{1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024}, {1, 2, 4, 8, 16, 32, 64, 128}, {1, 2, 3, 4, 5, 6, 7}});
    const CostModel model(space, all_of(space, smooth));
    EXPECT_GT(model.explained(), 0.9);
    EXPECT_GT(share(model, {0}), share(model, {1}));
    EXPECT_LT(share(model, {2}), 0.02);
}

// The mean of max(0, 1 - cost / bound) over draws of a log-normal cost.
TEST(CostModel, ImprovementIsTheMeanOfWhatIsGained) {
    test::FreshRandom random;
    const double deviation = 0.2;
    const CostModel::Prediction prediction{1.1, 1.1 * std::exp(-1.959964 * deviation), 1.1 * std::exp(1.959964 * deviation)};
    std::lognormal_distribution<double> draw(std::log(1.1), deviation);
    double sum = 0;
    constexpr int draws = 200000;
    for (int i = 0; i < draws; ++i) sum += std::max(0.0, 1 - draw(random));
    EXPECT_NEAR(prediction.improvement(1), sum / draws, 0.002);
    EXPECT_NEAR((CostModel::Prediction{0.9, 0.9, 0.9}).improvement(1), 0.1, 1e-12);
    EXPECT_EQ((CostModel::Prediction{2, 2, 2}).improvement(1), 0);
}

}  // namespace
}  // namespace hone::cost_model_test
