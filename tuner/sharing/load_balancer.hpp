#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <vector>

#include "tuning_db/record.hpp"

namespace hone::inline v0_1 {

/// The times of two devices in one sampling period: seconds of one step, each the median of the
/// period's steps.
struct SharedTimes {
    double first = 0;   ///< busy time of the first device; ignored where it had no units
    double second = 0;  ///< of the second
    double step = 0;    ///< the whole step: both, and what only a shared step needs (exchange, synchronisation)
    double sigma = 0;   ///< standard error of these times, as part of them, where the caller knows it; 0: from the fit's residuals alone
};

struct LoadBalancerSettings {
    std::int64_t units = 1;        ///< of the whole range: elements, planes, zones
    std::int64_t granularity = 1;  ///< the first device gets a multiple of it, or all
    /// Seconds that moving one unit from device to device costs, and the number of steps left to
    /// earn it back.
    double seconds_per_moved_unit = 0;
    double remaining_steps = std::numeric_limits<double>::infinity();
};

/// The state of a balancer, a plain value. A balancer made from it continues as the original would.
struct BalancerState {
    struct Side {
        std::vector<double> alone;                            ///< of the last eight periods with all units on this device: seconds
        std::vector<std::pair<std::int64_t, double>> shared;  ///< of the last eight shared periods: units and seconds
        bool timed_again = false;                             ///< `alone` was doubtful once
        int off = 0;           ///< settled periods in a row that were all slower (above 0) or all faster than the model by too much
        double off_ratio = 1;  ///< measured over modelled, of these periods
    };
    std::array<Side, 2> sides;
    std::vector<double> overheads;   ///< of the last eight shared periods: step less the longer of the two times
    std::vector<double> deviations;  ///< standard errors that came with the last eight periods
    std::int64_t units = 0;          ///< of the first device, in the coming period
    std::vector<SharedTimes> held;   ///< of the periods that may be the beginning of a drift: not part of the model yet
    bool settled = false;
    int trials = 0;  ///< shared periods since the search was last opened
    int periods = 0;
};

/// Finds the share of a step for each of two devices so that both end at the same moment. It has no
/// clock and no device: it is told the times of a period, and says how many units the first device
/// takes in the next one.
///
/// The cost of each device is taken as affine in its units, T = a + b n with a, b >= 0: launches,
/// transfers and the start of threads are in a. The first period gives the first device everything
/// and the second gives it nothing: then both end points are known, one device alone being free of
/// synchronisation. The third shares by speed; every later one goes where the least-squares lines
/// through all known points cross. It settles when the lines cross where it stands, after four
/// shared periods, or at once on one device where sharing cannot gain 1 %. An end point that a
/// shared period contradicts (no device needs more than m times as long for m times the units) is
/// timed once more. Noise-free affine costs are settled in the fourth period; ADR 0014 says how
/// well noisy ones are.
///
/// Once settled it moves only when the predicted gain beats 2 % and two standard deviations of a
/// period's times and repays what moving costs. Three periods in a row that differ by more than 5 %
/// (and two standard deviations) from the model in one direction re-open the search.
///
///     LoadBalancer balancer({.units = planes, .granularity = 2});
///     while (running) balancer.tell(times_of_a_period_with(balancer.units()));
class LoadBalancer {
  public:
    explicit LoadBalancer(const LoadBalancerSettings& settings);
    /// Goes on where another one was. Throws Error for a state of another range.
    LoadBalancer(const LoadBalancerSettings& settings, BalancerState state);
    /// Begins settled at the share that a record of the same problem has, with its models; without
    /// models at that share, but not settled.
    LoadBalancer(const LoadBalancerSettings& settings, const Hybrid& known);

    /// Units of the first device in the coming period: a multiple of the granularity, or all.
    std::int64_t units() const { return state_.units; }
    double share() const { return static_cast<double>(state_.units) / static_cast<double>(settings_.units); }
    /// The share is the best that is known, and will stay until costs change.
    bool settled() const { return state_.settled; }
    /// Times of a period that ran with `units()`. Throws Error for a time that is needed and is not
    /// above 0.
    void tell(const SharedTimes& times);

    /// For the decisions from now on.
    void set_remaining_steps(double steps) { settings_.remaining_steps = steps; }
    const BalancerState& state() const { return state_; }
    /// Line of the first (0) or the second (1) device, for a record.
    AffineCost cost(int side) const;
    /// Standard deviation of a period's times, as part of them.
    double sigma() const;
    /// Seconds of a step that the models expect with that many units on the first device.
    double predicted(std::int64_t units) const;

  private:
    using Line = std::pair<double, double>;
    Line line(int side) const;
    double alone(int side) const;
    std::int64_t units_of(int side, std::int64_t units) const { return side == 0 ? units : settings_.units - units; }
    bool at_an_end(std::int64_t units) const { return units == 0 || units == settings_.units; }
    double overhead() const;
    void note(const SharedTimes& times);
    void watch_for_drift(const SharedTimes& times);
    void reopen();
    void choose();
    bool doubt_an_end();
    std::int64_t best_shared() const;
    std::int64_t best() const;
    bool sharing_is_vain() const;
    bool repays(std::int64_t to) const;
    void go_to(std::int64_t units);

    LoadBalancerSettings settings_;
    BalancerState state_;
};

}  // namespace hone::inline v0_1
