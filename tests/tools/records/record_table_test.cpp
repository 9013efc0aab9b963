#include "tools/records/record_table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "generator/families/built_in_families.hpp"
#include "tools/charts/gnuplot.hpp"
#include "tools/searches/tuning_report.hpp"

namespace hone::tools::record_table_test {
namespace {

using testing::HasSubstr;
using testing::Not;

Record example() {
    Record record;
    record.problem = built_in_families().parse_problem(built_in_families().begin()->example);
    record.config = Config({{"block_x", std::int64_t{32}}});
    record.device = {Target::cpu, "Example \"7\"", "x86-64-avx2", 8, "", "c++ 12"};
    record.step = {0.5e-3, 0.49e-3, 0.51e-3, 0.48e-3, 40};
    record.counts = {1e6, "updates", 53e6, 20e6};
    record.safe_seconds = 1e-3;
    record.ceiling_fraction = 0.8;
    record.ceiling = "memory";
    record.strategy = "random";
    record.date = "2026-11-21T14:05:00Z";
    return record;
}

TEST(RecordTable, ShowsTimeRatesCeilingGainAndWinner) {
    const std::string text = record_table({example()}, {"found by luck"});
    for (const char* part : {"500 us ±2.0 %", "2.00 G updates/s", "40.0", "106", "80.0 % of memory", "2.00x", "block_x=32", "found by luck"})
        EXPECT_THAT(text, HasSubstr(part));
}

TEST(RecordTable, SaysWhatWasNotMeasured) {
    Record record = example();
    record.safe_seconds = 0;
    record.ceiling_fraction = 0;
    EXPECT_THAT(record_table({record}), Not(HasSubstr("inf")));
    EXPECT_THAT(record_table({record}), Not(HasSubstr("0.00x")));
    EXPECT_EQ(gain(record), 0);
}

TEST(RecordTable, MarksDisturbedRecords) {
    Record record = example();
    EXPECT_THAT(record_table({record}), Not(HasSubstr("disturbed")));
    record.safe_seconds = 1;
    EXPECT_THAT(record_table({record}), HasSubstr("disturbed? a gain of 2000x"));
    record.disturbed = "its rate is 218 % of the arithmetic ceiling";
    EXPECT_THAT(record_table({record}), HasSubstr("disturbed: its rate is 218 % of the arithmetic ceiling"));
    EXPECT_EQ(json_of(record)["disturbed"], record.disturbed);
}

TEST(RecordTable, JsonHasTheRatesOfTheRecord) {
    const Json document = json_of(example());
    EXPECT_DOUBLE_EQ(document["rates"]["gigabytes_per_second"], 40);
    EXPECT_DOUBLE_EQ(document["rates"]["gain_over_safe"], 2);
    EXPECT_EQ(document["configuration"]["block_x"], 32);
}

TEST(Gnuplot, QuotesWhateverANameHolds) {
    const std::string script = plot_script({example()}, "a \"quoted\" \\ name\nwith a line", "picture.png");
    EXPECT_THAT(script, HasSubstr("set title \"a \\\"quoted\\\" \\\\ name with a line\""));
    EXPECT_THAT(script, HasSubstr("set output \"picture.png\""));
}

TEST(TuningReport, SaysWhatLeftNoTimeToSearch) {
    TuningResult result;
    result.progress.evaluations = 1;
    result.progress.members = 90;
    result.profile = {.setup = 1, .reference = 5, .ceilings = 4, .measure = 3, .total = 16};
    EXPECT_EQ(
        budget_remark(result),
        "1.00 s of 16.0 s went into setup, 5.00 s into the reference's answer, 4.00 s into ceilings; a smaller problem or a longer budget searches "
        "more");
    result.progress.evaluations = 90;
    EXPECT_EQ(budget_remark(result), "") << "the space is at its end";
    result.progress.evaluations = 1;
    result.profile.total = 21;
    EXPECT_EQ(budget_remark(result), "") << "it searched for more than half of its time";
}

TEST(TuningReport, SaysThatCandidatesAreOneKernel) {
    TuningProgress run;
    run.evaluations = 40;
    run.repeated = 4;
    run.idle = {"tile_x", "tile_y"};
    EXPECT_EQ(repeated_remark(run), "") << "some values make no difference in every space";
    run.repeated = 5;
    EXPECT_THAT(repeated_remark(run), HasSubstr("5 of 40 candidates have the code and launches of another one: tile_x, tile_y made no difference"));
}

TEST(TuningReport, SucceedsWhereWhatWasAskedForIsThere) {
    TunedProblem tuned{example().problem, {}, false};
    EXPECT_FALSE(succeeded({tuned}, 0)) << "there is no record";
    tuned.result.record = example();
    EXPECT_TRUE(succeeded({tuned}, 0));
    tuned.not_stored = "the disk is full";
    EXPECT_FALSE(succeeded({tuned}, 0));
    tuned.result.why_not_kept = tuned.not_stored = "it is the safe configuration";
    EXPECT_FALSE(succeeded({tuned}, 0)) << "nothing was compared";
    EXPECT_TRUE(succeeded({tuned}, 1)) << "as was asked for";
    tuned.result.progress.compared = true;
    EXPECT_TRUE(succeeded({tuned}, 0)) << "a search found that the rest is slower";
    EXPECT_FALSE(succeeded({tuned, {example().problem, {}, false}}, 0));
}

TEST(TuningReport, TellsWinnersCostsAndProblemsWithoutResult) {
    TunedProblem won{example().problem, {}, false};
    won.result.record = example();
    won.result.busy = "30.0 % of the processors' time was stolen";
    won.result.progress.evaluations = 10;
    won.result.progress.members = 1234;
    won.result.progress.elapsed = 20;
    won.result.progress.measure_seconds = 5;
    won.result.progress.counts = {{Status::measured, 9}, {Status::timed_out, 1}};
    TunedProblem lost{example().problem, {}, false};
    lost.result.why_none = "the device is too small";
    won.begun_after = 0.5;
    won.result.profile = {.setup = 1, .reference = 0.5, .compile = 2, .verify = 1, .measure = 3, .total = 8, .first_candidate = 1.75};
    EXPECT_THAT(profile_table(won), HasSubstr("first candidate known 2.25 s after it"));
    EXPECT_THAT(profile_table(won), testing::ContainsRegex("compile +2.000 +25.0 %"));
    EXPECT_THAT(profile_table(won), testing::ContainsRegex("rest +0.500"));
    EXPECT_DOUBLE_EQ(profile_json(won)["first_candidate_seconds"].get<double>(), 2.25);
    EXPECT_DOUBLE_EQ(profile_json(won)["rest_seconds"].get<double>(), 0.5);
    const std::string text = tuning_summary({won, lost});
    for (const char* part : {"10 of 1 234 candidates by random in 20.0 s, 2.00 s each", "25.0 % of the time measuring", "the device is too small"})
        EXPECT_THAT(text, HasSubstr(part));
    EXPECT_THAT(text, HasSubstr("failed: 1 " + to_string(Status::timed_out)));
    EXPECT_EQ(json_of(lost)["reason"], "the device is too small");
    EXPECT_TRUE(json_of(lost)["record"].is_null());
    EXPECT_EQ(json_of(won)["search"]["evaluations"], 10);
    EXPECT_EQ(json_of(won)["busy"], won.result.busy);
    EXPECT_FALSE(json_of(lost).contains("busy"));
}

}  // namespace
}  // namespace hone::tools::record_table_test
