#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "generator/search_space.hpp"
#include "tuner/random.hpp"

namespace hone::inline v0_1 {

/// Where the members of a search space lie: coordinates and neighbours. Members are numbered by
/// their place in the ascending list. There is a dimension for each tunable of any form. A member's
/// coordinate is the position of its value in the tunable's list. A member of a form without the
/// tunable has one more coordinate there, the last.
class MemberGeometry {
  public:
    MemberGeometry(const SearchSpace& space, Members members);

    std::size_t size() const { return members_.size(); }
    std::size_t dimensions() const { return levels_.size(); }
    /// How many coordinates there are: the tunable's values, and one where some form does not have
    /// it.
    std::size_t levels(std::size_t dimension) const { return levels_[dimension]; }
    /// The tunable's values.
    std::size_t values(std::size_t dimension) const { return values_[dimension]; }
    std::int64_t index(std::size_t member) const { return members_[member]; }
    std::size_t coordinate(std::size_t member, std::size_t dimension) const {
        return coordinates_.empty() ? row(member)[dimension] : coordinates_[member * levels_.size() + dimension];
    }
    /// Members with each value of each dimension, how many.
    std::vector<std::vector<std::int64_t>> counts() const { return space_.holders(members_); }
    /// Some members with a value, at most `most`; of trees evenly spread over all of them.
    std::vector<std::size_t> some_with(std::size_t dimension, std::size_t value, std::size_t most) const;
    /// Whether the coordinates of all lie in memory.
    bool is_small() const { return size() <= most_in_memory; }

    /// The coordinates of any assignment of the space's product, a member or not.
    std::vector<std::size_t> coordinates_at(std::int64_t index) const { return space_.levels(index); }

    /// The member of an index in the space, or `size()` when it is none.
    std::size_t find(std::int64_t index) const;
    /// The member with these coordinates, or `size()` when there is none. In a space of forms the
    /// coordinates that the form does not have do not count, and those that it lacks are of the
    /// member that stands for the form.
    std::size_t find(std::vector<std::size_t> coordinates) const;
    /// Every member that differs from `member` in one value. Another form is one value, too: it
    /// keeps what both forms have.
    std::vector<std::size_t> neighbours(std::size_t member) const;
    /// `member` with up to `changes` values drawn anew; `size()` when that is no member.
    std::size_t altered(std::size_t member, int changes, Random& random) const;

  private:
    std::vector<std::size_t> coordinates_of(std::size_t member) const;
    bool has_forms() const { return stands_for_.size() > 1; }
    /// Of a space whose coordinates do not all lie in memory.
    const std::vector<std::uint16_t>& row(std::size_t member) const;

    static constexpr std::size_t most_in_memory = std::size_t{1} << 20;
    static constexpr std::size_t most_rows = std::size_t{1} << 16;

    SearchSpace space_;
    Members members_;
    std::vector<std::size_t> values_;
    std::vector<std::size_t> levels_;
    std::vector<std::uint16_t> coordinates_;                                    ///< [member][dimension]; none of a large space, which has
    mutable std::unordered_map<std::size_t, std::vector<std::uint16_t>> rows_;  ///< those that were asked for last
    std::vector<std::size_t> stands_for_;  ///< [form]: the member that a search enters it by; `size()` for a form without members
};

}  // namespace hone::inline v0_1
