#include "tuner/tuner.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <map>
#include <random>
#include <set>

#include "foundation/error.hpp"
#include "generator/value_lists.hpp"
#include "tests/support/fresh_random.hpp"
#include "tests/tuner/synthetic.hpp"

namespace hone::tuner_test {
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

/// Evaluates everything by a function of candidate and round (0 for the search), reporting in order
/// with all that `next` gives outstanding.
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
        tuner.report(candidate, evaluate(candidate.index, is_finalist(candidate) ? ++rounds[candidate.index] : 0));
    }
    return trace;
}

/// Asks for the first member for ever.
class Stubborn : public Strategy {
  public:
    std::optional<std::int64_t> ask() override { return 0; }
    void tell(std::int64_t /*index*/, double /*cost*/) override {}
};

TEST(Tuner, RefusesAStrategyThatOnlyRepeatsItself) {
    const SearchSpace space = line(5);
    const StrategyEntry stubborn{"stubborn", "", [](const SearchSpace& /*space*/, Members /*members*/, std::uint64_t /*seed*/) {
                                     return std::unique_ptr<Strategy>(std::make_unique<Stubborn>());
                                 }};
    EXPECT_THROW(Tuner(space, stubborn, 1), Error);
}

TEST(Tuner, BeginsWithTheSafeConfiguration) {
    test::FreshRandom random;
    for (const auto& strategy : strategies()) {
        const Landscape landscape(random());
        Tuner tuner(landscape.space(), strategy, 7);
        EXPECT_EQ(tuner.next()->config, landscape.space().safe()) << strategy.name;
    }
}

// Candidates ahead of their reports while those that come are these in turn; after each report.
std::vector<std::size_t> ahead(int window, int reports, const std::vector<Outcome>& outcomes) {
    const SearchSpace space = line(400);
    Tuner tuner(space, find_strategy("random"), 1, {.window = window});
    std::deque<Candidate> pending;
    std::vector<std::size_t> counts;
    while (static_cast<int>(counts.size()) <= reports) {
        while (auto candidate = tuner.next()) pending.push_back(*std::move(candidate));
        counts.push_back(pending.size());
        tuner.report(pending.front(), outcomes[counts.size() % outcomes.size()]);
        pending.pop_front();
    }
    return counts;
}

TEST(Tuner, HandsOutMoreAheadTheMoreIsKnown) {
    const std::vector<std::size_t> counts = ahead(20, 270, {measured(1)});
    EXPECT_EQ(counts.front(), 12U) << "nothing is known that could be waited for";
    for (std::size_t reports = 10; reports < counts.size(); ++reports)
        EXPECT_EQ(counts[reports], std::clamp<std::size_t>(reports / 12, 3, 20)) << "after " << reports;
    EXPECT_THAT(ahead(3, 50, {measured(1)}), testing::Each(3U)) << "a window, and no more";
    EXPECT_THAT(ahead(1, 50, {measured(1)}), testing::Each(1U));
}

TEST(Tuner, HandsOutAsMuchAheadAsKeepsTheDeviceBusy) {
    Outcome outcome = measured(1);
    outcome.verify_seconds = 0.25;
    outcome.measure_seconds = 0.75;
    outcome.compile_seconds = 4;
    EXPECT_EQ(ahead(40, 20, {outcome})[20], 17U) << "one is measured, and four times as many are compiled as it could be meanwhile";
    Outcome compiled_before = outcome;
    compiled_before.compile_seconds = 0;
    EXPECT_EQ(ahead(40, 20, {outcome, compiled_before})[20], 17U) << "a compiler takes as long where others' code was there already";
    outcome.compile_seconds = 400;
    EXPECT_EQ(ahead(40, 20, {outcome})[20], 40U) << "compilers are what is waited for";
    outcome.compile_seconds = 0;
    EXPECT_EQ(ahead(40, 20, {outcome})[20], 3U) << "as without times";
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
        if (is_finalist(candidate)) finals.push_back(candidate.index);
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

// A machine that is sixty times as slow for a while: in the finals of one run, in the search of
// another.
TEST(Tuner, MeasuresAgainWhenTheFinalsContradictTheSearch) {
    const SearchSpace space = line(3);
    const auto seconds = [](std::int64_t index) { return 1.0 + static_cast<double>(index == 1 ? 0 : 1); };
    for (const bool in_finals : {true, false}) {
        Tuner tuner(space, find_strategy("exhaustive"), 1);
        run(tuner, [&](std::int64_t index, int round) {
            const bool slow = in_finals ? round > 0 && round <= 3 : round == 0;
            return measured(seconds(index) * (slow ? 60 : 1), 1e-3);
        });
        EXPECT_EQ(tuner.best()->config.integer("t"), 1);
        EXPECT_NEAR(tuner.best()->outcome.step.median, 1, 1e-2) << "in_finals " << in_finals;
        EXPECT_FALSE(tuner.contradicted()) << "two of three figures agree";
    }
}

TEST(Tuner, SaysWhatItMeasuredAgainInVain) {
    const SearchSpace space = line(3);
    Tuner changing(space, find_strategy("exhaustive"), 1);
    const std::vector<Candidate> trace = run(changing, [](std::int64_t /*index*/, int round) {
        return measured(round == 0 ? 1 : round <= 3 ? 60 : 3600, 1e-3);
    });
    ASSERT_TRUE(changing.contradicted());
    EXPECT_EQ(changing.contradicted()->step.median, 1);
    EXPECT_LE(trace.size(), 3U + 2 * 9 * 3) << "once again, and not for ever";
    // There is no time to measure again.
    Tuner shortened(space, find_strategy("exhaustive"), 1);
    bool began = false;
    while (auto candidate = shortened.next()) {
        shortened.report(*candidate, measured(is_finalist(*candidate) ? 60 : 1, 1e-3));
        if (is_finalist(*candidate) && !std::exchange(began, true)) shortened.finish();
    }
    ASSERT_TRUE(shortened.done());
    EXPECT_TRUE(shortened.contradicted());
}

TEST(Tuner, NeitherClocksNorNoiseContradict) {
    const SearchSpace space = line(3);
    Tuner tuner(space, find_strategy("exhaustive"), 1);
    const std::vector<Candidate> trace =
        run(tuner, [](std::int64_t index, int round) { return measured((index == 1 ? 1.0 : 2.0) * (round == 0 ? 1 : 3), 1e-3); });
    EXPECT_FALSE(tuner.contradicted());
    EXPECT_EQ(trace.size(), 3U + 9) << "three rounds of three";
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

// What is found wrong in the finals is often found in all that is fastest.
TEST(Tuner, HoldsNewFinalsWhenTheSafeConfigurationIsLeftAlone) {
    const SearchSpace space = line(10);
    const auto best_where_fail = [&](std::int64_t from) {
        Tuner tuner(space, find_strategy("exhaustive"), 1, {.finalists = 2});
        const auto trace = run(tuner, [&](std::int64_t index, int round) {
            return round > 0 && index >= from ? crashed() : measured(100.0 - static_cast<double>(index));
        });
        EXPECT_TRUE(tuner.done());
        EXPECT_TRUE(tuner.safe()->measured());
        EXPECT_LT(trace.size(), 60U);
        return tuner.best()->config.integer("t");
    };
    EXPECT_EQ(best_where_fail(8), 7);
    EXPECT_EQ(best_where_fail(3), 2);
    EXPECT_EQ(best_where_fail(1), 0) << "it is the only one that is right";
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
    EXPECT_TRUE(is_finalist(*finalist));
    EXPECT_EQ(tuner.evaluations(), 2);
}

TEST(Tuner, HasComparedOnceASecondCandidateIsMeasuredOrNoneIsLeft) {
    const SearchSpace space = line(4);
    const auto after = [&](const std::vector<Outcome>& outcomes) {
        Tuner tuner(space, find_strategy("exhaustive"), 1, {.window = 1});
        for (const Outcome& outcome : outcomes) tuner.report(*tuner.next(), outcome);
        return tuner.compared();
    };
    EXPECT_FALSE(after({}));
    EXPECT_FALSE(after({measured(1)}));
    EXPECT_FALSE(after({measured(1), crashed(), crashed()})) << "what failed says nothing of the safe configuration";
    EXPECT_TRUE(after({measured(1), crashed(), measured(2)}));
    EXPECT_TRUE(after({crashed(), measured(2)}));
    EXPECT_TRUE(after({measured(1), crashed(), crashed(), crashed()})) << "there is no other";
    const SearchSpace only = line(1);
    Tuner tuner(only, find_strategy("exhaustive"), 1);
    tuner.report(*tuner.next(), measured(1));
    EXPECT_TRUE(tuner.compared());
}

TEST(Tuner, TakesAReportForThePurposeThatItAskedForAlone) {
    const SearchSpace space = line(2);
    Tuner tuner(space, find_strategy("exhaustive"), 1, {.finalists = 2, .final_rounds = 1});
    while (const auto candidate = tuner.next()) {
        for (const auto purpose : {Candidate::Purpose::search, Candidate::Purpose::again, Candidate::Purpose::finalist}) {
            Candidate other = *candidate;
            other.purpose = purpose;
            EXPECT_EQ(candidate->is(other), purpose == candidate->purpose);
            if (!candidate->is(other)) EXPECT_THROW(tuner.report(other, measured(1)), Error);
        }
        tuner.report(*candidate, measured(1));
    }
    EXPECT_TRUE(tuner.done());
}

TEST(Tuner, FinishInTheFinalsLeavesEachFinalistOneRound) {
    const SearchSpace space = line(10);
    Tuner tuner(space, find_strategy("exhaustive"), 1, {.finalists = 2, .final_rounds = 3});
    std::vector<std::int64_t> finals;
    while (const auto candidate = tuner.next()) {
        tuner.report(*candidate, measured(100.0 - static_cast<double>(candidate->index)));
        if (!is_finalist(*candidate)) continue;
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
        finals += is_finalist(*candidate) ? 1 : 0;
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

/// With the energy of a step, at `watts`.
Outcome metered(double seconds, double watts) {
    Outcome outcome = measured(seconds);
    const double joules = seconds * watts;
    outcome.energy = Energy{{joules, joules, joules, joules, 4}, watts, 50, "nvml", 200, 0.1, 0.001};
    return outcome;
}

TEST(Tuner, FindsTheLeastOfWhatItsObjectiveSays) {
    const SearchSpace space = line(10);
    // Time falls from 10 to 1, power rises faster: the least energy is in between, the least
    // energy-delay later.
    const auto evaluate = [](std::int64_t index, int) {
        const double seconds = 10.0 - static_cast<double>(index);
        return metered(seconds, 100 + 300 / (seconds * seconds));
    };
    std::map<std::string, std::int64_t> winners;
    for (const char* name : {"time", "energy", "edp", "weighted:1"}) {
        const Objective objective = parse_objective(name);
        Tuner tuner(space, find_strategy("exhaustive"), 1, {}, {.objective = objective});
        run(tuner, evaluate);
        winners[name] = tuner.best()->config.integer("t");
        double least = std::numeric_limits<double>::infinity();
        for (std::int64_t index = 0; index < 10; ++index) least = std::min(least, cost(objective, evaluate(index, 0)));
        EXPECT_DOUBLE_EQ(cost(objective, tuner.best()->outcome), least) << name;
    }
    EXPECT_EQ(winners["time"], 9);
    EXPECT_EQ(winners["energy"], winners["weighted:1"]);
    EXPECT_LT(winners["energy"], winners["edp"]);
}

TEST(Tuner, WhatWasNotMeteredDoesNotWinEnergyAndIsToldToTheStrategyAtItsTime) {
    const SearchSpace space = line(4);
    Tuner tuner(space, find_strategy("exhaustive"), 1, {}, {.objective = parse_objective("energy")});
    run(tuner, [](std::int64_t index, int) { return index == 2 ? measured(0.1) : metered(1 + static_cast<double>(index), 100); });
    EXPECT_EQ(tuner.best()->config.integer("t"), 0);
    EXPECT_DOUBLE_EQ(tuner.best()->outcome.energy->joules.median, 100);
}

TEST(Tuner, PoolsTheEnergyOfTheRounds) {
    const SearchSpace space = line(2);
    Tuner tuner(space, find_strategy("exhaustive"), 1, {.final_rounds = 3, .most_final_rounds = 3}, {.objective = parse_objective("energy")});
    run(tuner, [](std::int64_t index, int round) { return index == 0 ? metered(1, 500) : metered(1, 99.0 + round); });
    const Energy energy = tuner.best()->outcome.energy.value();
    EXPECT_EQ(tuner.best()->config.integer("t"), 1);
    EXPECT_EQ(energy.joules.samples, 3);
    EXPECT_EQ(energy.joules.median, 101);
    EXPECT_EQ(energy.joules.low, 100);
    EXPECT_EQ(energy.joules.high, 102);
    EXPECT_DOUBLE_EQ(energy.watts, 101);
}

TEST(Tuner, EvaluatesPromisingMembersRightAfterTheSafeConfigurationAndNoneTwice) {
    const SearchSpace space = line(20);
    for (const auto& strategy : strategies()) {
        Tuner tuner(space, strategy, 3, {}, {.promising = {7, 0, 13, 7, 19}});
        const auto trace = run(tuner, [](std::int64_t index, int) { return measured(1 + std::abs(static_cast<double>(index) - 12)); });
        std::vector<std::int64_t> order;
        std::set<std::int64_t> distinct;
        for (const auto& candidate : trace) {
            if (is_finalist(candidate)) continue;
            order.push_back(candidate.index);
            EXPECT_TRUE(distinct.insert(candidate.index).second) << strategy.name << " " << candidate.index;
        }
        ASSERT_EQ(order.size(), 20U) << strategy.name;
        EXPECT_EQ((std::vector<std::int64_t>(order.begin(), order.begin() + 4)), (std::vector<std::int64_t>{0, 7, 13, 19})) << strategy.name;
        EXPECT_EQ(tuner.best()->config.integer("t"), 12) << strategy.name;
    }
}

TEST(Tuner, ChoosesOnlyWhatItMayAndTheSafeConfiguration) {
    const SearchSpace space = line(20);
    for (const auto& strategy : strategies()) {
        Tuner tuner(space, strategy, 3, {}, {.only = Members(std::vector<std::int64_t>{3, 8, 13, 18}), .promising = {4, 8}});
        EXPECT_EQ(tuner.members(), 5) << "0, 3, 8, 13 and 18";
        std::set<std::int64_t> asked;
        for (const auto& candidate : run(tuner, [](std::int64_t index, int) { return measured(100.0 - static_cast<double>(index)); }))
            asked.insert(candidate.index);
        EXPECT_EQ(asked, (std::set<std::int64_t>{0, 3, 8, 13, 18})) << strategy.name;
        EXPECT_EQ(tuner.best()->config.integer("t"), 18) << strategy.name;
    }
}

Outcome at_clock(double seconds, double megahertz) {
    Outcome outcome = measured(seconds);
    outcome.device = DeviceReading{.sm_megahertz = megahertz};
    return outcome;
}

TEST(Tuner, MeasuresTheIncumbentAgainWhenTheDeviceIsInAnotherState) {
    const SearchSpace space = line(60);
    Tuner tuner(space, find_strategy("exhaustive"), 1, {.window = 3, .retime = 10});
    int reported = 0;
    // After 20 candidates the clock falls and everything takes half as long again. Member 5 is the
    // best, and looked better than member 40 is.
    const auto trace = run(tuner, [&](std::int64_t index, int) {
        const bool slow = ++reported > 20;
        const double seconds = index == 5 ? 10 : index == 40 ? 12 : 20;
        return at_clock(slow ? 1.5 * seconds : seconds, slow ? 1300 : 1980);
    });
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < trace.size(); ++i)
        if (trace[i].purpose == Candidate::Purpose::again) {
            places.push_back(i);
            EXPECT_EQ(trace[i].index, 5);
            EXPECT_FALSE(is_finalist(trace[i]));
        }
    ASSERT_EQ(places.size(), 1U) << "once; then the incumbent is known in this state too";
    EXPECT_EQ(places[0], 20U + 3) << "a window behind the first candidate that was measured in another state";
    EXPECT_EQ(tuner.evaluations(), 60);
    EXPECT_EQ(tuner.best()->config.integer("t"), 5);
}

TEST(Tuner, StatesDifferByClockOrReasonsAndNotByWhatIsNotTold) {
    const DeviceReading usual{500, 1980, 3201, 45, {}};
    EXPECT_FALSE(another_state(usual, usual));
    EXPECT_FALSE(another_state(usual, {350, 1950, 3201, 70, {}})) << "power and temperature act through the clock";
    EXPECT_TRUE(another_state(usual, {500, 1800, 3201, 45, {}}));
    EXPECT_TRUE(another_state(usual, {500, 1980, 2600, 45, {}}));
    EXPECT_TRUE(another_state(usual, {500, 1980, 3201, 45, {"software power cap"}}));
    EXPECT_FALSE(another_state({.throttle_reasons = {"a", "b"}}, {.throttle_reasons = {"b", "a"}}));
    EXPECT_FALSE(another_state(usual, {}));
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
        lazy.report(candidate, evaluate(candidate.index, is_finalist(candidate) ? ++rounds[candidate.index] : 0));
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

TEST(GainRule, WaitsForAWholeWindowOfSmallChances) {
    const Outlook hopeless{0.04, 0.001};
    for (const int window : {1, 40}) {
        GainRule rule(0.01, window);
        const int reports = std::max(window, GainRule::fewest_reports);
        for (int i = 0; i < reports; ++i) rule.note(hopeless);
        EXPECT_FALSE(rule.met());
        rule.note(Outlook{0.06, 0.001});
        for (int i = 0; i < reports; ++i) rule.note(hopeless);
        EXPECT_FALSE(rule.met()) << "a chance in between begins it anew";
        rule.note(hopeless);
        EXPECT_TRUE(rule.met());
        rule.note(std::nullopt);
        EXPECT_FALSE(rule.met()) << "no model, no end";
    }
    GainRule never(0, 1);
    for (int i = 0; i < 50; ++i) never.note(hopeless);
    EXPECT_FALSE(never.met());
}

}  // namespace
}  // namespace hone::tuner_test
