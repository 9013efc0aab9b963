#pragma once

#include <string>
#include <vector>

#include "examples/hydro/run.hpp"
#include "examples/output/check.hpp"

namespace hone::examples::hydro {

/// What is known about a run that reached the problem's end or any other time: total energy; a
/// published run of the same kind; Sedov's shock radius; Sod's exact solution; the density behind
/// Noh's shock. `usual_mesh`: the box of hydro_problem.
std::vector<Check> checks_of(const Discretisation& of, const RunSettings& settings, const RunResult& result, bool usual_mesh);

/// Density, velocity and pressure of a shock tube.
struct Gas {
    double density, velocity, pressure;
};
/// The exact solution at (x - x of the diaphragm) / t of Riemann's problem for an ideal gas. E. F.
/// Toro, Riemann Solvers and Numerical Methods for Fluid Dynamics (2009), chapter 4. Requires that
/// no vacuum forms.
Gas riemann(const Gas& left, const Gas& right, double gamma, double speed);

}  // namespace hone::examples::hydro
