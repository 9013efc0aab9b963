#include "examples/output/chart.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <sstream>

#include "generator/error.hpp"
#include "tests/support/temporary_folder.hpp"

namespace hone::examples::chart_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

std::string written(const Chart& chart) {
    const test::TemporaryFolder folder;
    write_chart(folder.path() / "chart.svg", chart);
    std::ifstream stream(folder.path() / "chart.svg");
    std::ostringstream text;
    text << stream.rdbuf();
    return text.str();
}

TEST(Chart, TicksAreRound) {
    EXPECT_THAT(round_ticks(0, 1, 5), ElementsAre(0, 0.2, 0.4, 0.6000000000000001, 0.8, 1));
    EXPECT_THAT(round_ticks(-3, 17, 4), ElementsAre(0, 5, 10, 15));
    EXPECT_THAT(round_ticks(-8, 0, 8), ElementsAre(-8, -7, -6, -5, -4, -3, -2, -1, 0));
}

// The corners of the frame: 90 to 780 from left to right, 440 up to 45.
TEST(Chart, PointsLieWhereTheyBelong) {
    const std::string text = written({"a < b", "x", "y", false, {{"line", {{0, 10}, {1, 20}, {2, 30}}}}});
    EXPECT_THAT(text, HasSubstr("points=\"90.0,440.0 435.0,242.5 780.0,45.0 \""));
    EXPECT_THAT(text, HasSubstr("a &lt; b"));
    EXPECT_THAT(text, HasSubstr(">line</text>"));
}

TEST(Chart, LogarithmicAxesShowPowersOfTenAndLeaveOutWhatHasNone) {
    const std::string text =
        written({"", "", "", true, {{"", {{0, 1}, {1, 0.01}, {2, 0}, {3, std::numeric_limits<double>::quiet_NaN()}, {4, 1e-4}}}}});
    EXPECT_THAT(text, HasSubstr("points=\"90.0,45.0 262.5,242.5 780.0,440.0 \""));
    EXPECT_THAT(text, HasSubstr(">1e-3</text>"));
    EXPECT_THAT(text, Not(HasSubstr("nan")));
}

TEST(Chart, AnEmptyOneIsAFrame) {
    EXPECT_THAT(written({"nothing", "", "", true, {}}), HasSubstr("</svg>"));
    EXPECT_THAT(written({"a point", "", "", false, {{"", {{3, 3}}}}}), Not(HasSubstr("nan")));
}

// 270 to 780 from left to right, the largest value at the right.
TEST(StripChart, DotsAndMediansLieWhereTheyBelong) {
    const test::TemporaryFolder folder;
    write_strip_chart(folder.path() / "strips.svg", {"strips", "%", 100, {{"lane", {{"ours", {0, 100, 200}}, {"theirs", {}}}}}});
    std::ifstream stream(folder.path() / "strips.svg");
    std::ostringstream text;
    text << stream.rdbuf();
    for (const char* x : {"270.0", "525.0", "780.0"}) EXPECT_THAT(text.str(), HasSubstr("<circle cx=\"" + std::string(x) + "\""));
    EXPECT_THAT(text.str(), HasSubstr("<line x1=\"525.0\" y1=\"51.0\" x2=\"525.0\" y2=\"63.0\""));
    EXPECT_THAT(text.str(), HasSubstr(">theirs –</text>"));
}

TEST(Chart, RefusesAPlaceThatIsNone) {
    EXPECT_THROW(write_chart("/nowhere/at/all.svg", {}), Error);
    EXPECT_THROW(write_strip_chart("/nowhere/at/all.svg", {}), Error);
}

}  // namespace
}  // namespace hone::examples::chart_test
