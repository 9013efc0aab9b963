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
    explicit Config(std::vector<Assignment> assignments) : assignments_(std::move(assignments)), key_(join(assignments_, ",")) {}

    const std::vector<Assignment>& assignments() const { return assignments_; }
    std::int64_t integer(std::string_view name) const { return integer_of(assignments_, name, "configuration " + key_); }
    const std::string& word(std::string_view name) const { return word_of(assignments_, name, "configuration " + key_); }

    /// As on the command line: `block_x=32,block_y=8,...`.
    const std::string& key() const { return key_; }

    bool operator==(const Config& other) const { return key_ == other.key_; }
    auto operator<=>(const Config& other) const { return key_ <=> other.key_; }

  private:
    std::vector<Assignment> assignments_;
    std::string key_;
};

}  // namespace hone
