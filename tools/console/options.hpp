#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace hone::tools {

/// The options and positional arguments of one sub-command: declared once, then parsed, and printed
/// by `--help`.
///
///     Options options("space");
///     options.words("problem", settings.problem, "family key=value ...");
///     options.text("device", settings.device, "NAME", "cpu, cuda, cuda:1 or best");
///     options.flag("json", settings.json, "print one JSON document");
///     options.parse({"dg_volume", "order=3", "--device", "cpu"});
///
/// An option that is not given leaves its variable as it is. A misspelt option is answered with the
/// nearest one, and every mistake with the command whose help to read.
class Options {
  public:
    explicit Options(std::string command) : command_(std::move(command)) {}

    /// The positional arguments, as many as there are.
    void words(const std::string& name, std::vector<std::string>& values, const std::string& help);
    /// `--name VALUE`, and `-l VALUE` where a letter is given.
    void text(const std::string& name, std::string& value, const std::string& placeholder, const std::string& help, char letter = 0);
    /// `--name VALUE`, may be given several times.
    void list(const std::string& name, std::vector<std::string>& values, const std::string& placeholder, const std::string& help);
    /// `--name N`, a whole number that is not less than `low`.
    void number(const std::string& name, std::int64_t& value, const std::string& placeholder, const std::string& help, std::int64_t low = 0);
    /// `--name`, and `-l` where a letter is given.
    void flag(const std::string& name, bool& value, const std::string& help, char letter = 0);

    /// Sets the variables. Throws Error for an unknown option, a missing or wrong value, or a
    /// positional argument where none is taken.
    void parse(const std::vector<std::string>& arguments) const;

    /// The lines of `--help` that describe positional arguments and options.
    std::string help(int columns = 0) const;
    /// Names of the options, with dashes.
    std::vector<std::string> names() const;

    /// An option as completions and manuals tell it.
    struct Description {
        std::string name;         ///< without dashes
        std::string placeholder;  ///< of its value; empty: it has none
        std::string help;
        char letter = 0;  ///< of the short form; 0: none
    };
    std::vector<Description> descriptions() const;
    /// The name of the positional arguments in `--help`; empty: there are none.
    const std::string& words_name() const { return words_name_; }
    const std::string& words_help() const { return words_help_; }
    /// The positional arguments, when they are parsed; null: none are taken.
    std::vector<std::string>* words() const { return words_; }

  private:
    struct Number {
        std::int64_t* value;
        std::int64_t low;
    };
    struct Entry {
        std::string name;
        std::string placeholder;
        std::string help;
        std::variant<std::string*, std::vector<std::string>*, Number, bool*> target;
        char letter = 0;
    };
    const std::string& where() const { return command_; }
    std::string see_help() const;
    void refuse_unknown(const std::vector<std::string>& arguments) const;
    void check_value(const Entry& entry, const std::vector<std::string>& arguments, std::size_t i) const;
    /// Throws Error for the first option without its value, with a value that it does not take, or
    /// given too often.
    void refuse_misused(const std::vector<std::string>& arguments) const;

    std::string command_;
    std::vector<Entry> entries_;
    std::string words_name_;
    std::string words_help_;
    std::vector<std::string>* words_ = nullptr;
};

}  // namespace hone::tools
