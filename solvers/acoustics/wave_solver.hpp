#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/library.hpp"
#include "runtime/ranks/communicator.hpp"
#include "runtime/ranks/grid_partition.hpp"
#include "solvers/acoustics/model.hpp"
#include "solvers/acoustics/ricker.hpp"

namespace hone::inline v0_1::solvers::seismic {

using Cell = std::array<int, 3>;  ///< x, y, z; the first cell of the model is 0, 0, 0

enum class Wall {
    absorbing,     ///< a layer around the model in which waves fade away
    rigid,         ///< the normal velocity is 0
    free_surface,  ///< the pressure is 0; on top only
};
std::string to_string(Wall wall);
/// "absorbing", "rigid" or "free"; throws Error for anything else.
Wall parse_wall(const std::string& word);

struct WaveSettings {
    int order = 8;                  ///< in space: 4, 8 or 16
    std::string precision = "f32";  ///< or f64
    std::string kernels = "step";   ///< step: one pass for pressure and velocities; in_place: it keeps no old ones; sweeps: one for each
    int levels = 1;                 ///< time steps of one pass (`step`); `fastest_levels` says which are
    std::array<std::array<Wall, 2>, 3> walls = {};  ///< of each axis, where it begins and ends
    int layer = 30;                                 ///< width of the absorbing layer, cells
    double courant = 0.9;                           ///< time step as a part of the stability limit
    /// Steps from one exchange between ranks to the next, in single steps: so many times the layers
    /// travel as seldom, and what lies in them is computed on both sides. With several levels a
    /// pass is what they do at once.
    int exchange_every = 1;

    /// What is on top of a model of so many dimensions, and what at its sides and its bottom.
    void set_walls(int dimension, Wall top, Wall sides);
};

/// What happens in a model: a source of unit amplitude (exact_pressure says what that means), and
/// where pressure is written down.
struct Survey {
    Ricker ricker;
    Cell source{};
    std::vector<Cell> receivers;
};

/// Seconds from one step to the next: `courant` times h / (c sqrt(dimension) sum |c_m|) for the
/// fastest speed c.
double time_step(const Model& model, const WaveSettings& settings);

/// What a run needs to go on from where it is, in the same words on any number of ranks.
struct WaveState {
    int done = 0;                   ///< steps
    std::vector<std::byte> fields;  ///< pressure, then the velocities, of the whole grid with its absorbing layers, in the solver's precision
    std::vector<std::vector<float>> recording;
};

/// Waves in a model, on a device. Kernels of family acoustics_staggered do the work; what walls,
/// source and receivers need besides is in EdgeKernels.
///
///     WaveSolver solver(*backend, library, model, settings, survey, steps);
///     while (solver.steps_done() < steps) solver.advance(100), draw(solver.pressure());
///     const auto traces = solver.recording();
///
/// On several ranks each has a solver for its layers, rows in 2D and planes in 3D, and all call it
/// alike. The layers that neighbours read are computed first and travel while the others are. No
/// digit of fields, recordings and energies knows how many ranks there are.
class WaveSolver {
  public:
    /// Looks the kernels up and uploads the model. `steps` at most are recorded and driven by the
    /// source. Backend and library must outlive the solver. Throws Error for what cannot be:
    /// receivers outside, a free surface that is not on top, a grid with fewer cells than a stencil
    /// has.
    WaveSolver(Backend& backend, KernelLibrary& library, const Model& model, const WaveSettings& settings, const Survey& survey, int steps);
    /// A rank's part of the same model and survey. The communicator must outlive the solver. Throws
    /// Error for more ranks than layers serve.
    WaveSolver(Communicator& ranks, Backend& backend, KernelLibrary& library, const Model& model, const WaveSettings& settings, const Survey& survey,
               int steps);
    ~WaveSolver();

    /// The problems whose kernels a solver asks for on one rank: what to tune. The first ones do
    /// all steps; with several levels another one follows, which does what steps are left, and what
    /// source and receivers need.
    static std::vector<Problem> problems(const Model& model, const WaveSettings& settings);
    /// Of the kernels of one time step of the whole grid: a pass of several levels has a part of
    /// what it does for each of its steps.
    static Counts counts_of_step(const Model& model, const WaveSettings& settings);
    /// The most ranks that these layers serve: each has as many as its neighbours read.
    static int most_ranks(const Model& model, const WaveSettings& settings);

    /// Back to rest, before the first step, with the exchanges with other ranks made anew by what
    /// the communicator's settings say now.
    void begin_anew();
    void advance(int steps);
    /// One step, after which it returns the energy in the whole grid, layers included:
    ///     sum over cells of h^d / 2 (p p' / kappa + rho v^2), p and p' before and after the step.
    /// Walls that do not absorb keep it to rounding, once the source is silent.
    double advance_measuring_energy();

    int steps_done() const;
    double time() const;  ///< of the pressure, s
    double step_seconds() const;
    /// Bytes that this rank sends from one exchange to the next.
    std::int64_t bytes_sent() const;

    /// The rank's layers of the model (no absorbing ones, so that there may be none), and the
    /// pressure there, x fastest.
    CellRange model_layers() const;
    std::vector<float> own_pressure() const;
    /// Of all the model's cells, x fastest. On several ranks this and what follows are the first
    /// one's, and empty on the others.
    std::vector<float> pressure() const;
    /// Pressure at every receiver after each step done.
    std::vector<std::vector<float>> recording() const;

    WaveState state() const;
    /// On all ranks the whole state. Throws Error for one of other lengths.
    void set_state(const WaveState& state);

  private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace hone::inline v0_1::solvers::seismic
