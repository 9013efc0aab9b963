#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "generator/search_space.hpp"
#include "tuner/outcome.hpp"
#include "tuner/statistics.hpp"
#include "tuner/strategy.hpp"
#include "tuner/tuner.hpp"

namespace hone::inline v0_1 {

/// The numbers by which an application is tuned while it runs.
struct OnlineRules {
    double bound = 0.05;    ///< the part of the time of all steps that may be lost to exploring
    int evaluations = 100;  ///< candidates, before the finalists are compared; 0: all of the space
    TunerSettings tuner{.window = 32};
    /// As offline, but for `worse`: between two candidates 2 % are worth a switch, not worth more
    /// of the application's time.
    SamplingRule sampling{.worse = 1.02, .most_seconds = 10.0};
    int turn = 5;              ///< steps in a row of the candidate, then of the incumbent, then of the candidate, ...
    double twice = 3;          ///< a candidate this many times slower than the incumbent is dropped after two steps
    double screen = 2.5;       ///< so slow in the worker already, it never runs in the application; 0: whatever is right may run
    double unknown = 2;        ///< times the incumbent's step that a candidate is taken to need, where the worker's times say nothing
    double margin = 1.25;      ///< times the worker's estimate that a candidate may need in the application
    double drift = 0.05;       ///< relative move of the incumbent's median ...
    int drift_block = 20;      ///< ... over two blocks of so many samples that opens the tuning again
    int sparse = 8;            ///< when nothing is tried, one step of so many is timed
    int disturbed_sparse = 1;  ///< ... and of so many while a job goes on in the background
    int ahead = 2;             ///< vetted candidates that wait for their turn
    double first_job = 0;      ///< seconds that the first job in the background is taken to cost the application
};

/// One step of the application: which configuration it runs, and what its time will be good for.
struct OnlineStep {
    std::int64_t index = 0;  ///< in the search space
    bool timed = false;      ///< its seconds are to be told
    bool explores = false;   ///< it is not the incumbent's
    bool disturbed = false;  ///< work in the background ran beside it
    std::int64_t trial = -1;
    int stands_for = 1;   ///< itself and the steps before it that were not timed
    double reserved = 0;  ///< seconds of the budget that wait for its time
};

/// A line for the journal: what the tuner was told.
struct OnlineEvent {
    enum class Kind { evaluation, finish, done, reopened };
    Kind kind = Kind::evaluation;
    Candidate candidate;  ///< of `reopened`: the incumbent
    Outcome outcome;
};

/// Why a candidate is not the incumbent.
struct OnlineRejection {
    std::string config;
    std::string reason;
};

/// Where online tuning stands. Times are in seconds.
struct OnlineProgress {
    std::int64_t steps = 0;
    std::int64_t explored_steps = 0;  ///< of these, that ran a candidate
    double seconds = 0;               ///< of all steps; of those that were not timed by the incumbent's median
    double explored_cost = 0;         ///< sum over explored steps of what they took longer than the incumbent's median
    double disturbance = 0;           ///< what the incumbent's steps took longer while work went on in the background
    double stalls = 0;                ///< what switching cost
    double bound = 0;
    double saved = 0;                ///< seconds, compared with the first incumbent in every step
    int evaluations = 0;             ///< candidates of this search that came to an outcome
    int tried = 0;                   ///< that ran in the application
    int adopted = 0;                 ///< that became the incumbent
    std::int64_t first_adopted = 0;  ///< steps that had begun when the first one did; 0: none has
    int drifts = 0;                  ///< times that the device or the application changed its pace
    bool finals = false;             ///< the finalists are being compared
    bool settled = false;            ///< nothing is left to try, unless something drifts
    double median = 0;               ///< of the incumbent's latest steps
    double first_median = 0;
    std::int64_t first = 0;                   ///< incumbent at the start
    std::int64_t incumbent = 0;               ///< now
    std::vector<OnlineRejection> rejections;  ///< the latest

    double regret() const { return explored_cost + disturbance + stalls; }
    double allowed() const { return bound * seconds; }
};

/// Decides which configuration an application's next step runs. It is the pure part of online
/// tuning: no clock, no device, no thread. It is asked before every step. It is told the seconds of
/// some steps, in order and with any delay, and the results of background work on candidates.
///
///     OnlinePolicy policy(space, strategies().front(), seed, incumbent);
///     for (...) {
///         for (const auto& candidate : policy.take_wanted()) ...  // compile and verify; then policy.vetted(candidate.index, outcome)
///         const OnlineStep step = policy.next(working_in_the_background);
///         const double seconds = run(step.index);
///         if (step.timed) policy.told(step, seconds);
///     }
///
/// The incumbent is the best configuration known. It runs all steps except those of a trial. A
/// trial is a candidate's sampling period: a few of its steps and as many of the incumbent, in
/// turns. It ends as soon as the candidate is clearly slower (dropped) or clearly faster (adopted),
/// or after a whole period. The outcome goes to the same `Tuner` that tunes offline. It chooses the
/// next candidate, and compares the finalists in the end. The costs that it is told are relative to
/// the incumbent's at the same time, so that a drift of the device favours neither early nor late
/// candidates.
///
/// Regret has three parts: the excess of an explored step over the incumbent's median, the excess
/// of the incumbent's own steps over it while background work disturbs them, and the stalls of
/// switching. A candidate's step is launched only when its worst expected regret fits into the
/// budget, together with that of its steps whose times are outstanding. The budget is `bound` times
/// the time of all steps so far, less the regret so far. So regret exceeds the bound by one step at
/// most: the first step of a candidate is a guess. Background work obeys `may_work` and
/// `must_pause`.
class OnlinePolicy {
  public:
    /// `incumbent`, a member of the space, runs first. `promising` members are tried first. `space`
    /// must outlive the policy.
    OnlinePolicy(const SearchSpace& space, const StrategyEntry& strategy, std::uint64_t seed, std::int64_t incumbent, OnlineRules rules = {},
                 std::vector<std::int64_t> promising = {});
    ~OnlinePolicy();
    OnlinePolicy(OnlinePolicy&&) noexcept;
    OnlinePolicy& operator=(OnlinePolicy&&) noexcept;

    /// Replays what an earlier run told its tuner, in order, before the first step. False when this
    /// run would have tried another candidate: start anew then.
    bool resume(const Candidate& candidate, const Outcome& outcome);
    void resume_finish();

    /// Candidates to be vetted (compiled, verified, loaded) that were not handed out before, the
    /// incumbent among them.
    std::vector<Candidate> take_wanted();
    /// Whether a candidate that was handed out is still wanted.
    bool wants(std::int64_t index) const;
    /// Reports a worker's result: a failure, or a verification with a few times of steps at some
    /// size. These are compared with the incumbent's times at that size.
    void vetted(std::int64_t index, const Outcome& outcome);
    /// Reports a candidate that passed but cannot run here.
    void unusable(std::int64_t index, const std::string& reason);
    /// A job that may slow the application's steps may begin now.
    bool may_work() const;
    /// Whether such a job must pause now. Ask again to learn when it may continue.
    bool must_pause();
    /// Reports the end of such a job. Its cost is the estimate for the next one.
    void work_done();

    /// The step to be launched now. `disturbed`: a job is under way. With `may_time` false, nothing
    /// but a trial's steps is timed.
    OnlineStep next(bool disturbed = false, bool may_time = true);
    /// Seconds of a timed step. Steps are told in order.
    void told(const OnlineStep& step, double seconds);
    /// Reports seconds that the application lost to making a candidate ready, for example to
    /// filling its tables from the arrays.
    void stalled(double seconds);

    /// The events that were told to the tuner since the last call.
    std::vector<OnlineEvent> take_events();
    std::int64_t incumbent() const;
    double pace() const;  ///< median of the incumbent's latest steps; 0: not known yet
    bool settled() const;
    bool compared() const;  ///< see Tuner
    /// Of the incumbent, from its latest undisturbed steps; nothing before it was verified by a
    /// worker.
    std::optional<Outcome> standing() const;
    /// The safe configuration's median, or 0.
    double safe_seconds() const;
    OnlineProgress progress() const;

  private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace hone::inline v0_1
