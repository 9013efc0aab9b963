#include "generator/render.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "foundation/error.hpp"
#include "generator/tidy.hpp"

namespace hone::inline v0_1 {
namespace {

constexpr std::string_view mark = "//@ ";
constexpr std::size_t deepest_choice = 2;  // `if` within `if`: beyond that nobody sees which lines a kernel has

constexpr std::string_view piece_mark = "//@ piece ";

std::string file_of(std::string_view template_name) {
    return fmt::format("templates/{}.in", template_name);
}

// What a name of a template or a piece stands for.
struct Source {
    std::string_view text;
    std::string file;
    std::string_view before = {};  // of the file: what stands ahead of the text
};

// Where a line begins with these words; else the text's size. Rendering spends much of its time
// here, so lines without them are not looked at one by one.
std::size_t line_with(std::string_view words, std::string_view text) {
    for (std::size_t at = text.find(words); at != std::string_view::npos; at = text.find(words, at + 1))
        if (at == 0 || text[at - 1] == '\n') return at;
    return text.size();
}

// A file's text up to its next piece.
std::string_view own_text(std::string_view text) {
    return text.substr(0, line_with(piece_mark, text));
}

// Names of files have an ending, those of pieces have none. Throws Error for a name of neither.
Source source_of(std::string_view name) {
    const std::size_t slash = std::min(name.rfind('/'), name.size());
    if (name.find('.', slash) != std::string_view::npos) return {own_text(template_text(name)), file_of(name)};
    const std::string_view file = name.substr(0, slash), piece = name.substr(std::min(slash + 1, name.size()));
    const std::string_view text = template_text(file);
    const std::string head = fmt::format("{}{}\n", piece_mark, piece);
    if (const std::size_t line = line_with(head, text); line < text.size()) {
        const std::size_t begin = line + head.size();
        return {own_text(text.substr(begin)), file_of(file), text.substr(0, begin)};
    }
    throw Error(file_of(file), fmt::format("there is no piece \"{}\"", piece), fmt::format("add a line '{}{}' before its text", piece_mark, piece));
}

// What `name` is in a list of names and values, or null.
template <typename Value>
const Value* named(const std::vector<std::pair<std::string, Value>>& list, std::string_view name) {
    const auto found = std::find_if(list.begin(), list.end(), [&](const auto& entry) { return entry.first == name; });
    return found == list.end() ? nullptr : &found->second;
}

// The rest of a line behind a word and a space, or nothing where the line does not begin with them.
std::optional<std::string_view> behind(std::string_view word, std::string_view line) {
    if (line.substr(0, word.size()) != word || line.substr(word.size(), 1) != " ") return {};
    return line.substr(word.size() + 1);
}

class Renderer {
  public:
    Renderer(const Holes& holes, const Flags& flags) : holes_(holes), flags_(flags) {}

    // Adds a text, each line `indent` further to the right; where it is not `wanted`, what it names
    // counts as named all the same.
    void add(const Source& source, std::size_t indent, bool wanted) {
        if (std::find(open_.begin(), open_.end(), source.text.data()) != open_.end())
            throw Error(source.file, "the piece uses itself", "cut the circle of lines '//@ use'");
        open_.push_back(source.text.data());
        std::vector<Choice> choices;
        std::string_view text = source.text;
        for (int number = 1; !text.empty(); ++number) {
            const std::size_t end = std::min(text.find('\n'), text.size());
            add_line(text.substr(0, end), {&source, number}, indent, wanted, choices);
            text.remove_prefix(std::min(text.size(), end + 1));
        }
        if (!choices.empty()) throw choices.back().place.error("this 'if' has no end", "add a line '//@ end'");
        open_.pop_back();
    }

    std::string finish(const std::string& file) {
        for (const auto& [name, block] : holes_)
            if (!named_holes_.contains(name))
                throw Error(file, fmt::format("there is no hole for the block \"{}\"", name), fmt::format("add a line '{}{}'", mark, name));
        for (const auto& [name, value] : flags_)
            if (!named_flags_.contains(name))
                throw Error(file, fmt::format("nothing depends on the flag \"{}\"", name),
                            fmt::format("add a line '{}if {}', or drop the flag", mark, name));
        return std::move(output_);
    }

  private:
    // A line of a text, of which the file's are counted for a message only.
    struct Place {
        const Source* source;
        std::ptrdiff_t line;

        Error error(const std::string& found, const std::string& remedy) const {
            const auto before = std::count(source->before.begin(), source->before.end(), '\n');
            return Error(fmt::format("{}:{}", source->file, before + line), found, remedy);
        }
    };
    // An `if` whose end has not come: whether the text around it is wanted, and that from the last
    // line `if` or `else` on.
    struct Choice {
        Place place;
        bool around, holds;
        bool in_else = false;

        bool wanted() const { return around && holds != in_else; }
    };

    void add_line(std::string_view line, const Place& place, std::size_t indent, bool file_wanted, std::vector<Choice>& choices) {
        const bool wanted = choices.empty() ? file_wanted : choices.back().wanted();
        const std::size_t column = line.find_first_not_of(' ');
        if (column == std::string_view::npos || line.substr(column, mark.size()) != mark) {
            if (wanted) put(line, indent);
            return;
        }
        const std::string_view word = line.substr(column + mark.size());
        if (const auto condition = behind("if", word)) {
            if (choices.size() == deepest_choice)
                throw place.error("an 'if' within two others", "decide it in C++ by one flag, or make a piece of these lines and use that");
            choices.push_back({place, wanted, holds(*condition, place)});
        } else if (word == "else") {
            if (choices.empty() || choices.back().in_else)
                throw place.error("an 'else' without 'if'", "one 'else' belongs between 'if' and its 'end'");
            choices.back().in_else = true;
        } else if (word == "end") {
            if (choices.empty()) throw place.error("an 'end' without 'if'", "delete the line, or add '//@ if flag' before it");
            choices.pop_back();
        } else if (const auto piece = behind("use", word)) {
            add(piece_of(*piece, place), indent + column, wanted);
        } else {
            fill(word, place, indent + column, wanted);
        }
    }

    void put(std::string_view line, std::size_t indent) {
        if (!line.empty()) output_.append(indent, ' ').append(line);
        output_.push_back('\n');
    }

    void fill(std::string_view name, const Place& place, std::size_t indent, bool wanted) {
        named_holes_.insert(name);
        if (!wanted) return;
        const Block* const block = named(holes_, name);
        if (block == nullptr) throw place.error(fmt::format("no block fills the hole \"{}\"", name), "add it to the family's holes");
        for (const auto& line : block->lines()) put(line, indent);
    }

    // Whether a flag is set, or with `not` before its name, is not.
    bool holds(std::string_view condition, const Place& place) {
        if (const auto flag = behind("not", condition)) return !flag_of(*flag, place);
        return flag_of(condition, place);
    }

    bool flag_of(std::string_view name, const Place& place) {
        const bool* const flag = named(flags_, name);
        if (flag == nullptr) throw place.error(fmt::format("there is no flag \"{}\"", name), "add it to the family's flags");
        named_flags_.insert(name);
        return *flag;
    }

    static Source piece_of(std::string_view name, const Place& place) {
        try {
            return source_of(name);
        } catch (const Error&) {
            throw place.error(fmt::format("there is no piece \"{}\"", name),
                              "name a file of templates/ without '.in', or such a file and one of its lines '//@ piece'");
        }
    }

    const Holes& holes_;
    const Flags& flags_;
    std::set<std::string_view> named_holes_, named_flags_;
    std::vector<const char*> open_;  // where the texts begin that are being added
    std::string output_;
};

}  // namespace

std::string render(std::string_view template_name, const Holes& holes, const Flags& flags) {
    const Source source = source_of(template_name);
    Renderer renderer(holes, flags);
    renderer.add(source, 0, true);
    return tidy(renderer.finish(source.file));
}

std::string render_text(std::string_view text, std::string_view file, const Holes& holes, const Flags& flags) {
    Renderer renderer(holes, flags);
    const std::string name(file);
    renderer.add({text, name}, 0, true);
    return renderer.finish(name);
}

}  // namespace hone::inline v0_1
