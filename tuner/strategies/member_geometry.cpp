#include "tuner/strategies/member_geometry.hpp"

#include <algorithm>

namespace hone::inline v0_1 {

MemberGeometry::MemberGeometry(const SearchSpace& space, std::vector<std::int64_t> members) : space_(space), members_(std::move(members)) {
    for (const auto& tunable : space_.tunables()) {
        const auto has = [&](const FormSpace& form) {
            return tunable.name == form_tunable ||
                   std::any_of(form.tunables.begin(), form.tunables.end(), [&](const Tunable& own) { return own.name == tunable.name; });
        };
        values_.push_back(tunable.values.size());
        levels_.push_back(tunable.values.size() + (std::all_of(space_.forms().begin(), space_.forms().end(), has) ? 0 : 1));
    }
    coordinates_.reserve(members_.size() * values_.size());
    for (const std::int64_t member : members_) {
        for (const std::size_t level : space_.levels(member)) coordinates_.push_back(static_cast<std::uint16_t>(level));
    }
    if (space_.forms().size() < 2) return;
    stands_for_.assign(space_.forms().size(), size());
    for (std::size_t member = size(); member-- > 0;) stands_for_[coordinate(member, 0)] = member;
    for (std::size_t form = 0; form < stands_for_.size(); ++form) {
        const Config entry = space_.entry(space_.forms()[form]);
        const std::size_t safe = space_.check(entry) ? size() : find(space_.index_of(entry));
        if (safe != size()) stands_for_[form] = safe;
    }
}

std::size_t MemberGeometry::find(std::int64_t index) const {
    const auto found = std::lower_bound(members_.begin(), members_.end(), index);
    return found != members_.end() && *found == index ? static_cast<std::size_t>(found - members_.begin()) : members_.size();
}

std::size_t MemberGeometry::find(std::vector<std::size_t> coordinates) const {
    if (has_forms()) {
        if (coordinates.front() >= stands_for_.size() || stands_for_[coordinates.front()] == size()) return size();
        const std::size_t own = stands_for_[coordinates.front()];
        for (std::size_t d = 1; d < coordinates.size(); ++d) {
            const bool lacking = coordinates[d] >= values_[d], foreign = coordinate(own, d) >= values_[d];
            if (lacking || foreign) coordinates[d] = coordinate(own, d);
        }
    }
    const auto index = space_.index_of(coordinates);
    return index ? find(*index) : size();
}

std::vector<std::size_t> MemberGeometry::coordinates_of(std::size_t member) const {
    std::vector<std::size_t> coordinates;
    for (std::size_t d = 0; d < dimensions(); ++d) coordinates.push_back(coordinate(member, d));
    return coordinates;
}

std::vector<std::size_t> MemberGeometry::neighbours(std::size_t member) const {
    std::vector<std::size_t> found;
    for (std::size_t d = 0; d < dimensions(); ++d) {
        std::vector<std::size_t> coordinates = coordinates_of(member);
        const std::size_t here = coordinates[d];
        if (here >= values_[d]) continue;
        for (std::size_t value = 0; value < values_[d]; ++value) {
            if (value == here) continue;
            coordinates[d] = value;
            const std::size_t neighbour = find(coordinates);
            if (neighbour != size()) found.push_back(neighbour);
        }
    }
    return found;
}

std::size_t MemberGeometry::altered(std::size_t member, int changes, Random& random) const {
    std::vector<std::size_t> coordinates = coordinates_of(member);
    for (int change = 0; change < changes; ++change) {
        const std::size_t d = random.index(dimensions());
        const auto value = static_cast<std::size_t>(random.below(values_[d]));
        if (coordinates[d] < values_[d]) coordinates[d] = value;
    }
    return find(std::move(coordinates));
}

}  // namespace hone::inline v0_1
