#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/ranks/grid_partition.hpp"

namespace hone::inline v0_1 {

/// A rank's layers of a grid that is cut along one axis: in its arrays own ones stand between
/// copies of its neighbours'. Layers count in the arrays unless it says that they count in the
/// grid.
struct Slab {
    CellRange own;             ///< in the grid
    int below = 0, above = 0;  ///< layers of neighbours; 0 where there is none

    std::int64_t layers() const { return own.cells(); }
    std::int64_t stored() const { return below + layers() + above; }
    CellRange stored_in_grid() const { return {own.first - below, own.last + above}; }
    std::int64_t begin() const { return below; }  ///< the first own layer
    std::int64_t end() const { return below + layers(); }
    bool is_cut() const { return below + above > 0; }
    /// The own layers and so many of the neighbours' on either side.
    CellRange with(std::int64_t more_below, std::int64_t more_above) const;

    /// The own layers in two kinds: at most two ranges of those within `reach` of a neighbour's,
    /// and the interior, if there is any.
    struct Parts {
        std::vector<CellRange> edges;
        std::optional<CellRange> interior;
    };
    Parts parts(std::int64_t reach) const;
};

/// Of a partition that is cut along this axis alone, with so many layers of each neighbour.
Slab slab_of(const GridPartition& partition, int rank, int axis = 2, int layers = 1);

}  // namespace hone::inline v0_1
