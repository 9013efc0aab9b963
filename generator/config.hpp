#pragma once

#include <compare>
#include <string>
#include <string_view>
#include <vector>

#include "generator/value.hpp"

namespace hone {

/// How to compute: a value for every parameter of a search space, in its order.
class Config {
  public:
    Config() = default;
    explicit Config(std::vector<Assignment> assignments) : assignments_(std::move(assignments)) {}

    const std::vector<Assignment>& assignments() const& { return assignments_; }
    std::vector<Assignment> assignments() && { return std::move(assignments_); }

    /// Both throw Error when there is no such value, or one of the other type.
    std::int64_t integer(std::string_view name) const {
        const auto* const number = value_of<std::int64_t>(assignments_, name);
        return number != nullptr ? *number : integer_of(assignments_, name, "configuration " + key());
    }
    const std::string& word(std::string_view name) const {
        const auto* const word = value_of<std::string>(assignments_, name);
        return word != nullptr ? *word : word_of(assignments_, name, "configuration " + key());
    }

    /// As on the command line: `block_x=32,block_y=8,...`.
    std::string key() const { return join(assignments_, ","); }

    bool operator==(const Config& other) const { return assignments_ == other.assignments_; }
    auto operator<=>(const Config& other) const { return key() <=> other.key(); }

  private:
    std::vector<Assignment> assignments_;
};

}  // namespace hone
