#pragma once

#include <cstdint>
#include <vector>

#include "generator/search_space.hpp"
#include "tuner/random.hpp"

namespace hone {

/// Where the members of a search space lie: coordinates and neighbours. Members are numbered by their place in the ascending list.
class MemberGeometry {
  public:
    MemberGeometry(const SearchSpace& space, std::vector<std::int64_t> members);

    std::size_t size() const { return members_.size(); }
    std::size_t dimensions() const { return sizes_.size(); }
    std::size_t values(std::size_t dimension) const { return static_cast<std::size_t>(sizes_[dimension]); }
    std::int64_t index(std::size_t member) const { return members_[member]; }
    /// The position of the member's value among its tunable's values.
    std::size_t coordinate(std::size_t member, std::size_t dimension) const { return coordinates_[member * sizes_.size() + dimension]; }

    /// The member of an index in the space, or `size()` when it is none.
    std::size_t find(std::int64_t index) const;
    /// The member with these coordinates, or `size()` when there is none.
    std::size_t find(const std::vector<std::size_t>& coordinates) const;
    /// Every member that differs from `member` in one value.
    std::vector<std::size_t> neighbours(std::size_t member) const;
    /// `member` with up to `changes` values drawn anew; `size()` when that is no member.
    std::size_t altered(std::size_t member, int changes, Random& random) const;

  private:
    std::vector<std::int64_t> members_;
    std::vector<std::int64_t> sizes_;
    std::vector<std::int64_t> strides_;
    std::vector<std::uint16_t> coordinates_;  ///< [member][dimension]
};

}  // namespace hone
