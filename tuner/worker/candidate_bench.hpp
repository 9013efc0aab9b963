#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "generator/family.hpp"
#include "runtime/backend.hpp"
#include "runtime/power.hpp"
#include "tuner/outcome.hpp"
#include "tuner/statistics.hpp"
#include "tuner/worker/verifier.hpp"

namespace hone::inline v0_1 {

/// Instruments that a bench reads beside the clock; each may be empty.
struct Instruments {
    std::function<std::optional<DeviceReading>()> state;  ///< of the device, asked right after a sampling period
    std::optional<PowerSource> power;                     ///< for rules that want energy
    double idle_watts = 0;                                ///< of the device doing nothing, by that meter; 0: not known
};

/// A problem's data on a device, ready to verify and time any of its configurations.
///
/// The verifier's data are uploaded once, when they are first needed: until then the device has
/// nothing to do with it, so that another bench's candidates may be timed while this one's data are
/// made. A candidate's first step is verified (tuner/worker/verifier.hpp). Then it is timed on the
/// evolving arrays: kernels that work in place see the state of the step before, as in an
/// application. Where a smaller problem is verified first (`verify_first_on`), only what is faster
/// than the incumbent is compared with the reference on this bench's own data.
///
/// Finalists, which may be stored, are verified again after their last timed sample, and once in
/// each of these ways: many steps, from other data, too, where memory has room for them, and the
/// same on other sizes (`verify_finalists_on`). So a kernel that goes wrong later, by chance, with
/// other data or at sizes of other parity is found before it is kept.
///
///     CandidateBench bench(*backend, family, problem, seed);
///     const Outcome outcome = bench.evaluate(space.safe(), 0, SamplingRule{});
class CandidateBench {
  public:
    /// Throws Error, before it allocates anything, when host or device have no room for the data.
    CandidateBench(Backend& backend, const Family& family, const Problem& problem, std::uint64_t seed, Instruments instruments = {});

    /// From now on candidates that have an incumbent take their first step on `small`, whose
    /// problem is a smaller one of the same family (see tuner/vetting_problem.hpp), where their
    /// source is the same there. One that is then timed as faster than the incumbent is verified on
    /// this bench's data, too, before it counts. Without an incumbent, as in the finals, candidates
    /// are verified here, unless they were. Lies on the device with this one (`place`).
    void verify_first_on(std::unique_ptr<Verifier> small);
    /// Finalists are verified on these problems of the same family, too, where their source is the
    /// same there but for numbers. Their data are made when there is a finalist.
    void verify_finalists_on(const std::vector<Problem>& problems);

    /// Seconds that the constructor spent on random data and the reference's answer.
    double reference_seconds() const { return whole_.reference_seconds(); }

    /// Lays the data out on the device, unless they lie there. `evaluate` does so, too; beforehand,
    /// errors are the problem's and no candidate's.
    void place();

    /// Compiles (from the disk cache if it is there), verifies and times. Never throws for the
    /// candidate's sake: a failure is an outcome. Throws MachineError, and what `place` throws.
    Outcome evaluate(const Config& config, double incumbent, const SamplingRule& rule, bool finalist = false);

    /// Whether the data that candidates are compared with are as they were made.
    bool intact();

  private:
    /// Another problem for finalists.
    struct Other {
        Problem problem;
        std::optional<SearchSpace> space;
        std::unique_ptr<Verifier> verifier;  ///< once there is a finalist
    };
    /// How a candidate is asked for.
    struct Request {
        const Config& config;
        const std::string& text;  ///< of its source
        double incumbent = 0;
        const SamplingRule& rule;
        bool finalist = false;
    };

    std::shared_ptr<const Kernel> loaded(const Problem& problem, const Config& config) const;
    void verify_and_time(const Request& request, Outcome& outcome);
    /// Whether the first step of a kernel is right, which was bound after `Verifier::begin`.
    static bool verified(Verifier& verifier, BoundKernel& kernel, Outcome& outcome);
    bool verified_on_small(const Config& config, Outcome& outcome);
    void time(const Request& request, const BoundKernel& kernel, Outcome& outcome);
    /// Whether all is well after the samples: guards, copies, and a finalist's later step.
    bool sound_after(const Request& request, BoundKernel& kernel, Outcome& outcome);
    /// A finalist, loaded anew, in many steps, on other data and on other problems.
    StepVerdict finalist_verdict(const Request& request);
    std::shared_ptr<const Kernel> loaded_on(Other& other, const Request& request);
    StepVerdict verdict_on(Other& other, const Request& request);
    /// Whether a configuration is a member of another problem's space with the same source.
    bool same_source(const Problem& problem, const SearchSpace& space, const Request& request) const;
    /// Energy of a step, from a stretch of steps under the power meter; nothing when the meter said
    /// too little.
    std::optional<Energy> metered(const BoundKernel& kernel, double step_seconds, const SamplingRule& rule);

    Backend& backend_;
    const Family& family_;
    Problem problem_;
    std::uint64_t seed_;
    Instruments instruments_;
    Verifier whole_;
    std::unique_ptr<Verifier> small_;         ///< that verifies first
    SearchSpace small_space_;                 ///< of its problem
    std::vector<Other> others_;               ///< that finalists are verified on
    std::map<std::string, double> verified_;  ///< of configurations that were verified on this bench's own data, by key: their error
    std::set<std::string> finalists_;         ///< that were right on other data and sizes, by key
};

}  // namespace hone::inline v0_1
