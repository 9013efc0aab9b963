#pragma once

#include <span>
#include <vector>

#include "solvers/maxwell/discretisation.hpp"

namespace hone::inline v0_1::solvers::maxwell {

/// The right-hand side by plain loops in double precision: strong form, upwind flux from the state
/// between two half-spaces (Hesthaven & Warburton, Nodal Discontinuous Galerkin Methods, Springer
/// 2008, 6.6 and 10.5). What kernels are compared with; it shares nothing with them but the mesh.
void reference_right_hand_side(const Discretisation& of, std::span<const double> q, std::span<double> rhs);

/// Time steps with it.
void reference_steps(const Discretisation& of, std::vector<double>& q, double dt, int steps);

}  // namespace hone::inline v0_1::solvers::maxwell
