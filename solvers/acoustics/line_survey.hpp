#pragma once

#include <string>
#include <vector>

#include "solvers/acoustics/wave_solver.hpp"

namespace hone::inline v0_1::solvers::seismic {

/// A source, and a line of receivers along x through it.
struct LineSurvey {
    Ricker ricker;
    std::vector<double> source;  ///< x, [y,] and depth, m; empty: in the middle, four cells deep
    int receivers = 0;           ///< at equal distances; 0: one in four cells
    int receiver_depth = 4;      ///< cells
};

/// That survey in the cells of a model. Throws Error, saying `where` the source was given, for a
/// place that is not in the model or has another number of coordinates.
Survey survey_of(const LineSurvey& line, const Model& model, const std::string& where = "source");

}  // namespace hone::inline v0_1::solvers::seismic
