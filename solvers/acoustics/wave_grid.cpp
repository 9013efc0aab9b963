#include "solvers/acoustics/wave_grid.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "foundation/error.hpp"
#include "generator/families/built_in_families.hpp"

namespace hone::inline v0_1::solvers::seismic {
namespace {

std::size_t index(int axis) {
    return static_cast<std::size_t>(axis);
}

int layer(const WaveSettings& settings, int axis, int end) {
    return settings.walls[index(axis)][index(end)] == Wall::absorbing ? settings.layer : 0;
}

bool absorbing(const Model& model, const WaveSettings& settings) {
    for (int axis = 0; axis < model.dimension; ++axis)
        for (const int end : {0, 1})
            if (layer(settings, axis, end) > 0) return true;
    return false;
}

// With the absorbing layers.
int cells_along(const Model& model, const WaveSettings& settings, int axis) {
    return model.cells[index(axis)] + layer(settings, axis, 0) + layer(settings, axis, 1);
}

void check(const Model& model, const WaveSettings& settings) {
    for (int axis = 0; axis < model.dimension; ++axis) {
        const int least = 2 * settings.order;  // so that what is mirrored lies between the walls
        if (model.cells[index(axis)] < least)
            throw Error("acoustic model", fmt::format("{} cells along axis {}", model.cells[index(axis)], "xyz"[axis]),
                        fmt::format("give it {} or more, or use a lower order", least));
        for (const int end : {0, 1})
            if (settings.walls[index(axis)][index(end)] == Wall::free_surface && (axis != model.depth_axis() || end != 0))
                throw Error("boundary conditions", "a free surface that is not on top", "make it absorbing or rigid");
    }
    if (settings.levels < 1 || settings.levels > most_levels(model, settings))
        throw Error("time steps of one pass", std::to_string(settings.levels),
                    fmt::format("{} can be: with kernels=step, by order and size", most_levels(model, settings)));
    if (settings.layer < 0) throw Error("absorbing layer", fmt::format("{} cells", settings.layer), "give it 0 or more");
}

// Planes of a pass have more ghosts around them than those of a single step, which takes the rest
// for rows of its own. What it writes there is mirrored anew before anybody reads it.
std::int64_t rows_more(const acoustics::Grid& pass) {
    return pass.dimension == 2 ? 0 : 2 * (pass.ghost() - 2 * pass.half);
}

// `more_rows`: along y, in 3D.
std::string problem_text(const Model& model, const WaveSettings& settings, const std::string& kernel, const CellRange& layers,
                         std::int64_t more_rows = 0) {
    check(model, settings);
    std::string text =
        fmt::format("acoustics_staggered kernel={} dimension={} order={} precision={}", kernel, model.dimension, settings.order, settings.precision);
    if (absorbing(model, settings)) text += " absorbing=sponge";
    if (kernel == "step" && settings.kernels == "in_place") text += " update=in_place";
    if (kernel == "step" && settings.levels > 1) text += fmt::format(" levels={}", settings.levels);
    for (int axis = 0; axis < model.dimension; ++axis)
        text += fmt::format(" n{}={}", "xyz"[axis],
                            axis == model.depth_axis() ? layers.cells() : cells_along(model, settings, axis) + (axis == 1 ? more_rows : 0));
    return text;
}

}  // namespace

Wall parse_wall(const std::string& word) {
    if (word == "absorbing") return Wall::absorbing;
    if (word == "rigid") return Wall::rigid;
    if (word == "free") return Wall::free_surface;
    throw Error("wall", "there is no \"" + word + "\"", "use absorbing, rigid or free");
}

void WaveSettings::set_walls(int dimension, Wall top, Wall sides) {
    for (auto& axis : walls) axis = {sides, sides};
    walls[static_cast<std::size_t>(dimension - 1)][0] = top;
}

std::string to_string(Wall wall) {
    switch (wall) {
        case Wall::absorbing:
            return "absorbing";
        case Wall::rigid:
            return "rigid";
        case Wall::free_surface:
            return "free surface";
    }
    return {};
}

double time_step(const Model& model, const WaveSettings& settings) {
    double sum = 0;
    for (const double weight : acoustics::weights(settings.order / 2)) sum += std::abs(weight);
    return settings.courant * model.spacing / (model.fastest() * std::sqrt(model.dimension) * sum);
}

CellRange WaveGrid::all_layers(const Model& model, const WaveSettings& settings) {
    return {0, cells_along(model, settings, model.depth_axis())};
}

Problem WaveGrid::problem(const Model& model, const WaveSettings& settings, const std::string& kernel, const CellRange& layers) {
    return built_in_families().parse_problem(problem_text(model, settings, kernel, layers));
}

Problem WaveGrid::problem(const Model& model, const WaveSettings& settings, const std::string& kernel) {
    return problem(model, settings, kernel, all_layers(model, settings));
}

WaveGrid::WaveGrid(const Model& model, const WaveSettings& settings, const CellRange& layers)
    : model_(model),
      settings_(settings),
      layers_(layers),
      grid_(problem(model, settings, settings.levels > 1 ? "step" : "pressure", layers)),
      dt_(time_step(model, settings)),
      impedance_(static_cast<double>(model.speed.front()) * model.density.front()) {
}

Problem WaveGrid::single_step(const Model& model, const WaveSettings& settings, const CellRange& layers) {
    WaveSettings single = settings;
    single.levels = 1;
    const acoustics::Grid pass(problem(model, settings, "step", layers));
    return built_in_families().parse_problem(problem_text(model, single, "step", layers, rows_more(pass)) + fmt::format(" pitch={}", pass.pitch));
}

int WaveGrid::all_cells(int axis) const {
    return cells_along(model_, settings_, axis);
}

bool WaveGrid::has_wall(int axis, int end) const {
    if (!reflects(axis, end)) return false;
    return end == 0 ? offset(axis) == 0 : offset(axis) + cells(axis) == all_cells(axis);
}

std::int64_t WaveGrid::single_start() const {
    const acoustics::Grid single(single_step(model_, settings_, layers_));
    return grid_.position(0, -rows_more(grid_) / 2, 0) - single.position(0, 0, 0);
}

std::int64_t WaveGrid::single_start_x() const {
    return grid_.left() - acoustics::Grid(single_step(model_, settings_, layers_)).left();
}

std::vector<Rows> WaveGrid::rows_beside(int levels, const Survey& survey) const {
    std::vector<int> receivers;
    for (const Cell& cell : survey.receivers) receivers.push_back(layer_of(cell));
    return seismic::rows_beside(levels, grid_.reach(), all_cells(model_.depth_axis()), layer_of(survey.source), receivers);
}

bool WaveGrid::absorbs() const {
    return absorbing(model_, settings_);
}

int WaveGrid::layer_of(const Cell& cell) const {
    for (int axis = 0; axis < 3; ++axis)
        if (cell[index(axis)] < 0 || cell[index(axis)] >= model_.cells[index(axis)])
            throw Error("source or receiver", fmt::format("cell {}, {}, {}", cell[0], cell[1], cell[2]),
                        fmt::format("the model has {} x {} x {}", model_.cells[0], model_.cells[1], model_.cells[2]));
    return cell[index(model_.depth_axis())] + layer(settings_, model_.depth_axis(), 0);
}

int WaveGrid::cell_along(int axis, const Cell& cell) const {
    return cell[index(axis)] + layer(settings_, axis, 0) - offset(axis);
}

std::int64_t WaveGrid::place(const Cell& cell) const {
    return grid_.position(cell_along(0, cell), cell_along(1, cell), cell_along(2, cell));
}

// Layers have the values of the model's nearest cell.
std::size_t WaveGrid::model_cell(const Cell& cell) const {
    Cell inside{};
    for (int axis = 0; axis < model_.dimension; ++axis)
        inside[index(axis)] = std::clamp(cell[index(axis)] - layer(settings_, axis, 0), 0, model_.cells[index(axis)] - 1);
    return model_.at(inside[0], inside[1], inside[2]);
}

// All cells of these layers, and `beyond` more at both ends of an axis; where the first of several
// time steps computes more, these too. Cells count in the whole grid. Rows are visited side by
// side: whoever visits a cell writes its word and no other.
template <typename Visit>
void WaveGrid::for_cells(int axis, int beyond, const Visit& visit) const {
    const auto extension = static_cast<int>(grid_.extension());
    std::array<int, 3> more{extension, extension, grid_.dimension == 3 ? extension : 0};
    if (axis >= 0) more[index(axis)] += beyond;
    const int in_plane = cells(1) + 2 * more[1], rows = in_plane * (cells(2) + 2 * more[2]);
#pragma omp parallel for schedule(static)
    for (int row = 0; row < rows; ++row) {
        const int y = row % in_plane - more[1], z = row / in_plane - more[2];
        for (int x = -more[0]; x < cells(0) + more[0]; ++x)
            visit(Cell{x, y + offset(1), z + offset(2)}, static_cast<std::size_t>(grid_.position(x, y, z)));
    }
}

// The cell whose medium one beyond the walls has, of which faces along `face_axis` are asked;
// whether it has any: absorbing layers end with none.
bool WaveGrid::mirrored(Cell& cell, int face_axis) const {
    for (int axis = 0; axis < model_.dimension; ++axis) {
        int& place = cell[index(axis)];
        const int n = all_cells(axis), on_face = axis == face_axis ? 1 : 0;
        const bool below = place < 0, above = place >= n + on_face;
        if ((below || above) && !reflects(axis, below ? 0 : 1)) return false;
        if (below) place = -1 - place + on_face;
        if (above) place = 2 * n - 1 - place + on_face;
    }
    return true;
}

std::vector<float> WaveGrid::kappa() const {
    std::vector<float> words(static_cast<std::size_t>(grid_.words()));
    for_cells(-1, 0, [&](Cell cell, std::size_t word) {
        if (!mirrored(cell, -1)) return;
        const std::size_t at = model_cell(cell);
        const double speed = model_.speed[at];
        words[word] = static_cast<float>(speed * speed * model_.density[at] * dt_ / model_.spacing / impedance_);
    });
    return words;
}

std::vector<float> WaveGrid::buoyancy(int axis) const {
    std::vector<float> words(static_cast<std::size_t>(grid_.words()));
    const int n = all_cells(axis);
    for_cells(axis, grid_.half, [&](Cell cell, std::size_t word) {
        // On the far wall the velocity is 0 whatever stands here.
        if (cell[index(axis)] == n || !mirrored(cell, axis)) return;
        Cell left = cell;
        left[index(axis)] = std::max(cell[index(axis)] - 1, 0);
        const double density = (static_cast<double>(model_.density[model_cell(left)]) + model_.density[model_cell(cell)]) / 2;
        words[word] = static_cast<float>(impedance_ * dt_ / (model_.spacing * density));
    });
    return words;
}

// sigma = sigma_max (depth / width)^3, so that a wave of the fastest speed comes back from the
// layer's end as `leak` of itself. More damping, or one that begins faster, was measured to send
// more back: what little comes from the end is not what is left.
std::vector<float> WaveGrid::damping(int axis, std::int64_t ghosts) const {
    constexpr double leak = 1e-2;
    const double width = settings_.layer * model_.spacing;
    const double most = width > 0 ? 2 * model_.fastest() * std::log(1 / leak) / width : 0;
    const auto factor = [&](double position) {
        double depth = 0;  // in the layer, as a part of its width
        if (layer(settings_, axis, 0) > 0) depth = std::max(depth, (settings_.layer - position) / settings_.layer);
        if (layer(settings_, axis, 1) > 0) depth = std::max(depth, (position - all_cells(axis) + settings_.layer) / settings_.layer);
        depth = std::min(depth, 1.0);
        return static_cast<float>(std::exp(-most * depth * depth * depth * dt_));
    };
    const std::int64_t before = axis == 0 ? grid_.left() : ghosts;
    const std::int64_t length = axis == 0 ? grid_.pitch : cells(axis) + 2 * ghosts;
    std::vector<float> words;
    for (const double shift : {0.0, 0.5})
        for (std::int64_t i = 0; i < length; ++i) words.push_back(factor(static_cast<double>(i - before + offset(axis)) + shift));
    return words;
}

double WaveGrid::energy_unit() const {
    return std::pow(model_.spacing, model_.dimension - 1) * dt_ / (2 * impedance_);
}

}  // namespace hone::inline v0_1::solvers::seismic
