#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace hone::examples {

/// A chart of one or more curves.
struct Chart {
    struct Curve {
        std::string name;
        std::vector<std::pair<double, double>> points;  ///< what is not finite, or not positive on a logarithmic axis, is left out
    };
    std::string title, x_label, y_label;
    bool logarithmic = false;  ///< the y axis
    std::vector<Curve> curves;
};

/// Draws a chart into an SVG file, which every browser shows. Throws Error when it cannot be written.
///
///     write_chart("history.svg", {"Residual", "iteration", "|r| / |first r|", true, {{"polynomial", points}}});
void write_chart(const std::filesystem::path& file, const Chart& chart);

/// A chart of many values in a few lanes, one below the other: a dot for each value, a row of dots for each group of a lane, and a mark at the
/// median of a group. A vertical line marks a value to compare with.
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

/// Draws a strip chart into an SVG file; the axis starts at zero. Throws Error when it cannot be written.
///
///     write_strip_chart("ceilings.svg", {"Kernels", "% of ceiling", 100, {{"stencil", {{"tuned", {97, 91}}, {"plain", {40, 38}}}}}});
void write_strip_chart(const std::filesystem::path& file, const StripChart& chart);

/// About `count` round numbers that cover [low, high]: 1, 2 or 5 times a power of ten apart.
std::vector<double> round_ticks(double low, double high, int count);

}  // namespace hone::examples
