#pragma once

#include <memory>
#include <span>
#include <vector>

#include "runtime/library.hpp"
#include "runtime/ranks/communicator.hpp"
#include "runtime/ranks/halo_exchange.hpp"
#include "runtime/ranks/slab.hpp"

namespace hone::inline v0_1::solvers {

/// One of the two fused kernels of an iteration on a rank's part of the grid.
///
/// The neighbours' planes of what it makes of planes alone (p, or r) are computed here as well,
/// from what is already here; only the product of the operator, which takes the planes beyond
/// these, travels: one field, while the interior is computed beside where there are edges.
class SharedHalf {
  public:
    /// `kernel` is direction_part or residual_part on the slab. `arrays` are those of the kernel,
    /// with null for block_sums. `travels` is the array whose neighbours' planes are exchanged.
    /// Edges are as many chunks of planes; with none all own planes are one launch, and nothing
    /// travels beside it.
    SharedHalf(Backend& backend, const std::shared_ptr<const Kernel>& kernel, std::span<void* const> arrays, const Slab& slab, void* travels,
               int edge_chunks);

    void launch(HaloExchange& halo) const;
    /// The sums of the own blocks of the last launch, in the order of the grid, on the device.
    const void* block_sums() const { return sums_.data(); }

  private:
    struct Part {
        BoundKernel kernel;
        std::int64_t first, last;
    };
    std::vector<Part> beyond_, edges_, interior_;  // the neighbours' planes, own chunks next to them, the others
    void* travels_;
    DeviceArray sums_, unused_sums_;
};

}  // namespace hone::inline v0_1::solvers
