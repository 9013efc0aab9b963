#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "foundation/error.hpp"

namespace hone::inline v0_1 {

/// The end of a program, and its output.
struct ProcessResult {
    bool started = false;
    int error = 0;  ///< of what did not start: a number of the system, as ENOENT
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

/// The process group of a child: its own, so that it and what it starts can be killed together, or
/// its parent's, so that it is killed with it.
enum class Group { own, parents };

/// Starts the program at the path `arguments[0]` without a shell, with the caller's environment
/// changed by `environment`, and does not wait. The child may run on `on_processors`, or where
/// there are none on all of this process, whatever the calling thread is bound to. 0 and the
/// child's id, or an error number.
int start_process(std::vector<std::string> arguments, const StandardStreams& streams, pid_t& child, Group group,
                  const std::vector<std::pair<std::string, std::string>>& environment = {}, const std::vector<int>& on_processors = {});

/// From now on this process dies with its parent, also when it is stopped. If it leads a group of
/// its own, as start_process makes it, `run_process` starts programs inside that group from now on,
/// and all of it dies: so whoever kills the group leaves nothing behind. What programs leave
/// running, in whatever group, becomes this process's child then, and `run_process` ends it. For
/// worker processes, before they start any program; they start programs by one thread.
void live_and_die_as_a_group();

/// From now on this process, and each that it starts, can take `bytes` more memory for data than
/// this process has now; what asks for more is told that there is none. Called again it counts from
/// then. Stacks of threads count as they are made, whether used or not. Not for a process that uses
/// CUDA, which lays claim to far more than it takes.
void limit_further_memory(std::int64_t bytes);

/// Kills a process that was not reaped yet, its group if it leads one, and its descendants; stopped
/// ones, too.
void kill_tree(pid_t root);

/// Starts the program at the path `arguments[0]` without a shell, with an empty standard input and
/// the caller's environment changed by `environment`, and waits. After `timeout_seconds`, less
/// those for which the caller was stopped, it is killed with all that it started. What it leaves
/// running when it ends is not waited for, even if it holds the output open, and is killed, too:
/// all of its group; in a worker (live_and_die_as_a_group) everything.
///
///     const auto result = run_process({"/usr/bin/c++", "--version"}, 10);
ProcessResult run_process(const std::vector<std::string>& arguments, double timeout_seconds,
                          const std::vector<std::pair<std::string, std::string>>& environment = {});

/// The same where the end must not depend on what else the machine does: the program is killed
/// after `seconds` of processor time, with what it started, or after as long without any of it; at
/// the latest after thirty times as long.
ProcessResult run_process_by_its_work(const std::vector<std::string>& arguments, double seconds,
                                      const std::vector<std::pair<std::string, std::string>>& environment = {});

/// What `run_process` ran was ended because the user wants the whole to end.
class InterruptedError : public Error {
  public:
    using Error::Error;
};

/// From now on `run_process` ends what it runs, and throws InterruptedError, once `interrupted`
/// says so; null: never. For programs that take Ctrl-C as a flag: what they start has groups of its
/// own and does not get it.
void end_programs_when(bool (*interrupted)());

/// Kills what `run_process` is running now, with all of its groups. For a signal's handler.
void kill_running_programs() noexcept;

/// Absolute path of a program that may be executed: `name` itself when it has a slash, else the
/// first on PATH. Empty when there is none.
std::string find_program(const std::string& name);

}  // namespace hone::inline v0_1
