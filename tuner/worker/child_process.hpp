#pragma once

#include <sys/types.h>

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace hone::inline v0_1 {

/// A process that is spoken to in lines: requests to its standard input, replies from its standard
/// output. What it writes to its standard error is kept, as far as the last few lines.
///
/// It is started without a shell, in a process group of its own (so that Ctrl-C in a terminal does
/// not reach it), and killed and reaped when this ends. Used by one thread.
///
///     ChildProcess child({"/proc/self/exe", "worker"});
///     child.send("{...}");
///     while (!child.closed()) {
///         if (auto line = child.take_line()) return *line;
///         ChildProcess::wait({&child}, 0.1);
///     }
///     throw Error("worker", child.end(), "...");
class ChildProcess {
  public:
    /// With the caller's environment, changed by `environment`, on some processors (none: all of
    /// this process). Throws Error when the program cannot be started.
    explicit ChildProcess(const std::vector<std::string>& command, const std::vector<std::pair<std::string, std::string>>& environment = {},
                          const std::vector<int>& on_processors = {});
    ~ChildProcess();
    ChildProcess(const ChildProcess&) = delete;
    ChildProcess& operator=(const ChildProcess&) = delete;

    /// Sends `line` and a line's end. A child that is gone does not matter here: `closed` will
    /// tell.
    void send(const std::string& line);
    /// The oldest line that has arrived and was not taken, if any. Does not wait.
    std::optional<std::string> take_line();
    /// The child has closed its output, and every line was taken: it has ended or is about to.
    bool closed() const { return ended_output_ && lines_.find('\n') == std::string::npos; }
    /// The process's number, until it has ended.
    pid_t pid() const { return pid_; }
    /// Kills the child if it still runs and waits for its end. How it ended, in a few words, with
    /// the last line that it complained with: "signal 11 (Segmentation fault)".
    std::string end();

    /// Waits until one of the children said something or closed its output, at most `seconds`.
    static void wait(std::span<ChildProcess* const> children, double seconds);

  private:
    void read_output();
    void read_errors();

    pid_t pid_ = -1;
    int socket_ = -1;  ///< the child's standard input and output
    int errors_ = -1;  ///< its standard error
    bool ended_output_ = false;
    bool ended_errors_ = false;
    std::string lines_;
    std::string complaints_;
    std::string how_it_ended_;
};

}  // namespace hone::inline v0_1
