#include "tuner/sharing/balance.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>

#include "runtime/cuda/nvml.hpp"
#include "runtime/kernel_hash.hpp"
#include "tuner/outcome.hpp"
#include "tuner/statistics.hpp"
#include "tuner/worker/memory_need.hpp"

namespace hone::inline v0_1 {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int fewest_steps = 3;
constexpr int warm_up_steps = 2;

double since(Clock::time_point begin) {
    return std::chrono::duration<double>(Clock::now() - begin).count();
}

double median(std::vector<double> values) {
    return summarise(std::move(values)).median;
}

// Standard error of a median, as part of it, from its 95 % interval.
double standard_error(const Statistics& of) {
    constexpr double interval = 2 * 1.96;
    return of.median > 0 ? (of.high - of.low) / interval / of.median : 0;
}

// The problem's data in host memory, the shared kernel over it, and what both are asked.
class Run {
  public:
    Run(const Family& family, const HybridSide& first, const HybridSide& second, const BalanceSettings& settings)
        : settings_(settings),
          problem_(first.kernel->problem()),
          specs_(family.arrays(problem_)),
          workload_(make_workload(family, first, second)),
          hybrid_(family, first, second, pointers(), first.kernel->range()) {
        for (const HybridSide* side : {&first, &second})
            if (const Device& device = side->backend->device(); !monitor_ && traits_of(device.fingerprint.target).has_monitor)
                monitor_.emplace(device.index);
    }

    HybridKernel& hybrid() { return hybrid_; }
    double error() const { return error_; }
    double tolerance() const { return workload_.tolerance; }
    /// What the GPU was like right after the last period; nothing without one.
    const std::optional<DeviceReading>& reading() const { return reading_; }

    // One step from the pristine data at a share, against the reference.
    void verify(std::int64_t units) {
        hybrid_.set_units(units);  // first: it moves what earlier steps computed, into these arrays too
        for (std::size_t i = 0; i < specs_.size(); ++i)
            if (specs_[i].access != Access::in)
                std::memcpy(arrays_[i].data(), workload_.arrays[i].data(), static_cast<std::size_t>(arrays_[i].bytes()));
        hybrid_.scatter();
        hybrid_.step();
        hybrid_.gather();
        double largest = 0;
        for (std::size_t i = 0; i < specs_.size(); ++i)
            if (specs_[i].access != Access::in) largest = std::max(largest, largest_difference(specs_[i], arrays_[i], workload_.expected[i]));
        error_ = std::max(error_, largest);
    }

    BalancePeriod period(std::int64_t units) {
        hybrid_.set_units(units);
        for (int i = 0; i < warm_up_steps; ++i) hybrid_.step();
        std::vector<double> step;
        std::vector<double> first;
        std::vector<double> second;
        std::vector<double> exchange;
        const auto begin = Clock::now();
        for (int i = 0; i < settings_.period && (i < fewest_steps || since(begin) < settings_.most_seconds); ++i) {
            const HybridStep times = hybrid_.step();
            step.push_back(times.step);
            first.push_back(times.first);
            second.push_back(times.second);
            exchange.push_back(times.exchange);
        }
        if (monitor_) reading_ = monitor_->read();
        const double share = static_cast<double>(units) / static_cast<double>(hybrid_.range());
        return {units, share, summarise(step), summarise(first), summarise(second), median(exchange), false};
    }

    MeteredWay metered(std::int64_t units) {
        MeteredWay way;
        way.units = units;
        way.takes_part = {units > 0, units < hybrid_.range()};
        hybrid_.set_units(units);
        for (int i = 0; i < warm_up_steps; ++i) hybrid_.step();
        std::array<std::unique_ptr<PowerMeter>, 2> meters;
        double lag = 0;
        for (std::size_t side = 0; side < 2; ++side)
            if (way.takes_part.at(side) && settings_.meters.at(side)) {
                lag = std::max(lag, settings_.meters.at(side)->lag);
                meters.at(side) = std::make_unique<PowerMeter>(*settings_.meters.at(side));
            }
        std::vector<double> step;
        const auto begin = Clock::now();
        while (since(begin) < lag + settings_.energy_seconds) step.push_back(hybrid_.step().step);
        for (std::size_t side = 0; side < 2; ++side)
            if (meters.at(side)) way.power.at(side) = meters.at(side)->stop();
        way.seconds = median(step);
        return way;
    }

  private:
    Workload make_workload(const Family& family, const HybridSide& first, const HybridSide& second) const {
        for (const HybridSide* side : {&first, &second})
            require_memory(problem_, balance_memory(specs_, problem_.precision()), memory_for(side->backend->device()));
        return family.workload(problem_, settings_.seed);
    }

    std::vector<void*> pointers() {
        std::vector<void*> all;
        for (std::size_t i = 0; i < specs_.size(); ++i) {
            const bool read_only = specs_[i].access == Access::in;
            arrays_.push_back(read_only ? HostArray() : workload_.arrays[i].copy());
            all.push_back(read_only ? workload_.arrays[i].data() : arrays_.back().data());
        }
        return all;
    }

    const BalanceSettings& settings_;
    Problem problem_;
    std::vector<ArraySpec> specs_;
    Workload workload_;
    std::vector<HostArray> arrays_;  // of those that steps write; the workload keeps how they began
    HybridKernel hybrid_;
    double error_ = 0;
    std::optional<DeviceMonitor> monitor_;
    std::optional<DeviceReading> reading_;
};

std::int64_t multiple(double units, std::int64_t granularity, std::int64_t range) {
    const auto steps = static_cast<std::int64_t>(std::llround(units / static_cast<double>(granularity)));
    return std::clamp<std::int64_t>(steps * granularity, 0, range);
}

std::int64_t middle(const HybridKernel& hybrid) {
    const std::int64_t split = hybrid.range() / 2 / hybrid.granularity() * hybrid.granularity();
    return split == 0 ? hybrid.range() : split;
}

void find_share(Run& run, LoadBalancer& balancer, const BalanceSettings& settings, BalanceOutcome& outcome) {
    const auto stop = [&] { return settings.stop && settings.stop(); };
    for (int i = 0; i < settings.most_periods && !stop(); ++i) {
        const std::int64_t units = balancer.units();
        BalancePeriod period = run.period(units);
        balancer.tell({period.first.median, period.second.median, period.step.median, standard_error(period.step)});
        period.settled = balancer.settled();
        outcome.periods.push_back(period);
        if (settings.progress) settings.progress(period);
        if (!period.settled) continue;
        if (outcome.periods_used == 0) outcome.periods_used = i + 1;
        // The last period is the one that the record tells.
        outcome.settled = balancer.units() == units;
        if (outcome.settled) return;
    }
}

void sweep(Run& run, const BalanceSettings& settings, BalanceOutcome& outcome) {
    const HybridKernel& hybrid = run.hybrid();
    std::int64_t before = -1;
    for (int i = 0; i <= settings.sweep && !(settings.stop && settings.stop()); ++i) {
        const double wanted = static_cast<double>(hybrid.range()) * i / settings.sweep;
        const std::int64_t units = multiple(wanted, hybrid.granularity(), hybrid.range());
        if (units == before) continue;
        before = units;
        outcome.sweep.push_back(run.period(units));
        if (settings.progress) settings.progress(outcome.sweep.back());
    }
}

std::optional<Energy> energy_of(const MeteredWay& way, const BalanceSettings& settings) {
    if (!way.watts()) return std::nullopt;
    Energy energy;
    std::vector<double> joules;
    for (std::size_t side = 0; side < 2; ++side) {
        if (!way.takes_part.at(side)) continue;
        const PowerSummary& power = *way.power.at(side);
        energy.watts += power.watts;
        energy.idle_watts += settings.idle_watts.at(side);
        energy.source += (energy.source.empty() ? "" : "+") + settings.meters.at(side)->name;
        energy.samples_per_second = std::max(energy.samples_per_second, power.samples_per_second);
        energy.resolution_seconds = std::max(energy.resolution_seconds, power.resolution_seconds);
        energy.resolution_watts += power.resolution_watts;
        joules.resize(joules.empty() ? power.windows.size() : std::min(joules.size(), power.windows.size()));
        for (std::size_t i = 0; i < joules.size(); ++i) joules[i] += power.windows[i] * way.seconds;
    }
    energy.joules = summarise(joules.empty() ? std::vector{energy.watts * way.seconds} : joules);
    return energy;
}

Hybrid hybrid_of(const HybridSide& second, const LoadBalancer& balancer, const HybridKernel& hybrid) {
    Hybrid result;
    result.partner = second.backend->device().fingerprint;
    result.partner_config = second.kernel->match().config;
    result.share = balancer.share();
    result.granularity = hybrid.granularity();
    result.own_cost = balancer.cost(0);
    result.partner_cost = balancer.cost(1);
    result.own_seconds = balancer.predicted(hybrid.range());
    result.partner_seconds = balancer.predicted(0);
    return result;
}

Record record_of(const Family& family, const HybridSide& first, const HybridSide& second, const Run& run, const BalanceOutcome& outcome) {
    Record record;
    record.problem = first.kernel->problem();
    record.config = first.kernel->match().config;
    record.device = first.backend->device().fingerprint;
    record.step = outcome.periods.back().step;
    record.counts = family.counts(record.problem);
    record.verification_error = run.error();
    record.tolerance = run.tolerance();
    record.purpose = "hybrid";
    record.found = "offline";
    record.strategy = "load_balancer";
    record.evaluations = static_cast<int>(outcome.periods.size());
    record.conditions = conditions_of(run.reading());
    record.date = utc_date();
    record.versions = {HONE_VERSION, kernel_hash(first.kernel->source().text + second.kernel->source().text)};
    return record;
}

}  // namespace

std::optional<double> MeteredWay::watts() const {
    double sum = 0;
    for (std::size_t side = 0; side < 2; ++side) {
        if (!takes_part.at(side)) continue;
        if (!power.at(side)) return std::nullopt;
        sum += power.at(side)->watts;
    }
    return sum;
}

BalanceOutcome balance(const Family& family, const HybridSide& first, const HybridSide& second, const BalanceSettings& settings) {
    Run run(family, first, second, settings);
    HybridKernel& hybrid = run.hybrid();
    run.verify(middle(hybrid));
    const LoadBalancerSettings limits{.units = hybrid.range(), .granularity = hybrid.granularity()};
    LoadBalancer balancer = settings.known ? LoadBalancer(limits, *settings.known) : LoadBalancer(limits);
    BalanceOutcome outcome;
    find_share(run, balancer, settings, outcome);
    if (outcome.periods.empty()) outcome.periods.push_back(run.period(balancer.units()));
    if (settings.sweep > 0) sweep(run, settings, outcome);
    if (settings.energy_seconds > 0)
        for (const std::int64_t units : {std::int64_t{0}, hybrid.range(), balancer.units()}) outcome.metered.push_back(run.metered(units));
    run.verify(balancer.units());
    outcome.exchanged = hybrid.exchanged();
    outcome.moved = hybrid.moved();
    outcome.record = record_of(family, first, second, run, outcome);
    outcome.record.hybrid = hybrid_of(second, balancer, hybrid);
    if (!outcome.metered.empty()) outcome.record.energy = energy_of(outcome.metered.back(), settings);
    return outcome;
}

}  // namespace hone::inline v0_1
