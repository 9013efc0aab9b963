#include "tools/charts/result_charts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <limits>
#include <map>

#include "foundation/file_store.hpp"
#include "foundation/process.hpp"
#include "generator/families.hpp"
#include "generator/families/built_in_families.hpp"
#include "tests/support/places.hpp"
#include "tests/support/sample_record.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/tools/ask.hpp"
#include "tests/tools/hone_process.hpp"
#include "tools/console/json.hpp"
#include "tuner/journal.hpp"
#include "tuning_db/database.hpp"

namespace hone::tools::result_charts_test {
namespace {

using test::ask;
using testing::HasSubstr;
using testing::Not;

Record volume(int order, double seconds, const std::string& precision = "f32") {
    Record record;
    record.problem =
        built_in_families().parse_problem(fmt::format("dg_volume equation=maxwell_3d order={} precision={} elements=1000", order, precision));
    record.device.name = "NVIDIA H200";
    record.step.median = seconds;
    record.counts = {1e6, "elements", 4e9, 1e9};
    record.ceiling = "memory";
    record.ceiling_fraction = 0.5;
    return record;
}

TEST(ResultCharts, RooflineHasTheCeilingsThatTheRecordsImply) {
    Record arithmetic = volume(5, 1e-3, "f64");
    arithmetic.ceiling = "arithmetic";
    arithmetic.ceiling_fraction = 0.25;
    const SvgChart chart = roofline_chart({volume(3, 1e-3), volume(4, 2e-3), volume(5, 1e-3), arithmetic});
    std::map<std::string, SvgChart::Series> series;
    for (const auto& one : chart.series) series[one.name] = one;
    ASSERT_TRUE(series.count("dg_volume") == 1);
    EXPECT_EQ(series["dg_volume"].points.size(), 4U);
    EXPECT_DOUBLE_EQ(series["dg_volume"].points[0].x, 4);
    EXPECT_DOUBLE_EQ(series["dg_volume"].points[0].y, 4000);
    ASSERT_TRUE(series.count("memory, 2000 GB/s") == 1);
    EXPECT_NEAR(series["memory, 2000 GB/s"].points[0].y, 4 * 2000, 1e-6);
    EXPECT_TRUE(series.count("f64 arithmetic, 16000 GFLOP/s") == 1);
}

TEST(ResultCharts, RateHasALineForEachChoiceOfTheOtherParameters) {
    const SvgChart chart = rate_chart({volume(5, 4e-3), volume(3, 1e-3), volume(4, 2e-3), volume(3, 2e-3, "f64")}, "order");
    ASSERT_EQ(chart.series.size(), 2U);
    for (const auto& series : chart.series) {
        if (series.name.find("f32") == std::string::npos) continue;
        ASSERT_EQ(series.points.size(), 3U);
        EXPECT_EQ(series.points[0].x, 3);
        EXPECT_DOUBLE_EQ(series.points[0].y, 1);
        EXPECT_DOUBLE_EQ(series.points[2].y, 0.25);
    }
    EXPECT_EQ(chart.x_ticks, (std::vector<double>{3, 4, 5}));
    EXPECT_THROW(rate_chart({volume(3, 1e-3)}, "equation"), Error);
}

TEST(ResultCharts, NamesSayWhatSetsSeriesApart) {
    SvgChart chart{.title = "rate", .series = {{"volume f32 order=3"}, {"volume f64 order=3"}, {"ideal", {}, true, false, true}}};
    tell_apart(chart);
    EXPECT_EQ(chart.title, "rate: volume order=3");
    EXPECT_EQ(chart.series[0].name, "f32");
    EXPECT_EQ(chart.series[1].name, "f64");
    EXPECT_EQ(chart.series[2].name, "ideal");
    SvgChart alone{.title = "rate", .series = {{"volume f32"}}};
    tell_apart(alone);
    EXPECT_EQ(alone.title, "rate: volume f32");
    EXPECT_EQ(alone.series[0].name, "");
    SvgChart different{.series = {{"a"}, {"b"}}};
    tell_apart(different);
    EXPECT_EQ(different.title, "");
    EXPECT_EQ(different.series[0].name, "a");
}

TEST(ResultCharts, CommandDrawsSearchesAndShippedResults) {
    const test::OwnFolders own;
    const std::string journal = (own.folder.path() / "journal.jsonl").string();
    ask({"convert", test::source_path("tests/spaces/gauss_seidel_27_variable_f64.space.gz"), "--to", "journal", "--output", journal});
    const Json converged = Json::parse(ask({"plot", "convergence", "--journal", journal, "--json"}).out);
    const Json& points = converged["series"][0]["points"];
    for (std::size_t i = 1; i < points.size(); ++i) EXPECT_LE(points[i]["y"], points[i - 1]["y"]);
    EXPECT_EQ(points.back()["y"], 1);
    const Json tunable = Json::parse(ask({"plot", "tunable", "--over", "block_y", "--journal", journal, "--json"}).out);
    EXPECT_EQ(tunable["series"][1]["points"].size(), 163U);
    const Json failures = Json::parse(ask({"plot", "failures", "--journal", journal, "--json"}).out);
    EXPECT_EQ(failures["series"].size(), 1U) << "none failed";
    EXPECT_EQ(failures["series"][0]["points"][0]["y"], 163);
    const test::Answer wrong = ask({"plot", "tunable", "--over", "blok_y", "--journal", journal});
    EXPECT_THAT(wrong.error, HasSubstr("did you mean block_y?"));
    const std::string picture = (own.folder.path() / "a.svg").string();
    EXPECT_EQ(ask({"plot", "roofline", "--as", "nvidia_h200", "--output", picture}).code, Exit::ok);
    EXPECT_THAT(read_file(picture, 1 << 24), testing::EndsWith("</svg>\n"));
    EXPECT_EQ(ask({"plot", "rate", "dg_volume", "--as", "nvidia_h200"}).code, Exit::ok);
    // A search that was ended before its first candidate has nothing to draw: that is no mistake.
    const std::string text = read_file(journal, 1 << 24);
    replace_file(journal, text.substr(0, text.find('\n') + 1));
    for (const std::vector<std::string>& kind :
         std::vector<std::vector<std::string>>{{"convergence"}, {"failures"}, {"energy"}, {"tunable", "--over", "block_y"}}) {
        std::vector<std::string> line{"plot"};
        line.insert(line.end(), kind.begin(), kind.end());
        line.insert(line.end(), {"--journal", journal});
        const test::Answer nothing = ask(line);
        EXPECT_EQ(nothing.code, Exit::nothing) << kind.front() << ": " << nothing.error;
        EXPECT_EQ(nothing.out, "");
    }
}

// A full disk leaves an empty journal; the other searches are no worse for it.
TEST(ResultCharts, JournalsBesideResultsThatCannotBeReadAreLeftOut) {
    const test::OwnFolders own;
    Database database(built_in_families());
    const DeviceFingerprint h200{Target::cuda, "NVIDIA H200", "sm_90", 132, "13.0", "NVRTC 13.0"};
    const Problem problem = built_in_families().parse_problem("dg_volume equation=maxwell_3d order=3 precision=f32 elements=1000");
    database.add(test::sample_record(built_in_families(), problem, "", h200, cuda_limits(90)));
    const std::filesystem::path folder = own.folder.path() / "results";
    database.merge_into(folder);
    const std::filesystem::path empty = journal_path(folder, problem, h200);
    make_folders(folder / "journals");
    replace_file(empty, "");
    ask({"convert", test::source_path("tests/spaces/gauss_seidel_27_variable_f64.space.gz"), "--to", "journal", "--output",
         (folder / "journals" / "whole.jsonl").string()});
    for (const char* const kind : {"convergence", "failures"}) {
        const test::Answer drawn = ask({"plot", kind, "--db", folder.string(), "--json"});
        ASSERT_EQ(drawn.code, Exit::ok) << drawn.error;
        EXPECT_EQ(Json::parse(drawn.out)["series"].size(), 1U);
        EXPECT_THAT(drawn.error, HasSubstr("left out"));
    }
    EXPECT_EQ(ask({"show", "--pareto", "--db", folder.string()}).code, Exit::ok);
    const test::Answer explained = ask({"explain", "dg_volume", "order=3", "--db", folder.string()});
    EXPECT_EQ(explained.code, Exit::ok) << explained.error;
    EXPECT_THAT(explained.out, HasSubstr("its journal cannot be read"));
    EXPECT_EQ(ask({"explain", "--journal", empty.string()}).code, Exit::wrong_input);
}

TEST(ResultCharts, CommandRefusesWhatItCannotDraw) {
    const test::OwnFolders own;
    Database database(built_in_families());
    const Problem problem = built_in_families().parse_problem("dg_volume equation=maxwell_3d order=3 precision=f32 elements=1000");
    database.add(
        test::sample_record(built_in_families(), problem, "", {Target::cuda, "NVIDIA H200", "sm_90", 132, "13.0", "NVRTC 13.0"}, cuda_limits(90)));
    const std::string folder = (own.folder.path() / "small").string();
    database.merge_into(folder);
    const std::vector<std::pair<std::vector<std::string>, std::string>> cases{
        {{"plot"}, "no kind is named"},
        {{"plot", "rofline"}, "did you mean roofline?"},
        {{"plot", "tunable"}, "--over TUNABLE"},
        {{"plot", "rate", "dg_volume", "--over", "oder"}, "did you mean order?"},
        {{"plot", "rate", "dg_volume", "order=77"}, "no such results"},
        {{"plot", "greenup", "--over", "the_moon"}, "use processor or untuned"},
        {{"plot", "greenup", "--over", "untuned"}, "no result has the energy"},
        {{"plot", "convergence", "dg_volume"}, "no such journals"}};
    for (auto [words, expected] : cases) {
        words.insert(words.end(), {"--db", folder});
        const test::Answer answer = ask(words);
        const bool nothing = expected.starts_with("no such") || expected.starts_with("no result");
        EXPECT_EQ(answer.code, nothing ? Exit::nothing : Exit::wrong_input) << expected;
        EXPECT_THAT(answer.error, HasSubstr(expected));
        EXPECT_EQ(answer.out, "");
    }
}

}  // namespace
}  // namespace hone::tools::result_charts_test
