#include "runtime/ranks/slab.hpp"

#include <algorithm>

namespace hone::inline v0_1 {

CellRange Slab::with(std::int64_t more_below, std::int64_t more_above) const {
    return {begin() - std::min<std::int64_t>(more_below, below), end() + std::min<std::int64_t>(more_above, above)};
}

Slab::Parts Slab::parts(std::int64_t reach) const {
    Parts result;
    std::int64_t first = begin(), last = end();
    if (below > 0) {
        const std::int64_t edge = std::min(first + reach, last);
        result.edges.push_back({first, edge});
        first = edge;
    }
    if (above > 0 && first < last) {
        const std::int64_t edge = std::max(first, last - reach);
        result.edges.push_back({edge, last});
        last = edge;
    }
    if (first < last) result.interior = CellRange{first, last};
    return result;
}

Slab slab_of(const GridPartition& partition, int rank, int axis, int layers) {
    const auto beyond = [&](int side) { return partition.neighbour(rank, axis, side) ? layers : 0; };
    return {partition.block(rank)[static_cast<std::size_t>(axis)], beyond(0), beyond(1)};
}

}  // namespace hone::inline v0_1
