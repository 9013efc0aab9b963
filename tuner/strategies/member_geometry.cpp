#include "tuner/strategies/member_geometry.hpp"

#include <algorithm>

namespace hone::inline v0_1 {

MemberGeometry::MemberGeometry(const SearchSpace& space, Members members) : space_(space), members_(std::move(members)) {
    for (const auto& tunable : space_.tunables()) {
        const auto has = [&](const FormSpace& form) {
            return tunable.name == form_tunable ||
                   std::any_of(form.tunables.begin(), form.tunables.end(), [&](const Tunable& own) { return own.name == tunable.name; });
        };
        values_.push_back(tunable.values.size());
        levels_.push_back(tunable.values.size() + (std::all_of(space_.forms().begin(), space_.forms().end(), has) ? 0 : 1));
    }
    if (is_small()) {
        coordinates_.reserve(members_.size() * values_.size());
        for (const std::int64_t member : members_)
            for (const std::size_t level : space_.levels(member)) coordinates_.push_back(static_cast<std::uint16_t>(level));
    }
    if (space_.forms().size() < 2) return;
    stands_for_.assign(space_.forms().size(), size());
    for (std::size_t member = 0; member < size();) {
        // Members of a form follow one another.
        const std::size_t form = coordinate(member, 0);
        stands_for_[form] = member;
        std::size_t high = size();
        for (std::size_t low = member; high - low > 1;) {
            const std::size_t middle = low + (high - low) / 2;
            (coordinate(middle, 0) == form ? low : high) = middle;
        }
        member = high;
    }
    for (std::size_t form = 0; form < stands_for_.size(); ++form) {
        const Config entry = space_.entry(space_.forms()[form]);
        const std::size_t safe = space_.check(entry) ? size() : find(space_.index_of(entry));
        if (safe != size()) stands_for_[form] = safe;
    }
}

const std::vector<std::uint16_t>& MemberGeometry::row(std::size_t member) const {
    const auto found = rows_.find(member);
    if (found != rows_.end()) return found->second;
    if (rows_.size() == most_rows) rows_.clear();
    const std::vector<std::size_t> levels = space_.levels(members_[member]);
    return rows_.emplace(member, std::vector<std::uint16_t>(levels.begin(), levels.end())).first->second;
}

std::vector<std::size_t> MemberGeometry::some_with(std::size_t dimension, std::size_t value, std::size_t most) const {
    std::vector<std::size_t> found;
    if (!members_.forms().empty()) {
        const Members some = space_.with_value(members_, dimension, value);
        const std::size_t wanted = std::min(most, some.size());
        for (std::size_t i = 0; i < wanted; ++i) found.push_back(members_.find(some[i * some.size() / wanted]));
        return found;
    }
    for (std::size_t member = 0; member < size() && found.size() < most; ++member)
        if (coordinates_at(index(member))[dimension] == value) found.push_back(member);
    return found;
}

std::size_t MemberGeometry::find(std::int64_t index) const {
    return members_.find(index);
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
