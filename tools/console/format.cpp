#include "tools/console/format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>

#include "foundation/error.hpp"

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

double parse_percent(const std::string& option, std::string_view text) {
    std::string_view digits = text;
    if (digits.ends_with('%')) digits.remove_suffix(1);
    while (digits.ends_with(' ')) digits.remove_suffix(1);
    double number = 0;
    const auto [after, status] = std::from_chars(digits.data(), digits.data() + digits.size(), number, std::chars_format::fixed);
    if (digits.empty() || status != std::errc{} || after != digits.data() + digits.size() || !(number >= 0) || !std::isfinite(number))
        throw Error(option, fmt::format("\"{}\" is not a part", text), "write it in per cent, as 3% or 0.5%");
    return number / 100;
}

double parse_proper_percent(const std::string& option, std::string_view text) {
    const double part = parse_percent(option, text);
    if (part > 0 && part < 1) return part;
    throw Error(option, fmt::format("\"{}\" is not above 0 and below 100 %", text), "write it as 1% or 0.5%");
}

std::string fitted(const std::string& text, int columns) {
    if (columns <= 0) return text;
    std::string result;
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = std::min(text.find('\n', begin), text.size());
        std::string line = text.substr(begin, end - begin);
        if (display_width(line) > columns) {
            const int deepest = columns / 2;
            const int own = std::min(static_cast<int>(std::min(line.find_first_not_of(' '), line.size())), deepest);
            line = padding(own) + folded(std::string_view(line).substr(static_cast<std::size_t>(own)), columns, std::min(own + 4, deepest));
        }
        result += line + (end < text.size() ? "\n" : "");
        begin = end + 1;
    }
    return result;
}

std::string definition_list(const std::vector<std::pair<std::string, std::string>>& lines, int columns) {
    constexpr int page = 100;
    constexpr int least_room = 20;  // for the second column
    const int widest = columns > 0 ? std::min(columns, page) : page;
    int column = 0;
    for (const auto& [name, help] : lines) column = std::max(column, display_width(name));
    std::string text;
    // Where nobody reads on a terminal, what may be searched or copied stays in one piece.
    const auto broken = [&](const std::string& help, int indent) {
        return columns > 0 ? folded(help, widest, indent) : wrapped(help, widest, indent);
    };
    for (const auto& [name, help] : lines) {
        if (column + 4 + least_room <= widest)
            text += trimmed(fmt::format("  {}{}  {}", name, padding(column - display_width(name)), broken(help, column + 4))) + "\n";
        else
            text += fmt::format("  {}\n", broken(name, 4)) + (help.empty() ? "" : fmt::format("      {}\n", broken(help, 6)));
    }
    return text;
}

std::string folded(std::string_view text, int width, int indent) {
    std::string result;
    int column = indent;
    while (!text.empty()) {
        const std::string_view word = text.substr(0, text.find(' '));
        const bool spaced = column > indent;
        text.remove_prefix(std::min(text.size(), word.size() + 1));
        const int room = width - indent;
        // A word that fits a line is not broken; of a longer one the pieces between commas are.
        std::string_view rest = word;
        do {
            const std::size_t comma = display_width(word) > room ? rest.find(',') : std::string_view::npos;
            const std::string_view piece = rest.substr(0, comma == std::string_view::npos ? rest.size() : comma + 1);
            const bool first = rest.size() == word.size();
            const int space = first && spaced ? 1 : 0;
            if (column > indent && column + space + display_width(piece) > width) {
                result += "\n" + padding(indent);
                column = indent;
            } else if (space > 0) {
                result += ' ';
                ++column;
            }
            result += piece;
            column += display_width(piece);
            rest.remove_prefix(piece.size());
        } while (!rest.empty());
    }
    return result;
}

std::string shell_word(const std::string& text) {
    constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+./:,=@%";
    const bool whole = !text.empty() && std::all_of(text.begin(), text.end(), [&](char c) {
        return static_cast<signed char>(c) < 0 || plain.find(c) != std::string_view::npos;
    });
    if (whole) return text;
    std::string result = "'";
    for (const char c : text) result += c == '\'' ? "'\\''" : std::string(1, c);
    return result + "'";
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
