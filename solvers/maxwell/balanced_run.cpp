#include "solvers/maxwell/balanced_run.hpp"

#include <algorithm>
#include <vector>

#include "runtime/ranks/part_balance.hpp"

namespace hone::inline v0_1::solvers::maxwell {
namespace {

// The whole mesh's state, on all ranks.
std::vector<std::byte> whole_state(Communicator& ranks, const WaveShare& share, int word_bytes) {
    std::vector<std::byte> state = share.part->whole_of(share.solver->state(), word_bytes);
    broadcast_of_first(ranks, state);
    return state;
}

}  // namespace

BalancedRun run_balanced(Communicator& ranks, double speed, const std::function<WaveShare(double speed)>& make, Precision precision, StageForm form,
                         const Discretisation::Solution& first, const WaveRunSettings& settings, const Balancing& balancing) {
    const bool periods = balancing.has_periods(ranks, settings.frames_folder);
    BalancedRun run{{}, make(speed), 0};
    WaveRunSettings of_period = settings;
    Checkpoint between;
    double seconds = 0;
    std::int64_t began = 0;
    for (bool is_first = true;; is_first = false) {
        if (periods) {
            const std::int64_t end = balancing.end_of_period(is_first ? 0 : run.result.done);
            of_period.stop_after = settings.stop_after > 0 ? std::min(settings.stop_after, end) : end;
            of_period.times_last_step = true;
        }
        const WavePart& part = *run.share.part;
        run.result =
            run_waves(*run.share.solver, part, precision, form, is_first ? part.here().interpolated(first, 0) : std::vector<double>(), of_period);
        seconds += run.result.seconds;
        if (is_first) began = run.result.first;
        const bool ended = run.result.done >= run.result.steps || (settings.stop_after > 0 && run.result.done >= settings.stop_after);
        if (!periods || ended) break;
        const double took = balancing.taken(run.result.last_step);
        const PartBalance balance = balance_parts(ranks, part.own(), took, balancing.least_gain);
        between = run.result.end;
        if (balance.worth) {
            between.state = whole_state(ranks, run.share, bytes_per_word(precision));
            run.share = {};
            run.share = make(balance.speed);
            ++run.moves;
        }
        of_period.restart.clear();
        of_period.from = &between;
    }
    run.result.seconds = seconds;
    run.result.first = began;
    return run;
}

}  // namespace hone::inline v0_1::solvers::maxwell
