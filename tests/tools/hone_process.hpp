#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

#include "tests/support/environment.hpp"
#include "tests/support/temporary_folder.hpp"

namespace hone::test {

/// The hone command as a process of its own, as a user starts it, with a database and a cache in a
/// temporary folder.
class HoneProcess {
  public:
    enum class Terminal { no, yes };  ///< yes: its standard error is a terminal of 80 columns

    static const char* program();  ///< the command's path, for those that let another program start it

    explicit HoneProcess(const std::vector<std::string>& arguments, Terminal terminal = Terminal::no);
    ~HoneProcess();
    HoneProcess(const HoneProcess&) = delete;
    HoneProcess& operator=(const HoneProcess&) = delete;

    /// Waits until standard error holds `text`; false when the process ended before, or after
    /// `seconds`.
    bool wait_for(const std::string& text, double seconds);
    void send(int signal) const;
    /// Waits for the end, at most `seconds`; then it is killed. The exit code, or minus the signal
    /// that ended it.
    int wait(double seconds = 300);

    std::string out() const;    ///< standard output so far
    std::string error() const;  ///< standard error so far

  private:
    bool running();
    void drain_terminal();

    TemporaryFolder folder_;
    pid_t pid_ = -1;
    int terminal_ = -1;  // our end
    std::string terminal_text_;
    bool ended_ = false;
    int status_ = 0;
};

/// Runs a command to its end.
struct HoneRun {
    explicit HoneRun(const std::vector<std::string>& arguments) {
        HoneProcess process(arguments);
        code = process.wait();
        out = process.out();
        error = process.error();
    }
    int code = 0;
    std::string out;
    std::string error;
};

/// Points hone at a database and a cache of the test's own, for as long as it lives.
class OwnFolders {
  public:
    TemporaryFolder folder;

  private:
    EnvironmentVariable database_{"HONE_DB", (folder.path() / "db").string()};
    EnvironmentVariable data_{"XDG_DATA_HOME", (folder.path() / "data").string()};
    EnvironmentVariable cache_{"HONE_CACHE", (folder.path() / "cache").string()};
};

}  // namespace hone::test
