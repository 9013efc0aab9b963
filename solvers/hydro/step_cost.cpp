#include "solvers/hydro/step_cost.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <memory>

#include "solvers/hydro/run.hpp"
#include "tuner/statistics.hpp"

namespace hone::inline v0_1::solvers::hydro {
namespace {

constexpr double no_end = std::numeric_limits<double>::max();

double seconds_since(std::chrono::steady_clock::time_point begin) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

// Under all meters at once, which begin and end together.
std::vector<std::optional<PowerSummary>> power_of_steps(Stepper& stepper, std::span<const std::optional<PowerSource>> sources, double seconds) {
    std::vector<std::optional<PowerSummary>> power(sources.size());
    std::vector<std::unique_ptr<PowerMeter>> meters(sources.size());
    double lag = 0;
    bool any = false;
    for (std::size_t i = 0; i < sources.size(); ++i) {
        if (!sources[i]) continue;
        any = true;
        lag = std::max(lag, sources[i]->lag);
        meters[i] = std::make_unique<PowerMeter>(*sources[i]);
    }
    if (!any) return power;
    const auto begin = std::chrono::steady_clock::now();
    do stepper.step(no_end);
    while (seconds_since(begin) < lag + seconds);
    for (std::size_t i = 0; i < sources.size(); ++i)
        if (meters[i]) power[i] = meters[i]->stop();
    return power;
}

}  // namespace

std::optional<double> StepCost::watts() const {
    if (power.empty()) return std::nullopt;
    double sum = 0;
    for (const auto& of_meter : power) {
        if (!of_meter) return std::nullopt;
        sum += of_meter->watts;
    }
    return sum;
}

StepCost cost_of_steps(KernelOperator& on, const Discretisation& of, TimeScheme scheme, std::span<const std::optional<PowerSource>> meters,
                       const StepCostSettings& settings) {
    if (on.balance()) {
        Stepper balancing(on, scheme, of.first);
        for (int i = 0; i < settings.most_balancing && !on.balance()->settled; ++i) balancing.step(no_end);
    }
    Stepper stepper(on, scheme, of.first);
    for (int i = 0; i < settings.warm_up; ++i) stepper.step(no_end);
    const std::int64_t iterations = on.iterations();
    const std::int64_t solves = on.solves();
    std::vector<double> seconds;
    for (int i = 0; i < settings.steps; ++i) {
        const auto begin = std::chrono::steady_clock::now();
        stepper.step(no_end);  // its last act is to wait for the next estimate
        seconds.push_back(seconds_since(begin));
    }
    StepCost cost;
    cost.step = summarise(seconds);
    cost.norm = norm(stepper.state().energies);
    cost.iterations = static_cast<double>(on.iterations() - iterations) / static_cast<double>(std::max<std::int64_t>(on.solves() - solves, 1));
    cost.power = power_of_steps(stepper, meters, settings.power_seconds);
    cost.balance = on.balance();
    return cost;
}

double measured_speed(const HydroProblem& problem, int order, TimeScheme scheme, const KernelOperator::Settings& settings, Backend& backend,
                      KernelLibrary& library) {
    constexpr int steps = 3;
    const int cells = problem.dimension == 2 ? 24 : 8;
    const Discretisation of(problem, order, quad_box({problem.dimension, {cells, cells, cells}}));
    KernelOperator on(backend, library, of, scheme, settings);
    Stepper stepper(on, scheme, of.first);
    stepper.step(problem.time);
    const double seconds = backend.seconds({}, [&] {
        for (int i = 0; i < steps; ++i) stepper.step(problem.time);
    });
    return static_cast<double>(of.zones()) / seconds;
}

}  // namespace hone::inline v0_1::solvers::hydro
