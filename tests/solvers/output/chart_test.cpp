#include "solvers/output/chart.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <limits>
#include <regex>
#include <sstream>

#include "foundation/error.hpp"
#include "tests/support/temporary_folder.hpp"

namespace hone::solvers::chart_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const std::regex curve("<polyline points=\"([^\"]*)\"");

std::string written(const Chart& chart) {
    const test::TemporaryFolder folder;
    write_chart(folder.path() / "chart.svg", chart);
    std::ifstream stream(folder.path() / "chart.svg");
    std::ostringstream text;
    text << stream.rdbuf();
    return text.str();
}

TEST(Chart, HasACurveForEachOfItsOwn) {
    const std::string text = written({"a < b", "x", "y", false, {{"line", {{0, 10}, {1, 20}, {2, 30}}}, {"other", {{0, 3}, {2, 4}}}}});
    EXPECT_THAT(text, HasSubstr("a &lt; b"));
    EXPECT_THAT(text, HasSubstr(">line</text>"));
    EXPECT_EQ(std::distance(std::sregex_iterator(text.begin(), text.end(), curve), std::sregex_iterator()), 2);
}

TEST(Chart, LogarithmicAxesLeaveOutWhatHasNoLogarithm) {
    const std::string text =
        written({"", "", "", true, {{"", {{0, 1}, {1, 0.01}, {2, 0}, {3, std::numeric_limits<double>::quiet_NaN()}, {4, 1e-4}}}}});
    std::smatch found;
    ASSERT_TRUE(std::regex_search(text, found, curve));
    const std::string points = found[1];
    EXPECT_EQ(std::count(points.begin(), points.end(), ','), 3) << points;
    EXPECT_THAT(text, Not(HasSubstr("nan")));
}

TEST(Chart, AnEmptyOneIsAFrame) {
    EXPECT_THAT(written({"nothing", "", "", true, {}}), HasSubstr("</svg>"));
    EXPECT_THAT(written({"a point", "", "", false, {{"", {{3, 3}}}}}), Not(HasSubstr("nan")));
}

TEST(Chart, RefusesAPlaceThatIsNone) {
    EXPECT_THROW(write_chart("/nowhere/at/all.svg", {}), Error);
}

}  // namespace
}  // namespace hone::solvers::chart_test
