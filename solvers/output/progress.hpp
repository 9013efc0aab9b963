#pragma once

#include <cstdint>
#include <functional>
#include <ostream>
#include <string>

namespace hone::inline v0_1::solvers {

/// Where a bar is drawn, and by which clock.
struct Screen {
    std::ostream* stream = nullptr;
    bool terminal = false;          ///< a line can be drawn again
    int columns = 100;              ///< of the terminal
    std::function<double()> clock;  ///< seconds, never going back
};
/// Standard error, so that results can be redirected.
Screen standard_screen();

/// How far a long loop is: on a terminal one line that is drawn again, at most five times a second;
/// elsewhere a plain line every ten seconds, so that a log shows that the program is alive.
///
///     Progress progress("time steps", steps);
///     for (int step = 0; step < steps; ++step) {
///         ...
///         progress.at(step + 1, fmt::format("energy {:.3g}", energy));   // [######......]  1 200 of 4 000 time steps, 12 s left  energy 0.31
///     }
///
/// `at` costs a look at the clock. The line disappears at the end, or by `clear` before other text.
class Progress {
  public:
    Progress(std::string unit, std::int64_t total, Screen screen = standard_screen());
    ~Progress();
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    /// `done` of the total are over. `note` is made only when it is shown.
    void at(std::int64_t done, const std::function<std::string()>& note);
    void at(std::int64_t done, const std::string& note = {});
    void clear();
    double elapsed() const { return screen_.clock() - began_; }

  private:
    std::string line(std::int64_t done, const std::string& note, double elapsed) const;

    std::string unit_;
    std::int64_t total_;
    Screen screen_;
    double began_;
    double shown_;  // when the last line was written
    bool visible_ = false;
};

}  // namespace hone::inline v0_1::solvers
