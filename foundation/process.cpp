#include "foundation/process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>
#include <thread>

#include "foundation/file_store.hpp"
#include "foundation/processors.hpp"

extern char** environ;  // NOLINT(readability-redundant-declaration): POSIX leaves its declaration to the program

namespace hone::inline v0_1 {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr std::size_t most_output = std::size_t{1} << 20;

double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

// Seconds that this process was not stopped for (SIGSTOP), as far as it is asked often.
class AwakeTime {
  public:
    double seconds() {
        constexpr double longest_nap = 1;  // between two questions, on a busy machine
        seconds_ += std::min(seconds_since(last_), longest_nap);
        last_ = Clock::now();
        return seconds_;
    }

  private:
    Clock::time_point last_ = Clock::now();
    double seconds_ = 0;
};

// The caller's environment with changes, as `name=value`.
std::vector<std::string> changed_environment(const std::vector<std::pair<std::string, std::string>>& changes) {
    std::vector<std::string> variables;
    for (char** variable = environ; *variable != nullptr; ++variable) {
        const std::string_view text = *variable;
        const std::string_view name = text.substr(0, text.find('='));
        if (std::none_of(changes.begin(), changes.end(), [&](const auto& change) { return change.first == name; })) variables.emplace_back(text);
    }
    for (const auto& [name, value] : changes) variables.push_back(name + "=" + value);
    return variables;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
    std::vector<char*> result;
    result.reserve(texts.size() + 1);
    for (auto& text : texts) result.push_back(text.data());
    result.push_back(nullptr);
    return result;
}

// The child has ended; it is left to be reaped, so that its number, and its group's, stay taken.
bool has_ended(pid_t child) {
    siginfo_t info{};
    const int error = ::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOHANG | WNOWAIT);
    return error == 0 ? info.si_pid == child : errno != EINTR;  // a caller that ignores SIGCHLD has no child any more
}

/// What /proc says of a process: its parent and itself.
struct Kinship {
    pid_t process = 0;
    pid_t parent = 0;
    double ticks = 0;  ///< of processor time, with those of children that were reaped
};

std::vector<Kinship> all_processes() {
    std::vector<Kinship> processes;
    std::error_code error;
    for (fs::directory_iterator entry("/proc", error), end; !error && entry != end; entry.increment(error)) {
        std::ifstream file(entry->path() / "stat");
        std::string text;
        if (!std::isdigit(static_cast<unsigned char>(entry->path().filename().string()[0])) || !std::getline(file, text)) continue;
        // "12 (name that may have spaces) S 11 ...": the parent is the second word behind the last
        // parenthesis.
        std::istringstream behind(text.substr(text.rfind(')') + 1));
        std::string state;
        Kinship kinship{static_cast<pid_t>(std::atol(text.c_str())), 0, 0};
        if (!(behind >> state >> kinship.parent)) continue;
        // Then nine others, and the time of its own and of its children, each in two parts.
        constexpr int others = 9, parts = 4;
        std::string word;
        for (int i = 0; i < others; ++i) behind >> word;
        for (int i = 0; i < parts; ++i)
            if (std::int64_t ticks = 0; behind >> ticks) kinship.ticks += static_cast<double>(ticks);
        processes.push_back(kinship);
    }
    return processes;
}

// Processor time of a process that was not reaped yet, and of all below it, in seconds.
double work_of(pid_t root) {
    std::vector<Kinship> tree = all_processes();
    std::vector<pid_t> members{root};
    double ticks = 0;
    for (std::size_t i = 0; i < members.size(); ++i)
        for (const Kinship& one : tree) {
            if (one.process == members[i]) ticks += one.ticks;
            if (one.parent == members[i]) members.push_back(one.process);
        }
    return ticks / static_cast<double>(sysconf(_SC_CLK_TCK));
}

std::atomic<bool (*)()> program_end{nullptr};

// What run_process has started and not reaped yet: of the first few at a time, which are all but
// always the only ones. A handler may read it at any moment.
std::array<std::atomic<pid_t>, 64> running{};

class Running {
  public:
    Running() = default;
    void begin(pid_t child) {
        for (auto& one : running) {
            pid_t none = 0;
            if (one.compare_exchange_strong(none, child)) {
                place_ = &one;
                return;
            }
        }
    }
    void end() {
        if (place_ != nullptr) *place_ = 0;
        place_ = nullptr;
    }
    ~Running() { end(); }
    Running(const Running&) = delete;
    Running& operator=(const Running&) = delete;

  private:
    std::atomic<pid_t>* place_ = nullptr;
};

std::atomic<int> starting = 0;

// While a program is started and not yet among those that are running: its thread takes no signal,
// and a handler in another thread waits, so that none is overlooked.
class Starting {
  public:
    Starting() {
        sigset_t all;
        sigfillset(&all);
        pthread_sigmask(SIG_BLOCK, &all, &before_);
        ++starting;
    }
    ~Starting() {
        --starting;
        pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    }
    Starting(const Starting&) = delete;
    Starting& operator=(const Starting&) = delete;

  private:
    sigset_t before_{};
};

bool is_to_end() {
    const auto interrupted = program_end.load();
    return interrupted != nullptr && interrupted();
}

// How long a program may still run.
class Patience {
  public:
    Patience(double seconds, bool of_work) : seconds_(seconds), of_work_(of_work) {}

    double spent() { return time_.seconds(); }
    // Seconds; none when it is over, or when all is to end.
    double left(pid_t child) {
        if (is_to_end()) return 0;
        const double now = time_.seconds();
        if (!of_work_) return seconds_ - now;
        constexpr double often = 0.25;     // enough of a look into /proc
        constexpr double at_most = 30;     // times as long: something that does nothing but a little, for ever
        constexpr double progress = 0.02;  // two of the system's ticks
        if (now - looked_ >= std::min(often, seconds_ / 4)) {
            looked_ = now;
            const double work = work_of(child);
            if (work >= work_ + progress || work < work_) progressed_ = now;  // less: a program of it has ended
            if (progressed_ == now) work_ = work;
            total_ = std::max(total_, work);
        }
        return std::min({seconds_ - total_, seconds_ - (now - progressed_), at_most * seconds_ - now});
    }

  private:
    double seconds_;
    bool of_work_;
    AwakeTime time_;
    double looked_ = 0, progressed_ = 0, work_ = 0, total_ = 0;
};

// Reads until every writer has closed its end, or until the child has ended and what it wrote is
// read: others may hold the output open for long. False when time runs out first.
bool collect(pid_t child, int input, Patience& patience, std::string& output) {
    constexpr double tick = 0.02;  // seconds between two looks whether the child has ended
    std::array<char, 1 << 14> buffer{};
    std::size_t read_since = 0;  // the child's end
    while (true) {
        const double left = patience.left(child);
        const bool ended = has_ended(child);  // before the look into the pipe
        if (left <= 0) return ended;
        pollfd waiting{input, POLLIN, 0};
        const int ready = ::poll(&waiting, 1, ended ? 0 : static_cast<int>(std::min(left, tick) * 1000 + 1));
        if (ended && (ready == 0 || read_since > most_output)) return true;
        if (ready <= 0) continue;
        const ssize_t got = ::read(input, buffer.data(), buffer.size());
        if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
        if (got <= 0) return true;
        if (ended) read_since += static_cast<std::size_t>(got);
        output.append(buffer.data(), std::min(static_cast<std::size_t>(got), most_output - std::min(most_output, output.size())));
    }
}

// Waits for the child's end; false when time runs out first.
bool await_end(pid_t child, Patience& patience) {
    while (!has_ended(child)) {
        if (patience.left(child) <= 0) return false;
        std::this_thread::sleep_for(std::chrono::microseconds(200));  // its output is closed, so it is about to end
    }
    return true;
}

int reap(pid_t child) {
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return status;
}

void die_with_group(int /*signal*/) {
    ::kill(0, SIGKILL);
}

pid_t parent_at_first = 0;

void die_with_parent(int /*signal*/) {
    if (::getppid() != parent_at_first) ::kill(0, SIGKILL);
}

Group programs_join = Group::own;  // set once, by a worker, before it starts any

// Ends what the programs of a worker left running.
void end_orphans() {
    bool found = true;
    while (found && ::waitpid(-1, nullptr, WNOHANG) >= 0) {
        found = false;
        for (const Kinship& one : all_processes()) {
            if (one.parent != ::getpid()) continue;
            kill_tree(one.process);
            reap(one.process);
            found = true;
        }
    }
}

}  // namespace

// Each is stopped before its children are looked for, so that it starts no further ones.
void kill_tree(pid_t root) {
    ::kill(root, SIGSTOP);
    for (const Kinship& one : all_processes())
        if (one.parent == root) kill_tree(one.process);
    ::kill(-root, SIGKILL);
    ::kill(root, SIGKILL);
}

void live_and_die_as_a_group() {
    const bool leads = ::getpgrp() == ::getpid();  // else the group has others in it, who started this by hand
    if (leads) {
        programs_join = Group::parents;
        parent_at_first = ::getppid();
        std::signal(SIGTERM, die_with_group);
        std::signal(SIGCONT, die_with_parent);
        prctl(PR_SET_CHILD_SUBREAPER, 1);
    }
    // SIGCONT is the only signal that a stopped process handles.
    prctl(PR_SET_PDEATHSIG, leads ? SIGCONT : SIGKILL);
}

int start_process(std::vector<std::string> arguments, const StandardStreams& streams, pid_t& child, Group group,
                  const std::vector<std::pair<std::string, std::string>>& environment, const std::vector<int>& on_processors) {
    std::vector<std::string> variables = changed_environment(environment);
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    if (streams.input < 0)
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    else
        posix_spawn_file_actions_adddup2(&actions, streams.input, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, streams.output, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, streams.errors, STDERR_FILENO);
    // Signals that the caller ignores or blocks are the child's default again.
    sigset_t all;
    sigset_t none;
    sigfillset(&all);
    sigemptyset(&none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setpgroup(&attributes, 0);
    const int set_group = group == Group::own ? POSIX_SPAWN_SETPGROUP : 0;
    posix_spawnattr_setflags(&attributes, static_cast<short>(set_group | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK));
    const OnProcessors inherited(on_processors.empty() ? processors().numbers
                                                       : on_processors);  // the calling thread may be one that OpenMP has bound
    const int error = posix_spawn(&child, arguments.front().c_str(), &actions, &attributes, pointers(arguments).data(), pointers(variables).data());
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

std::string ProcessResult::failure() const {
    if (!started) return output;
    if (timed_out) return fmt::format("killed after {:.3g} s", seconds);
    if (signal != 0) return fmt::format("ended by signal {} ({})", signal, strsignal(signal));
    return fmt::format("ended with exit code {}", exit_code);
}

void limit_further_memory(std::int64_t bytes) {
    // Pages: size, resident, shared, text, libraries, data with stacks, dirty.
    std::array<std::int64_t, 6> pages{};
    std::ifstream file("/proc/self/statm");
    for (std::int64_t& number : pages) file >> number;
    rlimit limit{};
    if (!file || getrlimit(RLIMIT_DATA, &limit) != 0) return;
    limit.rlim_cur = std::min(limit.rlim_max, static_cast<rlim_t>(pages.back() * sysconf(_SC_PAGESIZE) + bytes));
    setrlimit(RLIMIT_DATA, &limit);
}

namespace {

ProcessResult run(const std::vector<std::string>& arguments, Patience patience, const std::vector<std::pair<std::string, std::string>>& environment) {
    ProcessResult result;
    fill_standard_descriptors();
    std::array<int, 2> pipe{};
    if (::pipe2(pipe.data(), O_CLOEXEC) != 0) {
        result.error = errno;
        result.output = fmt::format("no pipe: {}", std::strerror(result.error));
        return result;
    }
    pid_t child = 0;
    int error = 0;
    Running shown;
    {
        const Starting none_overlooked;
        error = start_process(arguments, {-1, pipe[1], pipe[1]}, child, programs_join, environment);
        if (error == 0) shown.begin(child);
    }
    ::close(pipe[1]);
    if (error != 0) {
        ::close(pipe[0]);
        result.error = error;
        result.output = fmt::format("{} cannot be started: {}", arguments.front(), std::strerror(error));
        return result;
    }
    result.started = true;
    result.timed_out = !collect(child, pipe[0], patience, result.output) || !await_end(child, patience);
    ::close(pipe[0]);
    if (result.timed_out)
        kill_tree(child);
    else
        ::kill(-child, SIGKILL);  // what is left of its group
    shown.end();                  // before its number may be another's
    const int status = reap(child);
    if (programs_join == Group::parents) end_orphans();
    result.seconds = patience.spent();
    if (result.timed_out && is_to_end()) throw InterruptedError(arguments.front(), "it was ended with this program", "start again");
    if (WIFEXITED(status)) result.exit_code = WEXITSTATUS(status);
    if (WIFSIGNALED(status)) result.signal = WTERMSIG(status);
    return result;
}

}  // namespace

ProcessResult run_process(const std::vector<std::string>& arguments, double timeout_seconds,
                          const std::vector<std::pair<std::string, std::string>>& environment) {
    return run(arguments, Patience(timeout_seconds, false), environment);
}

ProcessResult run_process_by_its_work(const std::vector<std::string>& arguments, double seconds,
                                      const std::vector<std::pair<std::string, std::string>>& environment) {
    return run(arguments, Patience(seconds, true), environment);
}

void kill_running_programs() noexcept {
    constexpr timespec moment{0, 1'000'000};
    for (int waits = 0; waits < 500 && starting > 0; ++waits) nanosleep(&moment, nullptr);
    for (const auto& one : running)
        if (const pid_t child = one; child > 0) {
            ::kill(-child, SIGKILL);
            ::kill(child, SIGKILL);
        }
}

void end_programs_when(bool (*interrupted)()) {
    program_end = interrupted;
}

std::string find_program(const std::string& name) {
    const auto executable = [](const fs::path& path) {
        std::error_code error;
        return fs::is_regular_file(path, error) && ::access(path.c_str(), X_OK) == 0;
    };
    if (name.empty()) return {};
    if (name.find('/') != std::string::npos) return executable(name) ? fs::absolute(name).string() : std::string();
    const char* variable = std::getenv("PATH");
    std::string_view folders = variable == nullptr ? "" : variable;
    while (!folders.empty()) {
        const std::string_view folder = folders.substr(0, folders.find(':'));
        folders.remove_prefix(std::min(folders.size(), folder.size() + 1));
        // An empty entry means the current folder, where nobody should find a compiler.
        if (!folder.empty() && executable(fs::path(folder) / name)) return fs::absolute(fs::path(folder) / name).string();
    }
    return {};
}

}  // namespace hone::inline v0_1
