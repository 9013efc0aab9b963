#pragma once

#include <array>
#include <cstdint>
#include <optional>

namespace hone::inline v0_1 {

/// Cells [first, last) along an axis.
struct CellRange {
    std::int64_t first = 0, last = 0;
    std::int64_t cells() const { return last - first; }
    bool operator==(const CellRange&) const = default;
};

/// A structured grid of one to three axes, cut into a block for each rank. Axes are x, y, z, x
/// fastest; an axis that a grid does not have has one cell and one rank. Borders lie at multiples
/// of `granularity` cells: where sums of blocks of cells, colours or vectors must not be cut.
struct GridPartition {
    std::array<std::int64_t, 3> cells{1, 1, 1};
    std::array<int, 3> ranks{1, 1, 1};  ///< blocks along each axis
    std::array<bool, 3> periodic{};
    std::array<std::int64_t, 3> granularity{1, 1, 1};

    int size() const { return ranks[0] * ranks[1] * ranks[2]; }
    /// The block's number along each axis: ranks count along x first.
    std::array<int, 3> place(int rank) const;
    int rank_at(const std::array<int, 3>& place) const;
    /// The cells of a rank. Blocks of an axis differ by one granule at most, but for the last,
    /// which may end with a part of one.
    std::array<CellRange, 3> block(int rank) const;
    /// The rank beyond a side (0: towards smaller indices) of a rank's block; nothing where the
    /// grid ends. Periodic axes that are not cut have none.
    std::optional<int> neighbour(int rank, int axis, int side) const;

    /// Throws Error where a block would be empty: more ranks along an axis than granules.
    void check() const;
};

/// The partition for so many ranks that has the smallest area of cut faces, and of those with the
/// same the one that cuts the slowest axes. Only axes with `may_cut` are cut. Throws Error, with
/// the most ranks that fit, where no product of three numbers of blocks gives each rank a cell.
GridPartition partition_grid(const std::array<std::int64_t, 3>& cells, const std::array<bool, 3>& periodic, int ranks,
                             const std::array<std::int64_t, 3>& granularity = {1, 1, 1}, const std::array<bool, 3>& may_cut = {true, true, true});

}  // namespace hone::inline v0_1
