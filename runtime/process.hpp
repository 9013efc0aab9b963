#pragma once

#include <sys/types.h>

#include <string>
#include <utility>
#include <vector>

namespace hone {

/// How a program ended, and what it said.
struct ProcessResult {
    bool started = false;
    bool timed_out = false;
    int exit_code = -1;  ///< -1 when it did not end by itself
    int signal = 0;      ///< that ended it
    double seconds = 0;
    std::string output;  ///< standard output and standard error as they came, at most the first 1 MiB

    bool ok() const { return started && !timed_out && exit_code == 0; }
    /// Why it is not ok, in a few words: "killed after 120 s", "ended with exit code 1".
    std::string failure() const;
};

/// Descriptors that become a child's standard streams; no input: an empty one.
struct StandardStreams {
    int input = -1;
    int output = -1;
    int errors = -1;
};

/// The process group of a child: its own, so that it and what it starts can be killed together, or its parent's, so that it is killed with it.
enum class Group { own, parents };

/// Starts the program at the path `arguments[0]` without a shell, with the caller's environment changed by `environment`, and does not wait. 0 and
/// the child's id, or an error number.
int start_process(std::vector<std::string> arguments, const StandardStreams& streams, pid_t& child, Group group,
                  const std::vector<std::pair<std::string, std::string>>& environment = {});

/// From now on this process dies with its parent. If it leads a group of its own, as start_process makes it, `run_process` starts programs inside
/// that group from now on, and all of it dies: so whoever kills the group leaves nothing behind. For worker processes, before they start any program.
void live_and_die_as_a_group();

/// Starts the program at the path `arguments[0]` without a shell, with an empty standard input and the caller's environment changed by
/// `environment`, and waits. After `timeout_seconds` it is killed with all that it started.
///
///     const auto result = run_process({"/usr/bin/c++", "--version"}, 10);
ProcessResult run_process(const std::vector<std::string>& arguments, double timeout_seconds,
                          const std::vector<std::pair<std::string, std::string>>& environment = {});

/// Absolute path of a program that may be executed: `name` itself when it has a slash, else the first on PATH. Empty when there is none.
std::string find_program(const std::string& name);

}  // namespace hone
