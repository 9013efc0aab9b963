#pragma once

#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "generator/config.hpp"
#include "generator/kernel_source.hpp"
#include "generator/problem.hpp"
#include "tuning_db/device.hpp"

namespace hone::inline v0_1 {

/// Robust summary of the seconds of one time step over a sampling period.
struct Statistics {
    double median = 0;
    double low = 0;   ///< lower bound of the 95 % confidence interval of the median
    double high = 0;  ///< upper bound
    double minimum = 0;
    int samples = 0;

    bool operator==(const Statistics&) const = default;
};

/// Versions that a result depends on, beside the device's.
struct Versions {
    std::string hone;         ///< version of the project
    std::string source_hash;  ///< SHA-256 of the kernel: kernel_hash (runtime/kernel_hash.hpp)

    bool operator==(const Versions&) const = default;
};

/// Electrical energy of one time step, as a meter said it.
struct Energy {
    Statistics joules;              ///< of one time step
    double watts = 0;               ///< mean while the steps ran
    double idle_watts = 0;          ///< of the device doing nothing; 0: not measured
    std::string source;             ///< the meter, a plain word: "nvml", "rapl"; of several devices together "nvml+rapl"
    double samples_per_second = 0;  ///< how often the meter was read
    double resolution_seconds = 0;  ///< the meter's shortest time between two values of its own; 0: not known
    double resolution_watts = 0;    ///< least difference between two values of the meter; 0: not known

    bool operator==(const Energy&) const = default;
};

/// The threads that a CPU kernel was measured with. Their number is the device's `units`.
struct Team {
    std::string processors;  ///< that they might run on, by the system's numbers: "0-15"
    std::string binding;     ///< to these, by OpenMP: "none", "true", "primary", "close" or "spread"

    bool operator==(const Team&) const = default;
};

/// The state of the device and the machine while a result was measured. Unknown values are absent.
struct Conditions {
    std::optional<double> sm_megahertz;  ///< clock of the multiprocessors, right after the last sampling period
    std::optional<double> memory_megahertz;
    std::optional<double> temperature_celsius;
    std::vector<std::string> throttle_reasons;  ///< why the clock was below its maximum: "software power cap"
    std::string busy;                           ///< what else the machine did meanwhile, in words; empty: nothing worth a word

    bool empty() const { return *this == Conditions(); }
    bool operator==(const Conditions&) const = default;
};

/// Seconds of one step on a device that computes n units of the range: T = a + b n.
struct AffineCost {
    double a = 0;      ///< seconds, whatever the share: launch, transfer, start of threads
    double b = 0;      ///< seconds per unit
    double sigma = 0;  ///< of one period's time, as part of it
    int samples = 0;   ///< periods that a and b come from

    bool operator==(const AffineCost&) const = default;
};

/// How two devices share every time step. The record's own device computes `share` of the range,
/// the partner the rest; `Record::step` is the time of both together.
struct Hybrid {
    DeviceFingerprint partner;
    Config partner_config;
    double share = 1;              ///< of the record's own device, 0..1
    std::int64_t granularity = 1;  ///< units of the range (Family::range_unit) of which the share is a multiple
    AffineCost own_cost;           ///< of the record's own device
    AffineCost partner_cost;
    double own_seconds = 0;      ///< median step of the own device alone, in the same run; 0: not measured
    double partner_seconds = 0;  ///< of the partner alone

    bool operator==(const Hybrid&) const = default;
};

/// How the ranks of an application exchange what they share in every step, each on a device of the
/// record's model. `Record::step` is the time of such a step on the slowest rank.
struct Exchange {
    std::string program;       ///< whose step it is, a plain word: "poisson"
    std::string link;          ///< what lies between its ranks (runtime/ranks/link_name.hpp)
    int ranks = 2;             ///< as many, at least two
    Config config;             ///< a value of each tunable of the exchange: messages=stores,edges=ahead
    double usual_seconds = 0;  ///< median step, in the same run, by what is usual where nothing is known; 0: not measured

    bool operator==(const Exchange&) const = default;
};

/// Record::found of what was measured at a problem's first use (tuner/online/first_use.hpp).
inline constexpr const char* found_at_first_use = "first_use";

/// One measured and verified fact: this configuration computes this problem on this device at this
/// cost.
struct Record {
    Problem problem;
    Config config;
    DeviceFingerprint device;
    Statistics step;  ///< seconds of one time step
    Counts counts;    ///< of one time step
    /// Largest |computed - reference|; infinity: not verified, so never handed out by a look-up.
    double verification_error = std::numeric_limits<double>::infinity();
    double tolerance = 0;  ///< what was allowed
    /// Key of the problem of smaller extents on which it was verified; empty: its own, as `problem`
    /// says. Where that is not empty, no look-up calls it exact.
    std::string verified_on;
    double safe_seconds = 0;            ///< median step of the untuned safe configuration in the same run; 0: not measured
    double safe_joules = 0;             ///< median energy of its step, metered in the same run; 0: not metered
    double ceiling_fraction = 0;        ///< achieved part of the device's measured ceiling for this problem; 0: not measured
    std::string ceiling;                ///< which ceiling binds: "memory" or "arithmetic"; empty when not measured
    std::string strategy;               ///< how it was found
    std::optional<std::uint64_t> seed;  ///< of the search's random choices; absent in records of before
    int evaluations = 0;                ///< candidates evaluated
    std::string date;                   ///< ISO 8601, UTC: "2026-11-21T14:05:00Z"
    Versions versions;
    /// The purpose of the tuning, where it was not the least time of one step on this device alone
    /// with warm caches: a word that later kinds of results choose ("cold", "energy", "hybrid",
    /// "exchange").
    /// Records of different purposes stand side by side; `Database::best` looks at those without
    /// one.
    std::string purpose;
    /// How it was found: "offline" by `hone tune` and the like, "online" inside a running
    /// application, "first_use" among the few configurations that were suggested when the problem
    /// was first used; empty: not said.
    std::string found;
    /// Why the configuration must not run, in words: it was verified, and found to compute
    /// something else than the reference. Such a record is a mark: it stands beside all others of
    /// its problem, and a database drops those that it refutes (`refutation_key`).
    std::string wrong;
    /// Why its figures cannot be right, in words; empty: nothing speaks against them. Such a record
    /// gives way to any verified one about the same subject that has no such reason, and answers
    /// look-ups where there is none.
    std::string disturbed;
    Conditions conditions;             ///< of the measurement; empty in records of before
    std::string measured_on;           ///< which of the run's devices, all of one kind, as it called it: "cuda:1"; empty: it had one
    std::optional<Team> team;          ///< of the CPU; absent in records of before, and of other devices
    std::optional<Energy> energy;      ///< of `config`, whatever was tuned for
    std::optional<Hybrid> hybrid;      ///< of purpose "hybrid", and no other
    std::optional<Exchange> exchange;  ///< of purpose "exchange", and no other
    /// Fields that this program does not know, by name, as JSON text: kept as they are, so that
    /// nothing a newer program added is lost in a merge.
    std::vector<std::pair<std::string, std::string>> further;

    bool verified() const { return wrong.empty() && verification_error <= tolerance; }
    /// Verified at its own size.
    bool verified_whole() const { return verified() && verified_on.empty(); }
    /// Whether several devices took the step together, so that it says little of one.
    bool of_several_devices() const { return hybrid || exchange; }

    /// Achieved rates from counted work: GB/s, GFLOP/s, 1e9 updates/s.
    double gigabytes_per_second() const { return counts.bytes / step.median * 1e-9; }
    double gigaflops() const { return counts.operations / step.median * 1e-9; }
    double gigaupdates_per_second() const { return counts.updates / step.median * 1e-9; }
};

/// A moment as records have it: "2026-11-21T14:05:00Z". Texts of later moments come later in the
/// alphabet.
std::string utc_date(std::chrono::system_clock::time_point moment = std::chrono::system_clock::now());

/// Whether version `a` ("0.1.0") is older than `b`.
bool is_older_version(const std::string& a, const std::string& b);

/// Time of the safe configuration over time of the winner; 0 when it was not measured.
double gain(const Record& record);

/// Whether the safe configuration was faster beyond the noise, measured in the same run on a GPU:
/// the rules that choose it have got better since the search.
bool beaten_by_safe(const Record& record);

/// Energy of a step of the safe configuration over the winner's: its greenup over the untuned
/// kernel; 0 when one of them was not metered.
double greenup_over_safe(const Record& record);

/// Says why a record's gain over the safe configuration is not credible; empty where it is. Beyond
/// 20x on a processor it comes from a busy machine far more often than from the search: who lends
/// cores to others is slowed down by other factors from one minute to the next. A GPU is not lent
/// in that way, and 56x was measured there more than once (batched_gemm of 1 x 49 x 2, before its
/// safe configurations depended on the shape): 100x.
std::string implausible_gain(const Record& record);

/// Says how the threads that a record was measured with differ from those of `device`; empty where
/// they do not.
std::string other_threads(const Record& record, const DeviceFingerprint& device);

/// The subject of a record: device model, problem with its extents, purpose. A database keeps one
/// record of each. A shared step is also about its two configurations and its partner, because the
/// share that suits one pair of kernels says little about another. An exchange is also about its
/// program, its link and the number of ranks. A mark (Record::wrong) is about what it refutes.
std::string subject(const Problem& problem, const DeviceFingerprint& device, const std::string& purpose);
std::string subject(const Record& record);

/// What a mark (Record::wrong) refutes, whatever it was tuned for: this configuration of this
/// problem on this device model, compiled from this source. A changed source is another kernel.
std::string refutation_key(const Record& record);

/// The order of records in a file: by subject, numbers by size (order 2 before order 10).
bool stands_before(const Record& a, const Record& b);

/// True when `a` should replace `b`, both about the same subject. A strict total order, so that
/// merging in any order and grouping gives the same:
///
/// 1. verified within its tolerance before not verified, and at its own size before a smaller one;
/// 2. undisturbed before disturbed;
/// 3. measured with the newer version of hone, because an older one's source may be gone;
/// 4. faster beyond the noise (of purpose "energy": less energy; "energy_delay": less energy times
///    time): the upper bounds of the medians' confidence
/// intervals on a
///    logarithmic grid of 1 %, so that a noisy measurement does not beat a precise one. (Overlap of intervals would not be transitive: then a merge's
///    result would depend on its order.)
/// 5. of a tie the one that was searched for, not chosen among a few suggestions at first use;
/// 6. then the one that says the device's clocks, so that what `hone verify --update` completed
///    stays;
/// 7. then the older, so that files change little; equal dates are decided by median, configuration
///    and the remaining contents.
bool better(const Record& a, const Record& b);

/// The threads of this process's kernels on a device, as a record keeps them; nothing where the
/// device is no CPU.
std::optional<Team> team_of(const DeviceFingerprint& device);

}  // namespace hone::inline v0_1
