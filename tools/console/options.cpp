#include "tools/console/options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <deque>

#include "foundation/error.hpp"
#include "foundation/value.hpp"
#include "tools/console/format.hpp"

namespace hone::tools {

void Options::words(const std::string& name, std::vector<std::string>& values, const std::string& help) {
    words_name_ = name;
    words_help_ = help;
    words_ = &values;
}

void Options::text(const std::string& name, std::string& value, const std::string& placeholder, const std::string& help, char letter) {
    entries_.push_back({name, placeholder, help, &value, letter});
}

void Options::list(const std::string& name, std::vector<std::string>& values, const std::string& placeholder, const std::string& help) {
    entries_.push_back({name, placeholder, help, &values});
}

void Options::number(const std::string& name, std::int64_t& value, const std::string& placeholder, const std::string& help, std::int64_t low) {
    entries_.push_back({name, placeholder, help, Number{&value, low}});
}

void Options::flag(const std::string& name, bool& value, const std::string& help, char letter) {
    entries_.push_back({name, "", help, &value, letter});
}

std::vector<std::string> Options::names() const {
    std::vector<std::string> names{"--help"};
    for (const auto& entry : entries_) names.push_back("--" + entry.name);
    return names;
}

std::vector<Options::Description> Options::descriptions() const {
    std::vector<Description> all;
    all.reserve(entries_.size() + 1);
    for (const auto& entry : entries_) all.push_back({entry.name, entry.placeholder, entry.help, entry.letter});
    all.push_back({"help", "", "print this help", 'h'});
    return all;
}

void Options::refuse_unknown(const std::vector<std::string>& arguments) const {
    for (const auto& argument : arguments) {
        if (argument.size() < 2 || argument[0] != '-') throw Error(where(), fmt::format("\"{}\" is one argument too many", argument), see_help());
        const std::string name = argument.substr(0, argument.find('='));
        throw Error(where(), fmt::format("there is no option {}", name),
                    did_you_mean(name, names()) + fmt::format("its options are {}; {}", fmt::join(names(), ", "), see_help()));
    }
}

std::string Options::see_help() const {
    return fmt::format("see 'hone {} --help'", command_);
}

// The option stands at position `i`: it has its value there, behind a "=", or in the next word.
void Options::check_value(const Entry& entry, const std::vector<std::string>& arguments, std::size_t i) const {
    const std::string name = "--" + entry.name;
    const bool joined = arguments[i].size() > name.size();
    if (std::holds_alternative<bool*>(entry.target)) {
        if (joined) throw Error(where(), fmt::format("{} takes no value", name), fmt::format("write {} alone; {}", name, see_help()));
        return;
    }
    const bool empty = joined ? arguments[i] == name + "=" : i + 1 == arguments.size() || arguments[i + 1].starts_with("--");
    if (empty) throw Error(where(), fmt::format("{} has no value", name), fmt::format("write {} {}; {}", name, entry.placeholder, see_help()));
}

// In words of hone's own: those of CLI11 name types that were never declared, and it takes an
// option's name for another one's value.
void Options::refuse_misused(const std::vector<std::string>& arguments) const {
    for (const auto& entry : entries_) {
        const std::string name = "--" + entry.name;
        int times = 0;
        for (std::size_t i = 0; i < arguments.size(); ++i) {
            if (arguments[i] != name && !arguments[i].starts_with(name + "=")) continue;
            check_value(entry, arguments, i);
            ++times;
        }
        const bool once = std::holds_alternative<std::string*>(entry.target) || std::holds_alternative<Number>(entry.target);
        if (once && times > 1) throw Error(where(), fmt::format("{} is given {} times", name, times), fmt::format("give it once; {}", see_help()));
    }
}

void Options::parse(const std::vector<std::string>& arguments) const {
    refuse_misused(arguments);
    CLI::App app;
    app.set_help_flag();
    app.allow_extras();
    std::deque<std::string> numbers;  // CLI11 keeps references: a deque's elements stay where they are
    std::vector<std::pair<const Entry*, const std::string*>> given;
    for (const auto& entry : entries_) {
        const std::string name = "--" + entry.name;
        const std::string forms = entry.letter == 0 ? name : fmt::format("-{},{}", entry.letter, name);
        if (auto* const* text = std::get_if<std::string*>(&entry.target)) app.add_option(forms, **text);
        if (auto* const* list = std::get_if<std::vector<std::string>*>(&entry.target)) app.add_option(name, **list)->allow_extra_args(false);
        if (auto* const* flag = std::get_if<bool*>(&entry.target)) app.add_flag(forms, **flag)->disable_flag_override();
        if (std::holds_alternative<Number>(entry.target)) {
            given.emplace_back(&entry, &numbers.emplace_back());
            app.add_option(name, numbers.back());
        }
    }
    // The words have a name for people only; newer CLI11 takes no spaces or brackets in one.
    if (words_ != nullptr) app.add_option("words", *words_);
    try {
        app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
    } catch (const CLI::ParseError&) {
        throw Error(where(), fmt::format("\"{}\" cannot be understood", fmt::join(arguments, " ")), see_help());
    }
    refuse_unknown(app.remaining());
    for (const auto& [entry, text] : given) {
        if (text->empty()) continue;
        const auto& [value, low] = std::get<Number>(entry->target);
        const Value parsed = parse_value(*text);
        const auto* number = std::get_if<std::int64_t>(&parsed);
        if (number == nullptr || *number < low)
            throw Error(where(), fmt::format("--{} is {}", entry->name, *text), fmt::format("use a whole number from {} on; {}", low, see_help()));
        *value = *number;
    }
}

std::string Options::help(int columns) const {
    std::vector<std::pair<std::string, std::string>> lines;
    if (words_ != nullptr) lines.emplace_back(words_name_, words_help_);
    for (const auto& entry : entries_)
        lines.emplace_back((entry.letter == 0 ? "" : fmt::format("-{}, ", entry.letter)) + "--" + entry.name +
                               (entry.placeholder.empty() ? "" : " ") + entry.placeholder,
                           entry.help + (std::holds_alternative<std::vector<std::string>*>(entry.target) ? " (may be repeated)" : ""));
    lines.emplace_back("--help", "print this help");
    return definition_list(lines, columns);
}

}  // namespace hone::tools
