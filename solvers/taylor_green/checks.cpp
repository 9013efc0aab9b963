#include "solvers/taylor_green/checks.hpp"

#include <algorithm>
#include <cmath>

#include "solvers/taylor_green/vortex.hpp"

namespace hone::inline v0_1::solvers {
namespace {

double error_of_decay(Backend& backend, KernelLibrary& library, const std::string& precision, int cells) {
    constexpr double viscosity = 0.05, time = 0.5;
    constexpr std::array<double, 2> drift{1, 0.5};
    Flow flow(backend, library, {.dimension = 2, .cells = cells, .viscosity = viscosity, .precision = precision, .divergence = 1e-8});
    flow.set(taylor_green(flow.mesh(), 0, viscosity, drift));
    const TimeSteps steps = time_steps(flow.mesh(), time, 3, viscosity, 0.5);
    for (int step = 0; step < steps.count; ++step) flow.step(steps.dt);
    return largest_difference(flow.velocity(), taylor_green(flow.mesh(), time, viscosity, drift));
}

}  // namespace

Convergence measure_convergence(Backend& backend, KernelLibrary& library, const std::string& precision, int cells) {
    Convergence result{error_of_decay(backend, library, precision, cells), error_of_decay(backend, library, precision, 2 * cells), 0};
    result.order = std::log2(result.coarse / result.fine);
    return result;
}

EnergyDrift measure_energy_drift(Backend& backend, KernelLibrary& library, int cells) {
    constexpr double time = 1;
    Flow flow(backend, library, {.dimension = 3, .cells = cells, .viscosity = 0, .divergence = 1e-11});
    const Velocity start = taylor_green(flow.mesh(), 0, 0);
    const double energy = sums_of(start, 0).energy;
    EnergyDrift result;
    const TimeSteps steps = time_steps(flow.mesh(), time, 2, 0, 1);
    for (const int parts : {1, 2}) {
        flow.set(start);
        for (int step = 0; step < parts * steps.count; ++step) flow.step(steps.dt / parts);
        const FlowSums sums = sums_of(flow.velocity(), 0);
        (parts == 1 ? result.whole_step : result.half_step) = sums.energy / energy - 1;
        for (const double mean : sums.momentum) result.momentum = std::max(result.momentum, std::abs(mean));
    }
    result.order = std::log2(std::abs(result.whole_step / result.half_step));
    return result;
}

Budget energy_budget(const std::vector<double>& times, const std::vector<FlowSums>& history) {
    Budget budget;
    if (history.size() < 3) return budget;
    const std::size_t last = (history.size() - 1) / 2 * 2;  // an even number of intervals
    double coarse = 0;
    const auto trapezoid = [&](std::size_t a, std::size_t b) {
        return (times[b] - times[a]) * (history[a].dissipation + history[b].dissipation) / 2;
    };
    for (std::size_t n = 0; n < last; n += 2) {
        budget.dissipated += trapezoid(n, n + 1) + trapezoid(n + 1, n + 2);
        coarse += trapezoid(n, n + 2);
    }
    budget.lost = history[0].energy - history[last].energy;
    budget.uncertainty = std::abs(coarse - budget.dissipated);
    return budget;
}

}  // namespace hone::inline v0_1::solvers
