#pragma once

#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "foundation/error.hpp"
#include "tools/console/console.hpp"
#include "tools/console/options.hpp"

namespace hone::tools {

/// Exit codes of the `hone` command, as documented in docs/command-line.md.
enum class Exit {
    ok = 0,
    nothing = 1,      ///< asked properly, but there is no result: no record, nothing compiled, no candidate verified, nothing valid
    wrong_input = 2,  ///< an option, problem, configuration or file that hone cannot accept
    missing = 3,      ///< the machine lacks something: a device, a driver, a compiler
    interrupted = 4,  ///< stopped by Ctrl-C; what was found is kept
    internal = 5      ///< hone itself failed
};

/// The machine lacks something that the command needs: exit code 3 instead of 2.
class MissingError : public Error {
  public:
    using Error::Error;
};

/// What was asked for is not there, where no result goes on without it: exit code 1 instead of 2.
class NothingError : public Error {
  public:
    using Error::Error;
};

/// The work of a command, after its options were parsed.
using Action = std::function<Exit(Console&)>;

/// One sub-command: a row of the table in commands.cpp.
struct Command {
    std::string name;
    std::string summary;                                        ///< one line
    std::string usage;                                          ///< what follows the name, e.g. "FAMILY key=value... [options]"
    std::string about;                                          ///< paragraphs, separated by empty lines
    std::vector<std::pair<std::string, std::string>> examples;  ///< what follows "hone", and what it does
    /// Declares the options and returns the action, which owns the variables that they set.
    Action (*declare)(Options&);
    bool hidden = false;  ///< not listed: for hone's own use
};

/// The table of all sub-commands.
std::span<const Command> commands();

/// Names and meanings of what `hone --help` ends with.
std::span<const std::pair<std::string, std::string>> environment_variables();
std::span<const std::pair<std::string, std::string>> exit_codes();

/// Runs one command line (without the program's name) and returns its exit code. Every exception
/// becomes a message and a code.
Exit run(const std::vector<std::string>& arguments, Console& console);

// One function per file in tools/commands/.
Command families_command();
Command space_command();
Command emit_command();
Command compile_command();
Command devices_command();
Command new_command();
Command check_command();
Command tune_command();
Command watch_command();
Command replay_command();
Command balance_command();
Command show_command();
Command explain_command();
Command diff_command();
Command verify_command();
Command roofline_command();
Command plot_command();
Command report_command();
Command lookup_command();
Command db_command();
Command simulate_command();
Command convert_command();
Command operators_command();
Command completion_command();
Command doctor_command();
Command version_command();
Command worker_command();
Command relay_command();

}  // namespace hone::tools
