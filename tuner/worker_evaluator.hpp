#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/backend.hpp"
#include "runtime/ceilings.hpp"
#include "runtime/run_folder.hpp"
#include "tuner/child_process.hpp"
#include "tuner/compile_pool.hpp"
#include "tuner/evaluator.hpp"
#include "tuner/statistics.hpp"

namespace hone {

/// How candidates are evaluated on a device.
struct WorkerSettings {
    Device device;
    std::filesystem::path cache;                                       ///< folder of the disk cache
    std::vector<std::string> command = CompilePoolSettings{}.command;  ///< that starts a worker
    int host_threads = 0;       ///< in which the worker of a GPU makes data and expected answers; 0: as many as the system gives
    int compile_processes = 0;  ///< 0: all hardware threads for the CPU, all but one for a GPU, whose worker needs one
    SamplingRule sampling;
    bool meter_finalists = false;  ///< the energy of finalists, also where the objective does not need it; the device must have a meter
    double compile_timeout = 60;   ///< seconds for one candidate
    double setup_timeout = 600;    ///< for a problem's data and expected answers
    double first_timeout = 120;    ///< for the first candidate that is measured, the safe one: nothing is known yet
    /// SHA-256 of the source that the caller itself makes of a configuration: a worker that makes another one, being of another version of hone,
    /// refuses to evaluate it (Error). Empty: not asked.
    std::function<std::string(const Config&)> source;
    double grace = 10;  ///< added to what a candidate may take, which follows from the safe configuration's times
};

/// Evaluates on a device through a worker process, while other processes compile ahead.
///
/// A candidate that hangs, crashes or corrupts its device takes the worker with it and nothing else: it is killed and reaped, the candidate's outcome
/// says why, and the next candidate gets a new worker with the problem set up again.
///
/// On a GPU, candidates are compiled while others are measured. On the CPU both would want the same cores, so they alternate: nothing is compiled
/// while a candidate is measured, and all cores compile when the next candidate to be measured is not there yet. Few compile before the first one is
/// measured, which would wait for them all.
class WorkerEvaluator : public Evaluator {
  public:
    explicit WorkerEvaluator(WorkerSettings settings);
    ~WorkerEvaluator() override;

    void set_objective(const Objective& objective) override { objective_ = objective; }
    /// Returns at once: the worker makes the problem's data meanwhile, and leaves the device alone until the first `evaluate`.
    void begin(const Problem& problem, std::uint64_t seed, double most_seconds) override;
    void prepare(const Candidate& candidate) override;
    std::optional<Outcome> evaluate(const Candidate& candidate, double incumbent, const std::function<bool()>& stop) override;
    void abandon() override;
    WaitingTime waiting() const override { return waiting_; }
    /// Whether the code of a prepared candidate, or its failure, is known. Never waits; gives work to idle processes and takes their results.
    bool compiled(const Candidate& candidate);

    /// Measures the device's ceilings in the worker, at any time when no candidate is being evaluated. Nothing when `stop` said so before they were
    /// there. Throws Error when that fails.
    std::optional<Ceilings> ceilings(const std::function<bool()>& stop = {});

  private:
    using Clock = std::chrono::steady_clock;
    enum class Wait { answered, closed, timed_out, stopped };

    void start_compilers();
    void start_worker();
    void set_up();
    Wait wait_for_answer(double timeout, bool compile, const std::function<bool()>& stop, std::string& answer);
    void require(Wait wait, const std::string& answer, const std::string& purpose);
    bool await_setup(const std::function<bool()>& stop);
    bool await_code(const Config& config, const std::function<bool()>& stop);
    std::optional<Outcome> measure(const Candidate& candidate, double incumbent, const std::function<bool()>& stop);
    Outcome read_answer(const std::string& answer);
    SamplingRule search_sampling() const;
    double timeout() const;
    /// For a candidate; 0: none.
    double energy_seconds(bool finalist) const;
    bool on_cpu() const { return settings_.device.limits.target == Target::cpu; }

    RunFolder temporary_;  ///< of its processes, which it outlives
    WorkerSettings settings_;
    Objective objective_;
    SamplingRule sampling_;  ///< of this problem
    CompilePool pool_;
    std::unique_ptr<ChildProcess> worker_;
    std::string problem_;
    std::uint64_t seed_ = 0;
    int setup_answers_due_ = 0;
    bool placed_ = false;        ///< the worker was told to lay the problem's data out on the device
    bool measured_one_ = false;  ///< of this problem
    WaitingTime waiting_;
    double safe_step_ = 0;    ///< seconds, of the first candidate that was measured
    double safe_verify_ = 0;  ///< seconds of loading and verifying it
};

}  // namespace hone
