#pragma once

#include <memory>
#include <span>

#include "solvers/hydro/operator.hpp"

namespace hone::inline v0_1::solvers::hydro {

/// Conjugate gradients with the diagonal as preconditioner, by plain loops, from 0 until sqrt(r .
/// z) is `tolerance` of what it was. `b` and `x`: [component][node]. Returns the most iterations of
/// a component. Throws Error when it does not converge.
int reference_mass_solve(const MassSystem& system, std::span<const double> b, std::span<double> x, double tolerance);

/// The equations by plain loops over zones, points and nodes, on the processor: what kernels are
/// compared with. It shares nothing with them but the discretisation. Results do not depend on the
/// number of threads.
std::unique_ptr<Operator> make_reference_operator(const Discretisation& of, double cfl, double tolerance);

}  // namespace hone::inline v0_1::solvers::hydro
