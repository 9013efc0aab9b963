#pragma once

#include <compare>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "generator/value.hpp"

namespace hone {

/// Records, for its own thread and as long as it exists, the last position in a configuration at which a value was looked up. A constraint that
/// looked at the first n values only gives the same answer for all configurations that agree in these n values. So `SearchSpace` asks it once.
class LookupNotes {
  public:
    LookupNotes() { notes_ = this; }
    ~LookupNotes() { notes_ = nullptr; }
    LookupNotes(const LookupNotes&) = delete;
    LookupNotes& operator=(const LookupNotes&) = delete;

    void clear() { values_ = 0; }
    /// The number of leading values of a configuration that were looked up since `clear`: the position of the last one, plus one.
    std::size_t values() const { return values_; }

    static void note(std::size_t values) {
        if (notes_ != nullptr && values > notes_->values_) notes_->values_ = values;
    }

  private:
    static inline thread_local LookupNotes* notes_ = nullptr;
    std::size_t values_ = 0;
};

/// A configuration says how to compute: it has a value for every tunable of a search space, in the space's order.
class Config {
  public:
    Config() = default;
    explicit Config(std::vector<Assignment> assignments) : assignments_(std::move(assignments)) {}

    const std::vector<Assignment>& assignments() const& {
        LookupNotes::note(assignments_.size());
        return assignments_;
    }
    std::vector<Assignment> assignments() && { return std::move(assignments_); }

    /// Both throw Error when there is no such value, or one of the other type.
    std::int64_t integer(std::string_view name) const {
        const auto* const number = find<std::int64_t>(name);
        return number != nullptr ? *number : integer_of(assignments_, name, "configuration " + key());
    }
    const std::string& word(std::string_view name) const {
        const auto* const word = find<std::string>(name);
        return word != nullptr ? *word : word_of(assignments_, name, "configuration " + key());
    }

    /// As on the command line: `block_x=32,block_y=8,...`.
    std::string key() const { return join(assignments(), ","); }

    bool operator==(const Config& other) const { return assignments_ == other.assignments_; }
    auto operator<=>(const Config& other) const { return key() <=> other.key(); }

  private:
    template <typename T>
    const T* find(std::string_view name) const {
        for (std::size_t i = 0; i < assignments_.size(); ++i) {
            if (assignments_[i].name != name) continue;
            LookupNotes::note(i + 1);
            return std::get_if<T>(&assignments_[i].value);
        }
        return nullptr;
    }

    std::vector<Assignment> assignments_;
};

}  // namespace hone
