#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/library.hpp"
#include "runtime/ranks/communicator.hpp"
#include "runtime/ranks/grid_partition.hpp"
#include "runtime/ranks/halo_exchange.hpp"

namespace hone::examples {

/// A rank's planes in its arrays: of the grid [first, first + planes), with a neighbour's plane below and above where there is one.
struct Slab {
    std::int64_t planes = 0;
    int below = 0, above = 0;  ///< planes of neighbours, 0 or 1

    std::int64_t stored() const { return below + planes + above; }
    std::int64_t begin() const { return below; }  ///< the first own plane, by its number in the arrays
    std::int64_t end() const { return below + planes; }
};

Slab slab_of(const GridPartition& partition, int rank);

/// One of the two fused kernels of an iteration on a rank's part of the grid.
///
/// The neighbours' planes of what it makes of planes alone (p, or r) are computed here as well, from what is already here; only the product of the
/// operator, which takes the planes beyond these, travels: one field, while the interior is computed.
class SharedHalf {
  public:
    /// `kernel` is direction_part or residual_part on the slab. `arrays` are those of the kernel, with null for block_sums. `travels` is the array
    /// whose neighbours' planes are exchanged.
    SharedHalf(Backend& backend, const std::shared_ptr<const Kernel>& kernel, std::span<void* const> arrays, const Slab& slab, void* travels);

    void launch(HaloExchange& halo) const;
    /// The sums of the own blocks of the last launch, in the order of the grid. Waits for it.
    std::vector<double> block_sums(Backend& backend) const;

  private:
    struct Part {
        BoundKernel kernel;
        std::int64_t first, last;
    };
    std::vector<Part> edges_, interior_;
    void* travels_;
    Precision precision_;
    DeviceArray sums_, unused_sums_;
};

}  // namespace hone::examples
