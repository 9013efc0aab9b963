#pragma once

#include "runtime/ranks/grid_partition.hpp"
#include "runtime/ranks/slab.hpp"

namespace hone::inline v0_1::solvers {

/// How ranks share the planes of multigrid's grids, of n, n / 2, n / 4, ... points a direction,
/// rounded down. Point Z of a grid, counted from 1, is point 2 Z of the next finer one. The finest
/// grids are cut, all of them at the same places and each between pairs of planes; coarse ones
/// every rank has whole.
///
/// Planes count from 0. A rank has those of the colours 0 to 3, which are even, in its own pairs
/// and the next one above, and the odd ones at both sides: so a sweep needs one exchange, of one
/// odd plane each way.
struct PlaneCuts {
    int points = 0;       ///< of the finest grid, a direction
    int shared = 0;       ///< how many grids are cut; 0 for one rank
    GridPartition units;  ///< along z, of 2^shared planes of the finest grid

    /// A rank's planes of a grid, by its number. Of a grid that every rank has whole: all.
    Slab slab(int level, int rank) const;
    /// The planes of a grid that is cut, without the last ones that no neighbour reads: all, or the
    /// odd ones.
    GridPartition planes(int level) const;
    GridPartition odd_planes(int level) const;
};

/// Cuts that share all grids of at least so many points a direction, as far as each rank has a pair
/// of planes of each. Throws Error where there are more ranks than pairs of the finest grid.
PlaneCuts cut_planes(int points, int ranks, int least_shared);

}  // namespace hone::inline v0_1::solvers
