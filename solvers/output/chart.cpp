#include "solvers/output/chart.hpp"

#include <fstream>

#include "foundation/error.hpp"
#include "foundation/svg_chart.hpp"

namespace hone::inline v0_1::solvers {

void write_chart(const std::filesystem::path& file, const Chart& chart) {
    SvgChart drawn{
        .title = chart.title, .x_label = chart.x_label, .y_label = chart.y_label, .logarithmic_y = chart.logarithmic, .may_be_empty = true};
    for (const auto& curve : chart.curves) {
        SvgChart::Series& series = drawn.series.emplace_back();
        series.name = curve.name, series.line = true, series.marks = false;
        for (const auto& [x, y] : curve.points) series.points.push_back({x, y});
    }
    std::ofstream stream(file);
    stream << svg(drawn);
    stream.close();
    if (!stream) throw Error(file.string(), "it cannot be written", "choose another place");
}

}  // namespace hone::inline v0_1::solvers
