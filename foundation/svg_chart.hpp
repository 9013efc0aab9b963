#pragma once

#include <string>
#include <vector>

namespace hone::inline v0_1 {

/// A chart of points and lines, drawn as SVG without any program or library.
struct SvgChart {
    struct Point {
        double x = 0;
        double y = 0;
        std::string note = {};  ///< shown where a pointer rests on it
    };
    struct Series {
        std::string name;           ///< in the legend; empty: it needs none
        std::vector<Point> points;  ///< those that an axis cannot show (not finite, not positive on a logarithmic one) are left out
        bool line = false;          ///< connected in their order
        bool marks = true;
        bool faint = false;  ///< grey, behind the others
    };
    std::string title;
    std::string x_label;
    std::string y_label;
    bool logarithmic_x = false;
    bool logarithmic_y = false;
    bool y_from_zero = false;          ///< on an axis that is not logarithmic
    std::vector<std::string> x_names;  ///< of 0, 1, 2, ... on the x axis, in place of numbers; long ones take several lines or are slanted
    bool bars = false;                 ///< at each name a bar from zero of every series that is not faint, beside one another
    std::vector<double> x_ticks;       ///< values of the x axis that are named; none: round numbers
    std::vector<Series> series;
    bool may_be_empty = false;  ///< without a point that can be shown the frame alone is drawn
};

/// Takes the words that the names of all series have in common, but the faint ones, out of these
/// and puts them behind the title: what is left tells them apart, and fits a legend. A lone series
/// needs no name then.
void tell_apart(SvgChart& chart);

/// Where the bars of a series stand around their names, and how wide they are, both as parts of the
/// distance between two names. Series that are faint have none.
struct BarPlace {
    double middle = 0;
    double width = 0;
};
BarPlace bar_place(const SvgChart& chart, std::size_t series);

/// One SVG document. Text is escaped, whatever it holds. Throws Error when no point can be shown,
/// unless the chart may be empty.
std::string svg(const SvgChart& chart);

/// A chart of many values in a few lanes, one below the other: a dot for each value, a row of dots
/// for each group of a lane, and a mark at the median of a group. A vertical line marks a value to
/// compare with. The axis starts at zero.
///
///     svg({"Kernels", "% of ceiling", 100, {{"stencil", {{"tuned", {97, 91}}, {"plain", {40, 38}}}}}});
struct StripChart {
    struct Group {
        std::string name;
        std::vector<double> values;  ///< none: only the name is shown, with a dash
    };
    struct Lane {
        std::string name;
        std::vector<Group> groups;  ///< the first is drawn in the first colour, all others in the second
    };
    std::string title, x_label;
    double marked = 0;  ///< where the vertical line stands
    std::vector<Lane> lanes;
};

std::string svg(const StripChart& chart);

/// About `count` round numbers that cover [low, high]: 1, 2 or 5 times a power of ten apart.
/// Requires low < high.
std::vector<double> round_ticks(double low, double high, int count);

}  // namespace hone::inline v0_1
