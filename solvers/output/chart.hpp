#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace hone::inline v0_1::solvers {

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

/// Draws a chart into an SVG file, which every browser shows. Throws Error when it cannot be
/// written.
///
///     write_chart("history.svg", {"Residual", "iteration", "|r| / |first r|", true, {{"polynomial", points}}});
void write_chart(const std::filesystem::path& file, const Chart& chart);

}  // namespace hone::inline v0_1::solvers
