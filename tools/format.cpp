#include "tools/format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "generator/error.hpp"

namespace hone::tools {
namespace {

std::string padding(int count) {
    return std::string(static_cast<std::size_t>(std::max(count, 0)), ' ');
}

// Length of one line of a table without the spaces at its end.
std::string trimmed(std::string line) {
    line.erase(line.find_last_not_of(' ') + 1);
    return line;
}

}  // namespace

std::string significant(double number) {
    if (!std::isfinite(number)) return fmt::format("{}", number);
    const double magnitude = std::abs(number);
    if (magnitude == 0) return "0";
    // Rounding first, so that 9.996 has the digits of 10.0.
    const int exponent = static_cast<int>(std::floor(std::log10(std::stod(fmt::format("{:.2e}", magnitude)))));
    return fmt::format("{:.{}f}", number, std::clamp(2 - exponent, 0, 12));
}

std::string duration(double seconds) {
    if (!std::isfinite(seconds) || seconds < 0) return "?";
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

std::string percent(double fraction) {
    return significant(100 * fraction) + " %";
}

std::string bar(double fraction, int width) {
    const double part = std::isfinite(fraction) ? std::clamp(fraction, 0.0, 1.0) : 0.0;
    const auto filled = static_cast<int>(std::lround(part * width));
    return std::string(static_cast<std::size_t>(filled), '#') + std::string(static_cast<std::size_t>(width - filled), '.');
}

double parse_duration(std::string_view text) {
    const auto wrong = [&] { return Error("duration", fmt::format("\"{}\" is not a time", text), "write it as 30s, 5m or 1h30m"); };
    if (text.empty()) throw wrong();
    double total = 0;
    const char* at = text.data();
    const char* const end = text.data() + text.size();
    while (at != end) {
        double number = 0;
        const auto [after, status] = std::from_chars(at, end, number, std::chars_format::fixed);
        if (status != std::errc{} || !std::isfinite(number) || number < 0) throw wrong();
        double unit = 1;
        at = after;
        if (at != end) {
            if (*at != 's' && *at != 'm' && *at != 'h') throw wrong();
            unit = *at == 'h' ? 3600 : *at == 'm' ? 60 : 1;
            ++at;
        }
        total += number * unit;
    }
    return total;
}

int display_width(std::string_view text) {
    return static_cast<int>(std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

std::string wrapped(std::string_view text, int width, int indent) {
    std::string result;
    int column = indent;
    while (!text.empty()) {
        const std::string_view word = text.substr(0, text.find(' '));
        text.remove_prefix(std::min(text.size(), word.size() + 1));
        if (column > indent && column + 1 + display_width(word) > width) {
            result += "\n" + padding(indent);
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

std::string definition_list(const std::vector<std::pair<std::string, std::string>>& lines) {
    constexpr int widest = 100;
    int column = 0;
    for (const auto& [name, help] : lines) column = std::max(column, display_width(name));
    std::string text;
    for (const auto& [name, help] : lines)
        text += trimmed(fmt::format("  {}{}  {}", name, padding(column - display_width(name)), wrapped(help, widest, column + 4))) + "\n";
    return text;
}

std::string Table::text() const {
    std::vector<int> widths;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
        widths.push_back(display_width(columns_[i].title));
        for (const auto& cells : rows_)
            if (cells.size() > 1) widths[i] = std::max(widths[i], display_width(cells[i]));
    }
    const auto line = [&](const auto& cell) {
        std::string text;
        for (std::size_t i = 0; i < columns_.size(); ++i) {
            const std::string& content = cell(i);
            const std::string space = padding(widths[i] - display_width(content));
            text += (i == 0 ? "" : "  ") + (columns_[i].align == Align::right ? space + content : content + space);
        }
        return trimmed(text) + "\n";
    };
    std::vector<std::string> rules;
    rules.reserve(widths.size());
    for (const int width : widths) rules.emplace_back(static_cast<std::size_t>(width), '-');
    std::string text = line([&](std::size_t i) -> const std::string& { return columns_[i].title; });
    text += line([&](std::size_t i) -> const std::string& { return rules[i]; });
    for (const auto& cells : rows_)
        text += cells.size() == 1 ? cells.front() + "\n" : line([&](std::size_t i) -> const std::string& { return cells[i]; });
    return text;
}

}  // namespace hone::tools
