#pragma once

#include <filesystem>
#include <string>

#include "foundation/svg_chart.hpp"

namespace hone::tools {

/// Throws NothingError (tools/console/command.hpp) where no point of a chart can be shown.
void require_points(const SvgChart& chart);

/// A chart as lines of text of at most `columns` columns: a letter for each series, axes with their
/// bounds, and what the letters mean. Throws Error when no point can be shown.
std::string chart_text(const SvgChart& chart, int columns);

/// Writes a chart as the file's ending says: .svg, drawn by hone, .txt, or .png, drawn by gnuplot.
/// Throws Error for another ending, MissingError, with what to install, where there is no gnuplot.
void write_chart(const SvgChart& chart, const std::filesystem::path& file);

}  // namespace hone::tools
