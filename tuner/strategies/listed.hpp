#pragma once

#include <cstdint>
#include <optional>
#include <unordered_set>
#include <utility>

#include "tuner/strategy.hpp"

namespace hone::inline v0_1 {

/// A strategy that asks all members in an order that nothing it is told changes, the safe one
/// first; but what was told is not asked.
class ListedStrategy : public Strategy {
  public:
    ListedStrategy(const SearchSpace& space, Members members) : members_(std::move(members)), safe_(members_.find(space.index_of(space.safe()))) {}

    std::optional<std::int64_t> ask() final {
        if (!std::exchange(began_, true) && told_.count(members_[safe_]) == 0) return members_[safe_];
        while (const auto member = next())
            if (*member != safe_ && told_.count(members_[*member]) == 0) return members_[*member];
        return std::nullopt;
    }
    void tell(std::int64_t index, double /*cost*/) final { told_.insert(index); }

  protected:
    /// The next one in the order, or nothing at its end.
    virtual std::optional<std::size_t> next() = 0;
    const Members& members() const { return members_; }

  private:
    Members members_;
    std::size_t safe_;
    bool began_ = false;
    std::unordered_set<std::int64_t> told_;
};

}  // namespace hone::inline v0_1
