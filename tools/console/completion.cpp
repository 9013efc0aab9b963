#include "tools/console/completion.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <vector>

#include "generator/families.hpp"
#include "generator/families/built_in_families.hpp"
#include "tools/console/command.hpp"
#include "tuner/objective.hpp"
#include "tuner/strategy.hpp"

namespace hone::tools {
namespace {

struct CommandOptions {
    const Command* command;
    std::vector<Options::Description> options;
    bool takes_problem;
    std::vector<std::string> first_words;  // in place of a problem: "bash", "validate", ...
};

// Words of "validate DIR | list DIR": those that are written as they stand.
std::vector<std::string> literal_words(const std::string& usage) {
    std::vector<std::string> words;
    for (std::size_t begin = 0; begin < usage.size();) {
        const std::size_t end = std::min(usage.find_first_of(" |", begin), usage.size());
        const std::string word = usage.substr(begin, end - begin);
        const bool literal = !word.empty() && std::all_of(word.begin(), word.end(), [](char c) { return c >= 'a' && c <= 'z'; });
        if (literal) words.push_back(word);
        begin = end + 1;
    }
    return words;
}

std::vector<CommandOptions> listed_commands() {
    std::vector<CommandOptions> all;
    for (const Command& command : commands()) {
        if (command.hidden) continue;
        Options options(command.name);
        command.declare(options);
        const bool problem = command.usage.find("FAMILY") != std::string::npos;
        all.push_back({&command, options.descriptions(), problem, literal_words(command.usage)});
    }
    return all;
}

std::vector<std::string> values_of(const std::string& option) {
    std::vector<std::string> values;
    if (option == "device" || option == "partner") values = {"best", "cpu", "cuda"};
    if (option == "target") values = {"cpu", "cuda"};
    if (option == "sort") values = {"gain", "ceiling", "rate", "age"};
    if (option == "strategy")
        for (const StrategyEntry& entry : strategies()) values.push_back(entry.name);
    if (option == "objective")
        for (const ObjectiveEntry& entry : objectives()) values.push_back(entry.objective.name);
    return values;
}

bool is_folder(const Options::Description& option) {
    return option.placeholder == "DIR";
}

bool is_file(const Options::Description& option) {
    return option.placeholder.starts_with("FILE");
}

std::vector<std::string> family_names() {
    std::vector<std::string> names;
    for (const Family& family : built_in_families()) names.push_back(family.name);
    return names;
}

// Parameters of all families with their words; the same name may have other words in another
// family.
std::map<std::string, std::vector<std::string>> parameters() {
    std::map<std::string, std::vector<std::string>> all;
    for (const Family& family : built_in_families())
        for (const ProblemParameter& parameter : family.parameters)
            for (auto& words = all[parameter.name]; const std::string& word : parameter.words)
                if (std::find(words.begin(), words.end(), word) == words.end()) words.push_back(word);
    return all;
}

std::string keys() {
    std::string text;
    for (const auto& [name, words] : parameters()) text += (text.empty() ? "" : " ") + name + "=";
    return text;
}

std::string first_line(const std::string& text) {
    return text.substr(0, text.find('\n'));
}

// Inside single quotes of a shell.
std::string quoted(const std::string& text) {
    std::string result = "'";
    for (const char c : first_line(text)) result += c == '\'' ? "'\\''" : std::string(1, c);
    return result + "'";
}

// Of fish, where a backslash escapes within single quotes.
std::string fish_quoted(const std::string& text) {
    std::string result = "'";
    for (const char c : first_line(text)) result += (c == '\'' || c == '\\' ? "\\" : "") + std::string(1, c);
    return result + "'";
}

// Of zsh's _arguments, where brackets and colons separate.
std::string zsh_help(const std::string& text) {
    std::string result;
    for (const char c : first_line(text)) result += (c == '[' || c == ']' || c == ':' || c == '\\' ? "\\" : "") + std::string(1, c);
    return result;
}

std::string roff(const std::string& text) {
    std::string result;
    for (const char c : text) {
        if (c == '\\')
            result += "\\e";
        else if (c == '-')
            result += "\\-";
        else
            result += c;
    }
    // A line that begins with a control character would be a request.
    if (result.starts_with(".") || result.starts_with("'")) result = "\\&" + result;
    return result;
}

std::string roff_paragraphs(const std::string& text) {
    std::string result;
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = std::min(text.find('\n', begin), text.size());
        const std::string line = text.substr(begin, end - begin);
        result += line.empty() ? ".PP\n" : roff(line) + "\n";
        begin = end + 1;
    }
    return result;
}

std::string roff_item(const std::string& name, const std::string& help) {
    return ".TP\n\\fB" + roff(name) + "\\fR\n" + roff_paragraphs(help);
}

std::string option_name(const Options::Description& option) {
    return (option.letter == 0 ? "" : fmt::format("-{}, ", option.letter)) + "--" + option.name + (option.placeholder.empty() ? "" : " ") +
           option.placeholder;
}

}  // namespace

std::string bash_completion() {
    std::string names;
    std::string by_command;
    std::string folders;
    std::string files;
    std::map<std::string, std::string> values;
    for (const auto& [command, options, problem, first] : listed_commands()) {
        names += command->name + " ";
        std::string words;
        for (const auto& option : options) {
            words += "--" + option.name + " ";
            if (is_folder(option)) folders += (folders.empty() ? "--" : "|--") + option.name;
            if (is_file(option)) files += (files.empty() ? "--" : "|--") + option.name;
            if (const auto list = values_of(option.name); !list.empty()) values["--" + option.name] = fmt::format("{}", fmt::join(list, " "));
        }
        by_command +=
            fmt::format("        {})\n            options=\"{}\"\n            words=\"{}\"\n            ;;\n", command->name, words,
                        fmt::format("{}{}", fmt::join(first, " "), problem ? fmt::format(" {} {}", fmt::join(family_names(), " "), keys()) : ""));
    }
    std::string by_option;
    for (const auto& [name, list] : values)
        by_option += fmt::format("        {}) COMPREPLY=($(compgen -W \"{}\" -- \"$current\")); return ;;\n", name, list);
    std::string by_key;
    for (const auto& [name, list] : parameters())
        if (!list.empty())
            by_key += fmt::format("        {}) COMPREPLY=($(compgen -W \"{}\" -- \"$current\")); return ;;\n", name, fmt::join(list, " "));
    return fmt::format(
        R"(# Completion of hone for bash, made by "hone completion bash".
_hone() {{
    local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD - 1]}} key= options= words=
    COMPREPLY=()
    if ((COMP_CWORD == 1)); then
        COMPREPLY=($(compgen -W "{0}help --help --version" -- "$current"))
        return
    fi
    # bash takes "order=3" for three words.
    if [[ $current == "=" ]]; then
        key=$previous current=
    elif [[ $previous == "=" ]]; then
        key=${{COMP_WORDS[COMP_CWORD - 2]}}
    fi
    case $key in
{1}    esac
    [[ -n $key && $key != --* ]] && return
    case ${{key:-$previous}} in
{2}        {3}) COMPREPLY=($(compgen -d -- "$current")); return ;;
        {4}) COMPREPLY=($(compgen -f -- "$current")); return ;;
    esac
    case ${{COMP_WORDS[1]}} in
{5}        help) words="{0}" ;;
    esac
    if [[ $current == -* ]]; then
        COMPREPLY=($(compgen -W "$options" -- "$current"))
    else
        COMPREPLY=($(compgen -W "$words" -- "$current") $(compgen -f -- "$current"))
        [[ ${{#COMPREPLY[@]}} == 1 && ${{COMPREPLY[0]}} == *= ]] && compopt -o nospace 2>/dev/null
    fi
}}
complete -F _hone hone
)",
        names, by_key, by_option, folders, files, by_command);
}

std::string zsh_completion() {
    std::string names;
    std::string by_command;
    std::string keys_with_words;
    for (const auto& [name, words] : parameters()) keys_with_words += fmt::format(" '{}=:value:({})'", name, fmt::join(words, " "));
    for (const auto& [command, options, problem, first] : listed_commands()) {
        names += "        " + quoted(command->name + ":" + zsh_help(command->summary)) + "\n";
        by_command += "        " + command->name + ")\n            _arguments";
        for (const auto& option : options) {
            std::string value;
            if (!option.placeholder.empty()) {
                const auto list = values_of(option.name);
                value = ":" + zsh_help(option.placeholder) + ":" +
                        (is_folder(option) ? "_directories"
                         : is_file(option) ? "_files"
                         : list.empty()    ? ""
                                           : fmt::format("({})", fmt::join(list, " ")));
            }
            by_command += " \\\n                " + quoted("*--" + option.name + "[" + zsh_help(option.help) + "]" + value);
            if (option.letter != 0) by_command += " \\\n                " + quoted(fmt::format("-{}[{}]", option.letter, zsh_help(option.help)));
        }
        if (!first.empty()) by_command += fmt::format(" \\\n                '1:word:({})'", fmt::join(first, " "));
        by_command += problem ? " \\\n                '*:problem:_hone_problem'" : " \\\n                '*:file:_files'";
        by_command += "\n            ;;\n";
    }
    return fmt::format(
        R"(#compdef hone
# Completion of hone for zsh, made by "hone completion zsh".
_hone_problem() {{
    local -a families
    families=({0})
    _alternative 'families:family:compadd -a families' 'parameters:parameter:_values -s " " parameter{1}' 'files:file:_files'
}}
_hone() {{
    local -a commands
    commands=(
{2}    )
    if ((CURRENT == 2)); then
        _describe command commands
        return
    fi
    local command=$words[2]
    shift words
    ((CURRENT--))
    case $command in
{3}    esac
}}
_hone "$@"
)",
        fmt::join(family_names(), " "),
        [&] {
            std::string text;
            for (const char c : keys_with_words) text += c == '\'' ? std::string("\"") : std::string(1, c);
            return text;
        }(),
        names, by_command);
}

std::string fish_completion() {
    std::string text = "# Completion of hone for fish, made by \"hone completion fish\".\ncomplete -c hone -f\n";
    for (const auto& [command, options, problem, first] : listed_commands()) {
        text += fmt::format("complete -c hone -n __fish_use_subcommand -a {} -d {}\n", command->name, fish_quoted(command->summary));
        const std::string here = fmt::format("complete -c hone -n '__fish_seen_subcommand_from {}'", command->name);
        if (problem) text += fmt::format("{} -a '{} {}'\n", here, fmt::join(family_names(), " "), keys());
        if (!first.empty()) text += fmt::format("{} -a '{}'\n", here, fmt::join(first, " "));
        for (const auto& option : options) {
            const auto list = values_of(option.name);
            std::string value = option.placeholder.empty() ? "" : " -r";
            if (is_folder(option)) value += " -a '(__fish_complete_directories)'";
            if (is_file(option)) value += " -F";
            if (!list.empty()) value += fmt::format(" -a '{}'", fmt::join(list, " "));
            text += fmt::format("{} -l {}{}{} -d {}\n", here, option.name, option.letter == 0 ? "" : fmt::format(" -s {}", option.letter), value,
                                fish_quoted(option.help));
        }
    }
    return text;
}

std::string manual_page(const std::string& version) {
    std::string text = fmt::format(
        ".TH HONE 1 \"\" \"hone {}\" \"User Commands\"\n.SH NAME\nhone \\- autotuned kernels for high\\-order and stencil codes\n"
        ".SH SYNOPSIS\n.B hone\n.I COMMAND\n[arguments]\n.SH DESCRIPTION\n"
        "A problem is written as a family and its parameters; a list or a range means several problems:\n.PP\n"
        ".RS\ndg_volume equation=maxwell_3d order=1..10 precision=f64 elements=100000\n.RE\n.PP\nWhat follows is what\n.B hone COMMAND "
        "\\-\\-help\nsays.\n"
        ".SH COMMANDS\n",
        roff(version));
    for (const auto& [command, options, problem, first] : listed_commands()) {
        text += ".SS \"hone " + roff(command->name) + "\"\n" + roff(command->summary) + "\n.PP\nhone " + roff(command->name) + " " +
                roff(command->usage) + "\n.PP\n" + roff_paragraphs(command->about);
        for (const auto& option : options) text += roff_item(option_name(option), option.help);
        if (!command->examples.empty()) text += ".PP\nExamples:\n";
        for (const auto& [line, explanation] : command->examples) text += roff_item("hone " + line, explanation);
    }
    text += ".SH ENVIRONMENT\n";
    for (const auto& [name, help] : environment_variables()) text += roff_item(name, help);
    text += ".SH EXIT STATUS\n";
    for (const auto& [name, help] : exit_codes()) text += roff_item(name, help);
    return text;
}

}  // namespace hone::tools
