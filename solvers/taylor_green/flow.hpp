#pragma once

#include <array>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/ranks/communicator.hpp"
#include "runtime/ranks/halo_exchange.hpp"
#include "solvers/poisson/solver.hpp"
#include "solvers/taylor_green/kernels.hpp"

namespace hone::inline v0_1::solvers {

/// A periodic box of side 2 pi with cubic cells; 2D is one layer of cells.
struct FlowSettings {
    int dimension = 3;
    int cells = 32;  ///< along each axis
    double viscosity = 0.01;
    std::string precision = "f64";
    /// Root-mean-square divergence times the cells' width that a step may leave: what the pressure
    /// solver iterates to.
    double divergence = 1e-9;
};

/// The velocities of a staggered mesh in host memory, component by component, x fastest, without
/// padding. Of a mesh that is cut: the nz planes from number `first` on, and beside them one of
/// each neighbour.
struct Velocity {
    int nx = 0, ny = 0, nz = 0;
    double h = 0;
    std::array<std::vector<double>, 3> component;  ///< of component c, word (i, j, k) lies on the face before cell (i, j, k) along axis c
    int first = 0;
    bool is_cut = false;

    std::size_t cells() const { return static_cast<std::size_t>(nx) * static_cast<std::size_t>(ny) * static_cast<std::size_t>(nz); }
    /// The box is periodic: i, j, k may lie one beyond it.
    double at(std::size_t c, int i, int j, int k) const {
        const auto wrapped = [](int n, int cells) { return static_cast<std::size_t>(n < 0 ? n + cells : n >= cells ? n - cells : n); };
        return component[c][((is_cut ? static_cast<std::size_t>(k + 1) : wrapped(k, nz)) * static_cast<std::size_t>(ny) + wrapped(j, ny)) *
                                static_cast<std::size_t>(nx) +
                            wrapped(i, nx)];
    }
};

/// Sums over a velocity field, per cell.
struct FlowSums {
    double energy = 0;                 ///< mean of |velocity|^2 / 2
    double dissipation = 0;            ///< viscosity times the mean square of the velocity differences: what viscosity takes from the energy
    double divergence = 0;             ///< root mean square, times the cells' width
    std::array<double, 3> momentum{};  ///< mean velocity
};
FlowSums sums_of(const Velocity& velocity, double viscosity);
/// Of the whole mesh, of which each rank has its planes: the same bits on any number of ranks.
FlowSums sums_of(const Velocity& velocity, double viscosity, Communicator& ranks);

/// Incompressible flow by fractional steps: three explicit Runge-Kutta stages, each made free of
/// divergence by a pressure equation whose solver is solvers/poisson's. Velocities stay on the
/// device.
///
/// The Runge-Kutta scheme is the third-order one that keeps one array per component besides the
/// velocity: J. H. Williamson, Low-storage Runge-Kutta schemes, Journal of Computational Physics 35
/// (1980). Projection is linear and idempotent, so the order is kept.
///
///     Flow flow(*backend, library, {.dimension = 2, .cells = 64, .viscosity = 0.1});
///     flow.set(taylor_green(flow.mesh(), 2, 0, 0.1));
///     for (int step = 0; step < 100; ++step) flow.step(0.02);
///     const FlowSums sums = sums_of(flow.velocity(), 0.1);
///
/// On several ranks each has a flow for its planes, and all call it alike. The planes that
/// neighbours read are computed first and travel while the others are. No digit knows how many
/// ranks there are.
class Flow {
  public:
    Flow(Backend& backend, KernelLibrary& library, const FlowSettings& settings);
    /// A rank's part, in three dimensions. The communicator must outlive the flow. Throws Error for
    /// more ranks than the pressure solver can serve.
    Flow(Communicator& ranks, Backend& backend, KernelLibrary& library, const FlowSettings& settings) : Flow(&ranks, backend, library, settings) {}

    const FlowKernels::Mesh& mesh() const { return mesh_; }
    void set(const Velocity& velocity);
    Velocity velocity() const;
    void step(double dt);

    /// Iterations of the pressure solver so far, and solves that did not reach their tolerance.
    std::int64_t iterations() const { return iterations_; }
    int failures() const { return failures_; }
    /// What was found for the kernels, a line for each: the pressure solver's, then the flow's.
    std::string kernels() const { return solver_.kernels() + "\n" + kernels_->found(); }

  private:
    Flow(Communicator* ranks, Backend& backend, KernelLibrary& library, const FlowSettings& settings);
    void* own(const DeviceArray& field) const;
    template <typename Compute>
    void compute_and_exchange(std::span<void* const> fields, const Compute& compute) const;

    std::unique_ptr<Communicator> alone_;  // where nobody gave one
    Communicator& ranks_;
    Backend& backend_;
    FlowSettings settings_;
    GridPartition partition_;
    PoissonSolver solver_;
    FlowKernels::Mesh mesh_;
    std::array<DeviceArray, 3> velocity_, change_;
    std::unique_ptr<FlowKernels> kernels_;
    std::unique_ptr<HaloExchange> halo_;                          // where there are neighbours
    std::array<DeviceArray, FlowKernels::stages> last_pressure_;  // of each stage: the next step's first guess
    double dt_ = 0;
    std::int64_t iterations_ = 0;
    int failures_ = 0;
};

}  // namespace hone::inline v0_1::solvers
