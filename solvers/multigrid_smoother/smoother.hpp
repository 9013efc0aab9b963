#pragma once

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "runtime/library.hpp"
#include "runtime/ranks/communicator.hpp"
#include "runtime/ranks/halo_exchange.hpp"
#include "solvers/multigrid_smoother/model_problem.hpp"
#include "solvers/multigrid_smoother/plane_cuts.hpp"
#include "solvers/multigrid_smoother/transfer_kernels.hpp"

namespace hone::inline v0_1::solvers {

/// One grid of the model problem on a device, with the tuned Gauss-Seidel sweep over it; or a
/// rank's planes of it (PlaneCuts).
class SmoothedGrid {
  public:
    /// `stencil` is a kind of gauss_seidel_27: the same operator written down in that form. Fields
    /// start as zeros.
    SmoothedGrid(Backend& backend, KernelLibrary& library, const ModelProblem& problem, const std::string& stencil, Precision precision);
    /// A rank's part of grid number `level`. The communicator must outlive it, and all ranks call
    /// alike what says so.
    SmoothedGrid(Communicator& ranks, const PlaneCuts& cuts, int level, Backend& backend, KernelLibrary& library, const ModelProblem& problem,
                 const std::string& stencil, Precision precision)
        : SmoothedGrid(&ranks, cuts, level, backend, library, problem, stencil, precision) {}

    const ModelProblem& problem() const { return problem_; }
    const Kernel& kernel() const { return sweep_->kernel(); }
    const Slab& slab() const { return slab_; }
    TransferKernels::Grid shape() const { return {problem_.n, pitch_, static_cast<int>(planes()), static_cast<int>(slab_.own.first)}; }
    /// The planes of the arrays which interpolation has to reach, so that what lies beside the own
    /// ones stays what neighbours have.
    TransferKernels::Range interpolated_planes() const;

    void* u() const { return u_.data(); }
    void* f() const { return f_.data(); }
    void* residual() const { return residual_.data(); }
    const void* coefficients() const { return operator_.data(); }

    /// On all ranks. Sweeps the planes that a neighbour reads first, so that they travel while the
    /// others are swept.
    void sweep();
    /// Makes the exchanges with other ranks anew, by what the communicator's settings say now.
    void renew_exchanges();
    void clear_u() { backend_.fill(u(), 0, u_.bytes()); }
    /// f becomes the model problem's right-hand side.
    void set_source();
    /// After a restriction into f, on all ranks: where the grid is cut, the neighbours' plane; else
    /// what the others restricted, each to its planes of `cuts` at this level.
    void complete_source(const PlaneCuts& cuts, int level);

    /// The interior points of a field in the own planes, x fastest; with the next rank's first
    /// plane, if there is one and it is asked for.
    std::vector<double> values(const void* field, bool with_next = false) const;
    /// Largest |computed - amplitude (1 - E_c) sin sin sin| / amplitude over all points of u.
    /// Without errors: the distance from the discrete solution. On all ranks.
    double distance(const ColourErrors* errors = nullptr) const;
    /// The E_c that the points of u have on average, weighted with sin sin sin. On all ranks.
    std::array<double, 8> colour_errors() const;
    double largest_residual() const;  ///< of the field `residual`; on all ranks

  private:
    SmoothedGrid(Communicator* ranks, const PlaneCuts& cuts, int level, Backend& backend, KernelLibrary& library, const ModelProblem& problem,
                 const std::string& stencil, Precision precision);
    std::int64_t planes() const { return slab_.layers() + slab_.above; }
    // Visits every interior point of so many planes with its position in a field.
    void for_points(std::int64_t planes, const std::function<void(int x, int y, int z, std::size_t at)>& visit) const;
    void upload_stencil(const std::string& kind);
    void upload(void* to, const std::vector<double>& words) const;
    void prepare_exchange();

    std::unique_ptr<Communicator> alone_;  // where nobody gave one
    Communicator& ranks_;
    Backend& backend_;
    ModelProblem problem_;
    Precision precision_;
    PlaneCuts cuts_;
    int level_;
    Slab slab_;
    std::vector<int> planes_of_ranks_;
    int pitch_ = 0;
    DeviceArray u_, f_, residual_, stencil_, operator_;
    std::unique_ptr<BoundKernel> sweep_;
    std::unique_ptr<HaloExchange> odd_planes_, planes_beside_;  // where there are neighbours
};

/// A V-cycle of geometric multigrid: sweeps, the residual on a grid of half the points a direction,
/// the same there, and sweeps again.
class Multigrid {
  public:
    struct Settings {
        int sweeps_before = 1, sweeps_after = 1;
        /// Grids of fewer points a direction every rank has whole: what they cost is less than
        /// their messages.
        int least_shared = 16;
    };

    /// Grids of n, (n - 1) / 2, ... points down to 1, or to the first even number. Throws Error
    /// when that is too many to be solved by sweeps.
    Multigrid(Backend& backend, KernelLibrary& library, const std::string& operator_name, int n, const std::string& stencil, Precision precision,
              const Settings& settings);
    /// On ranks, which call `cycle` and `residual` alike. No digit knows how many they are. Throws
    /// Error for more ranks than pairs of planes.
    Multigrid(Communicator& ranks, Backend& backend, KernelLibrary& library, const std::string& operator_name, int n, const std::string& stencil,
              Precision precision, const Settings& settings)
        : Multigrid(&ranks, backend, library, operator_name, n, stencil, precision, settings) {}

    SmoothedGrid& finest() { return *grids_.front(); }
    std::size_t grids() const { return grids_.size(); }
    void cycle() { cycle(0); }
    /// As SmoothedGrid's, of all grids.
    void renew_exchanges() {
        for (const auto& grid : grids_) grid->renew_exchanges();
    }
    /// Largest |f - operator u| on the finest grid.
    double residual();

  private:
    Multigrid(Communicator* ranks, Backend& backend, KernelLibrary& library, const std::string& operator_name, int n, const std::string& stencil,
              Precision precision, const Settings& settings);
    void cycle(std::size_t level);
    void make_residual(SmoothedGrid& grid);

    std::unique_ptr<Communicator> alone_;  // where nobody gave one
    Communicator& ranks_;
    TransferKernels transfer_;
    Settings settings_;
    PlaneCuts cuts_;
    bool mean_;
    std::vector<std::unique_ptr<SmoothedGrid>> grids_;
};

}  // namespace hone::inline v0_1::solvers
