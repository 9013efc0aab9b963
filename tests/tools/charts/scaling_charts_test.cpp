#include "tools/charts/scaling_charts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>

#include "foundation/error.hpp"
#include "foundation/file_store.hpp"
#include "foundation/process.hpp"
#include "generator/families/built_in_families.hpp"
#include "tests/support/places.hpp"
#include "tests/support/sample_record.hpp"
#include "tests/tools/ask.hpp"
#include "tests/tools/hone_process.hpp"
#include "tools/charts/chart_output.hpp"
#include "tools/console/format.hpp"

namespace hone::tools::scaling_charts_test {
namespace {

using testing::HasSubstr;

Record on_threads(int threads, double seconds) {
    const Problem problem = built_in_families().parse_problem("dg_volume equation=maxwell_3d order=3 precision=f32 elements=1000");
    Record record =
        test::sample_record(built_in_families(), problem, "", {Target::cpu, "EPYC", "x86-64-avx512", threads, "", "c++ 12"}, cpu_limits());
    record.step.median = seconds;
    record.counts = {1e6, "elements", 1e9, 1e9};
    return record;
}

TEST(ScalingCharts, StrongAndWeakScalingOfResults) {
    const std::vector<Record> records{on_threads(4, 1e-3), on_threads(1, 3e-3), on_threads(2, 1.5e-3)};
    const SvgChart strong = scaling_chart(records, Scaling::strong);
    ASSERT_EQ(strong.series.size(), 2U);
    ASSERT_EQ(strong.series[0].points.size(), 3U);
    EXPECT_DOUBLE_EQ(strong.series[0].points[2].x, 4);
    EXPECT_DOUBLE_EQ(strong.series[0].points[2].y, 3);
    EXPECT_DOUBLE_EQ(strong.series[1].points[1].y, 4) << "the ideal";
    const SvgChart weak = scaling_chart(records, Scaling::weak);
    EXPECT_DOUBLE_EQ(weak.series[0].points[2].y, 0.75);
    EXPECT_THROW(scaling_chart({on_threads(4, 1e-3)}, Scaling::strong), Error);
}

TEST(ScalingCharts, StrongAndWeakScalingOfATable) {
    const CsvTable table = read_csv("run,ranks,seconds\na,1,4\na,4,2\nb,2,1\nb,1,1\n", "t.csv", "");
    const SvgChart strong = scaling_chart(table, Scaling::strong);
    ASSERT_EQ(strong.series.size(), 3U);
    EXPECT_DOUBLE_EQ(strong.series[0].points[1].y, 2);
    EXPECT_DOUBLE_EQ(scaling_chart(table, Scaling::weak).series[1].points[1].y, 1);
    EXPECT_EQ(strong.x_label, "ranks");
    for (const char* const text :
         {"", "ranks\n1\n", "ranks,seconds\n1,x\n2,1\n", "ranks,seconds\n0,1\n2,1\n", "ranks,seconds\n1,1\n", "ranks,seconds\n1\n"})
        EXPECT_THROW(scaling_chart(read_csv(text, "t.csv", ""), Scaling::strong), Error) << text;
}

TEST(ScalingCharts, GainsOverTheProcessorNeedBothWays) {
    Record cpu = on_threads(2, 8e-3);
    cpu.energy = Energy{{0.8, 0.8, 0.8, 0.8, 5}, 100, 0, "rapl", 10, 0, 0};
    Record gpu = cpu;
    gpu.device = {Target::cuda, "NVIDIA H200", "sm_90", 132, "13.0", "NVRTC 13.0"};
    gpu.step.median = 1e-3;
    gpu.energy->watts = 400;
    const SvgChart chart = greenup_chart({cpu, gpu});
    ASSERT_EQ(chart.series.size(), 3U);
    EXPECT_TRUE(chart.bars);
    EXPECT_THAT(chart.x_names, testing::ElementsAre(HasSubstr("order=3 f32")));
    EXPECT_EQ(chart.series[2].name, "the processor alone");
    EXPECT_DOUBLE_EQ(chart.series[0].points[0].y, 8);
    EXPECT_DOUBLE_EQ(chart.series[1].points[0].y, 2) << "an eighth of the time at four times the power";
    EXPECT_THROW(greenup_chart({gpu}), Error);
}

TEST(ScalingCharts, GreenupOverTheUntunedConfigurationOfTheSameDevice) {
    Record record = on_threads(2, 2e-3);
    record.energy = Energy{{0.5, 0.5, 0.5, 0.5, 5}, 250, 0, "nvml", 10, 0, 0};
    record.safe_seconds = 8e-3;
    EXPECT_THROW(greenup_over_untuned_chart({record}), Error) << "the untuned one was not metered";
    record.safe_joules = 1.5;
    const SvgChart chart = greenup_over_untuned_chart({on_threads(1, 1e-3), record});
    ASSERT_EQ(chart.series.size(), 3U);
    EXPECT_EQ(chart.x_names.size(), 1U);
    EXPECT_DOUBLE_EQ(chart.series[0].points[0].y, 4);
    EXPECT_DOUBLE_EQ(chart.series[1].points[0].y, 3) << "a quarter of the time at more power";
}

TEST(ScalingCharts, SharesOverPeriodsFromBothForms) {
    const SvgChart one = share_chart(Json::parse(R"({"periods": [{"share": 1}, {"share": 0.25}]})"));
    EXPECT_DOUBLE_EQ(one.series[0].points[1].y, 0.25);
    EXPECT_DOUBLE_EQ(one.series[0].points[1].x, 2);
    const SvgChart table = share_chart(read_csv("run,part,share,units\na,periods,1,9\na,periods,0,0\na,sweep,0.5,4\n", "t.csv", ""));
    EXPECT_EQ(table.series[0].points.size(), 2U);
    for (const char* const text : {"{}", "[]", R"({"periods": 3})", R"({"periods": [{"share": "x"}]})"})
        EXPECT_THROW(share_chart(Json::parse(text)), Error);
}

TEST(ScalingCharts, DriftIsTimeNowOverThenFromBothForms) {
    const SvgChart one = drift_chart(Json::parse(R"({"checks": [{"verdict": "slower", "ratio": 1.5, "record":
        {"problem": {"family": "sweep", "parameters": {"n": 3}}, "step_seconds": {"median": 2e-6}}}, {"verdict": "fails", "record": {}}]})"));
    ASSERT_EQ(one.series.size(), 2U);
    EXPECT_EQ(one.series[0].name, "sweep");
    EXPECT_DOUBLE_EQ(one.series[0].points[0].x, 2);
    EXPECT_DOUBLE_EQ(one.series[0].points[0].y, 1.5);
    EXPECT_DOUBLE_EQ(one.series[1].points[0].y, 1);
    const SvgChart table = drift_chart(read_csv("problem,seconds_before,ratio\na x=1,1e-3,0.9\nb x=1,1e-3,1.1\n", "t.csv", ""));
    EXPECT_EQ(table.series.size(), 3U);
    for (const char* const text : {"{}", "[]", R"({"checks": 3})", R"({"checks": [{"ratio": "x"}]})", R"({"checks": [{"ratio": 1}]})"})
        EXPECT_THROW(drift_chart(Json::parse(text)), Error) << text;
    EXPECT_THROW(drift_chart(read_csv("problem,ratio\na,1\n", "t.csv", "")), Error);
}

TEST(ScalingCharts, EnergyOfResultsIsOfAnUpdate) {
    Record record = on_threads(2, 1e-3);
    record.energy = Energy{{0.1, 0.1, 0.1, 0.1, 5}, 100, 0, "rapl", 10, 0, 0};
    const SvgChart chart = energy_chart(std::vector<Record>{record});
    EXPECT_DOUBLE_EQ(chart.series[0].points[0].x, 1);
    EXPECT_DOUBLE_EQ(chart.series[0].points[0].y, 100);
    EXPECT_THROW(energy_chart(std::vector<Record>{on_threads(1, 1)}), Error);
    EXPECT_THROW(energy_chart(std::vector<JournalText>{}), Error);
}

TEST(ChartOutput, TextShowsPointsWithinItsColumns) {
    const SvgChart chart{
        .title = "t", .x_label = "x", .y_label = "y", .series = {{.name = "one", .points = {{1, 1}, {2, 2}}}, {.name = "two", .points = {{3, 4}}}}};
    for (const int columns : {1, 40, 100}) {
        const std::string text = chart_text(chart, columns);
        EXPECT_EQ(std::count(text.begin(), text.end(), '|'), 20);
        EXPECT_EQ(text.find(" \n"), std::string::npos);
    }
    EXPECT_THAT(chart_text(chart, 40), testing::AllOf(HasSubstr("a  one"), HasSubstr("b  two"), HasSubstr("4 |")));
    EXPECT_THROW(chart_text(SvgChart{}, 40), Error);
}

TEST(ChartOutput, TextHasABarForEveryValue) {
    const SvgChart chart{.title = "t",
                         .y_label = "times",
                         .x_names = {"a problem with a long name of many words", "b"},
                         .bars = true,
                         .series = {{.name = "speed-up", .points = {{0, 2}, {1, 4}}}, {.name = "greenup", .points = {{1, 3}}}}};
    for (const int columns : {1, 40, 100}) {
        const std::string text = chart_text(chart, columns);
        EXPECT_EQ(text.find(" \n"), std::string::npos);
        if (columns < 40) continue;
        std::istringstream lines(text);
        for (std::string line; std::getline(lines, line);) EXPECT_LE(static_cast<int>(line.size()), columns) << line;
        EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1 + 2 + 3);
    }
    EXPECT_THAT(chart_text(chart, 40), testing::AllOf(HasSubstr("t, times"), HasSubstr("  greenup"), HasSubstr("3 ##"), HasSubstr("a problem")));
}

// A file of PNG's signature and of the size that was asked for: gnuplot accepts the script of every
// kind.
TEST(ChartOutput, PngIsDrawnByGnuplot) {
    if (find_program("gnuplot").empty()) GTEST_SKIP() << "there is no gnuplot (Debian, Ubuntu: gnuplot-nox)";
    const test::OwnFolders own;
    const std::string picture = (own.folder.path() / "a.png").string();
    const std::string space = test::source_path("tests/spaces/gauss_seidel_27_variable_f64.space.gz");
    for (const std::vector<std::string>& words :
         std::vector<std::vector<std::string>>{{"plot", "greenup"},
                                               {"plot", "rate", "acoustics_staggered", "--as", "nvidia_h200"},
                                               {"plot", "tunable", "--over", "z_block", "--journal", space}}) {
        std::vector<std::string> all = words;
        all.insert(all.end(), {"--output", picture});
        const test::Answer answer = test::ask(all);
        EXPECT_EQ(answer.code, Exit::ok) << words[1] << answer.error;
        const std::string bytes = read_file(picture, 1 << 24);
        ASSERT_GT(bytes.size(), 24U);
        EXPECT_EQ(bytes.substr(0, 8), "\x89PNG\r\n\x1a\n");
        EXPECT_EQ(bytes.substr(16, 8), std::string("\0\0\x04\xb0\0\0\x02\xbc", 8)) << "1200 times 700";
        std::filesystem::remove(picture);
    }
}

// gnuplot itself ends well there.
TEST(ChartOutput, PngThatTheDiskDoesNotTakeIsNoPicture) {
    if (find_program("gnuplot").empty()) GTEST_SKIP() << "there is no gnuplot (Debian, Ubuntu: gnuplot-nox)";
    const test::OwnFolders own;
    const std::filesystem::path picture = own.folder.path() / "a.png";
    std::filesystem::create_symlink("/dev/full", picture);
    EXPECT_EQ(test::ask({"plot", "greenup", "--output", picture.string()}).code, Exit::wrong_input);
}

// Those that follow from tables and searches that are kept. The others follow from the shipped
// records, and are drawn anew when these are.
TEST(ChartOutput, PicturesOfTheDocumentsAreWhatTheirCommandsDraw) {
    const test::OwnFolders own;
    const std::string picture = (own.folder.path() / "a.svg").string();
    const auto space = [](const char* name) { return test::source_path(std::string("tests/spaces/") + name + ".space.gz"); };
    const std::vector<std::pair<std::string, std::vector<std::string>>> pictures{
        {"z_block", {"plot", "tunable", "--over", "z_block", "--journal", space("gauss_seidel_27_variable_f64")}},
        {"convergence",
         {"plot", "convergence", "--journal", space("dg_volume_3_f64"), "--journal", space("dg_volume_5_f64"), "--journal",
          space("dg_volume_7_f64")}},
        {"drift", {"plot", "drift", "--table", test::source_path("benchmarks/results/h200/remeasured.csv")}}};
    for (const auto& [name, words] : pictures) {
        std::vector<std::string> all = words;
        all.insert(all.end(), {"--output", picture});
        const test::Answer answer = test::ask(all);
        ASSERT_EQ(answer.code, Exit::ok) << answer.error;
        EXPECT_TRUE(read_file(picture, 1 << 22) == read_file(test::source_path("docs/" + name + ".svg"), 1 << 22))
            << "docs/" << name << ".svg is not what hone draws: docs/inspect-results.md has the command";
    }
}

TEST(ChartOutput, EveryFigureOfTheSeedsHasItsCommand) {
    const test::OwnFolders own;
    const std::string here = test::source_path("");
    const std::string picture = (own.folder.path() / "a.txt").string();
    const std::string space = here + "tests/spaces/gauss_seidel_27_variable_f64.space.gz";
    for (std::vector<std::string> words :
         std::vector<std::vector<std::string>>{{"plot", "rate", "dg_volume", "equation=maxwell_3d", "--over", "order"},
                                               {"plot", "tunable", "--over", "z_block", "--journal", space},
                                               {"plot", "tunable", "--over", "block_x", "--journal", space},
                                               {"plot", "rate", "acoustics_staggered", "--over", "order"},
                                               {"plot", "greenup"},
                                               {"plot", "share", "--table", here + "benchmarks/results/h200/hybrid.csv"},
                                               {"plot", "drift", "--table", here + "benchmarks/results/h200/remeasured.csv"},
                                               {"plot", "convergence", "--journal", space},
                                               {"roofline"}}) {
        words.insert(words.end(), {"--output", picture});
        if (words[0] == "roofline" || words[1] == "rate") words.insert(words.end(), {"--as", "nvidia_h200"});
        const test::Answer answer = test::ask(words);
        EXPECT_EQ(answer.code, Exit::ok) << words[1] << answer.error;
        EXPECT_THAT(read_file(picture, 1 << 20), testing::AnyOf(HasSubstr(" |"), HasSubstr(" ##")));
        std::filesystem::remove(picture);
    }
    EXPECT_THAT(test::ask({"plot", "greenup", "--output", "a.gif"}).error, HasSubstr("neither .svg nor .png nor .txt"));
}

}  // namespace
}  // namespace hone::tools::scaling_charts_test
