#pragma once

#include <optional>
#include <vector>

#include "runtime/library.hpp"
#include "solvers/output/check.hpp"
#include "solvers/poisson/poisson_case.hpp"

namespace hone::inline v0_1::solvers {

/// The residual of a solution that converged, from a new product: within twice the tolerance, and
/// what rounding makes of the recurrence, ten unit roundoffs times the condition number, which is
/// about the longest side's square. All ranks call it.
Check check_residual(PoissonSolver& solver, const PoissonCase& of, const std::vector<double>& u, double tolerance);

/// The largest error, and the order in which it falls with the cells' width, 2, by a solution on
/// cells of twice the width. Nothing where the solution is not known, where rounding (f32) or the
/// next power of the width (fewer than 32 cells) hides the order, and where ranks are too many for
/// the coarser grid. All ranks call it.
std::optional<Check> check_order(Backend& backend, KernelLibrary& library, const PoissonCase& of, const std::vector<double>& u,
                                 const SolverSettings& settings);

}  // namespace hone::inline v0_1::solvers
