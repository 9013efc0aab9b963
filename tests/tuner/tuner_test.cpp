#include "tuner/tuner.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <map>
#include <random>
#include <set>

#include "generator/error.hpp"
#include "tests/tuner/synthetic.hpp"

namespace hone {
namespace {

using test::Landscape;

/// A space of `count` members, t=0 is safe.
SearchSpace line(std::int64_t count) {
    std::vector<std::int64_t> values;
    for (std::int64_t i = 0; i < count; ++i) values.push_back(i);
    return SearchSpace({{"t", "", numbers(values)}}, {}, {{"t", std::int64_t{0}}});
}

Outcome measured(double seconds, double spread = 0) {
    Outcome outcome;
    for (int i = -3; i <= 3; ++i) outcome.samples.push_back(seconds * (1 + spread * i / 3));
    outcome.step = summarise(outcome.samples);
    return outcome;
}

Outcome crashed() {
    Outcome outcome;
    outcome.status = Status::crashed;
    return outcome;
}

/// Evaluates everything by a function of candidate and round (0 for the search), reporting in order with all that `next` gives outstanding.
template <typename Evaluate>
std::vector<Candidate> run(Tuner& tuner, Evaluate evaluate) {
    std::deque<Candidate> outstanding;
    std::vector<Candidate> trace;
    std::map<std::int64_t, int> rounds;
    while (!tuner.done()) {
        while (auto candidate = tuner.next()) outstanding.push_back(*candidate);
        const Candidate candidate = outstanding.front();
        outstanding.pop_front();
        trace.push_back(candidate);
        tuner.report(candidate, evaluate(candidate.index, candidate.finalist ? ++rounds[candidate.index] : 0));
    }
    return trace;
}

TEST(Tuner, BeginsWithTheSafeConfiguration) {
    for (const auto& strategy : strategies()) {
        const Landscape landscape(std::random_device{}());
        Tuner tuner(landscape.space(), strategy, 7);
        EXPECT_EQ(tuner.next()->config, landscape.space().safe()) << strategy.name;
    }
}

TEST(Tuner, HandsOutAWindowAndNoMore) {
    const SearchSpace space = line(100);
    Tuner tuner(space, find_strategy("random"), 1, {.window = 5});
    std::vector<Candidate> candidates;
    while (auto candidate = tuner.next()) candidates.push_back(*candidate);
    EXPECT_EQ(candidates.size(), 5U);
    tuner.report(candidates[0], measured(1));
    EXPECT_TRUE(tuner.next().has_value());
    EXPECT_FALSE(tuner.next().has_value());
}

TEST(Tuner, RefusesReportsOutOfOrder) {
    const SearchSpace space = line(100);
    Tuner tuner(space, find_strategy("random"), 1);
    const auto first = tuner.next();
    const auto second = tuner.next();
    EXPECT_THROW(tuner.report(*second, measured(1)), Error);
    tuner.report(*first, measured(1));
    EXPECT_THROW(tuner.report(*first, measured(1)), Error);
}

TEST(Tuner, RefusesSettingsThatCannotWork) {
    const SearchSpace space = line(3);
    EXPECT_THROW(Tuner(space, find_strategy("random"), 1, {.window = 0}), Error);
    EXPECT_THROW(Tuner(space, find_strategy("random"), 1, {.final_rounds = 0}), Error);
}

TEST(Tuner, MeasuresFinalistsInTurnAndTheSafeConfigurationWithThem) {
    const SearchSpace space = line(10);
    Tuner tuner(space, find_strategy("exhaustive"), 1, {.finalists = 2, .final_rounds = 3});
    const auto trace = run(tuner, [](std::int64_t index, int) { return measured(100.0 - static_cast<double>(index)); });
    std::vector<std::int64_t> finals;
    for (const auto& candidate : trace)
        if (candidate.finalist) finals.push_back(candidate.index);
    EXPECT_EQ(finals, (std::vector<std::int64_t>{0, 8, 9, 8, 9, 0, 9, 0, 8}));
    EXPECT_EQ(tuner.best()->config.integer("t"), 9);
    EXPECT_EQ(tuner.best()->outcome.step.samples, 21) << "three rounds of seven samples, and not the first measurement";
    EXPECT_EQ(tuner.safe()->step.median, 100);
    EXPECT_EQ(tuner.evaluations(), 10);
}

TEST(Tuner, OneLuckyMeasurementDoesNotWin) {
    const SearchSpace space = line(10);
    Tuner tuner(space, find_strategy("exhaustive"), 1);
    run(tuner, [](std::int64_t index, int round) { return measured(index == 4 && round == 0 ? 1.0 : index == 6 ? 8.0 : 10.0); });
    EXPECT_EQ(tuner.best()->config.integer("t"), 6);
}

TEST(Tuner, ATieGoesToTheEarlier) {
    const SearchSpace space = line(10);
    Tuner tuner(space, find_strategy("exhaustive"), 1);
    run(tuner, [](std::int64_t index, int) { return measured(index == 5 ? 9.95 : index == 3 ? 9.96 : 10.0, 0.02); });
    EXPECT_EQ(tuner.best()->config.integer("t"), 0) << "the safe configuration is as good for all that was measured";
    Tuner precise(space, find_strategy("exhaustive"), 1);
    run(precise, [](std::int64_t index, int) { return measured(index == 5 ? 9.95 : 10.0, 0.0001); });
    EXPECT_EQ(precise.best()->config.integer("t"), 5) << "beyond the noise";
    Tuner noisy(space, find_strategy("exhaustive"), 1);
    run(noisy, [](std::int64_t index, int) { return measured(index == 5 ? 9.0 : 10.0, 0.5); });
    EXPECT_EQ(noisy.best()->config.integer("t"), 5) << "10 % is not a tie, however wide the noise";
}

TEST(Tuner, ALoneFinalistIsMeasuredAgainOnce) {
    const SearchSpace space = line(1);
    Tuner tuner(space, find_strategy("exhaustive"), 1);
    EXPECT_EQ(run(tuner, [](std::int64_t, int) { return measured(1); }).size(), 2U);
    EXPECT_EQ(tuner.best()->outcome.step.samples, 7);
}

TEST(Tuner, AFailureInTheFinalsDisqualifies) {
    const SearchSpace space = line(10);
    Tuner tuner(space, find_strategy("exhaustive"), 1, {.finalists = 2});
    run(tuner, [](std::int64_t index, int round) { return index == 9 && round == 2 ? crashed() : measured(100.0 - static_cast<double>(index)); });
    EXPECT_EQ(tuner.best()->config.integer("t"), 8);
}

TEST(Tuner, HoldsNewFinalsWhenEveryFinalistFails) {
    const SearchSpace space = line(10);
    Tuner tuner(space, find_strategy("exhaustive"), 1, {.finalists = 2});
    run(tuner, [](std::int64_t index, int round) {
        return round > 0 && (index >= 8 || index == 0) ? crashed() : measured(100.0 - static_cast<double>(index));
    });
    EXPECT_EQ(tuner.best()->config.integer("t"), 7);
    EXPECT_FALSE(tuner.safe()->measured());
}

TEST(Tuner, HasNoWinnerWhenEverythingFails) {
    const SearchSpace space = line(4);
    Tuner tuner(space, find_strategy("exhaustive"), 1);
    run(tuner, [](std::int64_t, int) { return crashed(); });
    EXPECT_TRUE(tuner.done());
    EXPECT_FALSE(tuner.best().has_value());
    EXPECT_EQ(tuner.evaluations(), 4);
}

TEST(Tuner, FinishDropsWhatIsOutstandingAndGoesToTheFinals) {
    const SearchSpace space = line(100);
    Tuner tuner(space, find_strategy("random"), 1);
    std::deque<Candidate> outstanding;
    while (auto candidate = tuner.next()) outstanding.push_back(*candidate);
    tuner.report(outstanding[0], measured(1));
    tuner.report(outstanding[1], measured(2));
    tuner.finish();
    EXPECT_TRUE(tuner.finals());
    EXPECT_THROW(tuner.report(outstanding[2], measured(3)), Error);
    const auto finalist = tuner.next();
    ASSERT_TRUE(finalist);
    EXPECT_TRUE(finalist->finalist);
    EXPECT_EQ(tuner.evaluations(), 2);
}

TEST(Tuner, FinishInTheFinalsLeavesEachFinalistOneRound) {
    const SearchSpace space = line(10);
    Tuner tuner(space, find_strategy("exhaustive"), 1, {.finalists = 2, .final_rounds = 3});
    std::vector<std::int64_t> finals;
    while (const auto candidate = tuner.next()) {
        tuner.report(*candidate, measured(100.0 - static_cast<double>(candidate->index)));
        if (!candidate->finalist) continue;
        finals.push_back(candidate->index);
        if (finals.size() == 1) tuner.finish();
    }
    EXPECT_EQ(finals, (std::vector<std::int64_t>{0, 8, 9}));
    EXPECT_TRUE(tuner.done());
    EXPECT_EQ(tuner.best()->config.integer("t"), 9);
}

TEST(Tuner, FinishAfterTheFirstRoundOfTheFinalsIsDone) {
    const SearchSpace space = line(10);
    Tuner tuner(space, find_strategy("exhaustive"), 1, {.finalists = 2, .final_rounds = 3});
    int finals = 0;
    while (const auto candidate = tuner.next()) {
        tuner.report(*candidate, measured(100.0 - static_cast<double>(candidate->index)));
        finals += candidate->finalist ? 1 : 0;
        if (finals == 4) tuner.finish();
    }
    EXPECT_EQ(finals, 4);
    EXPECT_TRUE(tuner.done());
    EXPECT_EQ(tuner.best()->config.integer("t"), 9);
}

TEST(Tuner, FinishBeforeAnyReportIsDone) {
    const SearchSpace space = line(100);
    Tuner tuner(space, find_strategy("random"), 1);
    tuner.finish();
    EXPECT_TRUE(tuner.done());
    EXPECT_FALSE(tuner.best().has_value());
}

class TunerOnLandscapes : public testing::TestWithParam<std::string> {};

TEST_P(TunerOnLandscapes, SameSeedAndReportsGiveTheSameRunHoweverEarlyCandidatesAreFetched) {
    const std::uint64_t seed = std::random_device{}();
    const Landscape landscape(seed);
    const auto evaluate = [&](std::int64_t index, int round) { return landscape.outcome(index, static_cast<std::uint64_t>(round)); };
    Tuner eager(landscape.space(), find_strategy(GetParam()), seed);
    const auto expected = run(eager, evaluate);

    Tuner lazy(landscape.space(), find_strategy(GetParam()), seed);
    std::mt19937_64 random(seed);
    std::deque<Candidate> outstanding;
    std::map<std::int64_t, int> rounds;
    std::size_t place = 0;
    while (!lazy.done()) {
        // Fetch at random moments, but report something in the end.
        while (outstanding.empty() || random() % 2 == 0) {
            const auto candidate = lazy.next();
            if (!candidate) break;
            outstanding.push_back(*candidate);
        }
        const Candidate candidate = outstanding.front();
        outstanding.pop_front();
        ASSERT_LT(place, expected.size()) << "seed " << seed;
        ASSERT_EQ(candidate.config, expected[place++].config) << "seed " << seed;
        lazy.report(candidate, evaluate(candidate.index, candidate.finalist ? ++rounds[candidate.index] : 0));
    }
    EXPECT_EQ(place, expected.size());
    EXPECT_EQ(lazy.best()->config, eager.best()->config);
}

TEST_P(TunerOnLandscapes, NeverAsksTwiceNorOutsideTheSpaceAndExhaustsIt) {
    const std::uint64_t seed = std::random_device{}();
    for (const int window : {1, 3, 8}) {
        const Landscape landscape(seed);
        Tuner tuner(landscape.space(), find_strategy(GetParam()), seed, {.window = window});
        std::set<std::int64_t> asked;
        run(tuner, [&](std::int64_t index, int round) {
            if (round == 0) {
                EXPECT_TRUE(asked.insert(index).second) << "seed " << seed;
                EXPECT_FALSE(landscape.space().check(landscape.space().at(index))) << "seed " << seed;
            }
            return landscape.outcome(index, static_cast<std::uint64_t>(round));
        });
        EXPECT_EQ(static_cast<std::int64_t>(asked.size()), tuner.members()) << "seed " << seed;
    }
}

INSTANTIATE_TEST_SUITE_P(Strategies, TunerOnLandscapes, testing::Values("local_search", "random", "exhaustive"),
                         [](const auto& entry) { return entry.param; });

}  // namespace
}  // namespace hone
