#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "runtime/hybrid_kernel.hpp"
#include "runtime/power.hpp"
#include "tuner/sharing/load_balancer.hpp"
#include "tuning_db/record.hpp"

namespace hone::inline v0_1 {

/// One sampling period of shared steps.
struct BalancePeriod {
    std::int64_t units = 0;  ///< of the first device
    double share = 0;
    Statistics step;       ///< the whole step, seconds
    Statistics first;      ///< the first device's part; zeros where it had none
    Statistics second;     ///< the second's
    double exchange = 0;   ///< median seconds of the exchange
    bool settled = false;  ///< the balancer's verdict after this period
};

/// One way to compute a step, under the power meters.
struct MeteredWay {
    std::int64_t units = 0;
    double seconds = 0;                                ///< median of a step
    std::array<std::optional<PowerSummary>, 2> power;  ///< of the devices that take part; nothing where no meter says it
    /// Watts of all devices that take part; nothing where one of them has no meter.
    std::optional<double> watts() const;
    std::array<bool, 2> takes_part{};
};

struct BalanceSettings {
    int period = 40;  ///< steps of a sampling period
    int most_periods = 24;
    double most_seconds = 2;    ///< a period ends after so much time and three steps, so that a slow device alone does not hold everything up
    int sweep = 0;              ///< also time shares 0, 1/sweep, 2/sweep, ..., 1; 0: none
    double energy_seconds = 0;  ///< also run each device alone and both together so long under the meters; 0: no
    std::array<std::optional<PowerSource>, 2> meters;
    std::array<double, 2> idle_watts{};                  ///< of each device, by its meter; 0: not known
    std::optional<Hybrid> known;                         ///< the share that a database has for this pair: the run begins settled there
    std::uint64_t seed = 1;                              ///< of the problem's data
    std::function<void(const BalancePeriod&)> progress;  ///< after each period, of the sweep too
    std::function<bool()> stop;                          ///< asked after each period: true ends the run
};

struct BalanceOutcome {
    Record record;  ///< of purpose "hybrid"; not verified where a shared step's result was wrong
    std::vector<BalancePeriod> periods;
    std::vector<BalancePeriod> sweep;
    std::vector<MeteredWay> metered;  ///< second alone, first alone, both
    bool settled = false;             ///< within most_periods, and not stopped
    int periods_used = 0;             ///< until it settled
    Transfers exchanged, moved;
};

/// Finds the share of a problem between two devices on data of its own: verifies a shared step
/// against the reference, lets a LoadBalancer choose the share of period after period until it
/// settles, and verifies the result once more there. Throws Error as HybridKernel does.
///
///     const BalanceOutcome outcome = balance(family, {gpu.get(), gpu_kernel}, {cpu.get(), cpu_kernel}, {});
///     database.add(outcome.record);
BalanceOutcome balance(const Family& family, const HybridSide& first, const HybridSide& second, const BalanceSettings& settings);

}  // namespace hone::inline v0_1
