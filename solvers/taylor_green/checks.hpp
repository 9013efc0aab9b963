#pragma once

#include "solvers/taylor_green/flow.hpp"

namespace hone::inline v0_1::solvers {

/// Errors of a decaying two-dimensional vortex that drifts through the mesh, against the exact
/// solution, on `cells` and on twice as many cells along each axis; and the order of convergence
/// that they show, 2 for a staggered mesh.
struct Convergence {
    double coarse = 0, fine = 0, order = 0;
};
Convergence measure_convergence(Backend& backend, KernelLibrary& library, const std::string& precision, int cells);

/// Change of the energy of a three-dimensional vortex without viscosity, relative to the energy:
/// convection and pressure conserve it, so what is left is the time step's error. With half the
/// time step it is eight times smaller.
struct EnergyDrift {
    double whole_step = 0, half_step = 0, order = 0;
    double momentum = 0;  ///< largest mean velocity that appeared
};
EnergyDrift measure_energy_drift(Backend& backend, KernelLibrary& library, int cells);

/// What viscosity took from the energy, by the history of the dissipation, and how far that
/// integral by trapezoids may be off: from its difference to the one over every other row.
struct Budget {
    double lost = 0, dissipated = 0, uncertainty = 0;
};
Budget energy_budget(const std::vector<double>& times, const std::vector<FlowSums>& history);

}  // namespace hone::inline v0_1::solvers
