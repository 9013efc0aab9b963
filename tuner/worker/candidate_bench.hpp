#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "generator/family.hpp"
#include "runtime/backend.hpp"
#include "runtime/power.hpp"
#include "tuner/outcome.hpp"
#include "tuner/statistics.hpp"

namespace hone::inline v0_1 {

class BoundKernel;
class Kernel;

/// Instruments that a bench reads beside the clock; each may be empty.
struct Instruments {
    std::function<std::optional<DeviceReading>()> state;  ///< of the device, asked right after a sampling period
    std::optional<PowerSource> power;                     ///< for rules that want energy
    double idle_watts = 0;                                ///< of the device doing nothing, by that meter; 0: not known
};

/// A problem's data on a device, ready to verify and time any of its configurations.
///
/// It keeps copies of the inputs and the expected outputs on the device, uploaded once, when they
/// are first needed: until then the device has nothing to do with it, so that another bench's
/// candidates may be timed while this one's data are made. Every candidate starts from restored
/// inputs and poisoned outputs (poison_byte). After its first step all arrays are compared with the
/// reference, value by value. Inputs are compared, too, because a kernel must not change them. Then
/// the candidate is timed on the evolving arrays: kernels that work in place see the state of the
/// step before, as in an application. Where a smaller bench verifies first (`verify_first_on`),
/// only what is faster than the incumbent is compared with the reference on this bench's own data.
/// Guard words lie before and after each array. They are checked after the first step and after the
/// last, and find kernels that write past an end.
///
///     CandidateBench bench(*backend, family, problem, seed);
///     const Outcome outcome = bench.evaluate(space.safe(), 0, SamplingRule{});
class CandidateBench {
  public:
    /// Throws Error, before it allocates anything, when host or device have no room for the data.
    CandidateBench(Backend& backend, const Family& family, const Problem& problem, std::uint64_t seed, Instruments instruments = {});

    /// From now on candidates that have an incumbent take their first step on `small`, a bench of
    /// the same family whose problem is smaller (see tuner/vetting_problem.hpp), where their source
    /// is the same there. One that is then timed as faster than the incumbent is verified on this
    /// bench's data, too, before it counts. Without an incumbent, as in the finals, candidates are
    /// verified here, unless they were. Lies on the device with this one (`place`).
    void verify_first_on(std::unique_ptr<CandidateBench> small);

    /// Seconds that the constructor spent on random data and the reference's answer.
    double reference_seconds() const { return reference_seconds_; }

    /// Lays the data out on the device, unless they lie there. `evaluate` does so, too; beforehand,
    /// errors are the problem's and no candidate's.
    void place();

    /// Compiles (from the disk cache if it is there), verifies and times. Never throws for the
    /// candidate's sake: a failure is an outcome. Throws MachineError, and what `place` throws.
    Outcome evaluate(const Config& config, double incumbent, const SamplingRule& rule);

  private:
    struct Array {
        DeviceArray memory;  ///< the guard words, the words that candidates work on, the guard words again
        void* working = nullptr;
        DeviceArray pristine;  ///< of inputs
        DeviceArray expected;  ///< of outputs
        DeviceArray guards;    ///< as both guards have to be, one after the other
        std::int64_t values = 0;
        ValueType type = ValueType::f32;
        std::int64_t bytes = 0;
        Access access = Access::in;
        std::string name;
    };

    /// Before a candidate's first step: everything that it may read or write. Inputs that no step
    /// is to change stay as they are where the last candidate is known to have left them alone in
    /// its own first step.
    void restore(bool inputs);
    /// The first step of a candidate: where it differs from the reference, or what else is wrong
    /// with it.
    struct FirstStep {
        std::string overwritten;  ///< see below
        double error = 0;
        std::string where;  ///< the array of the largest difference
    };
    FirstStep first_step(const BoundKernel& kernel);
    std::shared_ptr<const Kernel> loaded(const Config& config) const;
    /// Whether the first step of a kernel, which was bound to restored arrays, is right; `intact`
    /// if they were not wholly restored. Writes what it finds into the outcome.
    bool verified(BoundKernel& kernel, bool intact, Outcome& outcome);
    bool verified(const Config& config, Outcome& outcome);
    /// Whether the smaller bench can verify a configuration, whose source here is `text`.
    bool same_on_small(const Config& config, const std::string& text) const;
    /// Before it is timed: what its first step changed of what a step reads. Its outputs were
    /// compared with the reference, its inputs with themselves.
    void restore_changed();
    /// Every array's guards beside what they have to be: the one before it, the one behind it.
    std::vector<ArrayPair> guard_comparisons() const;
    /// Names an array that was written past an end; empty when none was.
    std::string overwritten(std::span<const double> guard_differences) const;
    /// Energy of a step, from a stretch of steps under the power meter; nothing when the meter said
    /// too little.
    std::optional<Energy> metered(const BoundKernel& kernel, double step_seconds, const SamplingRule& rule);

    Backend& backend_;
    const Family& family_;
    Problem problem_;
    Instruments instruments_;
    std::unique_ptr<CandidateBench> small_;   ///< that verifies first
    SearchSpace small_space_;                 ///< of its problem
    std::map<std::string, double> verified_;  ///< of configurations that were verified on this bench's own data, by key: their error
    std::optional<Workload> workload_;        ///< until it lies on the device
    std::vector<Array> arrays_;
    std::vector<void*> pointers_;
    double tolerance_ = 0;
    std::vector<double> tolerances_;  ///< of a workload's arrays
    double reference_seconds_ = 0;
    bool inputs_intact_ = false;  ///< as far as the last candidate's first step shows
};

}  // namespace hone::inline v0_1
