// The simulator against what is known exactly, and the default strategy against the targets that it
// has to clear.
#include "tuner/replay/simulation.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <map>

#include "foundation/error.hpp"
#include "tests/support/community_spaces.hpp"
#include "tests/support/places.hpp"
#include "tuner/random.hpp"
#include "tuner/replay/formats/parameter_values.hpp"
#include "tuner/tuner.hpp"

namespace hone::simulation_test {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr std::array<int, 5> budgets{25, 50, 100, 200, 400};

// Spaces that hone measured itself, read once.
const std::vector<RecordedSpace>& own_spaces() {
    static const std::vector<RecordedSpace> spaces = [] {
        std::vector<RecordedSpace> read;
        for (const char* name : {"dg_volume_3_f64", "dg_volume_5_f32", "dg_volume_7_f64", "gauss_seidel_27_constant_f32"})
            read.push_back(read_recorded_space(test::source_path(fmt::format("tests/spaces/{}.space.gz", name))));
        return read;
    }();
    return spaces;
}

// Four large spaces of the community, read once; none where they are not.
const std::vector<RecordedSpace>& large_spaces() {
    static const std::vector<RecordedSpace> spaces = [] {
        std::vector<RecordedSpace> read;
        for (const char* name : {"convolution_milo__MI250X", "convolution__RTX_2080_Ti", "pnpoly__RTX_3090", "dedispersion_milo__A100"}) {
            const std::string file = test::community_space(fmt::format("{}.json.gz", name));
            if (file.empty()) return std::vector<RecordedSpace>{};
            read.push_back(read_recorded_space(file));
        }
        return read;
    }();
    return spaces;
}

// One parameter, with these costs for its values.
RecordedSpace space_of(const std::vector<double>& costs) {
    std::vector<RecordedConfiguration> configurations;
    RecordedParameter parameter{"n", {}};
    for (std::size_t i = 0; i < costs.size(); ++i) {
        parameter.written.push_back(std::to_string(i));
        const bool valid = std::isfinite(costs[i]);
        configurations.push_back({static_cast<std::int64_t>(i), costs[i], valid ? measurement(costs[i], {}) : failure(Status::crashed, "made up")});
    }
    return {{.name = "made up"}, {parameter}, std::move(configurations)};
}

const StrategyEntry& random_search() {
    return find_strategy("random");
}

TEST(RandomBaseline, IsTheMeanOverAllDraws) {
    const std::vector<double> costs{3, infinity, 1, 8, 2, infinity, 5};
    const RandomBaseline baseline(space_of(costs));
    EXPECT_EQ(baseline.optimum(), 1);
    EXPECT_EQ(baseline.median(), 3);
    EXPECT_EQ(baseline.worst(), 8);
    for (int draws = 1; draws <= 7; ++draws) {
        double cost = 0;
        double fraction = 0;
        int subsets = 0;
        for (unsigned subset = 0; subset < 1U << costs.size(); ++subset) {
            if (__builtin_popcount(subset) != draws) continue;
            double best = infinity;
            for (std::size_t i = 0; i < costs.size(); ++i)
                if ((subset >> i & 1U) != 0) best = std::min(best, costs[i]);
            cost += std::min(best, 8.0);
            fraction += 1 / best;
            ++subsets;
        }
        EXPECT_NEAR(baseline.cost(draws), cost / subsets, 1e-12) << draws;
        EXPECT_NEAR(baseline.fraction(draws), fraction / subsets, 1e-12) << draws;
    }
    EXPECT_EQ(baseline.cost(100), 1) << "more draws than there are configurations";
    EXPECT_DOUBLE_EQ(baseline.draws_to(0.05), 4) << "one of seven: (7 + 1) / (1 + 1)";
    EXPECT_DOUBLE_EQ(baseline.draws_to(1), 8.0 / 3);
}

// What was published for random search on these spaces.
TEST(RandomBaseline, GivesThePublishedFractionsAndCounts) {
    if (large_spaces().empty()) GTEST_SKIP() << test::no_community_spaces;
    const std::array<double, 5> published{0.757, 0.815, 0.868, 0.916, 0.955};
    for (std::size_t i = 0; i < budgets.size(); ++i) {
        double mean = 0;
        for (const auto& space : large_spaces()) mean += RandomBaseline(space).fraction(budgets.at(i)) / 4;
        EXPECT_NEAR(mean, published.at(i), 0.002) << "after " << budgets.at(i) << "; the published ones are means of simulations";
    }
    const std::array<std::pair<double, double>, 4> counts{{{436, 1454}, {521, 2256}, {120, 409}, {3, 40}}};
    for (std::size_t i = 0; i < counts.size(); ++i) {
        const RandomBaseline baseline(large_spaces()[i]);
        EXPECT_NEAR(baseline.draws_to(0.05), counts.at(i).first, 0.6) << large_spaces()[i].title().name;
        EXPECT_NEAR(baseline.draws_to(0.01), counts.at(i).second, 0.6) << large_spaces()[i].title().name;
    }
}

// Random search, simulated, against its exact distribution: the simulator as a whole. Fixed seed;
// the bounds are five standard errors.
TEST(SlowSimulation, RandomSearchDoesWhatItsDistributionSays) {
    SimulationSettings settings;
    settings.repetitions = 200;
    for (const auto& space : own_spaces()) {
        const RandomBaseline baseline(space);
        const Simulation simulation = simulate(space, random_search(), settings);
        ASSERT_EQ(simulation.best.size(), 200U);
        for (const int budget : budgets) {
            double squares = 0;
            const double mean = fraction_of_optimum(simulation, space.optimum(), budget);
            for (const auto& best : simulation.best) squares += std::pow(space.optimum() / best[static_cast<std::size_t>(budget) - 1] - mean, 2);
            const double error = std::sqrt(squares / 199 / 200);
            EXPECT_NEAR(mean, baseline.fraction(budget), 5 * error + 0.002)
                << space.title().name << " after " << budget << "; 0.002: every repetition starts from a valid configuration";
        }
        EXPECT_LT(std::abs(score(simulation, baseline).value), 0.1) << space.title().name;
    }
}

TEST(Simulation, EveryRepetitionFollowsFromItsSeedAlone) {
    const RecordedSpace& space = own_spaces()[2];
    SimulationSettings settings;
    settings.repetitions = 6;
    settings.evaluations = 60;
    settings.threads = 1;
    for (const auto& strategy : strategies()) {
        settings.threads = 1;
        const Simulation alone = simulate(space, strategy, settings);
        settings.threads = 3;
        EXPECT_EQ(simulate(space, strategy, settings).best, alone.best) << strategy.name << ": threads make no difference";
        for (int repetition = 5; repetition >= 0; repetition -= 5)
            EXPECT_EQ(replay(space, strategy, repetition_seed(settings.seed, repetition), settings.evaluations).best,
                      alone.best[static_cast<std::size_t>(repetition)])
                << strategy.name << ": nothing is handed down from one repetition to the next";
    }
    EXPECT_NE(repetition_seed(1, 0), repetition_seed(1, 1));
    EXPECT_NE(repetition_seed(1, 1), repetition_seed(2, 0)) << "neighbouring seeds share no repetitions";
}

// A strategy by itself, and behind the tuner's state machine: the same search.
TEST(Simulation, TheTunerAddsNothingToItsStrategy) {
    const RecordedSpace& space = own_spaces()[1];
    for (const auto& strategy : strategies()) {
        constexpr std::uint64_t seed = 5;
        const SearchSpace searched = space.space(seed);
        const auto search = strategy.make(searched, space.members(), seed);
        std::vector<double> best;
        for (int i = 0; i < 80; ++i) {
            const auto index = search->ask();
            ASSERT_TRUE(index.has_value());
            search->tell(*index, space.cost(*index));
            best.push_back(best.empty() ? space.cost(*index) : std::min(best.back(), space.cost(*index)));
        }
        EXPECT_EQ(replay(space, strategy, seed, 80).best, best) << strategy.name;
    }
}

TEST(Simulation, AWholeRunEndsWithTheOptimum) {
    std::vector<double> costs;
    Random random(3);
    for (int i = 0; i < 40; ++i) costs.push_back(random.below(4) == 0 ? infinity : 1 + random.real());
    const RecordedSpace space = space_of(costs);
    for (const auto& strategy : strategies())
        for (const int window : {1, 8}) {
            const std::vector<double> best = replay(space, strategy, 9, 1000, window).best;
            EXPECT_EQ(best.size(), costs.size()) << strategy.name << ": every member once";
            EXPECT_EQ(best.back(), space.optimum()) << strategy.name;
            EXPECT_TRUE(std::isfinite(best.front())) << strategy.name << ": it starts from a valid one";
            EXPECT_TRUE(std::is_sorted(best.rbegin(), best.rend()));
        }
}

class Stranger : public Strategy {
  public:
    std::optional<std::int64_t> ask() override { return asked_++ == 0 ? 0 : 1'000'000; }
    void tell(std::int64_t /*index*/, double /*cost*/) override {}

  private:
    int asked_ = 0;
};

TEST(Simulation, AStrategyThatAsksForWhatIsNoMemberIsFound) {
    const StrategyEntry stranger{"stranger", "", [](const SearchSpace& /*space*/, Members /*members*/, std::uint64_t /*seed*/) {
                                     return std::unique_ptr<Strategy>(std::make_unique<Stranger>());
                                 }};
    EXPECT_THROW(simulate(space_of({1, 2, 3}), stranger, {}), Error);
}

TEST(Simulation, StopsWhenItIsTold) {
    SimulationSettings settings;
    settings.threads = 1;
    int last = 0;
    const Simulation simulation = simulate(space_of({1, 2, 3}), random_search(), settings, [&](int done) {
        last = done;
        return done < 7;
    });
    EXPECT_EQ(last, 7);
    EXPECT_EQ(simulation.best.size(), 7U);
}

// --- scoring, on curves made by hand

// The score of draws with replacement: the mean best of k draws is the integral of (part that is
// worse)^k over the costs.
double with_replacement(const RecordedSpace& space, const RandomBaseline& baseline) {
    const auto n = static_cast<double>(space.costs().size());
    double sum = 0;
    const std::int64_t first = baseline.draws_to_cover(0.5);
    const std::int64_t last = baseline.draws_to_cover(0.95);
    for (std::int64_t k = first; k <= last; ++k) {
        double best = 0;
        for (std::size_t i = 0; i < space.costs().size(); ++i) {
            const auto place = static_cast<double>(i);
            const double chance = std::pow((n - place) / n, k) - std::pow((n - place - 1) / n, k);
            best += chance * std::min(baseline.worst(), space.costs()[i]);
        }
        sum += (baseline.cost(k) - best) / (baseline.cost(k) - baseline.optimum());
    }
    return sum / static_cast<double>(last - first + 1);
}

Simulation curves(std::vector<std::vector<double>> best) {
    return {"made up", std::move(best), {}, {}, 0};
}

TEST(Scoring, FractionsPercentilesAndCounts) {
    const Simulation simulation = curves({{4, 2, 1}, {infinity, 4, 4}, {2, 2, 2}, {8, 1, 1}});
    EXPECT_DOUBLE_EQ(fraction_of_optimum(simulation, 1, 1), (0.25 + 0 + 0.5 + 0.125) / 4);
    EXPECT_DOUBLE_EQ(fraction_of_optimum(simulation, 1, 3), (1 + 0.25 + 0.5 + 1) / 4);
    EXPECT_DOUBLE_EQ(fraction_of_optimum(simulation, 1, 50), (1 + 0.25 + 0.5 + 1) / 4) << "a search that ended keeps its last";
    EXPECT_EQ(percentile(simulation, 0, 1), 2);
    EXPECT_EQ(percentile(simulation, 1, 1), infinity);
    EXPECT_EQ(percentile(simulation, 0.34, 2), 2);
    EXPECT_EQ(evaluations_to(curves({{4, 2, 1}, {2, 1, 1}, {8, 8, 8}}), 1, 0.05), 3) << "the median of 3, 2 and never";
    EXPECT_EQ(evaluations_to(curves({{4, 2, 1}, {3, 3, 3}, {8, 8, 8}}), 1, 0.05), infinity);
    EXPECT_EQ(evaluations_to(curves({{1.04, 1.04}}), 1, 0.05), 1);
}

TEST(Scoring, RandomSearchIsZeroAndTheOptimumAtOnceIsOne) {
    for (const auto& space : own_spaces()) {
        const RandomBaseline baseline(space);
        const auto last = static_cast<std::size_t>(baseline.draws_to_cover(0.95));
        std::vector<double> expected(last);
        for (std::size_t t = 0; t < last; ++t) expected[t] = baseline.cost(static_cast<std::int64_t>(t) + 1);
        const Score zero = score(curves({expected}), baseline);
        EXPECT_NEAR(zero.value, 0, 1e-12);
        EXPECT_EQ(zero.last, static_cast<std::int64_t>(last));
        EXPECT_EQ(zero.first, baseline.draws_to_cover(0.5));
        EXPECT_LT(zero.first, zero.last);
        EXPECT_NEAR(score(curves({std::vector<double>(last, space.optimum())}), baseline).value, 1, 1e-12);
        const double half = baseline.median() - 0.5 * (baseline.median() - baseline.optimum());
        EXPECT_LE(baseline.cost(zero.first), half);
        if (zero.first > 1) EXPECT_GT(baseline.cost(zero.first - 1), half);
    }
}

TEST(Scoring, ASimulationThatIsTooShortSaysHowFarItsScoreGoes) {
    const RandomBaseline baseline(own_spaces()[0]);
    const std::int64_t last = baseline.draws_to_cover(0.95);
    const auto whole = static_cast<int>(last);
    ASSERT_GT(whole, 2);
    EXPECT_EQ(score(curves({std::vector<double>(static_cast<std::size_t>(last - 1), baseline.optimum())}), baseline).last, last - 1);
    EXPECT_EQ(evaluations_for_score(baseline, 1, 100'000), whole);
    EXPECT_EQ(evaluations_for_score(baseline, 1, whole - 1), whole - 1);
    EXPECT_EQ(evaluations_for_score(baseline, 100'000, 1), 100'000);
}

// The score is the mean of the repetitions' own: its interval covers the true one in 95 of 100
// experiments. Fixed seed; 88 to 99 are four standard errors.
TEST(Scoring, ItsIntervalCoversTheTrueScoreAsOftenAsItSays) {
    const RecordedSpace& space = own_spaces()[0];
    const RandomBaseline baseline(space);
    const std::int64_t last = baseline.draws_to_cover(0.95);
    Random random(11);
    int covered = 0;
    constexpr int experiments = 300;
    for (int experiment = 0; experiment < experiments; ++experiment) {
        std::vector<std::vector<double>> repetitions(20);
        for (auto& best : repetitions)
            for (std::int64_t t = 0; t < last; ++t) {
                const double drawn = space.cost(space.members()[random.index(space.members().size())]);
                best.push_back(best.empty() ? drawn : std::min(best.back(), drawn));
            }
        // Draws with replacement, so that the repetitions are independent: their true score is the
        // mean over very many.
        const Score scored = score(curves(std::move(repetitions)), baseline);
        ASSERT_GT(scored.error, 0);
        if (std::abs(scored.value - with_replacement(space, baseline)) <= scored.error) ++covered;
    }
    EXPECT_GE(covered, 0.88 * experiments);
    EXPECT_LE(covered, 0.99 * experiments);
    EXPECT_EQ(score(curves({{1.0}}), RandomBaseline(space_of({1, 2, 3}))).error, infinity) << "one repetition says nothing of its error";
}

// Two valleys, at 0 and at 9; between them the costs rise.
TEST(StuckAt, NamesTheLocalOptimumAndWhatSetsItApart) {
    std::vector<RecordedConfiguration> configurations;
    // Two parameters; every row of the second is worse by 1, the best values of the first are 0
    // and, a tenth worse, 9.
    for (std::int64_t index = 0; index < 30; ++index) {
        const double cost = index / 3 == 0 && index % 3 == 0 ? 1.0 : index / 3 == 9 && index % 3 == 2 ? 1.1 : 2.0 + static_cast<double>(index % 3);
        configurations.push_back({index, cost, measurement(cost, {})});
    }
    configurations[4] = {4, infinity, failure(Status::wrong, "made up")};
    const RecordedSpace space({.name = "valleys"}, {{"a", {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"}}, {"b", {"0", "1", "2"}}},
                              configurations);
    const Simulation simulation{"made up", {{3, 1.1}, {1.1, 1.1}, {2, 2}, {1, 1}, {1.1}}, {{5, 29}, {29, 29}, {3, 3}, {0, 0}, {29}}, {}, 0};
    const std::vector<StuckAt> stuck = stuck_at(space, simulation, 2);
    ASSERT_EQ(stuck.size(), 3U);
    EXPECT_EQ(stuck[0].member, 29);
    EXPECT_EQ(stuck[0].repetitions, 3);
    EXPECT_NEAR(stuck[0].excess, 0.1, 1e-12);
    EXPECT_EQ(stuck[0].valley, 2);
    EXPECT_EQ(stuck[0].far, (std::vector<std::size_t>{0, 1}));
    const auto optimum = std::find_if(stuck.begin(), stuck.end(), [](const StuckAt& one) { return one.member == 0; });
    ASSERT_NE(optimum, stuck.end());
    EXPECT_EQ(optimum->valley, 1);
    EXPECT_TRUE(optimum->far.empty());
    const auto slope = std::find_if(stuck.begin(), stuck.end(), [](const StuckAt& one) { return one.member == 3; });
    ASSERT_NE(slope, stuck.end());
    EXPECT_EQ(slope->valley, 0) << "its neighbour 0 is faster";
    EXPECT_EQ(slope->far, std::vector<std::size_t>{0});
    EXPECT_EQ(stuck_at(space, simulation, 1).size(), 4U);
}

TEST(Scoring, ASpaceOfEqualCostsIsNoContest) {
    const RandomBaseline baseline(space_of({2, 2, 2}));
    const Score none = score(curves({{2, 2, 2}}), baseline);
    EXPECT_EQ(none.value, 0);
}

TEST(Stops, CountWhatTheRuleEndedAndWhetherItWasRight) {
    const Simulation simulation{"made up", {{4, 2}, {4, 1.02, 1.02}, {2, 1}, {1.5, 1.5}}, {}, {false, true, true, true}, 0};
    const Stops ended = stops(simulation, 1, 0.01);
    EXPECT_EQ(ended.ended, 3);
    EXPECT_EQ(ended.evaluations, 2);
    EXPECT_DOUBLE_EQ(ended.fraction, (1 / 1.02 + 1 + 1 / 1.5) / 3);
    EXPECT_DOUBLE_EQ(ended.missed, 2.0 / 3) << "1.02 and 1.5 had 1 % to gain";
    EXPECT_DOUBLE_EQ(stops(simulation, 1, 0.05).missed, 1.0 / 3);
}

TEST(Simulation, RunsEndWhenTheirModelSeesNothingLeftToGain) {
    const RecordedSpace& space = own_spaces()[1];
    const StrategyEntry& model = strategies().front();
    ASSERT_TRUE(model.has_outlook);
    constexpr int evaluations = 400;
    const Replay ended = replay(space, model, 3, evaluations, 1, 0.01);
    EXPECT_TRUE(ended.ended);
    EXPECT_LT(std::ssize(ended.best), evaluations);
    const Replay whole = replay(space, model, 3, evaluations, 1);
    EXPECT_FALSE(whole.ended);
    EXPECT_TRUE(std::equal(ended.best.begin(), ended.best.end(), whole.best.begin())) << "looking ahead changes nothing";
    EXPECT_FALSE(replay(space, random_search(), 3, evaluations, 1, 0.01).ended) << "without a model there is no outlook";
}

// --- the targets

// A tuner that needs no choice has to be good on spaces that nobody chose for it: 0.94 and 0.98 of
// the optimum after 100 and 200 evaluations, ahead of random search on each space.
TEST(SlowDefaultStrategy, ClearsTheBarsOnTheLargeSpaces) {
    if (large_spaces().empty()) GTEST_SKIP() << test::no_community_spaces;
    SimulationSettings settings;
    settings.evaluations = 200;
    double after_100 = 0;
    double after_200 = 0;
    for (const auto& space : large_spaces()) {
        const RandomBaseline baseline(space);
        const Simulation simulation = simulate(space, strategies().front(), settings);
        ASSERT_EQ(simulation.best.size(), 100U);
        const double fraction_100 = fraction_of_optimum(simulation, space.optimum(), 100);
        const double fraction_200 = fraction_of_optimum(simulation, space.optimum(), 200);
        EXPECT_GT(fraction_100, baseline.fraction(100)) << space.title().name;
        EXPECT_GT(fraction_200, baseline.fraction(200)) << space.title().name;
        after_100 += fraction_100 / 4;
        after_200 += fraction_200 / 4;
    }
    EXPECT_GE(after_100, 0.94);
    EXPECT_GE(after_200, 0.98);
}

}  // namespace
}  // namespace hone::simulation_test
