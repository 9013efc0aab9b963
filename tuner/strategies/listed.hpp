#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "tuner/strategy.hpp"

namespace hone {

/// A strategy that asks the members in an order settled beforehand, whatever it is told.
class ListedStrategy : public Strategy {
  public:
    explicit ListedStrategy(std::vector<std::int64_t> order) : order_(std::move(order)) {}
    std::optional<std::int64_t> ask() override {
        if (asked_ == order_.size()) return std::nullopt;
        return order_[asked_++];
    }
    void tell(std::int64_t /*index*/, double /*cost*/) override {}

  private:
    std::vector<std::int64_t> order_;
    std::size_t asked_ = 0;
};

}  // namespace hone
