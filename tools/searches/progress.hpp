#pragma once

#include <string>

#include "tools/console/console.hpp"
#include "tuner/tuning_run.hpp"

namespace hone::tools {

struct WatchedSession;

/// Where the tuning of one of several problems stands.
struct ProgressState {
    int number = 1;  ///< of the problem, from 1
    int problems = 1;
    std::string problem;  ///< key
    Counts counts;        ///< of one time step
    double seconds = 0;   ///< budget; 0: no bound
    int evaluations = 0;  ///< bound on them; 0: none
    TuningProgress run;
};

/// Part of the run that is over, by budget or by candidates, whichever is nearer to its end;
/// between 0 and 1.
double part_done(const ProgressState& state);
/// Seconds that it will still take at most; negative when that cannot be said.
double seconds_left(const ProgressState& state);
/// "best 41.3 GB/s, 1.84x safe", or "nothing measured yet".
std::string best_so_far(const ProgressState& state);
/// "2 wrong, 1 crashed", or an empty string.
std::string failures(const std::map<Status, int>& counts);

/// One line of a terminal: bar, problem i of n, candidates, failures, time left, best so far; cut
/// to `columns`.
std::string progress_line(const ProgressState& state, int columns);

/// Shows progress: one line that is drawn again and again on a terminal; elsewhere a plain line for
/// each new best, and at least every ten seconds.
class ProgressPrinter {
  public:
    /// With `whole`, a terminal shows the whole session instead of a line; it must outlive the
    /// printer, which keeps its running problem up to date.
    explicit ProgressPrinter(Console& console, WatchedSession* whole = nullptr) : console_(console), whole_(whole) {}

    /// A new problem begins.
    void begin(const ProgressState& state);
    /// After an evaluation.
    void evaluated(const ProgressState& state);
    /// Any time: the time left goes down on a terminal. Draws at most five times a second.
    void tick(ProgressState state, double elapsed);
    /// Removes the terminal's line, so that other text can follow.
    void clear();

  private:
    void draw(const ProgressState& state);

    Console& console_;
    WatchedSession* whole_;
    double drawn_ = -1;  // elapsed seconds when the last line was written
    double best_ = 0;    // median of the best when the last line was written
};

}  // namespace hone::tools
