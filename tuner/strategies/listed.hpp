#pragma once

#include <cstdint>
#include <optional>
#include <unordered_set>
#include <utility>
#include <vector>

#include "tuner/strategy.hpp"

namespace hone::inline v0_1 {

/// A strategy that asks the members in an order settled beforehand, whatever it is told; but what
/// was told is not asked.
class ListedStrategy : public Strategy {
  public:
    explicit ListedStrategy(std::vector<std::int64_t> order) : order_(std::move(order)) {}
    std::optional<std::int64_t> ask() override {
        while (next_ < order_.size() && told_.count(order_[next_]) != 0) ++next_;
        if (next_ == order_.size()) return std::nullopt;
        return order_[next_++];
    }
    void tell(std::int64_t index, double /*cost*/) override { told_.insert(index); }

  private:
    std::vector<std::int64_t> order_;
    std::size_t next_ = 0;
    std::unordered_set<std::int64_t> told_;
};

}  // namespace hone::inline v0_1
