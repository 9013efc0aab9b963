#include "solvers/hydro/stepper.hpp"

#include <fmt/format.h>

#include <array>
#include <limits>
#include <utility>

#include "foundation/error.hpp"

namespace hone::inline v0_1::solvers::hydro {

TimeScheme parse_scheme(const std::string& word) {
    if (word == "rk2-average") return TimeScheme::rk2_average;
    if (word == "rk4") return TimeScheme::rk4;
    throw Error("time scheme " + word, "there is no such scheme", "use rk2-average or rk4");
}

std::string to_string(TimeScheme scheme) {
    return scheme == TimeScheme::rk4 ? "rk4" : "rk2-average";
}

Stepper::Stepper(Operator& on, TimeScheme scheme, const State& first) : Stepper(on, scheme, first, Clock{}) {
    clock_.dt = on_.estimate(now_);
}

Stepper::Stepper(Operator& on, TimeScheme scheme, const State& state, const Clock& clock) : on_(on), scheme_(scheme), clock_(clock) {
    on_.set(now_, state);
    on_.forget_stress();
    on_.restart_estimate();
    on_.estimate(now_);
}

void Stepper::step(double end) {
    for (;;) {
        const bool last = clock_.time + clock_.dt >= end;
        if (last) clock_.dt = end - clock_.time;
        on_.restart_estimate();
        if (scheme_ == TimeScheme::rk4)
            rk4(clock_.dt);
        else
            rk2_average(clock_.dt);
        const double estimate = on_.estimate(next_);
        if (estimate >= clock_.dt) {
            clock_.time = last ? end : clock_.time + clock_.dt;
            ++clock_.steps;
            std::swap(now_, next_);
            if (estimate > 1.25 * clock_.dt) clock_.dt *= 1.02;
            return;
        }
        ++clock_.rejections;
        clock_.dt *= 0.85;
        on_.forget_stress();
        if (!(clock_.dt >= std::numeric_limits<double>::epsilon()))
            throw Error(fmt::format("time step {} at time {:.6g}", clock_.steps + 1, clock_.time),
                        fmt::format("its length went down to {:.3g}", clock_.dt), "choose a lower --cfl or a finer mesh");
    }
}

// The average of the velocities before and after a step moves the mesh and does the work, in which
// what is lost as kinetic energy is won as internal.
void Stepper::rk2_average(double dt) {
    using enum Part;
    const auto half = [&](int state) {
        on_.accelerate(state, rate_);
        on_.combine({trial_, velocities}, {now_, velocities}, dt / 2, {rate_, velocities});
        on_.heat(state, trial_, rate_);
        on_.forget_stress();
    };
    half(now_);
    on_.combine({next_, positions}, {now_, positions}, dt / 2, {trial_, velocities});
    on_.combine({next_, velocities}, {trial_, velocities}, 0, {trial_, velocities});
    on_.combine({next_, energies}, {now_, energies}, dt / 2, {rate_, energies});
    half(next_);
    on_.combine({next_, positions}, {now_, positions}, dt, {trial_, velocities});
    on_.combine({next_, velocities}, {now_, velocities}, dt, {rate_, velocities});
    on_.combine({next_, energies}, {now_, energies}, dt, {rate_, energies});
}

void Stepper::rk4(double dt) {
    using enum Part;
    constexpr std::array weights{1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6};
    constexpr std::array ahead{0.5, 0.5, 1.0};
    for (std::size_t stage = 0; stage < weights.size(); ++stage) {
        const int state = stage == 0 ? now_ : trial_;
        const int sum = stage == 0 ? now_ : next_;
        on_.accelerate(state, rate_);
        on_.heat(state, state, rate_);
        on_.forget_stress();
        on_.combine({next_, positions}, {sum, positions}, dt * weights[stage], {state, velocities});
        on_.combine({next_, velocities}, {sum, velocities}, dt * weights[stage], {rate_, velocities});
        on_.combine({next_, energies}, {sum, energies}, dt * weights[stage], {rate_, energies});
        if (stage == ahead.size()) break;
        on_.combine({trial_, positions}, {now_, positions}, dt * ahead[stage], {state, velocities});
        on_.combine({trial_, velocities}, {now_, velocities}, dt * ahead[stage], {rate_, velocities});
        on_.combine({trial_, energies}, {now_, energies}, dt * ahead[stage], {rate_, energies});
    }
}

}  // namespace hone::inline v0_1::solvers::hydro
