#pragma once

#include <algorithm>
#include <compare>
#include <string>
#include <string_view>
#include <vector>

#include "foundation/value.hpp"

namespace hone::inline v0_1 {

/// A configuration says how to compute. It has a value for every tunable of a search space, in the
/// space's order; in a space of forms its first value is that of `form`, and the others are those
/// of this form's tunables.
class Config {
  public:
    Config() = default;
    explicit Config(std::vector<Assignment> assignments) : assignments_(std::move(assignments)) {}

    const std::vector<Assignment>& assignments() const& { return assignments_; }
    std::vector<Assignment> assignments() && { return std::move(assignments_); }

    /// Both throw Error when there is no such value, or one of the other type.
    std::int64_t integer(std::string_view name) const {
        const auto* const number = find_as<std::int64_t>(name);
        return number != nullptr ? *number : integer_of(assignments_, name, "configuration " + key());
    }
    const std::string& word(std::string_view name) const {
        const auto* const word = find_as<std::string>(name);
        return word != nullptr ? *word : word_of(assignments_, name, "configuration " + key());
    }

    /// The value of a tunable, or nothing when the configuration has none of this name.
    const Value* find(std::string_view name) const {
        const auto found =
            std::find_if(assignments_.begin(), assignments_.end(), [&](const Assignment& assignment) { return assignment.name == name; });
        return found == assignments_.end() ? nullptr : &found->value;
    }
    /// Whether the tunable is there, with this value.
    bool has(std::string_view name, const Value& value) const {
        const Value* const own = find(name);
        return own != nullptr && *own == value;
    }

    /// As on the command line: `block_x=32,block_y=8,...`.
    std::string key() const { return assignments_text(assignments(), ","); }
    /// The inverse, of any space. Throws Error for other text.
    static Config parsed(std::string_view key);

    bool operator==(const Config& other) const { return assignments_ == other.assignments_; }
    auto operator<=>(const Config& other) const { return key() <=> other.key(); }

  private:
    template <typename T>
    const T* find_as(std::string_view name) const {
        const Value* const value = find(name);
        return value == nullptr ? nullptr : std::get_if<T>(value);
    }

    std::vector<Assignment> assignments_;
};

/// The name of the tunable that says of which form a configuration is.
constexpr std::string_view form_tunable = "form";

/// Whether both are of one form, or neither names one.
inline bool same_form(const Config& a, const Config& b) {
    const Value* const own = a.find(form_tunable);
    const Value* const other = b.find(form_tunable);
    return own == nullptr || other == nullptr ? own == other : *own == *other;
}

}  // namespace hone::inline v0_1
