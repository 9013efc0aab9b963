#pragma once

#include <string>
#include <vector>

#include "solvers/hydro/run.hpp"
#include "solvers/output/check.hpp"

namespace hone::inline v0_1::solvers::hydro {

/// What is known about a run that reached the problem's end or any other time: total energy; a
/// published run of the same kind; Sedov's shock radius; Sod's exact solution; the density behind
/// Noh's shock. `usual_mesh`: the box of hydro_problem.
std::vector<Check> checks_of(const Discretisation& of, const RunSettings& settings, const RunResult& result, bool usual_mesh);

/// How much of Noh's density behind the shock, in the mean from 0.4 to 0.8 of its radius, may be
/// missing where zones have `resolution` times the size of that radius; infinite where zones are
/// too large for the density to be seen.
///
/// In two dimensions it is the resolution itself, which is twice what Q2-Q1 needs. In three more is
/// lost: gas is denser by (1 + t / r)^(d-1) when the shock reaches it, and a shock that begins a
/// width w too early meets it at r + w, where that is less by (d-1) 3/4 w / r. The mean over the
/// gas of the shock's radius by r is 1.67 in 2D and 1.61 in 3D. So 3D loses 1.93 times as much.
double noh_allowed(int dimension, double resolution);

/// Density, velocity and pressure of a shock tube.
struct Gas {
    double density, velocity, pressure;
};
/// The exact solution at (x - x of the diaphragm) / t of Riemann's problem for an ideal gas. E. F.
/// Toro, Riemann Solvers and Numerical Methods for Fluid Dynamics (2009), chapter 4. Requires that
/// no vacuum forms.
Gas riemann(const Gas& left, const Gas& right, double gamma, double speed);

}  // namespace hone::inline v0_1::solvers::hydro
