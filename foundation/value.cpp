#include "foundation/value.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <numeric>

#include "foundation/error.hpp"

namespace hone::inline v0_1 {
namespace {

// Levenshtein distance; the words compared here are short.
std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 0; i < a.size(); ++i) {
        std::size_t diagonal = row[0];
        row[0] = i + 1;
        for (std::size_t j = 0; j < b.size(); ++j) {
            const std::size_t substituted = diagonal + (a[i] == b[j] ? 0 : 1);
            diagonal = row[j + 1];
            row[j + 1] = std::min({row[j] + 1, row[j + 1] + 1, substituted});
        }
    }
    return row.back();
}

std::string in_lower_case(std::string_view text) {
    std::string lower(text);
    std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return lower;
}

// The one candidate that has the text somewhere: NVIDIA H200 for h200. Empty where several have it.
std::string only_one_with(std::string_view text, const std::vector<std::string>& candidates) {
    constexpr std::size_t fewest_letters = 3;
    if (text.size() < fewest_letters) return "";
    const std::string part = in_lower_case(text);
    std::string found;
    for (const auto& candidate : candidates) {
        if (in_lower_case(candidate).find(part) == std::string::npos) continue;
        if (!found.empty()) return "";
        found = candidate;
    }
    return found;
}

// What other programs call a precision: no number of changed letters leads from double to f64.
std::string precision_named(std::string_view text) {
    constexpr std::array f32{"single", "float", "real", "float32", "fp32", "real32", "real4", "r4"};
    constexpr std::array f64{"double", "float64", "fp64", "real64", "real8", "r8"};
    const std::string lower = in_lower_case(text);
    if (std::find(f32.begin(), f32.end(), lower) != f32.end()) return "f32";
    if (std::find(f64.begin(), f64.end(), lower) != f64.end()) return "f64";
    return "";
}

}  // namespace

std::string to_string(const Value& value) {
    if (const auto* number = std::get_if<std::int64_t>(&value)) return fmt::format("{}", *number);
    return std::get<std::string>(value);
}

std::string to_string(Precision precision) {
    return precision == Precision::f32 ? "f32" : "f64";
}

std::string to_string(ValueType type) {
    return type == ValueType::i32 ? "int32" : type == ValueType::f32 ? "float32" : "float64";
}

Value parse_value(std::string_view text) {
    std::int64_t number = 0;
    const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (status == std::errc{} && end == text.data() + text.size()) return number;
    return std::string(text);
}

std::string nearest_word(std::string_view text, const std::vector<std::string>& candidates) {
    std::string precision = precision_named(text);
    if (std::find(candidates.begin(), candidates.end(), precision) != candidates.end()) return precision;
    std::string best;
    std::size_t best_distance = std::max<std::size_t>(2, text.size() / 3) + 1;
    for (const auto& candidate : candidates) {
        const std::size_t distance = edit_distance(text, candidate);
        if (distance < best_distance) {
            best_distance = distance;
            best = candidate;
        }
    }
    return best.empty() ? only_one_with(text, candidates) : best;
}

std::string did_you_mean(std::string_view text, const std::vector<std::string>& candidates) {
    const std::string nearest = nearest_word(text, candidates);
    return nearest.empty() ? "" : fmt::format("did you mean {}? ", nearest);
}

std::int64_t integer_of(const std::vector<Assignment>& assignments, std::string_view name, std::string_view where) {
    if (const auto* const number = value_of<std::int64_t>(assignments, name)) return *number;
    throw Error(std::string(where), fmt::format("there is no whole number \"{}\"", name), "name one of its parameters");
}

const std::string& word_of(const std::vector<Assignment>& assignments, std::string_view name, std::string_view where) {
    if (const auto* const word = value_of<std::string>(assignments, name)) return *word;
    throw Error(std::string(where), fmt::format("there is no word \"{}\"", name), "name one of its parameters");
}

std::string assignments_text(const std::vector<Assignment>& assignments, std::string_view separator) {
    std::string text;
    for (const auto& assignment : assignments) {
        if (!text.empty()) text += separator;
        text += assignment.name + "=" + to_string(assignment.value);
    }
    return text;
}

}  // namespace hone::inline v0_1
