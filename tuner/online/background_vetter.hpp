#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "generator/families.hpp"
#include "runtime/library.hpp"
#include "tuner/online/early_worker.hpp"
#include "tuner/outcome.hpp"
#include "tuner/worker/worker_evaluator.hpp"

namespace hone::inline v0_1 {

struct VetterSettings {
    WorkerSettings worker;
    std::int64_t most_words = 0;         ///< of the arrays on which candidates are verified first; see tuner/vetting_problem.hpp
    bool whole = true;                   ///< what passes is verified at the problem's own size, too
    std::uint64_t seed = 0;              ///< of the data
    std::shared_ptr<EarlyWorker> early;  ///< whose thread and worker it takes, if there is one
};

/// The result of vetting a candidate: a failure, or a kernel that is verified and loaded.
struct Vetted {
    Candidate candidate;
    Outcome outcome;
    std::shared_ptr<const Kernel> kernel;  ///< of the application's problem, when it passed
};

/// A thread beside a running application that compiles, verifies and loads candidates. It hands out
/// what worker processes verified on random data of their own, on a reduced problem and then on the
/// whole one; its code is in the disk cache and loaded. Where the whole problem's data would take
/// more than half of the memory, or cannot be set up, the reduced problem has to do, and outcomes
/// say so (Outcome::verified_on). The thread and its processes run with low priority. All functions
/// but `end` and the destructor return at once; `job_waits`, `working`, `ending` take no lock.
///
/// A job is what may slow the application's steps: verifying and loading a candidate; on the CPU,
/// whose cores the application uses, also compiling it. One job runs for one `permit`. Before the
/// first step there is nothing to slow on a GPU: until `stepping` jobs run there as they come.
class BackgroundVetter {
  public:
    /// Backend and families must outlive it.
    BackgroundVetter(Backend& backend, const Families& families, const Problem& problem, VetterSettings settings);
    /// Ends.
    ~BackgroundVetter();
    BackgroundVetter(const BackgroundVetter&) = delete;
    BackgroundVetter& operator=(const BackgroundVetter&) = delete;

    /// Runs a short task of the caller's before anything else: writing files, giving memory back.
    /// It must not throw, and if it is not short it asks `ending`. After `end` it runs at once, in
    /// the caller's thread.
    void post(std::function<void()> task);
    /// Drops the job under way and kills its processes, which may be paused, then runs the tasks
    /// posted so far. It waits for nothing that can be paused, so it takes a moment in every state.
    /// A program that calls exit() ends all vetters that are left, before what they use is gone.
    void end();
    bool ending() const { return stopping_; }
    void want(std::vector<Candidate> candidates);
    /// Drops what was wanted and is not needed any more.
    void drop(const std::function<bool(std::int64_t)>& needed);
    /// The application's steps begin: from now on jobs are permitted one by one.
    void stepping();
    bool job_waits() const { return job_waits_.load(std::memory_order_acquire); }
    void permit();
    /// A job was permitted and has not ended.
    bool working() const { return working_.load(std::memory_order_acquire); }
    /// Stops the processes of a job, or lets them go on.
    void pause(bool paused);
    std::optional<Vetted> take();
    /// Seconds after its making when the first candidate was compiled, and when it was vetted; 0:
    /// not yet.
    double compiled_after() const { return compiled_after_; }
    double vetted_after() const { return vetted_after_; }
    /// Why candidates are verified on the reduced problem alone, though the whole one was wanted.
    std::string why_reduced() const;
    /// Why nothing can be vetted any more; empty as long as it can.
    std::string broken() const;

  private:
    void run();
    void vet_all();
    void note(std::atomic<double>& after) const;
    void run_tasks(std::unique_lock<std::mutex>& lock);
    void begin();
    void start_worker();
    void calm_down();
    void lay_out(std::unique_lock<std::mutex>& lock);
    /// The next candidate for a job, once there is one.
    std::optional<Candidate> next_job(std::unique_lock<std::mutex>& lock);
    void most_promising_first(std::vector<Candidate>& candidates);
    void work(const Candidate& candidate);
    Vetted vet(const Candidate& candidate);
    Outcome evaluate(const Candidate& candidate);
    bool same_on_reduced(const Config& config) const;
    void begin_whole();
    void verify_on_whole(const Candidate& candidate, Outcome& outcome);
    void give_up_whole(const std::string& reason);
    std::shared_ptr<const Kernel> load(const Config& config) const;
    bool on_cpu() const { return traits_of(backend_.device().limits.target).shares_processors; }

    Backend& backend_;
    const Families& families_;
    const Family& family_;
    Problem problem_;
    VetterSettings settings_;

    mutable std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<std::function<void()>> tasks_;
    std::deque<Candidate> wanted_;
    std::deque<Vetted> finished_;
    std::string broken_;
    std::string why_reduced_;
    bool permitted_ = false;
    bool stepping_ = false;
    bool over_ = false;  ///< the thread does nothing more
    std::atomic<bool> stopping_{false};
    std::atomic<bool> job_waits_{false};
    std::atomic<bool> working_{false};
    std::atomic<bool> has_finished_{false};
    std::chrono::steady_clock::time_point made_ = std::chrono::steady_clock::now();
    std::atomic<double> compiled_after_{0};
    std::atomic<double> vetted_after_{0};
    std::atomic<int> thread_id_{0};

    // Of the thread alone.
    std::unique_ptr<WorkerEvaluator> evaluator_;
    std::unique_ptr<WorkerEvaluator> whole_;  ///< of the whole problem, where `small_` is another
    Problem small_;
    OpenedWorker opened_;
    bool calm_ = false;  ///< compilers have low priority, all of them
    std::map<std::int64_t, Outcome> passed_;
    /// Of a candidate's source.
    struct Known {
        double length = 0;      ///< of its text
        double operations = 0;  ///< that a step executes
    };
    std::map<std::int64_t, Known> known_;
    std::thread thread_;
    int process_ = 0;  ///< whose thread it is
};

}  // namespace hone::inline v0_1
