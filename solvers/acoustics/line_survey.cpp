#include "solvers/acoustics/line_survey.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "foundation/error.hpp"

namespace hone::inline v0_1::solvers::seismic {
namespace {

Cell source_of(const LineSurvey& line, const Model& model, const std::string& where) {
    const auto down = static_cast<std::size_t>(model.depth_axis());
    Cell cell{model.cells[0] / 2, model.dimension == 3 ? model.cells[1] / 2 : 0, 0};
    cell[down] = std::min(4, model.cells[down] - 1);
    if (line.source.empty()) return cell;
    if (static_cast<int>(line.source.size()) != model.dimension)
        throw Error(where, fmt::format("{} numbers", line.source.size()),
                    fmt::format("give {}: {}", model.dimension, model.dimension == 2 ? "x and depth" : "x, y and depth"));
    for (std::size_t axis = 0; axis < line.source.size(); ++axis) {
        const double number = std::floor(line.source[axis] / model.spacing);
        if (!(number >= 0 && number < model.cells[axis]))
            throw Error(where, fmt::format("{} m lie outside of the model", line.source[axis]),
                        fmt::format("give 0 m to below {} m there", model.cells[axis] * model.spacing));
        cell[axis] = static_cast<int>(number);
    }
    return cell;
}

}  // namespace

Survey survey_of(const LineSurvey& line, const Model& model, const std::string& where) {
    Survey survey{line.ricker, source_of(line, model, where), {}};
    const std::int64_t count = line.receivers > 0 ? line.receivers : std::max(1, model.cells[0] / 4);
    for (std::int64_t i = 0; i < count; ++i) {
        Cell cell = survey.source;
        cell[0] = static_cast<int>((2 * i + 1) * model.cells[0] / (2 * count));
        cell[static_cast<std::size_t>(model.depth_axis())] = line.receiver_depth;
        survey.receivers.push_back(cell);
    }
    return survey;
}

}  // namespace hone::inline v0_1::solvers::seismic
