#include "generator/tidy.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <utility>
#include <vector>

namespace hone::inline v0_1 {
namespace {

constexpr std::size_t step = 4;  // columns that a line's continuation is further right
constexpr std::string_view command_mark = "// hone emit ", command_more = "//     ";

std::size_t indent_of(std::string_view line) {
    return std::min(line.find_first_not_of(' '), line.size());
}

std::string_view trimmed(std::string_view line) {
    line.remove_prefix(indent_of(line));
    while (!line.empty() && line.back() == ' ') line.remove_suffix(1);
    return line;
}

std::vector<std::string> lines_of(std::string_view text) {
    std::vector<std::string> lines;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        lines.emplace_back(text.substr(0, end));
        text.remove_prefix(std::min(text.size(), end + 1));
    }
    return lines;
}

// A place of a line of code, outside of what is quoted.
struct Character {
    std::size_t at;
    char sign;
    int depth;  // of the brackets around it
};

// What of a line is code; where its comment begins.
struct Code {
    std::vector<Character> characters;
    std::size_t comment = std::string_view::npos;
};

// As in 1'000.
bool separates_digits(std::string_view line, std::size_t quote) {
    const auto digit = [&](std::size_t at) { return at < line.size() && std::isxdigit(static_cast<unsigned char>(line[at])) != 0; };
    return quote > 0 && digit(quote - 1) && digit(quote + 1) && line.substr(quote + 2, 1) != "'";
}

Code read(std::string_view line) {
    Code code;
    int depth = 0;
    for (std::size_t i = 0; i < line.size(); ++i) {
        const char sign = line[i];
        if (sign == '"' || (sign == '\'' && !separates_digits(line, i))) {
            code.characters.push_back({i, sign, depth});
            for (++i; i < line.size() && line[i] != sign; ++i)
                if (line[i] == '\\') ++i;
            continue;
        }
        if (sign == '/' && line.substr(i, 2) == "//") {
            code.comment = i;
            break;
        }
        if (sign == ')' || sign == ']' || sign == '}') --depth;
        code.characters.push_back({i, sign, depth});
        if (sign == '(' || sign == '[' || sign == '{') ++depth;
    }
    return code;
}

bool of_preprocessor(std::string_view line) {
    return trimmed(line).substr(0, 1) == "#";
}

// Whether a brace below the line belongs to its end: it is neither empty, a statement, a comment
// nor for the preprocessor.
bool opens_a_block(std::string_view line) {
    const std::string_view text = trimmed(line);
    if (text.empty() || of_preprocessor(text) || read(text).comment != std::string_view::npos) return false;
    return std::string_view(";{},:").find(text.back()) == std::string_view::npos;
}

// How well a line is broken at a space, less being better; nothing where it must not be.
std::optional<int> rank_of(std::string_view line, std::size_t space) {
    const char before = line[space - 1];
    if (before == ';' || before == ',') return 1;
    const std::string_view rest = line.substr(space + 1);
    for (const std::string_view sign : {"&& ", "|| ", "? ", ": ", "::\""})
        if (rest.substr(0, sign.size()) == sign) return 2;
    for (const std::string_view sign : {"+ ", "- ", "<< "})
        if (rest.substr(0, sign.size()) == sign) return 3;
    if (before == '=') return 3;
    if (rest.substr(0, 2) == "* " || rest.substr(0, 2) == "/ ") return 4;
    return {};
}

// The space behind the head of `for (...) statement` and its like; nothing where there is no
// statement in the line.
std::optional<std::size_t> end_of_head(std::string_view line, const Code& code) {
    constexpr std::array heads{"for (", "if (", "while (", "else if (", "} else if ("};
    if (std::none_of(heads.begin(), heads.end(), [&](std::string_view head) { return trimmed(line).substr(0, head.size()) == head; })) return {};
    const int outside = code.characters.front().depth;
    for (const auto& [at, sign, depth] : code.characters)
        if (sign == ')' && depth <= outside && at + 2 < line.size()) return line[at + 2] == '{' ? std::nullopt : std::optional(at + 1);
    return {};
}

struct Break {
    std::size_t end, next;  // of the line that ends there, and where the next one begins
    int depth, rank;

    bool better_than(const Break& other) const {
        if (depth != other.depth) return depth < other.depth;
        if (rank != other.rank) return rank < other.rank;
        return end > other.end;
    }
};

// Before the lists of an assembler instruction's operands, where the first of them fits into the
// line.
bool is_between_operands(std::string_view line, std::size_t space) {
    return line[space] == ' ' && line[space + 1] == ':';
}

// Where to break a line that is too long; nothing where it cannot be.
std::optional<Break> best_break(std::string_view line, const Code& code) {
    if (const auto head = end_of_head(line, code); head && *head <= kernel_columns) return Break{*head, *head + 1, 0, 0};
    std::optional<Break> best;
    const std::size_t indent = indent_of(line);
    const bool assembler = line.substr(indent, 3) == "asm";
    for (const auto& [at, sign, depth] : code.characters) {
        if (at <= indent || at + 1 >= line.size() || at > kernel_columns) continue;
        std::optional<Break> found;
        if (assembler && sign != '(' && !is_between_operands(line, at)) continue;
        if (sign == ' ') {
            if (const auto rank = rank_of(line, at); rank && at > indent + step) found = Break{at, at + 1, depth, *rank};
        } else if (sign == '(' && at < kernel_columns && line[at + 1] != ')') {
            found = Break{at + 1, at + 1, depth + 1, 9};
        }
        if (found && (!best || found->better_than(*best))) best = found;
    }
    return best;
}

// Lines of words, the first behind `first` and the others behind `more`. Of a command a word may
// end with a comma: then the next one belongs to it.
void add_words(std::vector<std::string>& lines, const std::vector<std::string_view>& words, const std::string& first, const std::string& more,
               bool command = false) {
    std::string line = first;
    bool fresh = true;
    for (const std::string_view word : words) {
        if (!fresh && trimmed(line).size() + indent_of(line) + 1 + word.size() > kernel_columns) {
            lines.emplace_back(line.substr(0, line.find_last_not_of(' ') + 1));
            line = more;
        }
        fresh = false;
        line += word;
        if (!command || word.back() != ',') line += ' ';
    }
    lines.emplace_back(line.substr(0, line.find_last_not_of(' ') + 1));
}

std::vector<std::string_view> words_of(std::string_view text) {
    std::vector<std::string_view> words;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find(' '), text.size());
        if (end > 0) words.push_back(text.substr(0, end));
        text.remove_prefix(std::min(text.size(), end + 1));
    }
    return words;
}

// A command is broken behind the commas of its configuration, too.
void add_command(std::vector<std::string>& lines, std::string_view command) {
    std::vector<std::string_view> words;
    for (std::string_view word : words_of(command)) {
        for (std::size_t comma = word.find(','); comma != std::string_view::npos && comma + 1 < word.size(); comma = word.find(',')) {
            words.push_back(word.substr(0, comma + 1));
            word.remove_prefix(comma + 1);
        }
        words.push_back(word);
    }
    add_words(lines, words, "", std::string(command_more), true);
}

bool is_comment(std::string_view line) {
    return trimmed(line).substr(0, 3) == "// ";
}

// A paragraph of comments that is too wide somewhere: what is too much goes to the next line.
void add_comments(std::vector<std::string>& lines, const std::vector<std::string>& paragraph) {
    const std::string mark = std::string(indent_of(paragraph[0]), ' ') + "// ";
    std::vector<std::string_view> words;
    for (const auto& line : paragraph) {
        if (line.substr(indent_of(line)).compare(0, command_mark.size(), command_mark) == 0) {
            add_command(lines, line);
            continue;
        }
        for (const std::string_view word : words_of(trimmed(line).substr(2))) words.push_back(word);
        std::vector<std::string> broken;
        add_words(broken, words, mark, mark);
        const bool more = &line != &paragraph.back();
        if (!more || broken.size() == 1) {
            lines.insert(lines.end(), broken.begin(), broken.end());
            words.clear();
        } else {
            lines.insert(lines.end(), broken.begin(), broken.end() - 1);
            const std::size_t kept = words_of(trimmed(broken.back()).substr(2)).size();
            words.erase(words.begin(), words.end() - static_cast<std::ptrdiff_t>(kept));
        }
    }
}

// A body in the line of its head: `head { body }`, perhaps with the ends of what is around it
// behind.
struct Body {
    std::size_t begin, end;  // of the braces
};

std::optional<Body> body_of(std::string_view line, const Code& code) {
    const auto& signs = code.characters;
    std::size_t last = signs.size();
    while (last > 0 && std::string_view(");, ").find(signs[last - 1].sign) != std::string_view::npos) --last;
    if (last < 2 || signs[last - 1].sign != '}') return {};
    for (std::size_t i = last - 1; i-- > 0;) {
        if (signs[i].sign != '{' || signs[i].depth != signs[last - 1].depth) continue;
        const std::string_view head = trimmed(line.substr(0, signs[i].at));
        if (!head.ends_with(')') && !head.ends_with(" const")) return {};
        return Body{signs[i].at, signs[last - 1].at};
    }
    return {};
}

bool is_value(std::string_view word) {
    while (!word.empty() && (word.front() == '{' || word.front() == '-')) word.remove_prefix(1);
    const std::string_view cast = "real(";
    if (word.starts_with(cast)) word.remove_prefix(cast.size());
    return !word.empty() && (std::isdigit(static_cast<unsigned char>(word.front())) != 0 || word.front() == '-');
}

// A line of a table: values and nothing else.
bool is_row(std::string_view line) {
    const std::vector<std::string_view> words = words_of(trimmed(line));
    return words.size() > 1 && std::all_of(words.begin(), words.end(), is_value) && std::count(line.begin(), line.end(), '{') <= 1;
}

// A row that is too long, on as few lines as it takes with as many values on each.
void add_row(std::vector<std::string>& lines, std::string_view line) {
    const std::size_t indent = indent_of(line);
    const std::vector<std::string_view> values = words_of(trimmed(line));
    for (std::size_t of = 2;; ++of) {
        const std::size_t each = (values.size() + of - 1) / of;
        std::vector<std::string> rows;
        for (std::size_t i = 0; i < values.size(); ++i) {
            if (i % each == 0)
                rows.emplace_back(indent + (i > 0 && values[0].starts_with('{') ? 1 : 0), ' ');  // below the first value
            else
                rows.back() += ' ';
            rows.back() += values[i];
        }
        if (each > 1 && std::any_of(rows.begin(), rows.end(), [](const std::string& row) { return row.size() > kernel_columns; })) continue;
        lines.insert(lines.end(), rows.begin(), rows.end());
        return;
    }
}

void add_code(std::vector<std::string>& lines, std::string line);

void add_body(std::vector<std::string>& lines, const std::string& line, const Code& code, const Body& body) {
    const std::string indent(indent_of(line), ' ');
    add_code(lines, line.substr(0, body.begin + 1));
    std::size_t begin = body.begin + 1;
    const auto statement = [&](std::size_t end) {
        if (const std::string_view text = trimmed(std::string_view(line).substr(begin, end - begin)); !text.empty())
            add_code(lines, indent + std::string(step, ' ') + std::string(text));
        begin = end;
    };
    int inside = 0;  // depth of the body's statements
    for (const auto& [at, sign, depth] : code.characters) {
        if (at == body.begin) inside = depth + 1;
        if (depth != inside || at <= body.begin || at >= body.end) continue;
        const std::string_view next = trimmed(std::string_view(line).substr(at + 1));
        const bool block_ends = sign == '}' && next.find_first_of(";,)") != 0 && !next.starts_with("else");
        if (sign == ';' || block_ends) statement(at + 1);
    }
    statement(body.end);
    lines.push_back(indent + line.substr(body.end));
}

void add_code(std::vector<std::string>& lines, std::string line) {
    std::size_t indent = indent_of(line);
    if (const std::size_t comment = read(line).comment; comment != std::string::npos) {
        add_comments(lines, {std::string(indent, ' ') + line.substr(comment)});
        line = line.substr(0, line.find_last_not_of(' ', comment - 1) + 1);
    }
    if (line.size() <= kernel_columns) {
        lines.push_back(std::move(line));
        return;
    }
    const Code code = read(line);
    if (const auto body = body_of(line, code)) {
        add_body(lines, line, code, *body);
        return;
    }
    while (line.size() > kernel_columns) {
        if (is_row(line)) {
            add_row(lines, line);
            return;
        }
        const auto best = best_break(line, read(line));
        if (!best) break;
        if (best->rank == 0) indent += step;
        lines.push_back(line.substr(0, best->end));
        line = std::string(best->rank == 0 ? indent : indent + step, ' ') + line.substr(best->next);
    }
    lines.push_back(std::move(line));
}

// The lines of the command in a kernel's head: from the first to behind the last.
std::pair<std::size_t, std::size_t> command_lines(const std::vector<std::string>& lines) {
    const auto starts = [](const std::string& line, std::string_view mark) { return line.compare(0, mark.size(), mark) == 0; };
    std::size_t first = 0;
    while (first < lines.size() && starts(lines[first], "//") && !starts(lines[first], command_mark)) ++first;
    if (first == lines.size() || !starts(lines[first], command_mark)) return {0, 0};
    std::size_t last = first + 1;
    while (last < lines.size() && starts(lines[last], command_more)) ++last;
    return {first, last};
}

// Behind what is quoted from `begin` on, which ends with its line where nothing ends it before.
std::size_t end_of_quote(std::string_view text, std::size_t begin) {
    std::size_t i = begin + 1;
    while (i < text.size() && text[i] != text[begin] && text[i] != '\n') i += text[i] == '\\' ? 2 : 1;
    return i < text.size() && text[i] == '\n' ? i : std::min(i + 1, text.size());
}

// Behind the comment or white space at `begin`, a continued line's end being of the latter; `begin`
// where there is neither.
std::size_t end_of_gap(std::string_view text, std::size_t begin) {
    const char sign = text[begin], next = begin + 1 < text.size() ? text[begin + 1] : ' ';
    if (sign == '/' && next == '/') return std::min(text.find('\n', begin), text.size());
    if (sign == '/' && next == '*') return std::min(text.find("*/", begin + 2), text.size() - 2) + 2;
    if (sign == '\\' && next == '\n') return begin + 2;
    return sign == ' ' || sign == '\t' || sign == '\r' || sign == '\n' ? begin + 1 : begin;
}

std::string joined(const std::vector<std::string>& lines) {
    std::string text;
    for (const auto& line : lines) text.append(line).push_back('\n');
    return text;
}

}  // namespace

std::string tidy(std::string_view text) {
    std::vector<std::string> joint;
    for (std::string& line : lines_of(text)) {
        if (trimmed(line) == "{" && !joint.empty() && opens_a_block(joint.back()))
            joint.back() += " {";
        else
            joint.push_back(std::move(line));
    }
    std::vector<std::string> lines;
    for (std::size_t i = 0; i < joint.size();) {
        std::vector<std::string> paragraph;
        bool wide = joint[i].size() > kernel_columns;
        if (is_comment(joint[i]))
            for (std::size_t j = i; j < joint.size() && is_comment(joint[j]) && indent_of(joint[j]) == indent_of(joint[i]); ++j) {
                wide = wide || joint[j].size() > kernel_columns;
                paragraph.push_back(joint[j]);
            }
        if (!paragraph.empty() && wide) {
            add_comments(lines, paragraph);
        } else if (!paragraph.empty()) {
            lines.insert(lines.end(), paragraph.begin(), paragraph.end());
        } else if (wide && !of_preprocessor(joint[i])) {
            add_code(lines, joint[i]);
        } else {
            lines.push_back(joint[i]);
        }
        i += std::max<std::size_t>(paragraph.size(), 1);
    }
    return joined(lines);
}

std::string code_of(std::string_view text) {
    std::string code;
    code.reserve(text.size());
    bool gap = false, directive = false, line_begins = true;
    for (std::size_t i = 0; i < text.size();) {
        if (const std::size_t end = end_of_gap(text, i); end != i) {
            const bool line_ends = text[i] == '\n';
            if (line_ends && directive) code += '\n';
            gap = !(line_ends && directive);
            directive = directive && !line_ends;
            line_begins = line_begins || line_ends;
            i = end;
            continue;
        }
        if (line_begins && text[i] == '#') {
            directive = true;
            if (!code.empty() && code.back() != '\n') code += '\n';
        } else if (gap && !code.empty() && code.back() != '\n') {
            code += ' ';
        }
        gap = line_begins = false;
        const bool quote = text[i] == '"' || (text[i] == '\'' && !separates_digits(text, i));
        const std::size_t end = quote ? end_of_quote(text, i) : i + 1;
        while (i < end) code += text[i++];
    }
    return code;
}

std::string command_of(std::string_view text) {
    const std::vector<std::string> lines = lines_of(text);
    const auto [first, last] = command_lines(lines);
    std::string command;
    for (std::size_t i = first; i < last; ++i) {
        const std::string_view line = std::string_view(lines[i]).substr(i == first ? 3 : command_more.size());
        if (!command.empty() && command.back() != ',') command += ' ';
        command += line;
    }
    return command;
}

std::string with_command(std::string_view text, const std::string& command) {
    std::vector<std::string> lines = lines_of(text);
    const auto [first, last] = command_lines(lines);
    if (first == last) return std::string(text);
    std::vector<std::string> changed(lines.begin(), lines.begin() + static_cast<std::ptrdiff_t>(first));
    add_command(changed, "// " + command);
    changed.insert(changed.end(), lines.begin() + static_cast<std::ptrdiff_t>(last), lines.end());
    return joined(changed);
}

}  // namespace hone::inline v0_1
