#pragma once

#include <cstddef>
#include <limits>

#include "tuner/strategies/per_member.hpp"

namespace hone::inline v0_1 {

/// The numbers below some bound, of which any can be taken out: the last one takes its place. A
/// list that large spaces need not have in memory.
class Shuffled {
  public:
    explicit Shuffled(std::size_t size) : size_(size), moved_(size, unmoved) {}
    Shuffled() : Shuffled(0) {}

    std::size_t size() const { return size_; }
    std::size_t operator[](std::size_t place) const {
        const std::size_t moved = moved_[place];
        return moved == unmoved ? place : moved;
    }
    std::size_t take(std::size_t place) {
        const std::size_t taken = (*this)[place];
        moved_.set(place, (*this)[--size_]);
        return taken;
    }

  private:
    static constexpr std::size_t unmoved = std::numeric_limits<std::size_t>::max();
    std::size_t size_;
    PerMember<std::size_t> moved_;
};

}  // namespace hone::inline v0_1
