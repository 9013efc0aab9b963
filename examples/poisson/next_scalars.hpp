#pragma once

#include <memory>

#include "runtime/backend.hpp"

namespace hone::examples {

/// What follows from the sums of both halves of a conjugate-gradient iteration where several devices share a grid: the last step of the kernels of
/// family poisson7 for a whole grid, on the blocks of all ranks, with the same digits.
class NextScalars {
  public:
    /// The kernels' text, for tests: `direction` and `residual`, of (block_sums, scalars, history, nx, ny, nz, first, last), where block_sums are
    /// those of the whole grid, [blocks][sums], numbers first to last.
    static KernelSource source(Target target, Precision precision);

    /// For a grid of nx x ny x nz cells in all. Throws Error with the compiler's reason when they do not compile.
    NextScalars(Backend& backend, Precision precision, int nx, int ny, int nz);

    /// gamma and alpha; delta, beta, the mean and the history (poisson::scalar). Queued on the default stream.
    void after_direction(const void* block_sums, void* scalars, void* history) const;
    void after_residual(const void* block_sums, void* scalars, void* history) const;

  private:
    void launch(int entry, const void* block_sums, void* scalars, void* history) const;

    int nx_, ny_, nz_;
    std::unique_ptr<Module> module_;
    int direction_ = 0, residual_ = 0;
};

}  // namespace hone::examples
