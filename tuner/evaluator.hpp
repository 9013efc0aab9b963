#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <utility>

#include "generator/problem.hpp"
#include "tuner/objective.hpp"
#include "tuner/outcome.hpp"
#include "tuner/tuner.hpp"

namespace hone::inline v0_1 {

/// Seconds of the wall clock that an evaluator spent on no candidate in particular.
struct WaitingTime {
    double setup = 0;      ///< until a problem's data lay on the device, the reference's part left out
    double reference = 0;  ///< for random data and the answer of the plain loops
    double compile = 0;    ///< for compilers, when nothing else could be done
};

/// One of several candidates, by its place among them, and what became of it.
struct Evaluated {
    std::size_t place = 0;
    Outcome outcome;
};

/// Turns candidates into outcomes: on a device through a worker process (worker_evaluator.hpp), or
/// by a formula in a simulation.
///
/// A candidate's failure is an outcome; an Error means that nothing can be evaluated any more, as
/// where the machine is at fault (MachineError), but for another host, which costs its device
/// alone.
class Evaluator {
  public:
    virtual ~Evaluator() = default;
    /// Sets what is measured from the next `begin` on; at first the time alone.
    virtual void set_objective(const Objective& /*objective*/) {}
    /// Sets the problem up before its first candidate. No sampling period is to last longer than
    /// `most_seconds`. Throws Error, here or at the first candidate, when it cannot be set up: the
    /// device is too small, say.
    virtual void begin(const Problem& problem, std::uint64_t seed, double most_seconds) = 0;
    /// `candidate` is to be evaluated soon, after those prepared before it: compile it ahead.
    virtual void prepare(const Candidate& candidate) = 0;
    /// Configurations that may become candidates, in the order of their worth: compile them ahead
    /// when nothing else is to be compiled.
    virtual void foresee(std::span<const Config> /*configs*/) {}
    /// Evaluates the candidate prepared longest ago. It may be dropped early when it is clearly
    /// slower than `incumbent` seconds a step (0: never). Nothing when `stop` said so before it was
    /// finished; it is still prepared then.
    virtual std::optional<Outcome> evaluate(const Candidate& candidate, double incumbent, const std::function<bool()>& stop) = 0;
    /// Evaluates some of the candidates that were prepared, which come in that order, and returns
    /// what is finished first: several devices work at several at once. One device takes the
    /// oldest. Nothing when `stop` said so before; all are still prepared then.
    virtual std::optional<Evaluated> evaluate_next(std::span<const Candidate> prepared, double incumbent, const std::function<bool()>& stop) {
        auto outcome = evaluate(prepared.front(), incumbent, stop);
        return outcome ? std::optional(Evaluated{0, std::move(*outcome)}) : std::nullopt;
    }
    /// Gives up candidates that were prepared and not evaluated.
    virtual void abandon() = 0;
    /// Since it was made.
    virtual WaitingTime waiting() const { return {}; }
};

}  // namespace hone::inline v0_1
