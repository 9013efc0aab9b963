#pragma once

#include <chrono>
#include <deque>
#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "generator/config.hpp"
#include "generator/limits.hpp"
#include "tuner/worker/child_process.hpp"

namespace hone::inline v0_1 {

/// Says how to start a worker, anew each time.
using WorkerCommand = std::function<std::vector<std::string>()>;

struct CompilePoolSettings {
    std::vector<std::string> command{"/proc/self/exe",
                                     "worker"};  ///< that starts a worker: a program that calls worker_main (tuner/worker/worker.hpp)
    std::string architecture;                    ///< "sm_90"; not used for the CPU
    Limits limits;
    std::filesystem::path cache;
    int processes = 1;
    double timeout = 60;                                           ///< seconds after which a compilation is given up
    double grace = 2;                                              ///< seconds more for a process to end its compiler itself, before it is ended
    std::vector<std::pair<std::string, std::string>> environment;  ///< changes of this process's, for those that compile
    std::vector<WorkerCommand> further;                            ///< one more process for each, until it ends; another takes over
};

/// Compiles candidates ahead of their measurement, in processes of their own, into the disk cache.
///
/// Processes rather than threads, because NVRTC compiles one source at a time per process, and
/// because a compiler that hangs or crashes can be killed. They are started when there is work. The
/// caller does all waiting, because it waits for other children as well:
///
///     pool.add(config);
///     while (!pool.result(config)) {
///         pool.start();                                // gives work to idle processes
///         ChildProcess::wait(pool.children(), 0.1);
///         pool.collect();                              // takes their results
///     }
class CompilePool {
  public:
    explicit CompilePool(CompilePoolSettings settings);

    /// The result for a source.
    struct Result {
        bool ok = false;
        std::string failure;
        double seconds = 0;  ///< of the compiler; 0 from the cache
    };

    /// Processes that were started before and told `load_request`; those beyond the number of this
    /// pool's are ended. Before any work.
    void adopt(std::vector<std::unique_ptr<ChildProcess>> children);
    /// What a process is told that is to compile for a GPU yet unknown: to load its compiler.
    static constexpr const char* load_request = R"({"do": "load_compiler"})";

    /// Another problem: forgets everything.
    void set_problem(const std::string& problem);
    /// Queues a configuration of the problem, unless it is known already.
    void add(const Config& config) { add(problem_, config); }
    /// Adds a configuration of another problem, which may be one of many.
    void add(const std::string& problem, const Config& config);
    /// A configuration of the problem that may be added later: compiled when a process would idle.
    void add_spare(const Config& config) { spare_.push_back({problem_, config.key()}); }
    /// The result, once it is there.
    std::optional<Result> result(const Config& config) const { return result(problem_, config); }
    std::optional<Result> result(const std::string& problem, const Config& config) const;
    /// Lets what was held go on, and gives queued work to idle processes, in the order added, until
    /// `most` are at work. Throws Error when no process can be started.
    void start(int most = std::numeric_limits<int>::max());
    /// Starts the first `most` processes and tells them the problem, before there is any work.
    /// Throws Error as `start`.
    void open(int most = std::numeric_limits<int>::max());
    /// Gives the processes that run now a niceness.
    void set_niceness(int niceness) const;
    /// Takes what the processes said; ends those that are beyond their time. Throws MachineError
    /// where compilers have no room for their files, and Error where a process cannot compile
    /// anything: no configuration is to blame, and none has a result.
    void collect();
    /// Processes that are compiling, held or not.
    int busy() const;
    /// Those of them that compile what was added, and nothing spare.
    int wanted() const;
    /// Stops what is being compiled until `start`, so that it disturbs no measurement. What
    /// compiles by `further` commands goes on: false while some of it does. The time does not count
    /// as the compilers'.
    bool hold();
    bool held() const { return held_since_.has_value(); }
    /// Empties the queue, and forgets what is spare. With `kill`, also gives up what is being
    /// compiled.
    void cancel(bool kill);
    /// For ChildProcess::wait.
    std::vector<ChildProcess*> children() const;

  private:
    using Clock = std::chrono::steady_clock;
    using Work = std::pair<std::string, std::string>;  ///< keys of problem and configuration
    struct Process {
        std::unique_ptr<ChildProcess> child;
        bool opened = false;       ///< it was told to open its compiler
        int answers_due = 0;       ///< to be skipped: of the requests before "compile"
        std::string problem;       ///< that it was told
        std::optional<Work> work;  ///< that it compiles; none: idle
        bool spare = false;        ///< nobody waits for it
        Clock::time_point began;   ///< compiling, as far as it said
        double held = 0;           ///< seconds for which its work was
        WorkerCommand command;     ///< empty: the settings'
        bool retired = false;      ///< takes no further part
    };

    static void forget(Process& process);
    void go_on();
    bool known(const Work& work) const;
    std::optional<Work> next_spare();
    double held_seconds(const Process& process) const;
    void tell(Process& process, const std::string& problem);
    void give(Process& process, const Work& work);
    void collect(Process& process);
    void settle(Process& process, Result result);
    void retire(Process& process);
    void give_up_unready(Process& process, const std::string& what, const std::string& end);

    CompilePoolSettings settings_;
    std::string problem_;
    std::deque<Work> queue_, spare_;
    std::map<Work, Result> results_;
    std::vector<Process> processes_;
    std::optional<Clock::time_point> held_since_;
    int unready_ = 0;  ///< own processes in a row that ended before they were ready
};

}  // namespace hone::inline v0_1
