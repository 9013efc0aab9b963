#pragma once

#include <algorithm>
#include <cstddef>
#include <unordered_map>
#include <utility>
#include <vector>

namespace hone::inline v0_1 {

/// A value for each member of a space, the usual one at first. Of large spaces only those take
/// memory that were set.
template <typename T>
class PerMember {
  public:
    PerMember(std::size_t members, T usual) : usual_(std::move(usual)) {
        if (members <= most_dense) dense_.assign(members, usual_);
        is_dense_ = members <= most_dense;
    }
    PerMember() : PerMember(0, T{}) {}

    T operator[](std::size_t member) const {
        if (is_dense_) return dense_[member];
        const auto found = sparse_.find(member);
        return found == sparse_.end() ? usual_ : found->second;
    }
    void set(std::size_t member, T value) {
        if (is_dense_)
            dense_[member] = std::move(value);
        else
            sparse_[member] = std::move(value);
    }
    /// All are usual again.
    void clear() {
        std::fill(dense_.begin(), dense_.end(), usual_);
        sparse_.clear();
    }

  private:
    static constexpr std::size_t most_dense = std::size_t{1} << 20;
    T usual_;
    bool is_dense_ = true;
    std::vector<T> dense_;
    std::unordered_map<std::size_t, T> sparse_;
};

}  // namespace hone::inline v0_1
