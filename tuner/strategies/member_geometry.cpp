#include "tuner/strategies/member_geometry.hpp"

#include <algorithm>

namespace hone {

MemberGeometry::MemberGeometry(const SearchSpace& space, std::vector<std::int64_t> members) : members_(std::move(members)) {
    std::int64_t stride = space.product();
    for (const auto& tunable : space.tunables()) {
        sizes_.push_back(std::ssize(tunable.values));
        stride /= sizes_.back();
        strides_.push_back(stride);
    }
    coordinates_.reserve(members_.size() * sizes_.size());
    for (const std::int64_t member : members_)
        for (std::size_t d = 0; d < sizes_.size(); ++d) coordinates_.push_back(static_cast<std::uint16_t>(member / strides_[d] % sizes_[d]));
}

std::size_t MemberGeometry::find(std::int64_t index) const {
    const auto found = std::lower_bound(members_.begin(), members_.end(), index);
    return found != members_.end() && *found == index ? static_cast<std::size_t>(found - members_.begin()) : members_.size();
}

std::size_t MemberGeometry::find(const std::vector<std::size_t>& coordinates) const {
    std::int64_t index = 0;
    for (std::size_t d = 0; d < sizes_.size(); ++d) index += static_cast<std::int64_t>(coordinates[d]) * strides_[d];
    return find(index);
}

std::vector<std::size_t> MemberGeometry::neighbours(std::size_t member) const {
    std::vector<std::size_t> found;
    for (std::size_t d = 0; d < sizes_.size(); ++d) {
        const auto here = static_cast<std::int64_t>(coordinate(member, d));
        for (std::int64_t value = 0; value < sizes_[d]; ++value) {
            if (value == here) continue;
            const std::size_t neighbour = find(members_[member] + (value - here) * strides_[d]);
            if (neighbour != size()) found.push_back(neighbour);
        }
    }
    return found;
}

std::size_t MemberGeometry::altered(std::size_t member, int changes, Random& random) const {
    std::int64_t index = members_[member];
    for (int change = 0; change < changes; ++change) {
        const std::size_t d = random.index(sizes_.size());
        const auto value = static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(sizes_[d])));
        index += (value - index / strides_[d] % sizes_[d]) * strides_[d];
    }
    return find(index);
}

}  // namespace hone
