#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "examples/acoustics/model.hpp"
#include "examples/acoustics/ricker.hpp"
#include "runtime/library.hpp"

namespace hone::examples::seismic {

using Cell = std::array<int, 3>;  ///< x, y, z; the first cell of the model is 0, 0, 0

enum class Wall {
    absorbing,     ///< a layer around the model in which waves fade away
    rigid,         ///< the normal velocity is 0
    free_surface,  ///< the pressure is 0; on top only
};
std::string to_string(Wall wall);

struct WaveSettings {
    int order = 8;                                  ///< in space: 4, 8 or 16
    std::string precision = "f32";                  ///< or f64
    std::string kernels = "step";                   ///< step: one pass for pressure and velocities; sweeps: one for each
    int levels = 1;                                 ///< time steps of one pass (2D, `step`); `fastest_levels` says which are
    std::array<std::array<Wall, 2>, 3> walls = {};  ///< of each axis, where it begins and ends
    int layer = 30;                                 ///< width of the absorbing layer, cells
    double courant = 0.9;                           ///< time step as a part of the stability limit
};

/// What happens in a model: a source of unit amplitude (exact_pressure says what that means), and where pressure is written down.
struct Survey {
    Ricker ricker;
    Cell source{};
    std::vector<Cell> receivers;
};

/// Seconds from one step to the next: `courant` times h / (c sqrt(dimension) sum |c_m|) for the fastest speed c.
double time_step(const Model& model, const WaveSettings& settings);

/// Waves in a model, on a device. Kernels of family acoustics_staggered do the work; what walls, source and receivers need besides is in EdgeKernels.
///
///     WaveSolver solver(*backend, library, model, settings, survey, steps);
///     while (solver.steps_done() < steps) solver.advance(100), draw(solver.pressure());
///     const auto traces = solver.recording();
class WaveSolver {
  public:
    /// Looks the kernels up and uploads the model. `steps` at most are recorded and driven by the source. Backend and library must outlive the
    /// solver. Throws Error for what cannot be: receivers outside, a free surface that is not on top, a grid with fewer cells than a stencil has.
    WaveSolver(Backend& backend, KernelLibrary& library, const Model& model, const WaveSettings& settings, const Survey& survey, int steps);
    ~WaveSolver();

    /// The problems whose kernels a solver asks for: what to tune. The first ones do all steps; with several levels another one follows, which
    /// does what steps are left, and what source and receivers need.
    static std::vector<Problem> problems(const Model& model, const WaveSettings& settings);

    void advance(int steps);
    /// One step, after which it returns the energy in the whole grid, layers included:
    ///     sum over cells of h^d / 2 (p p' / kappa + rho v^2), p and p' before and after the step.
    /// Walls that do not absorb keep it to rounding, once the source is silent.
    double advance_measuring_energy();

    int steps_done() const;
    double time() const;  ///< of the pressure, s
    double step_seconds() const;
    /// Of the model's cells, x fastest.
    std::vector<float> pressure() const;
    /// Pressure at every receiver after each step done.
    std::vector<std::vector<float>> recording() const;

  private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace hone::examples::seismic
