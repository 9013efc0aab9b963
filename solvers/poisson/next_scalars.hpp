#pragma once

#include <cstddef>
#include <memory>

#include "runtime/backend.hpp"
#include "runtime/ranks/device_gather.hpp"

namespace hone::inline v0_1::solvers {

/// What follows from the sums of both halves of a conjugate-gradient iteration where several
/// devices share a grid: the last step of the kernels of family poisson7 for a whole grid, on the
/// blocks of all ranks, with the same digits.
class NextScalars {
  public:
    /// The kernels' text, for tests: `direction` and `residual`, of (block_sums, scalars, history,
    /// nx, ny, nz, first, last), where block_sums are those of the whole grid, [blocks][sums],
    /// numbers first to last. `by_kernels`, on GPUs: `share_direction` and `share_residual`, which
    /// gather the block_sums first, as PeerWords says (own, boxes and done after history; words,
    /// ranks, rank, data, flags and epoch after last).
    static KernelSource source(Target target, Precision precision, bool by_kernels = false);

    /// For a grid of nx x ny x nz cells in all; `by_kernels`: for gatherings that have a way for
    /// kernels. Throws Error with the compiler's reason when they do not compile.
    NextScalars(Backend& backend, Precision precision, int nx, int ny, int nz, bool by_kernels);

    /// gamma and alpha; delta, beta, the mean and the history (poisson::scalar), of the sums of all
    /// ranks' blocks; `own`: those of this rank's. Queued on the default stream.
    void after_direction(DeviceGather& gather, const void* own, void* scalars, void* history) const;
    void after_residual(DeviceGather& gather, const void* own, void* scalars, void* history) const;

  private:
    int blocks() const;
    void launch(std::size_t half, DeviceGather& gather, const void* own, void* scalars, void* history) const;

    int nx_, ny_, nz_;
    KernelSource source_;
    std::unique_ptr<Module> module_;
};

}  // namespace hone::inline v0_1::solvers
