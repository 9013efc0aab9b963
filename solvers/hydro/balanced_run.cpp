#include "solvers/hydro/balanced_run.hpp"

#include <algorithm>
#include <vector>

#include "runtime/ranks/part_balance.hpp"

namespace hone::inline v0_1::solvers::hydro {
namespace {

// The whole mesh's state, on all ranks.
State whole_state(const ZonePart& part, const State& here) {
    State whole = part.whole_of(here);
    for (std::vector<double>* const words : {&whole.positions, &whole.velocities, &whole.energies}) broadcast_of_first(part.ranks(), *words);
    return whole;
}

}  // namespace

BalancedRun run_balanced(Communicator& ranks, double speed, const std::function<ZoneShare(double speed)>& make, const RunSettings& settings,
                         const Balancing& balancing) {
    const bool periods = balancing.has_periods(ranks, settings.frames_folder);
    BalancedRun run{{}, make(speed), 0};
    RunSettings of_period = settings;
    RunResult between;
    double seconds = 0;
    std::int64_t first_step = 0;
    for (bool is_first = true;; is_first = false) {
        const auto wanted = [&](std::int64_t steps) { return settings.stop_after > 0 && steps >= settings.stop_after; };
        if (periods) {
            const std::int64_t end = balancing.end_of_period(is_first ? 0 : between.clock.steps);
            of_period.goes_on = !wanted(end);
            of_period.stop_after = of_period.goes_on ? end : settings.stop_after;
        }
        of_period.configurations = run.share.on->configurations();
        run.result = run_hydro(*run.share.on, *run.share.part, of_period);
        seconds += run.result.seconds;
        if (is_first) first_step = run.result.first_step;
        if (!periods || run.result.clock.time >= settings.time || wanted(run.result.clock.steps)) break;
        const double took = run.share.on->seconds_of_work();
        const auto zones = static_cast<double>(run.share.part->here().zones());
        const PartBalance balance = balance_parts(ranks, zones, balancing.taken(took), balancing.least_gain);
        between = std::move(run.result);
        if (balance.worth) {
            const State whole = whole_state(*run.share.part, between.state);
            run.share.on.reset();
            run.share.part.reset();
            run.share = make(balance.speed);
            between.state = run.share.part->part_of(whole);
            ++run.moves;
        }
        of_period.restart.clear();
        of_period.from = &between;
    }
    run.result.seconds = seconds;
    run.result.first_step = first_step;
    return run;
}

}  // namespace hone::inline v0_1::solvers::hydro
