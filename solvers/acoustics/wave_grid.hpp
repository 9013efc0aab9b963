#pragma once

#include <array>
#include <vector>

#include "generator/families/acoustics_staggered/grid.hpp"
#include "runtime/ranks/grid_partition.hpp"
#include "solvers/acoustics/time_levels.hpp"
#include "solvers/acoustics/wave_solver.hpp"

namespace hone::inline v0_1::solvers::seismic {

/// A model with its absorbing layers on the grid of a problem of acoustics_staggered: which word is
/// what.
///
/// A rank has some of the grid's layers, which are rows in 2D and planes in 3D; layer 0 is on top,
/// where the absorbing ones begin. To its kernels they are a whole grid.
///
/// Pressure has the model's unit, velocities are multiplied by an impedance (rho c of the first
/// cell), so that both have one size.
class WaveGrid {
  public:
    /// All layers.
    static CellRange all_layers(const Model& model, const WaveSettings& settings);

    /// `kernel`: step, with as many levels as the settings have, pressure or velocity.
    static Problem problem(const Model& model, const WaveSettings& settings, const std::string& kernel, const CellRange& layers);
    static Problem problem(const Model& model, const WaveSettings& settings, const std::string& kernel);

    /// A single time step on the arrays of several levels, from a word of each of them on that
    /// `single_start` says.
    static Problem single_step(const Model& model, const WaveSettings& settings, const CellRange& layers);

    WaveGrid(const Model& model, const WaveSettings& settings, const CellRange& layers);

    const acoustics::Grid& grid() const { return grid_; }
    int cells(int axis) const { return static_cast<int>(std::array{grid_.nx, grid_.ny, grid_.nz}[static_cast<std::size_t>(axis)]); }
    int stride(int axis) const { return static_cast<int>(std::array{std::int64_t{1}, grid_.pitch, grid_.plane()}[static_cast<std::size_t>(axis)]); }
    bool reflects(int axis, int end) const { return wall(axis, end) != Wall::absorbing; }
    bool absorbs() const;
    Wall wall(int axis, int end) const { return settings_.walls[static_cast<std::size_t>(axis)][static_cast<std::size_t>(end)]; }
    /// Whether the wall at that end of the model is at the end of these layers, too.
    bool has_wall(int axis, int end) const;
    double dt() const { return dt_; }

    /// Words of an array, and of a row of factors along x, that come before those of a single
    /// step's.
    std::int64_t single_start() const;
    std::int64_t single_start_x() const;
    /// What a pass computes beside (time_levels.hpp), of all rows.
    std::vector<Rows> rows_beside(int levels, const Survey& survey) const;

    /// The layer of a cell of the model, of all. Throws Error for a cell outside.
    int layer_of(const Cell& cell) const;
    /// The word of a cell of the model that lies in these layers.
    std::int64_t place(const Cell& cell) const;
    /// Its number along an axis, as the arrays count.
    int cell_along(int axis, const Cell& cell) const;
    /// kappa dt / h, a word for every one of an array.
    std::vector<float> kappa() const;
    /// dt / (h rho) at the left faces along an axis, with what lies beyond walls; 0 beyond
    /// absorbing layers.
    std::vector<float> buoyancy(int axis) const;
    /// Factors of a step in the absorbing layers: of the faces, then of the centres, along an axis;
    /// with so many `ghosts` at both ends of y or z.
    std::vector<float> damping(int axis, std::int64_t ghosts) const;
    /// Energy of a sum over p p' / kappa + v^2 / b with these media, J for p in Pa.
    double energy_unit() const;

  private:
    /// Of the whole grid, and of these layers' first cell in it.
    int all_cells(int axis) const;
    int offset(int axis) const { return axis == model_.depth_axis() ? static_cast<int>(layers_.first) : 0; }
    std::size_t model_cell(const Cell& cell) const;
    template <typename Visit>
    void for_cells(int axis, int beyond, const Visit& visit) const;
    bool mirrored(Cell& cell, int face_axis) const;

    const Model& model_;
    WaveSettings settings_;
    CellRange layers_;
    acoustics::Grid grid_;
    double dt_, impedance_;
};

}  // namespace hone::inline v0_1::solvers::seismic
