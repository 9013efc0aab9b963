#pragma once

#include <array>
#include <vector>

#include "solvers/taylor_green/flow.hpp"

namespace hone::inline v0_1::solvers {

/// The Taylor-Green vortex on a mesh.
///
/// In two dimensions u = U + sin(x - U t) cos(y - V t) e, v = V - cos(x - U t) sin(y - V t) e with
/// e = exp(-2 viscosity t) solves the Navier-Stokes equations; (U, V) is a drift that carries the
/// vortices through the mesh, so that convection is tested too. In three dimensions this is the
/// beginning, sin x cos y cos z and -cos x sin y cos z, and `time` and `drift` must be 0.
///
/// Source: G. I. Taylor, A. E. Green, Proceedings of the Royal Society A 158 (1937).
Velocity taylor_green(const FlowKernels::Mesh& mesh, double time, double viscosity, const std::array<double, 2>& drift = {0, 0});

/// Largest difference of two fields on the same mesh.
double largest_difference(const Velocity& a, const Velocity& b);

/// Time step within the stability bounds of the Runge-Kutta scheme, `courant` times the cells'
/// width over the largest speed and the same share of what diffusion allows, and how many of them
/// make `time`.
struct TimeSteps {
    int count = 0;
    double dt = 0;
};
TimeSteps time_steps(const FlowKernels::Mesh& mesh, double time, double largest_speed, double viscosity, double courant);

/// Velocities at the cells' centres, three words a cell, and the curl's z component at the edges
/// along z before the cells.
std::vector<float> at_centres(const Velocity& velocity);
double vorticity_z(const Velocity& velocity, int i, int j, int k);

}  // namespace hone::inline v0_1::solvers
