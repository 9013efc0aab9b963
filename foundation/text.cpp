#include "foundation/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "foundation/number_text.hpp"

namespace hone::inline v0_1::text {

std::string significant(double number) {
    if (!std::isfinite(number)) return fmt::format("{}", number);
    const double magnitude = std::abs(number);
    if (magnitude == 0) return "0";
    // Rounding first, so that 9.996 has the digits of 10.0.
    const int exponent = static_cast<int>(std::floor(std::log10(number_at_head(fmt::format("{:.2e}", magnitude)).value())));
    return fmt::format("{:.{}f}", number, std::clamp(2 - exponent, 0, 12));
}

std::string duration(double seconds) {
    if (!std::isfinite(seconds) || seconds < 0) return "?";
    constexpr double year = 365.25 * 86400;
    constexpr double long_time = 100 * year;  // hours would have more digits than anybody reads
    if (seconds >= long_time) return fmt::format("{:.3g} years", seconds / year);
    if (seconds >= 3600 - 0.5) {
        const auto minutes = static_cast<long>(std::lround(seconds / 60));
        return fmt::format("{}h {:02}m", minutes / 60, minutes % 60);
    }
    if (seconds >= 60 - 0.05) {
        const auto whole = static_cast<long>(std::lround(seconds));
        return fmt::format("{}m {:02}s", whole / 60, whole % 60);
    }
    constexpr std::array<std::pair<double, const char*>, 4> units{{{1, "s"}, {1e-3, "ms"}, {1e-6, "us"}, {1e-9, "ns"}}};
    for (const auto& [unit, name] : units)
        if (seconds >= 0.9995 * unit) return fmt::format("{} {}", significant(seconds / unit), name);
    return fmt::format("{} ns", significant(seconds * 1e9));
}

std::string bytes(double count) {
    constexpr std::array<std::pair<double, const char*>, 4> units{
        {{1ULL << 40, "TiB"}, {1ULL << 30, "GiB"}, {1ULL << 20, "MiB"}, {1ULL << 10, "KiB"}}};
    for (const auto& [unit, name] : units)
        if (count >= 0.9995 * unit) return fmt::format("{} {}", significant(count / unit), name);
    return fmt::format("{:.0f} B", count);
}

std::string grouped(std::int64_t number) {
    std::string digits = fmt::format("{}", number);
    const std::ptrdiff_t first = number < 0 ? 1 : 0;
    for (std::ptrdiff_t position = std::ssize(digits) - 3; position > first; position -= 3) digits.insert(static_cast<std::size_t>(position), " ");
    return digits;
}

std::string grouped_count(double number) {
    constexpr double most = 1e18;  // what a whole number of 64 bits holds
    if (!(std::abs(number) < most)) return fmt::format("{:.3g}", number);
    return grouped(std::llround(number));
}

std::string percent(double fraction) {
    return significant(100 * fraction) + " %";
}

std::string bar(double fraction, int width) {
    const double part = std::isfinite(fraction) ? std::clamp(fraction, 0.0, 1.0) : 0.0;
    const auto filled = static_cast<int>(std::lround(part * width));
    return std::string(static_cast<std::size_t>(filled), '#') + std::string(static_cast<std::size_t>(width - filled), '.');
}

int display_width(std::string_view text) {
    return static_cast<int>(std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

std::string cut(const std::string& text, int columns) {
    std::size_t end = 0;
    for (int column = 0; end < text.size(); ++column) {
        if (column == columns) break;
        do ++end;
        while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U);
    }
    return text.substr(0, end);
}

std::string wrapped(std::string_view text, int width, int indent) {
    std::string result;
    int column = indent;
    while (!text.empty()) {
        const std::string_view word = text.substr(0, text.find(' '));
        text.remove_prefix(std::min(text.size(), word.size() + 1));
        if (column > indent && column + 1 + display_width(word) > width) {
            result += "\n" + std::string(static_cast<std::size_t>(indent), ' ');
            column = indent;
        } else if (column > indent) {
            result += ' ';
            ++column;
        }
        result += word;
        column += display_width(word);
    }
    return result;
}

}  // namespace hone::inline v0_1::text
