#pragma once

#include <array>
#include <functional>
#include <vector>

#include "runtime/buffers.hpp"
#include "solvers/hydro/mass_kernels.hpp"
#include "solvers/hydro/mass_solver.hpp"

namespace hone::inline v0_1::solvers::hydro {

/// The scalars of conjugate gradients, which live on a device, and the loop of the host around
/// them: it queues iterations, and looks from time to time whether all components are done.
class MassScalars {
  public:
    /// Those of MassKernels for each component, and `more` words behind them.
    MassScalars(Backend& backend, int components, int more = 0);

    double* data() const { return static_cast<double*>(array_.data()); }
    /// For the next `start`. Throws Error for settings that make no sense.
    void prepare(const MassSettings& settings);
    /// Behind the start: `iterate` queues so many iterations, until all components are done, or it
    /// was often enough.
    MassSolve solve(const MassSettings& settings, const std::function<void(int)>& iterate);

  private:
    std::vector<double> words_of(MassKernels::Word which);
    bool any(MassKernels::Word which);
    void read();
    MassSolve result(int executed);

    Backend* backend_;
    int components_;
    DeviceArray array_;
    HostBuffer look_;             // the same, for the host
    double tolerance_ = -1;       // that is among them
    std::array<int, 2> usual_{};  // iterations of the last two solves: a time step's two take turns
};

}  // namespace hone::inline v0_1::solvers::hydro
