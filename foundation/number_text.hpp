#pragma once

#include <charconv>
#include <cstddef>
#include <limits>
#include <optional>
#include <string_view>
#include <system_error>

namespace hone::inline v0_1 {

/// The number that a text begins with, behind blanks, as C writes it: "1.5", "-2e3", "inf". Nothing
/// where it begins with none. Unlike strtod, std::stod and streams it knows no locale: an
/// application may have set one in which "1.5" is 1. `read` becomes how much of the text that was.
inline std::optional<double> number_at_head(std::string_view text, std::size_t* read = nullptr) {
    const std::size_t blanks = text.find_first_not_of(" \t\n\r\f\v");
    if (blanks == std::string_view::npos) return std::nullopt;
    const bool plus = text[blanks] == '+' && text.substr(blanks + 1, 1) != "-";
    const char* const begin = text.data() + blanks + (plus ? 1 : 0);
    double number = 0;
    const auto [end, error] = std::from_chars(begin, text.data() + text.size(), number);
    if (error == std::errc::invalid_argument) return std::nullopt;
    if (error == std::errc::result_out_of_range) {
        // Too large or too small for a double, which from_chars does not tell apart.
        const std::string_view digits(begin, static_cast<std::size_t>(end - begin));
        const bool small = digits.find("e-") != std::string_view::npos || digits.find("E-") != std::string_view::npos || digits.starts_with("0.") ||
                           digits.starts_with("-0.");
        number = (digits.front() == '-' ? -1 : 1) * (small ? 0 : std::numeric_limits<double>::infinity());
    }
    if (read != nullptr) *read = static_cast<std::size_t>(end - text.data());
    return number;
}

}  // namespace hone::inline v0_1
