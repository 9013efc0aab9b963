#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "generator/search_space.hpp"
#include "tuner/random.hpp"

namespace hone {

/// Where the members of a search space lie: coordinates, neighbours, distances. Members are numbered by their place in the ascending list.
class MemberGeometry {
  public:
    MemberGeometry(const SearchSpace& space, std::vector<std::int64_t> members);

    std::size_t size() const { return members_.size(); }
    std::size_t dimensions() const { return sizes_.size(); }
    int values(std::size_t dimension) const { return sizes_[dimension]; }
    std::int64_t index(std::size_t member) const { return members_[member]; }
    /// The position of the member's value among its tunable's values.
    int coordinate(std::size_t member, std::size_t dimension) const { return coordinates_[member * sizes_.size() + dimension]; }

    /// The member of an index in the space, or `size()` when it is none.
    std::size_t find(std::int64_t index) const;
    /// Every member that differs from `member` in one value.
    void append_neighbours(std::size_t member, std::vector<std::size_t>& to) const;
    /// An assignment that differs from `member` in at most two values, at random; `size()` when it is no member.
    std::size_t random_second_neighbour(std::size_t member, Random& random) const;

    /// How much each dimension counts in `distance`; 1 at first.
    void weigh(std::span<const double> weights);
    /// Sum over the dimensions in which two members differ. A word counts as different or not. Of numbers, half depends on how far apart
    /// their places in the list are, because costs change gradually along block sizes and depths.
    double distance(std::size_t a, std::size_t b) const;

  private:
    std::vector<std::int64_t> members_;
    std::vector<int> sizes_;
    std::vector<bool> ordered_;
    std::vector<std::int64_t> strides_;
    std::vector<std::uint16_t> coordinates_;  ///< [member][dimension]
    std::vector<std::vector<double>> gaps_;   ///< [dimension][difference of coordinates]
};

}  // namespace hone
