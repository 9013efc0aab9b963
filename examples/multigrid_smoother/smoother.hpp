#pragma once

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "examples/multigrid_smoother/model_problem.hpp"
#include "examples/multigrid_smoother/transfer_kernels.hpp"
#include "runtime/library.hpp"

namespace hone::examples {

/// One grid of the model problem on a device, with the tuned Gauss-Seidel sweep over it.
class SmoothedGrid {
  public:
    /// `stencil` is a kind of gauss_seidel_27: the same operator written down in that form. Fields start as zeros.
    SmoothedGrid(Backend& backend, KernelLibrary& library, const ModelProblem& problem, const std::string& stencil, Precision precision);

    const ModelProblem& problem() const { return problem_; }
    const Kernel& kernel() const { return sweep_->kernel(); }
    TransferKernels::Grid shape() const { return {problem_.n, pitch_}; }

    void* u() const { return u_.data(); }
    void* f() const { return f_.data(); }
    void* residual() const { return residual_.data(); }
    const void* coefficients() const { return operator_.data(); }

    void sweep() { sweep_->launch(); }
    void clear_u() { backend_.fill(u(), 0, u_.bytes()); }
    /// f becomes the model problem's right-hand side.
    void set_source();

    /// The interior points of a field, x fastest.
    std::vector<double> values(const void* field) const;
    /// Largest |computed - amplitude (1 - E_c) sin sin sin| / amplitude over all points of u. Without errors: the distance from the discrete
    /// solution.
    double distance(const ColourErrors* errors = nullptr) const;
    /// The E_c that the points of u have on average, weighted with sin sin sin.
    std::array<double, 8> colour_errors() const;
    double largest_residual() const;  ///< of the field `residual`

  private:
    // Visits every interior point with its position in a field.
    void for_points(const std::function<void(int x, int y, int z, std::size_t at)>& visit) const;
    void upload_stencil(const std::string& kind);
    void upload(void* to, const std::vector<double>& words) const;

    Backend& backend_;
    ModelProblem problem_;
    Precision precision_;
    int pitch_ = 0;
    DeviceArray u_, f_, residual_, stencil_, operator_;
    std::unique_ptr<BoundKernel> sweep_;
};

/// A V-cycle of geometric multigrid: sweeps, the residual on a grid of half the points a direction, the same there, and sweeps again.
class Multigrid {
  public:
    struct Settings {
        int sweeps_before = 1, sweeps_after = 1;
    };

    /// Grids of n, (n - 1) / 2, ... points down to 1, or to the first even number. Throws Error when that is too many to be solved by sweeps.
    Multigrid(Backend& backend, KernelLibrary& library, const std::string& operator_name, int n, const std::string& stencil, Precision precision,
              const Settings& settings);

    SmoothedGrid& finest() { return *grids_.front(); }
    std::size_t grids() const { return grids_.size(); }
    void cycle() { cycle(0); }
    /// Largest |f - operator u| on the finest grid.
    double residual();

  private:
    void cycle(std::size_t level);
    void make_residual(SmoothedGrid& grid);

    TransferKernels transfer_;
    Settings settings_;
    bool mean_;
    std::vector<std::unique_ptr<SmoothedGrid>> grids_;
};

}  // namespace hone::examples
