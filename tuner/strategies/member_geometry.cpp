#include "tuner/strategies/member_geometry.hpp"

#include <algorithm>
#include <cstdlib>

namespace hone {

MemberGeometry::MemberGeometry(const SearchSpace& space, std::vector<std::int64_t> members) : members_(std::move(members)) {
    std::int64_t stride = space.product();
    for (const auto& tunable : space.tunables()) {
        sizes_.push_back(static_cast<int>(tunable.values.size()));
        ordered_.push_back(std::holds_alternative<std::int64_t>(tunable.values.front()));
        stride /= sizes_.back();
        strides_.push_back(stride);
    }
    coordinates_.reserve(members_.size() * sizes_.size());
    for (const std::int64_t member : members_)
        for (std::size_t d = 0; d < sizes_.size(); ++d) coordinates_.push_back(static_cast<std::uint16_t>(member / strides_[d] % sizes_[d]));
    weigh(std::vector<double>(sizes_.size(), 1.0));
}

std::size_t MemberGeometry::find(std::int64_t index) const {
    const auto found = std::lower_bound(members_.begin(), members_.end(), index);
    return found != members_.end() && *found == index ? static_cast<std::size_t>(found - members_.begin()) : members_.size();
}

void MemberGeometry::append_neighbours(std::size_t member, std::vector<std::size_t>& to) const {
    for (std::size_t d = 0; d < sizes_.size(); ++d) {
        const int here = coordinate(member, d);
        for (int value = 0; value < sizes_[d]; ++value) {
            if (value == here) continue;
            const std::size_t neighbour = find(members_[member] + (value - here) * strides_[d]);
            if (neighbour != size()) to.push_back(neighbour);
        }
    }
}

std::size_t MemberGeometry::random_second_neighbour(std::size_t member, Random& random) const {
    std::int64_t index = members_[member];
    for (int step = 0; step < 2; ++step) {
        const std::size_t d = random.index(sizes_.size());
        const auto value = static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(sizes_[d])));
        index += (value - index / strides_[d] % sizes_[d]) * strides_[d];
    }
    return find(index);
}

void MemberGeometry::weigh(std::span<const double> weights) {
    constexpr double mismatch = 0.5;
    gaps_.resize(sizes_.size());
    for (std::size_t d = 0; d < sizes_.size(); ++d) {
        gaps_[d].assign(static_cast<std::size_t>(sizes_[d]), weights[d]);
        gaps_[d][0] = 0;
        for (int gap = 1; ordered_[d] && gap < sizes_[d]; ++gap)
            gaps_[d][static_cast<std::size_t>(gap)] = weights[d] * (mismatch + (1 - mismatch) * gap / (sizes_[d] - 1));
    }
}

double MemberGeometry::distance(std::size_t a, std::size_t b) const {
    double sum = 0;
    for (std::size_t d = 0; d < sizes_.size(); ++d) sum += gaps_[d][static_cast<std::size_t>(std::abs(coordinate(a, d) - coordinate(b, d)))];
    return sum;
}

}  // namespace hone
