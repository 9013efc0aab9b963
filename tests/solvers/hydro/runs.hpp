#pragma once

#include <cmath>
#include <stdexcept>
#include <string>

#include "solvers/hydro/stepper.hpp"

namespace hone::solvers::hydro {

inline const KnownRun& whole_run(const std::string& problem, int dimension) {
    for (const KnownRun& known : known_runs())
        if (known.whole && known.problem == problem && known.dimension == dimension) return known;
    throw std::logic_error("no run of " + problem + " is known");
}

inline Discretisation known_discretisation(const KnownRun& known) {
    HydroProblem problem = hydro_problem(known.problem, known.dimension);
    problem.box.zones = known.zones;
    problem.blast = known.blast;
    return {problem, 2, quad_box(problem.box)};
}

inline double total_energy(const Discretisation& of, const State& state) {
    return of.internal_energy(state.energies) + of.kinetic_energy(state.velocities);
}

struct RunEnd {
    Clock clock;
    State state;
    double norm;
};

inline RunEnd run_known(Operator& on, const Discretisation& of, const KnownRun& known) {
    Stepper stepper(on, TimeScheme::rk4, of.first);
    while (stepper.clock().time < known.time && (known.whole || stepper.clock().steps < known.steps)) stepper.step(known.time);
    RunEnd end{stepper.clock(), stepper.state(), 0};
    for (const double e : end.state.energies) end.norm += e * e;
    end.norm = std::sqrt(end.norm);
    return end;
}

}  // namespace hone::solvers::hydro
