#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace hone::inline v0_1 {

/// The end of a program, and its output.
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

/// Starts the program at the path `arguments[0]` without a shell, with an empty standard input and the caller's environment changed by
/// `environment`, and waits. After `timeout_seconds`, less those for which the caller was stopped, it is killed with all that it started. What it
/// leaves running when it ends is not waited for, even if it holds the output open, and is killed, too: all of its group; in a worker
/// (live_and_die_as_a_group) everything.
///
///     const auto result = run_process({"/usr/bin/c++", "--version"}, 10);
ProcessResult run_process(const std::vector<std::string>& arguments, double timeout_seconds,
                          const std::vector<std::pair<std::string, std::string>>& environment = {});

/// Absolute path of a program that may be executed: `name` itself when it has a slash, else the first on PATH. Empty when there is none.
std::string find_program(const std::string& name);

}  // namespace hone::inline v0_1
