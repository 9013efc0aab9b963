#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "generator/families.hpp"
#include "runtime/backend.hpp"
#include "tools/console/command.hpp"
#include "tools/console/interrupt.hpp"
#include "tools/console/known_families.hpp"
#include "tools/searches/progress.hpp"
#include "tools/searches/session_view.hpp"
#include "tools/searches/tuning_report.hpp"
#include "tuner/tuning_request.hpp"
#include "tuner/worker/worker_evaluator.hpp"

namespace hone::tools {

/// The request to `hone tune`.
struct TuneSettings : TuningRequest {
    std::vector<Problem> problems;
    bool skip_tuned = false;  ///< pass over problems that the database answers exactly
    Device device;
    std::vector<WorkerPlace> places;       ///< of several devices of this kind; none: `device` alone
    std::vector<WorkerCommand> compilers;  ///< elsewhere, beside this machine's
    std::optional<Team> team;              ///< of the CPU, where a worker has a part of it
    int window = 0;                        ///< least candidates ahead of their reports; 0: the usual
    std::filesystem::path folder;          ///< of the database
    bool named_folder = false;             ///< it alone is read; else all that is known (tuning_db/places.hpp)
    double seconds = 0;                    ///< for all problems together; 0: no bound
    int evaluations = 0;                   ///< for each problem; 0: no bound
    double until = 0;                      ///< ends a problem's search (TuningOptions::until); 0: never
    int samples = SamplingRule{}.period;
    bool energy = false;  ///< meter the energy of finalists whatever the objective
    bool prior = true;    ///< begin with what the database knows of neighbouring problems and devices
    bool resume = false;
    bool measure_ceilings = false;  ///< although they are remembered
    bool watch = false;             ///< a terminal shows the whole session
};

/// One run of `hone tune`: several problems in turn on one device, each result stored as soon as it
/// is there. The time budget is shared evenly among the problems that remain, so that what one does
/// not need goes to the others.
class TuningSession {
  public:
    /// Throws Error when the folder of results cannot be written, MissingError when the device's
    /// kernels cannot be compiled here.
    TuningSession(TuneSettings settings, Console& console);

    /// Returns the results so far when Ctrl-C came. A problem that cannot be set up, or has no time
    /// left, has no record and says why; a record that could not be stored says so.
    std::vector<TunedProblem> run();

    const Ceilings& ceilings() const { return ceilings_; }
    /// Ctrl-C came; problems that are not among the results were not begun.
    bool interrupted() const { return interrupted_; }

  private:
    void require_meter(const std::string& option) const;
    bool room_for_ceilings(const Problem& problem) const;
    /// Takes what an earlier run measured, if there is such.
    bool recall_ceilings();
    void measure_ceilings();
    std::optional<TunedProblem> already_tuned(const Problem& problem) const;
    /// A problem that needs no tuning, or has no result because the database could not be asked.
    std::optional<TunedProblem> passed_over(const Problem& problem) const;
    TunedProblem tune_next(const Problem& problem, int number);
    std::vector<Config> prior(const Problem& problem);
    TuningResult watch(const Problem& problem, ProgressState& state);
    void keep(TunedProblem& tuned);
    void over(std::size_t place, const TunedProblem& tuned);
    TunedProblem tuned_at(std::size_t place);
    /// Ctrl-C came. Says so once, and what the run still waits for.
    bool stop_requested(const std::string& awaited);
    double share_of_budget(int number) const;

    InterruptGuard guard_;  // first, so that it outlives the workers: Ctrl-C may come at any time
    TuneSettings settings_;
    Console& console_;
    const Families& families_ = known_families();
    DiskCache cache_;
    std::unique_ptr<WorkerEvaluator> evaluator_;
    SessionLog log_;
    WatchedSession watched_;
    ProgressPrinter printer_;
    Ceilings ceilings_;
    bool measured_ceilings_ = false;  ///< or remembered, or tried
    double began_ = 0;                ///< budget
    bool told_ = false;               ///< that it stops
    bool interrupted_ = false;
};

}  // namespace hone::tools
