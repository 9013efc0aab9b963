#pragma once

#include <chrono>
#include <deque>
#include <filesystem>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "foundation/run_folder.hpp"
#include "runtime/backend.hpp"
#include "runtime/ceilings.hpp"
#include "tuner/evaluator.hpp"
#include "tuner/statistics.hpp"
#include "tuner/worker/child_process.hpp"
#include "tuner/worker/compile_pool.hpp"

namespace hone::inline v0_1 {

/// One of the devices of a run: where a worker measures.
struct WorkerPlace {
    std::string name;             ///< as outcomes and messages call it: "cuda:1"
    int index = 0;                ///< of the device
    std::vector<int> processors;  ///< that the worker may use; none: all of this process
    WorkerCommand command;        ///< that starts a worker there; empty: WorkerSettings::command
};

/// A worker that was told to open its device, and processes that load the compiler; empty where
/// none could be started.
struct OpenedWorker {
    std::unique_ptr<RunFolder> temporary;  ///< of the processes, which it outlives
    std::unique_ptr<ChildProcess> process;
    std::vector<std::unique_ptr<ChildProcess>> compilers;  ///< told CompilePool::load_request
};

/// What a worker is told first: to open a device. `further`: members of the request that name its
/// processors and threads.
std::string request_to_open(Target target, int index, const std::filesystem::path& cache, const std::string& further);
/// Of `request_to_open`: as many threads, or as many as the system gives where that is 0.
std::string threads_word(int threads);

/// How candidates are evaluated on a device, or on several of one kind.
struct WorkerSettings {
    Device device;
    std::filesystem::path cache;                                       ///< folder of the disk cache
    std::vector<std::string> command = CompilePoolSettings{}.command;  ///< that starts a worker
    int host_threads = 0;       ///< in which the worker of a GPU makes data and expected answers; 0: as many as the system gives
    int compile_processes = 0;  ///< 0: all hardware threads for the CPU; for GPUs all but one for each, whose worker needs one
    SamplingRule sampling;
    bool meter_finalists = false;  ///< the energy of finalists, also where the objective does not need it; the device must have a meter
    bool strict = false;           ///< every candidate is verified as finalists are (CandidateBench)
    double compile_timeout = 60;   ///< seconds for one candidate
    double setup_timeout = 600;    ///< for a problem's data and expected answers
    double first_timeout = 120;    ///< for the first candidate that is measured, the safe one: nothing is known yet
    /// SHA-256 of the source that the caller itself makes of a configuration: a worker that makes
    /// another one, being of another version of hone, refuses to evaluate it (Error). Empty: not
    /// asked.
    std::function<std::string(const Config&)> source;
    double grace = 10;  ///< added to what a candidate may take, which follows from the safe configuration's times
    /// Devices of one kind, which have `device`'s limits. None: `device` alone, on which outcomes
    /// do not say where they were measured.
    std::vector<WorkerPlace> places;
    std::vector<WorkerCommand> further_compilers;      ///< that start workers which compile into the same cache, beside `compile_processes`
    std::function<void(const std::string&)> complain;  ///< told of a device that takes no further part, in words; empty: nobody is
};

/// Evaluates on devices through worker processes, one for each, while other processes compile
/// ahead.
///
/// A candidate that hangs, crashes, corrupts its device or computes something wrong takes the
/// worker with it and nothing else: it is killed and reaped, the candidate's outcome says why, and
/// the next candidate gets a new worker with the problem set up again.
///
/// On a GPU, candidates are compiled while others are measured. On the CPU both would want the same
/// cores, so they alternate: compilers are stopped while a candidate is measured, and all cores
/// compile when the next candidate to be measured is not there yet. Few compile before the first
/// one is measured, which would wait for its share of the processors. Processes that candidates
/// leave idle meanwhile compile what is foreseen.
///
/// Of several devices each takes the next candidate as it becomes free, and `evaluate_next` returns
/// what is finished first. The first of them is the run's own: it alone measures finalists, while
/// the others rest, and what is measured again. Devices of one model differ by several per cent. So
/// each further one first measures a candidate that the first one had, and its outcomes say how
/// much slower it was (Outcome::pace). A further device that cannot be set up, or fails that
/// candidate, takes no part any more; when the first one cannot be set up, that is an Error.
class WorkerEvaluator : public Evaluator {
  public:
    explicit WorkerEvaluator(WorkerSettings settings);
    ~WorkerEvaluator() override;

    void set_objective(const Objective& objective) override { objective_ = objective; }
    /// Returns at once: the worker makes the problem's data meanwhile, and leaves the device alone
    /// until the first `evaluate`.
    void begin(const Problem& problem, std::uint64_t seed, double most_seconds) override;
    void prepare(const Candidate& candidate) override;
    void foresee(std::span<const Config> configs) override;
    std::optional<Outcome> evaluate(const Candidate& candidate, double incumbent, const std::function<bool()>& stop) override;
    std::optional<Evaluated> evaluate_next(std::span<const Candidate> prepared, double incumbent, const std::function<bool()>& stop) override;
    void abandon() override;
    WaitingTime waiting() const override { return waiting_; }
    /// Starts the compiling processes, or the first of them, before there is anything to compile:
    /// they load their compiler and list the problem's space meanwhile.
    void open_compilers(int most = std::numeric_limits<int>::max()) { pool_.open(most); }
    void set_niceness_of_compilers(int niceness) const { pool_.set_niceness(niceness); }
    /// Has the first device's worker lay the problem's data out now, if it has made them and was
    /// not told yet, and waits for that.
    void lay_out(const std::function<bool()>& stop);
    /// The first device's worker, if that was started before and told to `request_to_open`. Before
    /// `begin`.
    void adopt(OpenedWorker worker);
    /// Whether the code of a prepared candidate, or its failure, is known. Never waits; gives work
    /// to idle processes and takes their results.
    bool compiled(const Candidate& candidate);
    /// Devices that take part.
    int devices() const;

    /// Measures the first device's ceilings in its worker, at any time when no candidate is being
    /// evaluated there. Nothing when `stop` said so before they were there. Throws Error when that
    /// fails.
    std::optional<Ceilings> ceilings(const std::function<bool()>& stop = {});

  private:
    using Clock = std::chrono::steady_clock;

    /// A device and its worker.
    struct Lane {
        WorkerPlace place;
        std::unique_ptr<ChildProcess> worker;
        int setup_answers_due = 0;
        bool placed = false;               ///< it was told to lay the problem's data out on the device
        Clock::time_point asked;           ///< when it got what it is answering
        std::optional<Candidate> at_work;  ///< that it measures
        bool unwanted = false;             ///< what it measures was abandoned
        bool comparing = false;            ///< it measures what the first device had
        std::optional<double> pace;        ///< of a further device, once compared
        bool retired = false;
    };
    struct Finished {
        Candidate candidate;
        Outcome outcome;
    };

    Lane& first() { return lanes_.front(); }
    bool is_first(const Lane& lane) const { return &lane == &lanes_.front(); }
    bool on_cpu() const { return traits_of(settings_.device.limits.target).shares_processors; }
    bool measuring() const;

    void start_compilers();
    void start_worker(Lane& lane);
    void set_up(Lane& lane);
    void place(Lane& lane);
    void collect();
    void collect(Lane& lane);
    void take_setup_answer(Lane& lane, const std::string& answer);
    void take_answer(Lane& lane, const std::string& answer);
    void finish(Lane& lane, Outcome outcome);
    void compare(Lane& lane, const Outcome& outcome);
    void lose(Lane& lane, const std::string& found);
    Outcome read_answer(Lane& lane, const std::string& answer);

    std::ptrdiff_t place_among_wanted(const Candidate& candidate) const;
    void hand_out(double incumbent);
    void hand_out(Lane& lane, double incumbent);
    std::deque<Candidate>::iterator next_for(const Lane& lane);
    void measure(Lane& lane, const Candidate& candidate, double incumbent);
    void refuse_uncompilable();
    static bool worth_waiting(const Lane& lane) { return lane.at_work && !lane.unwanted && !lane.comparing; }
    /// Whether something wanted is being measured and will be finished soon; stops what takes
    /// longer.
    bool soon_finished();
    void wait_a_moment(bool compile);
    bool compilers_turn();
    bool may_compile();

    SamplingRule search_sampling() const;
    bool strict(const Candidate& candidate) const { return is_finalist(candidate) || settings_.strict; }
    double strict_seconds(const Candidate& candidate) const;
    double timeout(const Candidate& candidate) const;
    double patience(const Candidate& candidate) const;
    /// For a candidate; 0: none.
    double energy_seconds(bool finalist) const;

    RunFolder temporary_;                           ///< of its processes, which it outlives
    std::unique_ptr<RunFolder> folder_of_adopted_;  ///< which outlives them, too
    WorkerSettings settings_;
    Objective objective_;
    SamplingRule sampling_;  ///< of this problem
    CompilePool pool_;
    std::vector<Lane> lanes_;
    std::deque<Candidate> queue_;        ///< prepared, with no device yet
    std::vector<Finished> finished_;     ///< and not yet asked for
    std::span<const Candidate> wanted_;  ///< of the call of evaluate_next
    std::string problem_;
    std::uint64_t seed_ = 0;
    bool measured_one_ = false;  ///< of this problem
    double reference_seconds_ = 0;
    WaitingTime waiting_;
    std::optional<Finished> yardstick_;  ///< the first candidate that the first device measured, the safe one
};

}  // namespace hone::inline v0_1
