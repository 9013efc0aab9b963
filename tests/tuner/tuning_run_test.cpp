#include "tuner/tuning_run.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>
#include <map>
#include <random>
#include <set>
#include <span>
#include <sstream>
#include <thread>

#include "foundation/error.hpp"
#include "generator/families.hpp"
#include "generator/value_lists.hpp"
#include "tests/support/fresh_random.hpp"
#include "tests/support/running_time.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/tuner/replay/simulated_run.hpp"
#include "tuner/journal.hpp"
#include "tuner/restriction.hpp"
#include "tuner/worker/child_process.hpp"
#include "tuning_db/database.hpp"

namespace hone::tuning_run_test {
namespace {

using test::Landscape;
using test::SimulatedEvaluator;
using testing::HasSubstr;

class TuningRunTest : public testing::Test {
  protected:
    std::uint64_t seed = std::random_device{}();
    Landscape landscape{seed};
    test::TemporaryFolder folder;

    std::string journal() const {
        std::ostringstream text;
        for (const auto& file : std::filesystem::directory_iterator(folder.path() / "journals"))
            if (file.path().extension() == ".jsonl") text << std::ifstream(file.path()).rdbuf();
        return text.str();
    }

    /// The longest of the evaluations so far.
    double slowest(const SimulatedEvaluator& evaluator) const {
        double seconds = 0;
        for (const std::int64_t index : evaluator.evaluated) {
            const Outcome outcome = landscape.outcome(index, 0);
            seconds = std::max(seconds, outcome.verify_seconds + outcome.measure_seconds);
        }
        return seconds;
    }

    static std::int64_t lines(const std::string& text) { return std::count(text.begin(), text.end(), '\n'); }

    /// What a run without any interruption comes to.
    std::string undisturbed(const TuningOptions& options) const {
        const test::TemporaryFolder elsewhere;
        SimulatedEvaluator evaluator(landscape);
        return test::digest(test::simulate(elsewhere.path(), seed, false, evaluator, options));
    }
};

/// Several devices at once: any of the first few candidates may be finished first.
class UnorderedEvaluator : public SimulatedEvaluator {
  public:
    UnorderedEvaluator(const Landscape& landscape, std::size_t devices) : SimulatedEvaluator(landscape), devices_(devices) {}
    std::optional<Evaluated> evaluate_next(std::span<const Candidate> prepared, double incumbent, const std::function<bool()>& stop) override {
        const std::size_t place = is_finalist(prepared.front()) ? 0 : random_() % std::min(devices_, prepared.size());
        auto outcome = evaluate(prepared[place], incumbent, stop);
        return outcome ? std::optional(Evaluated{place, *outcome}) : std::nullopt;
    }

  private:
    std::size_t devices_;
    test::FreshRandom random_;
};

/// Every candidate executes the same, or no two do.
class CodeEvaluator : public SimulatedEvaluator {
  public:
    CodeEvaluator(const Landscape& landscape, bool same) : SimulatedEvaluator(landscape), same_(same) {}
    std::optional<Outcome> evaluate(const Candidate& candidate, double incumbent, const std::function<bool()>& stop) override {
        auto outcome = SimulatedEvaluator::evaluate(candidate, incumbent, stop);
        if (outcome && outcome->measured()) outcome->code = same_ ? "0123456789abcdef" : candidate.config.key();
        return outcome;
    }

  private:
    bool same_;
};

TEST_F(TuningRunTest, CandidatesThatExecuteWhatOthersDoAreCounted) {
    TuningOptions options;
    options.evaluations = 40;
    CodeEvaluator different(landscape, false);
    EXPECT_EQ(test::simulate(folder.path(), seed, false, different, options).progress.repeated, 0) << "finals repeat candidates, and do not count";
    const test::TemporaryFolder elsewhere;
    CodeEvaluator same(landscape, true);
    const TuningProgress progress = test::simulate(elsewhere.path(), seed, false, same, options).progress;
    EXPECT_EQ(progress.repeated, progress.counts.at(Status::measured) - 1);
    EXPECT_FALSE(progress.idle.empty());
}

TEST_F(TuningRunTest, CandidatesThatAreFinishedInAnyOrderLeadTheSameWay) {
    TuningOptions options;
    options.evaluations = 60;
    options.tuner.window = 8;
    SimulatedEvaluator alone(landscape);
    const test::TemporaryFolder elsewhere;
    const TuningResult expected = test::simulate(elsewhere.path(), seed, false, alone, options);
    UnorderedEvaluator evaluator(landscape, 5);
    const TuningResult found = test::simulate(folder.path(), seed, false, evaluator, options);
    ASSERT_TRUE(expected.record && found.record) << "seed " << seed;
    EXPECT_EQ(found.record->config, expected.record->config) << "seed " << seed;
    EXPECT_EQ(found.progress.counts, expected.progress.counts) << "seed " << seed;
}

TEST_F(TuningRunTest, ARunIsResumedWithAnotherNumberOfDevicesAndRepeatsNothing) {
    TuningOptions options;
    options.evaluations = 60;
    options.tuner.window = 8;
    const test::TemporaryFolder elsewhere;
    SimulatedEvaluator alone(landscape);
    const TuningResult expected = test::simulate(elsewhere.path(), seed, false, alone, options);
    std::map<std::int64_t, int> times;
    bool resume = false;
    std::optional<TuningResult> result;
    for (const std::size_t devices : {5U, 2U, 1U, 7U}) {
        UnorderedEvaluator evaluator(landscape, devices);
        const bool last = devices == 7;
        result = test::simulate(folder.path(), seed, resume, evaluator, options, [&] { return !last && evaluator.evaluated.size() >= 13; });
        EXPECT_EQ(result->interrupted, !last);
        const std::size_t search = last ? std::min<std::size_t>(evaluator.evaluated.size(), 60 - 3 * 13) : evaluator.evaluated.size();
        for (std::size_t i = 0; i < search; ++i) ++times[evaluator.evaluated[i]];
        resume = true;
    }
    ASSERT_TRUE(result->record && expected.record) << "seed " << seed;
    EXPECT_EQ(result->record->config, expected.record->config) << "seed " << seed;
    EXPECT_EQ(result->progress.counts, expected.progress.counts) << "seed " << seed;
    EXPECT_EQ(times.size(), 60U) << "seed " << seed;
    for (const auto& [index, count] : times) EXPECT_EQ(count, 1) << index << " seed " << seed;
}

// On processors most tunables are arguments.
TEST_F(TuningRunTest, WhereASpaceHasFewTextsOneMemberOfEachIsForeseen) {
    const auto first_tunable = [](const Config& config) { return config.key().substr(0, config.key().find(',')); };
    for (const bool few : {true, false}) {
        Family family = test::landscape_family(landscape);
        family.kernel = [&](const Problem&, const Config& config, const Limits&) {
            KernelSource source;
            source.text = "// " + config.key() + "\n" + (few ? first_tunable(config) : config.key());
            return source;
        };
        const Families families({family});
        Device device = test::made_up_device();
        device.limits.target = Target::cpu;
        const test::TemporaryFolder elsewhere;
        TuningOptions options;
        options.evaluations = 5;
        options.seed = seed;
        options.folder = elsewhere.path();
        SimulatedEvaluator evaluator(landscape);
        tune(families.of(families.parse_problem("landscape n=100")), families.parse_problem("landscape n=100"), device, evaluator, options, {});
        std::set<std::string> texts;
        for (const Config& config : evaluator.foreseen) texts.insert(first_tunable(config));
        EXPECT_EQ(texts.size(), evaluator.foreseen.size()) << "seed " << seed;
        EXPECT_EQ(texts.empty(), !few) << "seed " << seed;
    }
}

TEST_F(TuningRunTest, FindsARecordThatCanBeKept) {
    SimulatedEvaluator evaluator(landscape);
    TuningOptions options;
    options.evaluations = 80;
    options.ceilings = {1e9, 1e12, 1e12, "made up"};
    const TuningResult result = test::simulate(folder.path(), seed, false, evaluator, options);
    ASSERT_TRUE(result.record) << result.why_none;
    EXPECT_FALSE(result.interrupted);
    EXPECT_EQ(result.progress.evaluations, 80);
    EXPECT_EQ(result.record->evaluations, 80);
    EXPECT_LE(result.record->step.median, result.record->safe_seconds);
    EXPECT_EQ(result.record->ceiling, "memory");
    EXPECT_DOUBLE_EQ(result.record->ceiling_fraction, 8000 / 1e9 / result.record->step.median);
    EXPECT_EQ(result.record->versions.source_hash.size(), 64U);
    EXPECT_TRUE(result.record->verified());
    EXPECT_EQ(result.record->disturbed, implausible_gain(*result.record)) << "its bytes stay in any cache";
    EXPECT_EQ(evaluator.begun, 1);
    int counted = 0;
    for (const auto& [status, count] : result.progress.counts) counted += count;
    EXPECT_EQ(counted, 80);
}

TEST_F(TuningRunTest, CeilingsAreMeasuredOnceWhenTheFirstCandidatesAreKnown) {
    const Problem problem = Families({test::landscape_family(landscape)}).parse_problem("landscape n=100");
    SimulatedEvaluator evaluator(landscape);
    TuningOptions options;
    options.evaluations = 30;
    options.folder = folder.path();
    options.ceilings = {1, 1, 1, "of another time"};
    std::vector<std::size_t> asked_after;
    TuningHooks hooks;
    hooks.clock = [&] { return evaluator.seconds; };
    hooks.ceilings = [&] {
        asked_after.push_back(evaluator.evaluated.size());
        evaluator.seconds += 100;
        return Ceilings{1e9, 1e12, 1e12, "made up"};
    };
    const TuningResult result = tune(test::landscape_family(landscape), problem, test::made_up_device(), evaluator, options, hooks);
    ASSERT_TRUE(result.record) << result.why_none;
    EXPECT_EQ(asked_after, std::vector<std::size_t>{3});
    EXPECT_DOUBLE_EQ(result.record->ceiling_fraction, 8000 / 1e9 / result.record->step.median);
    EXPECT_DOUBLE_EQ(result.profile.ceilings, 100);
}

TEST_F(TuningRunTest, AProfileTellsWhereTheTimeWent) {
    class Waiting : public SimulatedEvaluator {
      public:
        using SimulatedEvaluator::SimulatedEvaluator;
        std::optional<Outcome> evaluate(const Candidate& candidate, double incumbent, const std::function<bool()>& stop) override {
            if (evaluated.empty()) wait(waited.setup, 3), wait(waited.reference, 2);
            wait(waited.compile, 1);
            auto outcome = SimulatedEvaluator::evaluate(candidate, incumbent, stop);
            if (outcome && evaluated.size() == 1) first = seconds;
            return outcome;
        }
        void wait(double& kind, double added) {
            kind += added;
            seconds += added;
        }
        double first = 0;
    };
    Waiting evaluator(landscape);
    evaluator.waited.compile = 50;  // for an earlier problem
    TuningOptions options;
    options.evaluations = 20;
    const TuningProfile profile = test::simulate(folder.path(), seed, false, evaluator, options).profile;
    EXPECT_DOUBLE_EQ(profile.setup, 3);
    EXPECT_DOUBLE_EQ(profile.reference, 2);
    EXPECT_DOUBLE_EQ(profile.compile, static_cast<double>(evaluator.evaluated.size()));
    EXPECT_DOUBLE_EQ(profile.total, evaluator.seconds);
    EXPECT_NEAR(profile.setup + profile.reference + profile.compile + profile.verify + profile.measure, profile.total, 1e-9) << "seed " << seed;
    EXPECT_DOUBLE_EQ(profile.first_candidate, evaluator.first);
}

TEST_F(TuningRunTest, SaysWhatDisturbedTheFinalsAndWhatElseTheMachineDid) {
    const Problem problem = Families({test::landscape_family(landscape)}).parse_problem("landscape n=100");
    Family family = test::landscape_family(landscape);
    const auto text_of = family.kernel;
    family.kernel = [&](const Problem& of, const Config& config, const Limits& limits) {
        KernelSource source = text_of(of, config, limits);
        source.executed_operations = 2000;
        return source;
    };
    SimulatedEvaluator evaluator(landscape);
    TuningOptions options;
    options.evaluations = 20;
    options.folder = folder.path();
    options.ceilings = {1e9, 1, 1, "a device that cannot compute so fast"};
    int readings = 0;
    TuningHooks hooks;
    hooks.clock = [&] { return evaluator.seconds; };
    hooks.load = [&] {
        LoadReading reading;
        reading.processor_ticks = 1000 * ++readings;
        reading.stolen_ticks = 250 * readings;
        return reading;
    };
    const TuningResult result = tune(family, problem, test::made_up_device(), evaluator, options, hooks);
    ASSERT_TRUE(result.record) << result.why_none;
    EXPECT_EQ(readings, 2) << "before and after the finals";
    EXPECT_EQ(result.busy, "25.0 % of the processors' time was stolen");
    EXPECT_THAT(result.record->disturbed, HasSubstr("of the arithmetic ceiling, which no kernel can pass"));
    EXPECT_THAT(result.record->disturbed, HasSubstr("; meanwhile 25.0 % of the processors' time was stolen"));
}

TEST_F(TuningRunTest, KeepsToItsBudgetOfSeconds) {
    SimulatedEvaluator evaluator(landscape);
    TuningOptions options;
    options.seconds = 2;
    const TuningResult result = test::simulate(folder.path(), seed, false, evaluator, options);
    EXPECT_TRUE(result.record) << "seed " << seed;
    EXPECT_LT(result.progress.evaluations, result.progress.members) << "seed " << seed;
    EXPECT_GT(result.progress.elapsed, 1.0) << "seed " << seed;
    // Whatever is under way is finished: an evaluation, and then a round of the finals, of three
    // and the safe configuration.
    EXPECT_LT(result.progress.elapsed, 2 + 5 * slowest(evaluator)) << "seed " << seed;
}

TEST_F(TuningRunTest, ABudgetThatIsSpentAtOnceStillGivesTheSafeConfiguration) {
    SimulatedEvaluator evaluator(landscape);
    TuningOptions options;
    options.seconds = 1e-9;
    const TuningResult result = test::simulate(folder.path(), seed, false, evaluator, options);
    ASSERT_TRUE(result.record);
    EXPECT_EQ(result.record->config, landscape.space().safe());
    EXPECT_EQ(result.progress.evaluations, 1);
    EXPECT_FALSE(result.progress.compared);
}

TEST_F(TuningRunTest, TheSafeConfigurationAloneIsNotKeptAndTheRunGoesOnWithALongerBudget) {
    const Families families({test::landscape_family(landscape)});
    const auto records = [&] { return Database::load(folder.path(), families).records().size(); };
    TuningOptions options;
    options.tuner.window = 3;
    options.evaluations = 20;
    const auto but_for_time = [](const std::string& digest) { return digest.substr(digest.find('\n')); };
    const std::string expected = but_for_time(undisturbed(options));
    std::size_t evaluated = 0;
    // Twice: what is resumed with the same budget is where it was.
    for (const bool resume : {false, true}) {
        options.evaluations = 1;
        SimulatedEvaluator evaluator(landscape);
        const TuningResult alone = test::simulate(folder.path(), seed, resume, evaluator, options);
        ASSERT_TRUE(alone.record) << alone.why_none;
        EXPECT_THAT(alone.why_not_kept, HasSubstr(std::to_string(alone.progress.members - 1))) << "so many others";
        EXPECT_EQ(keep_result(alone, families, folder.path()), alone.why_not_kept);
        EXPECT_EQ(records(), 0U);
        evaluated += evaluator.evaluated.size();
    }
    options.evaluations = 20;
    for (const bool again : {false, true}) {
        SimulatedEvaluator evaluator(landscape);
        const TuningResult result = test::simulate(folder.path(), seed, true, evaluator, options);
        EXPECT_EQ(but_for_time(test::digest(result)), expected) << "seed " << seed;
        EXPECT_EQ(result.progress.replayed, again ? 20 : 1);
        EXPECT_EQ(evaluator.evaluated.empty(), again) << "it has come to its end";
        evaluated += evaluator.evaluated.size();
        EXPECT_EQ(keep_result(result, families, folder.path()), "");
        EXPECT_EQ(records(), 1U);
    }
    // The header; finish and done of three runs; every evaluation once.
    EXPECT_EQ(lines(journal()), static_cast<std::int64_t>(evaluated) + 7) << "seed " << seed;
}

/// Every round of the finals takes sixty times as long as the one before.
class ErraticEvaluator : public SimulatedEvaluator {
  public:
    using SimulatedEvaluator::SimulatedEvaluator;
    std::optional<Outcome> evaluate(const Candidate& candidate, double incumbent, const std::function<bool()>& stop) override {
        auto outcome = SimulatedEvaluator::evaluate(candidate, incumbent, stop);
        if (!outcome || !is_finalist(candidate)) return outcome;
        const double factor = std::pow(60, ++rounds_[candidate.index]);
        for (double& sample : outcome->samples) sample *= factor;
        outcome->step = summarise(outcome->samples);
        return outcome;
    }

  private:
    std::map<std::int64_t, int> rounds_;
};

TEST_F(TuningRunTest, AFinalistThatContradictsItsSearchIsMeasuredAgainAndNotStoredWhereThatDoesNotHelp) {
    const Families families({test::landscape_family(landscape)});
    ErraticEvaluator evaluator(landscape);
    TuningOptions options;
    options.evaluations = 10;
    const TuningResult result = test::simulate(folder.path(), seed, false, evaluator, options);
    ASSERT_TRUE(result.record) << result.why_none;
    EXPECT_THAT(result.why_not_kept, HasSubstr("in the finals and took"));
    EXPECT_EQ(keep_result(result, families, folder.path()), result.why_not_kept);
    EXPECT_TRUE(Database::load(folder.path(), families).records().empty());
}

TEST_F(TuningRunTest, AWrongMembersRecordGivesWayToTheRightResultThoughItIsSlower) {
    const Families families({test::landscape_family(landscape)});
    SimulatedEvaluator evaluator(landscape);
    TuningOptions options;
    options.evaluations = 20;
    TuningResult result = test::simulate(folder.path(), seed, false, evaluator, options);
    ASSERT_TRUE(result.record) << result.why_none;
    Record stored = *result.record;
    stored.config = result.record->config == landscape.space().safe() ? landscape.space().at(1) : landscape.space().safe();
    stored.step = {1e-9, 1e-9, 1e-9, 1e-9, 9};
    stored.disturbed.clear();
    result.record->disturbed.clear();
    Database before(families);
    before.add(stored);
    before.merge_into(folder.path());
    EXPECT_EQ(keep_result(result, families, folder.path()), "");
    EXPECT_EQ(Database::load(folder.path(), families).records().front().config, stored.config) << "it promises less time";
    result.wrong.push_back({stored.problem, stored.config, stored.versions.source_hash, "rhs differs by 2"});
    EXPECT_EQ(keep_result(result, families, folder.path()), "");
    const Database after = Database::load(folder.path(), families);
    ASSERT_EQ(after.records().size(), 1U);
    EXPECT_EQ(after.records().front().config, result.record->config);
    EXPECT_EQ(after.marks().size(), 1U);
}

TEST_F(TuningRunTest, ARunNamesTheMembersThatItFoundWrong) {
    class Wrong : public SimulatedEvaluator {
      public:
        using SimulatedEvaluator::SimulatedEvaluator;
        std::optional<Outcome> evaluate(const Candidate& candidate, double incumbent, const std::function<bool()>& stop) override {
            auto outcome = SimulatedEvaluator::evaluate(candidate, incumbent, stop);
            if (outcome && evaluated.size() == 3) outcome = failure(Status::wrong, "rhs differs by 2");
            return outcome;
        }
    } evaluator(landscape);
    TuningOptions options;
    options.evaluations = 5;
    for (const bool resume : {false, true}) {
        const TuningResult result = test::simulate(folder.path(), seed, resume, evaluator, options);
        ASSERT_FALSE(result.wrong.empty()) << "also of a run that is only read again";
        EXPECT_THAT(result.wrong.front().reason, HasSubstr("rhs differs by 2; found by a tuning run"));
        EXPECT_EQ(result.wrong.front().source_hash.size(), 64U);
    }
}

TEST_F(TuningRunTest, WhatARestrictionLeavesOutIsNotKeptAsItsResult) {
    const SearchSpace& space = landscape.space();
    const std::int64_t safe = space.index_of(space.safe());
    const Tunable& first = space.tunables().front();
    /// Members that are `factor` times as slow as the safe configuration.
    class Slower : public SimulatedEvaluator {
      public:
        Slower(const Landscape& of, std::int64_t safe, double factor) : SimulatedEvaluator(of), safe_(safe), factor_(factor) {}
        std::optional<Outcome> evaluate(const Candidate& candidate, double incumbent, const std::function<bool()>& stop) override {
            auto outcome = SimulatedEvaluator::evaluate({safe_, candidate.config, candidate.purpose}, incumbent, stop);
            if (!outcome || candidate.index == safe_) return outcome;
            for (double& seconds : outcome->samples) seconds *= factor_;
            outcome->step = summarise(outcome->samples);
            return outcome;
        }

      private:
        std::int64_t safe_;
        double factor_;
    };
    TuningOptions options;
    options.evaluations = 5;
    options.only = first.name + "=" + to_string(first.values.back());
    for (const double factor : {2.0, 0.5}) {
        Slower evaluator(landscape, safe, factor);
        const TuningResult result = test::simulate(folder.path(), seed, false, evaluator, options);
        ASSERT_TRUE(result.record) << result.why_none;
        EXPECT_TRUE(result.progress.compared);
        EXPECT_EQ(result.record->config == space.safe(), factor > 1);
        EXPECT_THAT(result.why_not_kept, factor > 1 ? HasSubstr("those that were asked for") : HasSubstr(""));
        EXPECT_EQ(result.why_not_kept.empty(), factor < 1) << result.why_not_kept;
    }
    options.only = first.name + "=" + to_string(*space.safe().find(first.name));
    Slower evaluator(landscape, safe, 2);
    EXPECT_EQ(test::simulate(folder.path(), seed, false, evaluator, options).why_not_kept, "") << "the safe configuration was asked for, too";
}

TEST_F(TuningRunTest, FinalsThatTakeLongerThanForeseenAreShortened) {
    class SlowFinals : public SimulatedEvaluator {
      public:
        using SimulatedEvaluator::SimulatedEvaluator;
        std::optional<Outcome> evaluate(const Candidate& candidate, double incumbent, const std::function<bool()>& stop) override {
            auto outcome = SimulatedEvaluator::evaluate(candidate, incumbent, stop);
            if (outcome && is_finalist(candidate)) seconds += 2;
            return outcome;
        }
    };
    SlowFinals evaluator(landscape);
    TuningOptions options;
    options.seconds = 2;
    const TuningResult result = test::simulate(folder.path(), seed, false, evaluator, options);
    EXPECT_TRUE(result.record) << "seed " << seed;
    EXPECT_FALSE(result.interrupted);
    EXPECT_LT(result.progress.elapsed, 2 + 4 * 2 + 5 * slowest(evaluator)) << "seed " << seed;
    SlowFinals again(landscape);
    EXPECT_EQ(test::digest(test::simulate(folder.path(), seed, true, again, options)), test::digest(result)) << "the journal tells the same";
}

TEST_F(TuningRunTest, AFirstCandidateThatNeverEndsCostsBudgetAndGraceAndNoMore) {
    class Hangs : public SimulatedEvaluator {
      public:
        using SimulatedEvaluator::SimulatedEvaluator;
        std::optional<Outcome> evaluate(const Candidate& /*candidate*/, double /*incumbent*/, const std::function<bool()>& stop) override {
            while (!stop()) seconds += 0.5;
            return std::nullopt;
        }
    };
    Hangs evaluator(landscape);
    TuningOptions options;
    options.seconds = 20;
    options.grace = 5;
    const TuningResult result = test::simulate(folder.path(), seed, false, evaluator, options);
    EXPECT_FALSE(result.record);
    EXPECT_FALSE(result.interrupted) << "other problems may have their turn";
    EXPECT_LT(evaluator.seconds, 26);
    EXPECT_THAT(result.why_none, HasSubstr("the budget was spent"));
}

TEST_F(TuningRunTest, AnInterruptedRunGoesOnToTheSameEnd) {
    TuningOptions options;
    options.evaluations = 60;
    const std::string expected = undisturbed(options);
    std::mt19937_64 random(seed);
    TuningResult result;
    int evaluated = 0;
    result.interrupted = true;
    for (bool resume = false; result.interrupted; resume = true) {
        SimulatedEvaluator evaluator(landscape);
        const std::size_t until = 1 + random() % 20;
        result = test::simulate(folder.path(), seed, resume, evaluator, options, [&] { return evaluator.evaluated.size() >= until; });
        evaluated += static_cast<int>(evaluator.evaluated.size());
        EXPECT_TRUE(result.record) << "the best so far";
    }
    EXPECT_EQ(test::digest(result), expected) << "seed " << seed;
    // Header, finish and done; every evaluation once.
    EXPECT_EQ(lines(journal()), evaluated + 3) << "seed " << seed;
}

TEST_F(TuningRunTest, EndsWhenItsModelSeesHardlyAnythingLeftToGain) {
    TuningOptions options;
    options.until = 0.9;
    options.tuner.window = 3;
    SimulatedEvaluator evaluator(landscape);
    const TuningResult result = test::simulate(folder.path(), seed, false, evaluator, options);
    ASSERT_TRUE(result.record) << result.why_none;
    ASSERT_TRUE(result.progress.outlook.has_value());
    EXPECT_LT(result.progress.outlook->chance, GainRule::least_chance) << "seed " << seed;
    EXPECT_GE(result.progress.outlook->gain, 0);
    EXPECT_LT(result.progress.evaluations, result.progress.members) << "seed " << seed;
    const int interrupted_after = result.progress.evaluations / 2;
    const test::TemporaryFolder elsewhere;
    SimulatedEvaluator first(landscape);
    test::simulate(elsewhere.path(), seed, false, first, options, [&] { return std::ssize(first.evaluated) >= interrupted_after; });
    SimulatedEvaluator second(landscape);
    EXPECT_EQ(test::digest(test::simulate(elsewhere.path(), seed, true, second, options)), test::digest(result)) << "a resumed run ends there, too";
    options.strategy = "random";
    options.evaluations = 30;
    SimulatedEvaluator blind(landscape);
    EXPECT_FALSE(test::simulate(folder.path(), seed, false, blind, options).progress.outlook) << "without a model nothing is said";
}

TEST_F(TuningRunTest, AFinishedRunIsNotRunAgain) {
    TuningOptions options;
    options.evaluations = 20;
    SimulatedEvaluator first(landscape);
    const std::string expected = test::digest(test::simulate(folder.path(), seed, false, first, options));
    SimulatedEvaluator second(landscape);
    EXPECT_EQ(test::digest(test::simulate(folder.path(), seed, true, second, options)), expected);
    EXPECT_TRUE(second.evaluated.empty());
    EXPECT_EQ(second.begun, 0);
    SimulatedEvaluator third(landscape);
    test::simulate(folder.path(), seed, false, third, options);
    EXPECT_FALSE(third.evaluated.empty()) << "without resume it begins anew";
}

TEST_F(TuningRunTest, ARunThatEndedOnItsBudgetGoesOnWithALongerOne) {
    // One run of forty, and one of twenty that twenty more were granted to: the same candidates.
    TuningOptions options;
    options.evaluations = 40;
    SimulatedEvaluator whole(landscape);
    const TuningResult expected = test::simulate(folder.path(), seed, false, whole, options);
    const test::TemporaryFolder elsewhere;
    const auto run = [&](int evaluations, bool resume, std::vector<std::int64_t>& evaluated) {
        options.evaluations = evaluations;
        SimulatedEvaluator evaluator(landscape);
        const TuningResult result = test::simulate(elsewhere.path(), seed, resume, evaluator, options);
        evaluated = evaluator.evaluated;
        return result;
    };
    std::vector<std::int64_t> evaluated;
    EXPECT_EQ(run(20, false, evaluated).progress.evaluations, 20);
    const TuningResult longer = run(40, true, evaluated);
    EXPECT_EQ(longer.progress.evaluations, 40) << "seed " << seed;
    EXPECT_EQ(longer.progress.replayed, 20);
    EXPECT_EQ(longer.record->config, expected.record->config) << "seed " << seed;
    EXPECT_EQ(longer.progress.counts, expected.progress.counts);
    // Of the search only what is new was evaluated; the finals are held again.
    const std::vector<std::int64_t> new_ones(evaluated.begin(), evaluated.begin() + 20);
    EXPECT_EQ(new_ones, std::vector<std::int64_t>(whole.evaluated.begin() + 20, whole.evaluated.begin() + 40)) << "seed " << seed;
    // With no more than it had, or less, it is where it was.
    for (const int evaluations : {40, 10}) {
        const TuningResult same = run(evaluations, true, evaluated);
        EXPECT_TRUE(evaluated.empty()) << evaluations;
        EXPECT_EQ(test::digest(same), test::digest(longer)) << evaluations;
    }
}

TEST_F(TuningRunTest, ARunThatSpentItsSecondsGoesOnWithMore) {
    TuningOptions options;
    SimulatedEvaluator first(landscape);
    options.seconds = 0;
    options.evaluations = 60;
    const test::TemporaryFolder elsewhere;
    const double enough = test::simulate(elsewhere.path(), seed, false, first, options).progress.elapsed;
    options.evaluations = 0;
    options.seconds = enough / 3;
    SimulatedEvaluator second(landscape);
    const int few = test::simulate(folder.path(), seed, false, second, options).progress.evaluations;
    SimulatedEvaluator same(landscape);
    EXPECT_EQ(test::simulate(folder.path(), seed, true, same, options).progress.evaluations, few) << "seed " << seed;
    EXPECT_TRUE(same.evaluated.empty()) << "its seconds are spent; seed " << seed;
    options.seconds = enough;
    SimulatedEvaluator third(landscape);
    const TuningResult more = test::simulate(folder.path(), seed, true, third, options);
    EXPECT_EQ(more.progress.replayed, few);
    EXPECT_GT(more.progress.evaluations, few) << "seed " << seed;
}

// 10^10 configurations that are looked at one by one would take hours.
TEST_F(TuningRunTest, ASpaceIsListedWithinTheBudgetAndEndsWhenInterrupted) {
    Family family = test::landscape_family(landscape);
    family.space = [](const Problem&, const Limits&) {
        std::vector<Tunable> tunables;
        std::vector<Assignment> safe;
        for (int i = 0; i < 10; ++i) {
            tunables.push_back({fmt::format("t{}", i), "", numbers({1, 2, 3, 4, 5, 6, 7, 8, 9, 10})});
            safe.push_back({tunables.back().name, 1});
        }
        const Constraint slow{"slow", [](const Config& config) -> std::optional<std::string> {
                                  return config.integer("t9") > 0 ? std::nullopt : std::optional<std::string>("never");
                              }};
        return SearchSpace(std::move(tunables), {slow}, std::move(safe));
    };
    const Problem problem = Families({family}).parse_problem("landscape n=100");
    SimulatedEvaluator evaluator(landscape);
    TuningOptions options;
    options.folder = folder.path();
    TuningHooks hooks;
    test::RunningTime time;
    options.seconds = 0.2;
    const TuningResult late = tune(family, problem, test::made_up_device(), evaluator, options, hooks);
    EXPECT_LT(time.seconds(), 3);
    EXPECT_FALSE(late.record);
    EXPECT_FALSE(late.interrupted);
    EXPECT_THAT(late.why_none, HasSubstr("were not all found in time"));
    options.seconds = 0;
    hooks.interrupted = [&] { return time.seconds() > 0.5; };
    const TuningResult interrupted = tune(family, problem, test::made_up_device(), evaluator, options, hooks);
    EXPECT_LT(time.seconds(), 6);
    EXPECT_TRUE(interrupted.interrupted);
    EXPECT_TRUE(evaluator.evaluated.empty());
}

TEST_F(TuningRunTest, ResumingTakesStrategyAndSeedFromTheJournal) {
    TuningOptions options;
    options.evaluations = 20;
    options.strategy = "random";
    SimulatedEvaluator first(landscape);
    test::simulate(folder.path(), seed, false, first, options, [&] { return first.evaluated.size() >= 5; });
    options.strategy = "";
    SimulatedEvaluator second(landscape);
    const TuningResult result = test::simulate(folder.path(), seed, true, second, options);
    EXPECT_EQ(result.record->strategy, "random");
    EXPECT_EQ(result.progress.replayed, 5);
    options.strategy = "exhaustive";
    SimulatedEvaluator third(landscape);
    EXPECT_THROW(test::simulate(folder.path(), seed, true, third, options), Error);
}

TEST_F(TuningRunTest, ResumingTakesWindowRestrictionAndPriorKnowledgeFromTheJournal) {
    TuningOptions options;
    options.evaluations = 30;
    options.strategy = "random";
    options.tuner.window = 5;
    const SearchSpace& space = landscape.space();
    const Members members = space.members();
    options.prior = {space.at(members[members.size() / 2]), space.at(members.back())};
    const std::string name = space.tunables()[0].name;
    options.only = name + "=0," + name + "=1";
    options.among = 20;
    options.seed = seed;
    const std::string expected = undisturbed(options);
    SimulatedEvaluator first(landscape);
    test::simulate(folder.path(), seed, false, first, options, [&] { return first.evaluated.size() >= 7; });
    TuningOptions bare;
    bare.evaluations = 30;
    SimulatedEvaluator second(landscape);
    const TuningResult result = test::simulate(folder.path(), seed, true, second, bare);
    EXPECT_EQ(test::digest(result), expected) << "seed " << seed;
    std::vector<std::int64_t> allowed = drawn_members(space, restricted_members(space, space.members(), options.only), options.among, seed);
    ASSERT_EQ(allowed.size(), 20U) << "seed " << seed;
    allowed.push_back(space.index_of(space.safe()));
    for (const std::int64_t index : second.evaluated) EXPECT_THAT(allowed, testing::Contains(index)) << "seed " << seed;
    ASSERT_TRUE(result.prior);
    EXPECT_EQ(result.prior->members, 2);
    SimulatedEvaluator third(landscape);
    TuningOptions other = bare;
    other.only = name + "=0";
    EXPECT_THROW(test::simulate(folder.path(), seed, true, third, other), OtherRunError);
    other = bare;
    other.among = 21;
    EXPECT_THROW(test::simulate(folder.path(), seed, true, third, other), OtherRunError);
}

TEST_F(TuningRunTest, PriorKnowledgeReachesTheSameCostSoonerAndSaysByHowMuch) {
    TuningOptions options;
    options.evaluations = 60;
    SimulatedEvaluator first(landscape);
    const TuningResult without = test::simulate(folder.path(), seed, false, first, options);
    EXPECT_FALSE(without.prior);
    std::int64_t best = first.evaluated.front();
    for (const std::int64_t index : first.evaluated)
        if (landscape.cost(index) < landscape.cost(best)) best = index;
    options.prior = {landscape.space().at(best)};
    SimulatedEvaluator second(landscape);
    const TuningResult with = test::simulate(folder.path(), seed, false, second, options);
    ASSERT_TRUE(with.prior) << "seed " << seed;
    EXPECT_EQ(second.evaluated[1], best == second.evaluated[0] ? second.evaluated[1] : best) << "seed " << seed;
    EXPECT_GE(with.prior->reached, 1) << "seed " << seed;
    double least = landscape.outcome(best, 0).step.median;
    const double known = least;
    for (const std::int64_t index : second.evaluated)
        if (landscape.cost(index) < 1e9) least = std::min(least, landscape.outcome(index, 0).step.median);
    if (known > 1.01 * least) return;  // the second run found a better one still, which the first never had
    EXPECT_LE(with.prior->reached, 2) << "seed " << seed;
    ASSERT_TRUE(with.prior->without) << "seed " << seed;
    EXPECT_GE(*with.prior->without, with.prior->reached) << "seed " << seed;
}

TEST_F(TuningRunTest, ARecordSaysWhatItWasTunedForAndItsEnergy) {
    class Metered : public SimulatedEvaluator {
      public:
        using SimulatedEvaluator::SimulatedEvaluator;
        void set_objective(const Objective& wanted) override { objective = wanted; }
        std::optional<Outcome> evaluate(const Candidate& candidate, double incumbent, const std::function<bool()>& stop) override {
            auto outcome = SimulatedEvaluator::evaluate(candidate, incumbent, stop);
            if (!outcome || !outcome->measured()) return outcome;
            const double watts = 100 + static_cast<double>(candidate.index % 7) * 50;
            const double joules = watts * outcome->step.median;
            outcome->energy = Energy{{joules, joules, joules, joules, 4}, watts, 70, "nvml", 200, 0.1, 0.001};
            return outcome;
        }
        Objective objective;
    };
    Metered evaluator(landscape);
    TuningOptions options;
    options.evaluations = 40;
    options.objective = "energy";
    const TuningResult result = test::simulate(folder.path(), seed, false, evaluator, options);
    ASSERT_TRUE(result.record) << result.why_none;
    EXPECT_EQ(evaluator.objective, parse_objective("energy"));
    EXPECT_EQ(result.record->purpose, "energy");
    EXPECT_EQ(result.record->found, "offline");
    ASSERT_TRUE(result.record->energy);
    EXPECT_EQ(result.record->energy->source, "nvml");
    EXPECT_GT(result.record->energy->joules.median, 0);
    Metered again(landscape);
    EXPECT_EQ(test::digest(test::simulate(folder.path(), seed, true, again, {.evaluations = 40})), test::digest(result))
        << "the journal tells the same";
    options.objective = "time";
    EXPECT_THROW(test::simulate(folder.path(), seed, true, again, options), OtherRunError);
}

TEST_F(TuningRunTest, SaysWhyThereIsNoRecord) {
    class Failing : public SimulatedEvaluator {
      public:
        using SimulatedEvaluator::SimulatedEvaluator;
        std::optional<Outcome> evaluate(const Candidate& /*candidate*/, double /*incumbent*/, const std::function<bool()>& /*stop*/) override {
            Outcome outcome;
            outcome.status = Status::compile_failed;
            outcome.reason = "there is no compiler";
            return outcome;
        }
    };
    Failing evaluator(landscape);
    TuningOptions options;
    options.evaluations = 5;
    const TuningResult result = test::simulate(folder.path(), seed, false, evaluator, options);
    EXPECT_FALSE(result.record);
    EXPECT_THAT(result.why_none, HasSubstr("there is no compiler"));
    EXPECT_FALSE(result.interrupted);
}

std::string output_of(ChildProcess& child) {
    std::string text;
    while (!child.closed()) {
        while (const auto line = child.take_line()) text += *line + "\n";
        ChildProcess* const children[] = {&child};
        ChildProcess::wait(children, 0.05);
    }
    return text;
}

TEST_F(TuningRunTest, KilledTenTimesAtAnyMomentItLosesNothingAndRepeatsNothing) {
    TuningOptions options;
    options.evaluations = 60;
    const std::string expected = undisturbed(options);
    const std::vector<std::string> command{"/proc/self/exe", "simulate", folder.path().string(), std::to_string(seed)};
    std::mt19937_64 random(seed);
    std::string known;
    for (int kill = 0; kill < 10; ++kill) {
        ChildProcess child(command);
        std::this_thread::sleep_for(std::chrono::milliseconds(10 + random() % 40));
        child.end();
        const std::string now = std::filesystem::exists(folder.path() / "journals") ? journal() : "";
        const std::string kept = known.substr(0, known.rfind('\n') + 1);  // a torn last line may go
        EXPECT_EQ(now.substr(0, kept.size()), kept) << "seed " << seed;
        known = now;
    }
    ChildProcess child(command);
    EXPECT_EQ(output_of(child), expected) << "seed " << seed;
    const std::string whole = journal();
    std::set<std::string> candidates;
    std::istringstream stream(whole);
    for (std::string line; std::getline(stream, line);) {
        if (line.find("\"candidate\"") == std::string::npos) continue;
        const std::size_t config = line.find("\"config\"");
        EXPECT_TRUE(candidates.insert(line.substr(config, line.find("\"outcome\"") - config)).second) << line;
    }
    EXPECT_EQ(candidates.size(), 60U) << "seed " << seed;
}

}  // namespace
}  // namespace hone::tuning_run_test
