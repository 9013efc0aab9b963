#include "tests/support/layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <sstream>
#include <string_view>

namespace hone::test {
namespace {

// The text with blanks for what is commented and quoted; quotation marks stay.
std::string bare(const std::string& text) {
    std::string code = text;
    for (std::size_t i = 0; i < text.size(); ++i) {
        std::size_t end = i;
        if (text.compare(i, 2, "//") == 0) end = std::min(text.find('\n', i), text.size());
        if (text[i] == '"') {
            for (end = i + 1; end < text.size() && text[end] != '"'; ++end)
                if (text[end] == '\\') ++end;
            ++i;
        }
        for (; i < end; ++i) code[i] = ' ';
    }
    return code;
}

std::size_t line_begin(const std::string& text, std::size_t at) {
    return at == 0 ? 0 : text.rfind('\n', at - 1) + 1;
}

std::string line_at(const std::string& text, std::size_t at) {
    const std::size_t begin = line_begin(text, at);
    return fmt::format("line {}: {}", 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(begin), '\n'),
                       text.substr(begin, text.find('\n', begin) - begin));
}

bool same_line(const std::string& text, std::size_t a, std::size_t b) {
    return line_begin(text, a) == line_begin(text, b);
}

bool is_blank(std::string_view text) {
    return std::all_of(text.begin(), text.end(), [](char c) { return c == ' '; });
}

// The bracket that ends what `open` begins, or that begins what it ends.
std::size_t partner(const std::string& code, std::size_t bracket) {
    const bool forwards = std::string_view("([{").find(code[bracket]) != std::string_view::npos;
    int depth = 0;
    for (std::size_t i = bracket; i < code.size(); i += forwards ? 1 : static_cast<std::size_t>(-1)) {
        if (std::string_view("([{").find(code[i]) != std::string_view::npos) depth += forwards ? 1 : -1;
        if (std::string_view(")]}").find(code[i]) != std::string_view::npos) depth += forwards ? -1 : 1;
        if (depth == 0) return i;
    }
    return bracket;
}

// The last sign before `at` that is no space, and no word `const`.
std::size_t before(const std::string& code, std::size_t at) {
    std::size_t i = at;
    while (i > 0 && (code[i - 1] == ' ' || code[i - 1] == '\n')) --i;
    if (i >= 6 && code.compare(i - 6, 6, " const") == 0) return before(code, i - 6);
    return i == 0 ? 0 : i - 1;
}

// Numbers and nothing else, perhaps as `real(1.5)`.
bool are_values(const std::string& row) {
    std::istringstream words(row);
    for (std::string word; words >> word;) {
        if (word.starts_with("real(")) word.erase(0, 5);
        if (word.starts_with('-')) word.erase(0, 1);
        if (word.empty() || std::isdigit(static_cast<unsigned char>(word.front())) == 0) return false;
    }
    return true;
}

}  // namespace

std::vector<std::string> broken_bodies(const std::string& text) {
    const std::string code = bare(text);
    std::vector<std::string> broken;
    for (std::size_t open = code.find('{'); open != std::string::npos; open = code.find('{', open + 1)) {
        const std::size_t head = before(code, open);
        if (code[head] != ')') continue;
        const std::size_t close = partner(code, open);
        const bool whole = same_line(code, open, close)
                               ? same_line(code, partner(code, head), open)
                               : is_blank(std::string_view(code).substr(open + 1, code.find('\n', open) - open - 1)) &&
                                     is_blank(std::string_view(code).substr(line_begin(code, close), close - line_begin(code, close)));
        if (!whole) broken.push_back(line_at(text, open) + ": a body stands half in the line of its head");
    }
    return broken;
}

std::vector<std::string> broken_rows(const std::string& text) {
    const std::string code = bare(text);
    std::vector<std::string> broken;
    for (std::size_t open = code.find('{'); open != std::string::npos; open = code.find('{', open + 1)) {
        const std::size_t close = partner(code, open);
        const std::string row = code.substr(open + 1, close - open - 1);
        const bool begins_a_line = is_blank(std::string_view(code).substr(line_begin(code, open), open - line_begin(code, open)));
        if (!begins_a_line || row.empty() || row[0] == '\n' || same_line(code, open, close) || row.find_first_of("{;=") != std::string::npos)
            continue;
        if (!are_values(row)) continue;
        std::vector<std::ptrdiff_t> values(1);
        for (const char c : row) {
            if (c == '\n') values.push_back(0);
            if (c == ',') ++values.back();
        }
        ++values.back();
        std::ptrdiff_t all = 0;
        for (const std::ptrdiff_t of_line : values) all += of_line;
        const std::ptrdiff_t lines = std::ssize(values), most = (all + lines - 1) / lines;
        if (std::any_of(values.begin(), values.end(), [&](std::ptrdiff_t of_line) { return of_line > most; }))
            broken.push_back(line_at(text, open) + ": a row of a table is broken into unequal lines");
    }
    return broken;
}

std::vector<std::string> broken_assembler(const std::string& text) {
    const std::string code = bare(text);
    std::vector<std::string> broken;
    for (std::size_t at = code.find("asm"); at != std::string::npos; at = code.find("asm", at + 1)) {
        const std::size_t open = code.find_first_of("(;\n", at);
        if (open == std::string::npos || code[open] != '(' || (at > 0 && std::isalnum(static_cast<unsigned char>(code[at - 1])) != 0)) continue;
        const std::size_t close = partner(code, open);
        for (std::size_t end = code.find('\n', open); end < close; end = code.find('\n', end + 1)) {
            const std::size_t next = code.find_first_not_of(' ', end + 1);
            const bool right = code[next] == ':' || code[next] == '"' || next == close;
            const char first = code[code.find_first_not_of(' ', line_begin(code, end))];
            const bool of_a_long_list = first == ':' || first == '"';
            const bool operand = code[next] == '"' && before(code, end) != open && code[before(code, end)] != '"' && !of_a_long_list;
            if (!right || operand) broken.push_back(line_at(text, end) + ": an assembler instruction is broken here");
        }
    }
    return broken;
}

}  // namespace hone::test
