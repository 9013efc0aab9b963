#pragma once

#include <cstdint>
#include <string>

#include "solvers/hydro/operator.hpp"

namespace hone::inline v0_1::solvers::hydro {

enum class TimeScheme {
    rk2_average,  ///< second order; total energy changes by rounding alone. Dobrev, Kolev, Rieben (2012), 7
    rk4           ///< the classical one of fourth order
};
/// "rk2-average" or "rk4"; throws Error for anything else.
TimeScheme parse_scheme(const std::string& word);
std::string to_string(TimeScheme scheme);

/// Where a run stands.
struct Clock {
    double time = 0;
    double dt = 0;                ///< that the next step will try
    std::int64_t steps = 0;       ///< that were accepted
    std::int64_t rejections = 0;  ///< that were repeated with a shorter dt

    bool operator==(const Clock&) const = default;
};

/// Adaptive time steps: a step after which the estimate is shorter than the step is repeated with
/// 0.85 of it; after one whose estimate is more than 1.25 of it the next is 1.02 times as long. The
/// last step ends at the time wanted.
///
///     Stepper stepper(*op, TimeScheme::rk2_average, discretisation.first);
///     while (stepper.clock().time < 0.8) stepper.step(0.8);
///     const State state = stepper.state();
class Stepper {
  public:
    /// Begins with the state and the estimate of its time step. The operator must outlive the
    /// stepper.
    Stepper(Operator& on, TimeScheme scheme, const State& first);
    /// Goes on where another stood, to the same bits.
    Stepper(Operator& on, TimeScheme scheme, const State& state, const Clock& clock);

    /// One accepted step towards `end`. Throws Error when the time step vanishes.
    void step(double end);
    const Clock& clock() const { return clock_; }
    State state() { return on_.get(now_); }

  private:
    void rk2_average(double dt);
    void rk4(double dt);

    Operator& on_;
    TimeScheme scheme_;
    Clock clock_;
    int now_ = 0, next_ = 1, rate_ = 2, trial_ = 3;  // slots
};

}  // namespace hone::inline v0_1::solvers::hydro
