#include "runtime/ranks/grid_partition.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "foundation/error.hpp"

namespace hone::inline v0_1 {
namespace {

constexpr std::array axes{0U, 1U, 2U};

std::int64_t granules(const GridPartition& partition, std::size_t axis) {
    return (partition.cells[axis] + partition.granularity[axis] - 1) / partition.granularity[axis];
}

std::string extents(const std::array<std::int64_t, 3>& cells) {
    return fmt::format("{} x {} x {}", cells[0], cells[1], cells[2]);
}

// Cells of faces between blocks, of the whole grid.
std::int64_t cut_cells(const GridPartition& partition) {
    std::int64_t sum = 0;
    for (const std::size_t axis : axes) {
        const std::int64_t face = partition.cells[(axis + 1) % 3] * partition.cells[(axis + 2) % 3];
        const int cuts = partition.ranks[axis] - (partition.periodic[axis] && partition.ranks[axis] > 1 ? 0 : 1);
        sum += cuts * face;
    }
    return sum;
}

}  // namespace

std::array<int, 3> GridPartition::place(int rank) const {
    return {rank % ranks[0], rank / ranks[0] % ranks[1], rank / ranks[0] / ranks[1]};
}

int GridPartition::rank_at(const std::array<int, 3>& place) const {
    return (place[2] * ranks[1] + place[1]) * ranks[0] + place[0];
}

std::array<CellRange, 3> GridPartition::block(int rank) const {
    const std::array<int, 3> at = place(rank);
    std::array<CellRange, 3> ranges;
    for (const std::size_t axis : axes) {
        const auto begin = [&](std::int64_t number) {
            return std::min(granules(*this, axis) * number / ranks[axis] * granularity[axis], cells[axis]);
        };
        ranges[axis] = {begin(at[axis]), begin(at[axis] + 1)};
    }
    return ranges;
}

std::optional<int> GridPartition::neighbour(int rank, int axis, int side) const {
    const auto along = static_cast<std::size_t>(axis);
    if (ranks[along] == 1) return {};
    std::array<int, 3> at = place(rank);
    at[along] += side == 0 ? -1 : 1;
    if (at[along] < 0 || at[along] >= ranks[along]) {
        if (!periodic[along]) return {};
        at[along] = (at[along] + ranks[along]) % ranks[along];
    }
    return rank_at(at);
}

void GridPartition::check() const {
    for (const std::size_t axis : axes)
        if (ranks[axis] < 1 || ranks[axis] > granules(*this, axis))
            throw Error(fmt::format("a grid of {} cells", extents(cells)), fmt::format("{} ranks along {}", ranks[axis], "xyz"[axis]),
                        fmt::format("it is cut at multiples of {} cells there: use 1 to {}", granularity[axis], granules(*this, axis)));
}

GridPartition partition_grid(const std::array<std::int64_t, 3>& cells, const std::array<bool, 3>& periodic, int ranks,
                             const std::array<std::int64_t, 3>& granularity, const std::array<bool, 3>& may_cut) {
    GridPartition best{cells, {}, periodic, granularity};
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    const auto fits = [&](int number, std::size_t axis) { return number == 1 || (may_cut[axis] && number <= granules(best, axis)); };
    for (int z = ranks; z >= 1; --z) {
        if (ranks % z != 0 || !fits(z, 2)) continue;
        for (int y = ranks / z; y >= 1; --y) {
            const int x = ranks / z / y;
            if (ranks / z % y != 0 || !fits(y, 1) || !fits(x, 0)) continue;
            const GridPartition partition{cells, {x, y, z}, periodic, granularity};
            const std::int64_t cut = cut_cells(partition);
            if (cut >= least) continue;
            least = cut;
            best = partition;
        }
    }
    if (least == std::numeric_limits<std::int64_t>::max()) {
        std::int64_t most = 1;
        for (const std::size_t axis : axes) most *= may_cut[axis] ? granules(best, axis) : 1;
        throw Error(fmt::format("a grid of {} cells", extents(cells)), fmt::format("it cannot be cut for {} ranks", ranks),
                    ranks > most ? fmt::format("start at most {}: borders lie at multiples of {} cells", most, extents(granularity))
                                 : "start another number of ranks, with smaller prime factors");
    }
    return best;
}

}  // namespace hone::inline v0_1
