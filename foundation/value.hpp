#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "foundation/target.hpp"

namespace hone::inline v0_1 {

/// The value of a problem's or a configuration's parameter: a whole number or a word.
using Value = std::variant<std::int64_t, std::string>;

/// A parameter with its value, in the order that its family declares.
struct Assignment {
    std::string name;
    Value value;

    bool operator==(const Assignment&) const = default;
};

/// Floating-point type of a problem's fields.
enum class Precision { f32, f64 };

/// Type of an array's values.
enum class ValueType { f32, f64, i32 };

std::string to_string(const Value& value);
std::string to_string(Precision precision);
std::string to_string(ValueType type);

/// "12" becomes a number, everything else a word.
Value parse_value(std::string_view text);

/// Bytes of one value: 4 or 8.
constexpr int bytes_per_word(Precision precision) {
    return precision == Precision::f32 ? 4 : 8;
}

/// Bytes of one value.
constexpr int bytes_per_value(ValueType type) {
    return type == ValueType::f64 ? 8 : 4;
}

/// The type of a field's values.
constexpr ValueType value_type_of(Precision precision) {
    return precision == Precision::f32 ? ValueType::f32 : ValueType::f64;
}

/// The candidate nearest to `text` by edit distance, or of the same meaning (double: f64), or the
/// only one that has it as a part (H200: NVIDIA H200); an empty string when there is none.
std::string nearest_word(std::string_view text, const std::vector<std::string>& candidates);

/// "did you mean gauss_seidel_27? ", or an empty string when no candidate is near: the start of a
/// remedy in an Error.
std::string did_you_mean(std::string_view text, const std::vector<std::string>& candidates);

/// The value of type T, a number's or a word's, that is assigned to `name`, or nothing.
template <typename T>
const T* value_of(const std::vector<Assignment>& assignments, std::string_view name) {
    for (const Assignment& assignment : assignments)
        if (assignment.name == name) return std::get_if<T>(&assignment.value);
    return nullptr;
}

/// The value assigned to `name`. Both throw Error, naming `where`, when `name` is absent or of the
/// other type.
std::int64_t integer_of(const std::vector<Assignment>& assignments, std::string_view name, std::string_view where);
const std::string& word_of(const std::vector<Assignment>& assignments, std::string_view name, std::string_view where);

/// `a=1,b=two` for the given separator.
std::string assignments_text(const std::vector<Assignment>& assignments, std::string_view separator);

}  // namespace hone::inline v0_1
