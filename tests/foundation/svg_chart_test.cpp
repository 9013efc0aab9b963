#include "foundation/svg_chart.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <limits>
#include <utility>

#include "foundation/error.hpp"

namespace hone::svg_chart_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

std::size_t count_of(const std::string& text, const std::string& part) {
    std::size_t count = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
    return count;
}

// One root, every element closed, no character that XML does not know.
void expect_well_formed(const std::string& text) {
    std::vector<std::string> open;
    for (std::size_t at = text.find('<'); at != std::string::npos; at = text.find('<', at + 1)) {
        const std::size_t end = text.find('>', at);
        ASSERT_NE(end, std::string::npos);
        const std::string tag = text.substr(at + 1, end - at - 1);
        if (tag.starts_with('/')) {
            ASSERT_FALSE(open.empty());
            EXPECT_EQ(open.back(), tag.substr(1));
            open.pop_back();
        } else if (!tag.ends_with('/')) {
            open.push_back(tag.substr(0, tag.find(' ')));
        }
    }
    EXPECT_TRUE(open.empty());
    for (const char c : text) EXPECT_TRUE(static_cast<unsigned char>(c) >= 0x20 || c == '\n');
    EXPECT_EQ(text.find("nan"), std::string::npos);
    EXPECT_EQ(text.find("inf"), std::string::npos);
}

TEST(SvgChart, BarsStandBesideOneAnotherFromZero) {
    SvgChart chart{.title = "a", .x_names = {"a first name of several words", "b"}, .bars = true};
    chart.series = {{.name = "one", .points = {{0, 2, "two"}, {1, 4, "<four>"}}}, {.name = "two", .points = {{1, 3, "three"}}}};
    chart.series.push_back({.name = "equal", .points = {{-0.5, 1, ""}, {1.5, 1, ""}}, .line = true, .marks = false, .faint = true});
    const std::string text = svg(chart);
    expect_well_formed(text);
    EXPECT_THAT(text, HasSubstr("<title>&lt;four&gt;</title></rect>"));
    EXPECT_EQ(count_of(text, "<title>"), 3U + 2U) << "three bars, and the marks of the legend";
    const BarPlace one = bar_place(chart, 0);
    const BarPlace two = bar_place(chart, 1);
    EXPECT_NEAR(one.middle + one.width / 2, two.middle - two.width / 2, 1e-12);
    EXPECT_DOUBLE_EQ(one.middle, -two.middle);
    EXPECT_LT(two.middle + two.width / 2, 0.5) << "it would touch its neighbour's";
}

TEST(SvgChart, TicksAreRound) {
    EXPECT_THAT(round_ticks(0, 1, 5), ElementsAre(0, 0.2, 0.4, 0.6000000000000001, 0.8, 1));
    EXPECT_THAT(round_ticks(-3, 17, 4), ElementsAre(0, 5, 10, 15));
    EXPECT_THAT(round_ticks(-8, 0, 8), ElementsAre(-8, -7, -6, -5, -4, -3, -2, -1, 0));
}

TEST(SvgChart, DrawsEveryPointThatAnAxisCanShow) {
    const double infinity = std::numeric_limits<double>::infinity();
    SvgChart chart{.title = "a", .logarithmic_y = true};
    chart.series.push_back({"points", {{1, 10, ""}, {2, 100, ""}, {3, 0, ""}, {4, infinity, ""}, {infinity, 4, ""}}, true});
    const std::string text = svg(chart);
    expect_well_formed(text);
    EXPECT_EQ(count_of(text, "<circle"), 3U) << "one is the legend's";
    EXPECT_EQ(count_of(text, "<polyline"), 1U);
    EXPECT_THROW(svg(SvgChart{}), Error);
}

TEST(SvgChart, PlacesPointsByTheirValues) {
    SvgChart chart;
    chart.series.push_back({"points", {{0, 0, ""}, {5, 5, ""}, {10, 10, ""}}});
    const std::string text = svg(chart);
    std::vector<std::pair<double, double>> places;
    for (std::size_t at = text.find("<circle"); at != std::string::npos; at = text.find("<circle", at + 1)) {
        double x = 0;
        double y = 0;
        ASSERT_EQ(std::sscanf(text.c_str() + at, "<circle cx=\"%lf\" cy=\"%lf\"", &x, &y), 2);
        places.emplace_back(x, y);
    }
    ASSERT_EQ(places.size(), 4U) << "the last is the legend's";
    EXPECT_NEAR(places[1].first, (places[0].first + places[2].first) / 2, 0.11);
    EXPECT_NEAR(places[1].second, (places[0].second + places[2].second) / 2, 0.11);
    EXPECT_LT(places[2].second, places[0].second) << "up is more";
}

TEST(SvgChart, HostileTextStaysTextAndOnePointIsEnough) {
    SvgChart chart{.title = "<script>alert(\"1\")</script> & \x1b[2J\n", .x_label = "<", .y_label = "&"};
    chart.series.push_back({"</svg><b>", {{7, 7, "\"><x>"}}});
    const std::string text = svg(chart);
    expect_well_formed(text);
    EXPECT_THAT(text, Not(HasSubstr("<script")));
    EXPECT_THAT(text, HasSubstr("&lt;script&gt;"));
}

TEST(SvgChart, WithoutAPointIsAFrameWhereItMayBe) {
    SvgChart chart{.title = "nothing", .logarithmic_y = true, .may_be_empty = true};
    expect_well_formed(svg(chart));
    chart.series.push_back({"none of it", {{1, 0}, {2, std::numeric_limits<double>::quiet_NaN()}}, true});
    expect_well_formed(svg(chart));
}

// 280 to 940 from left to right, the largest value at the right.
TEST(StripChart, DotsAndMediansLieWhereTheyBelong) {
    const std::string text = svg(StripChart{"strips", "%", 100, {{"lane", {{"ours", {0, 100, 200}}, {"theirs", {}}}}}});
    expect_well_formed(text);
    for (const char* x : {"280.0", "610.0", "940.0"}) EXPECT_THAT(text, HasSubstr("<circle cx=\"" + std::string(x) + "\""));
    EXPECT_THAT(text, HasSubstr("<line x1=\"610.0\" y1=\"56.5\" x2=\"610.0\" y2=\"68.5\""));
    EXPECT_THAT(text, HasSubstr(">theirs \u2013</text>"));
}

}  // namespace
}  // namespace hone::svg_chart_test
