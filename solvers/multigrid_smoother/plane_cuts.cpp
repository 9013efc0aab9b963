#include "solvers/multigrid_smoother/plane_cuts.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "foundation/error.hpp"

namespace hone::inline v0_1::solvers {
namespace {

constexpr std::size_t z = 2;

// The same cuts with so many cells to a unit.
GridPartition refined(const GridPartition& units, std::int64_t cells_of_unit) {
    GridPartition result = units;
    result.cells[z] *= cells_of_unit;
    result.granularity[z] = cells_of_unit;
    return result;
}

PlaneCuts with(int points, int ranks, int shared) {
    const std::int64_t planes = std::int64_t{1} << shared;
    return {points, shared, {{1, 1, (points + planes - 1) / planes}, {1, 1, ranks}}};
}

// Whether every rank has a pair of planes of the coarsest grid that is cut.
bool fits(const PlaneCuts& cuts) {
    const int ranks = cuts.units.size();
    return cuts.units.cells[z] >= ranks && cuts.slab(cuts.shared - 1, ranks - 1).layers() >= 2;
}

}  // namespace

Slab PlaneCuts::slab(int level, int rank) const {
    const std::int64_t all = points >> level;
    if (level >= shared) return {{0, all}, 0, 0};
    Slab slab = slab_of(units, rank);
    const std::int64_t planes = std::int64_t{1} << (shared - level);
    slab.own = {slab.own.first * planes, slab.above > 0 ? slab.own.last * planes : all};
    return slab;
}

GridPartition PlaneCuts::planes(int level) const {
    return refined(units, std::int64_t{1} << (shared - level));
}

GridPartition PlaneCuts::odd_planes(int level) const {
    return refined(units, std::int64_t{1} << (shared - level - 1));
}

PlaneCuts cut_planes(int points, int ranks, int least_shared) {
    if (ranks == 1) return with(points, 1, 0);
    if (ranks > points / 2)
        throw Error(fmt::format("a grid of {0} x {0} x {0} points", points), fmt::format("it cannot be cut for {} ranks", ranks),
                    fmt::format("start at most {}: each takes two planes or more", points / 2));
    PlaneCuts best = with(points, ranks, 1);
    for (int shared = 2; points >> (shared - 1) >= std::max(least_shared, 2); ++shared)
        if (const PlaneCuts cuts = with(points, ranks, shared); fits(cuts)) best = cuts;
    return best;
}

}  // namespace hone::inline v0_1::solvers
