#include "generator/unused_constants.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <string>
#include <unordered_map>

#include "generator/tidy.hpp"

namespace hone::inline v0_1 {
namespace {

bool is_of_a_word(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

std::string_view stripped(std::string_view text) {
    while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front())) != 0) text.remove_prefix(1);
    while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())) != 0) text.remove_suffix(1);
    return text;
}

// Behind what is quoted or commented at `begin`; `begin` where nothing is.
std::size_t behind_other_text(std::string_view text, std::size_t begin) {
    const auto behind = [&](std::string_view sign, std::size_t from) {
        const std::size_t end = text.find(sign, from);
        return end == std::string_view::npos ? text.size() : end + sign.size();
    };
    if (text.substr(begin, 2) == "//") return std::min(text.find('\n', begin), text.size());
    if (text.substr(begin, 2) == "/*") return behind("*/", begin + 2);
    if (text[begin] != '"') return begin;
    std::size_t end = begin + 1;
    while (end < text.size() && text[end] != '"') end += text[end] == '\\' ? 2 : 1;
    return std::min(end + 1, text.size());
}

// The text with blanks for what is quoted and commented: places stay.
std::string code_alone(std::string_view text) {
    std::string code(text);
    for (std::size_t i = 0; i < text.size();) {
        const std::size_t end = behind_other_text(text, i);
        for (std::size_t blank = i; blank < end; ++blank)
            if (code[blank] != '\n') code[blank] = ' ';
        i = std::max(end, i + 1);
    }
    return code;
}

using Occurrences = std::unordered_map<std::string_view, int>;

Occurrences occurrences_of(std::string_view code) {
    Occurrences counts;
    for (std::size_t i = 0; i < code.size(); ++i) {
        if (!is_of_a_word(code[i])) continue;
        std::size_t end = i;
        while (end < code.size() && is_of_a_word(code[end])) ++end;
        ++counts[code.substr(i, end - i)];
        i = end;
    }
    return counts;
}

// One name of a declaration, `words = 4`, with its place in the text.
struct Declarator {
    std::string_view name;
    std::size_t begin, end;
};

// `constexpr int rows = 2, words = 4;`
struct Declaration {
    std::size_t begin, end;  // end: behind the semicolon
    std::vector<Declarator> declarators;
};

// The word at `i`, if one begins there.
std::string_view word_at(std::string_view code, std::size_t i) {
    std::size_t end = i;
    while (end < code.size() && is_of_a_word(code[end])) ++end;
    return code.substr(i, end - i);
}

// What a value is made by has no effect but the value: no call, but for conversions.
bool is_pure(std::string_view value) {
    constexpr std::array conversions{"int", "real", "size_t", "unsigned", "sizeof", "float", "double"};
    for (std::size_t at = value.find('('); at != std::string_view::npos; at = value.find('(', at + 1)) {
        std::size_t begin = at;
        while (begin > 0 && is_of_a_word(value[begin - 1])) --begin;
        const std::string_view before = value.substr(begin, at - begin);
        const bool calls = !before.empty() || (at > 0 && value[at - 1] == ']');
        if (calls && std::find(conversions.begin(), conversions.end(), before) == conversions.end()) return false;
    }
    return value.find("++") == std::string_view::npos && value.find("--") == std::string_view::npos;
}

// The declaration of constants that begins at a word `constexpr` or `const`; nothing where it is
// something else, such as a function or a parameter, or where a value may have an effect.
std::optional<Declaration> declaration_at(std::string_view code, std::size_t statement, std::size_t word) {
    const bool computed = word_at(code, word) == "constexpr";
    Declaration declaration{statement, 0, {}};
    std::size_t begin = word, value = 0;
    int depth = 0;
    for (std::size_t i = word; i < code.size(); ++i) {
        const char c = code[i];
        if (value == 0 && depth == 0 && (c == '=' || c == '{')) value = i;
        if (value == 0 && c == '(') return {};
        const bool of_the_type = value == 0 && declaration.declarators.empty();
        if (c == '(' || c == '[' || c == '{' || (of_the_type && c == '<')) ++depth;
        if (c == ')' || c == ']' || c == '}' || (of_the_type && c == '>')) --depth;
        if (depth < 0 || c == '#') return {};
        if (depth > 0 || (c != ',' && c != ';')) continue;
        if (value == 0 || (!computed && !is_pure(code.substr(value, i - value)))) return {};
        std::string_view head = code.substr(begin, value - begin);
        head = stripped(head.substr(0, head.find('[')));
        std::size_t name = head.size();
        while (name > 0 && is_of_a_word(head[name - 1])) --name;
        const auto at = static_cast<std::size_t>(head.data() - code.data()) + name;
        declaration.declarators.push_back({head.substr(name), at, i});
        if (c == ';') {
            declaration.end = i + 1;
            return declaration;
        }
        begin = i + 1;
        value = 0;
    }
    return {};
}

std::vector<Declaration> declarations_of(std::string_view code) {
    std::vector<Declaration> declarations;
    std::size_t statement = 0;
    bool begins = true;  // nothing but words such as `static` since the statement's begin
    for (std::size_t i = 0; i < code.size(); ++i) {
        const char c = code[i];
        if (std::isspace(static_cast<unsigned char>(c)) != 0) continue;
        if (c == ';' || c == '{' || c == '}') {
            begins = true;
            statement = i + 1;
            continue;
        }
        const std::string_view word = word_at(code, i);
        if (c == '#') {  // a line of the preprocessor
            i = std::min(code.find('\n', i), code.size());
            begins = true;
            statement = i;
            continue;
        }
        if (word.empty()) {
            begins = false;
            continue;
        }
        if (begins && (word == "constexpr" || word == "const")) {
            while (std::isspace(static_cast<unsigned char>(code[statement])) != 0) ++statement;
            if (auto declaration = declaration_at(code, statement, i)) {
                i = declaration->end - 1;
                statement = declaration->end;
                declarations.push_back(*std::move(declaration));
                continue;
            }
        }
        if (begins && word == "template") {
            i = std::min(code.find_first_of("<;", i), code.size() - 1);
            for (int depth = 0; i < code.size(); ++i) {
                depth += code[i] == '<' ? 1 : code[i] == '>' ? -1 : 0;
                if (depth <= 0) break;
            }
            continue;
        }
        begins = begins && (word == "static" || word == "inline" || word == "__device__" || word == "__constant__");
        i += word.size() - 1;
    }
    return declarations;
}

std::size_t line_begin(std::string_view text, std::size_t at) {
    const std::size_t before = at == 0 ? std::string_view::npos : text.rfind('\n', at - 1);
    return before == std::string_view::npos ? 0 : before + 1;
}

std::size_t line_end(std::string_view text, std::size_t at) {
    return std::min(text.find('\n', at), text.size());
}

std::vector<std::string_view> parts_of(std::string_view comment) {
    std::vector<std::string_view> parts;
    while (true) {
        const std::size_t comma = comment.find(", ");
        parts.push_back(comment.substr(0, comma));
        if (comma == std::string_view::npos) return parts;
        comment.remove_prefix(comma + 2);
    }
}

// What a comment beside a declaration still says where some of its names are gone: of parts for
// each name theirs, of one that is about a name that is gone nothing.
std::string comment_left(std::string_view comment, const Declaration& declaration, const std::vector<bool>& goes) {
    const std::size_t colon = comment.find(": ");
    for (std::size_t i = 0; i < goes.size(); ++i)
        if (colon != std::string_view::npos && comment.substr(0, colon) == declaration.declarators[i].name)
            return goes[i] ? "" : std::string(comment);
    const std::vector<std::string_view> parts = parts_of(comment);
    if (parts.size() != goes.size() || colon != std::string_view::npos) return std::string(comment);
    std::string left;
    for (std::size_t i = 0; i < parts.size(); ++i)
        if (!goes[i]) left.append(left.empty() ? "" : ", ").append(parts[i]);
    return left;
}

// The lines that a declaration leaves where some of its names go.
std::string lines_left(const std::string& text, const Declaration& declaration, const std::vector<bool>& goes, std::string_view behind) {
    const std::size_t begin = line_begin(text, declaration.begin);
    const std::string indent(declaration.begin - begin, ' ');
    std::string line = text.substr(begin, declaration.declarators.front().begin - begin);
    bool first = true;
    for (std::size_t i = 0; i < goes.size(); ++i) {
        if (goes[i]) continue;
        line += first ? "" : ", ";
        const Declarator& own = declaration.declarators[i];
        for (const char c : text.substr(own.begin, own.end - own.begin))
            if (c != '\n')
                line += c;
            else
                line += ' ';
        first = false;
    }
    line += ';';
    if (const std::size_t mark = behind.find("// "); mark != std::string_view::npos) {
        const std::string comment = comment_left(stripped(behind.substr(mark + 3)), declaration, goes);
        if (!comment.empty()) line += std::string(behind.substr(0, mark)) + "// " + comment;
    }
    return tidy(line + "\n");
}

bool is_comment(std::string_view line) {
    return stripped(line).starts_with("//");
}

// Where the comment begins that is about the declaration at `begin` alone: nothing that is not
// commented follows it. Else `begin`.
std::size_t comment_begin(std::string_view text, std::size_t begin, std::size_t end) {
    const std::string_view next = end < text.size() ? stripped(text.substr(end, line_end(text, end) - end)) : "";
    if (!next.empty() && !next.starts_with("//") && !next.starts_with("}")) return begin;
    std::size_t first = begin;
    while (first > 0) {
        const std::size_t above = line_begin(text, first - 1);
        if (!is_comment(text.substr(above, first - 1 - above))) break;
        first = above;
    }
    return first;
}

// Whether the declaration has its lines for itself, but for a comment behind it.
bool stands_alone(std::string_view text, const Declaration& declaration) {
    const std::size_t begin = line_begin(text, declaration.begin);
    const std::string_view behind = stripped(text.substr(declaration.end, line_end(text, declaration.end) - declaration.end));
    return stripped(text.substr(begin, declaration.begin - begin)).empty() && (behind.empty() || behind.starts_with("//"));
}

// Takes out what one look finds; says whether it was something.
bool take_out(std::string& text) {
    const std::string code = code_alone(text);
    const Occurrences counts = occurrences_of(code);
    const std::vector<Declaration> declarations = declarations_of(code);
    bool any = false;
    for (auto declaration = declarations.rbegin(); declaration != declarations.rend(); ++declaration) {
        std::vector<bool> goes;
        for (const Declarator& own : declaration->declarators) goes.push_back(counts.at(own.name) == 1);
        if (std::none_of(goes.begin(), goes.end(), [](bool one) { return one; }) || !stands_alone(text, *declaration)) continue;
        any = true;
        const std::size_t begin = line_begin(text, declaration->begin), end = line_end(text, declaration->end);
        if (std::all_of(goes.begin(), goes.end(), [](bool one) { return one; })) {
            const std::size_t next = std::min(end + 1, text.size());
            const std::size_t first = comment_begin(text, begin, next);
            text.erase(first, next - first);
        } else {
            const std::string left = lines_left(text, *declaration, goes, std::string_view(text).substr(declaration->end, end - declaration->end));
            text.replace(begin, std::min(end + 1, text.size()) - begin, left);
        }
    }
    return any;
}

}  // namespace

std::vector<std::string> unused_constants(std::string_view text) {
    const std::string code = code_alone(text);
    const Occurrences counts = occurrences_of(code);
    std::vector<std::string> names;
    for (const Declaration& declaration : declarations_of(code))
        for (const Declarator& own : declaration.declarators)
            if (counts.at(own.name) == 1) names.emplace_back(own.name);
    return names;
}

std::string without_unused_constants(std::string text) {
    while (take_out(text)) {
    }
    return text;
}

}  // namespace hone::inline v0_1
