#include "solvers/poisson/checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "generator/families/poisson7/family.hpp"

namespace hone::inline v0_1::solvers {

Check check_residual(PoissonSolver& solver, const PoissonCase& of, const std::vector<double>& u, double tolerance) {
    const double unit = of.settings.precision == "f32" ? 0x1p-24 : 0x1p-53;
    const double residual = solver.true_residual(of.right_hand_side, u);
    const double longest = std::max(of.settings.size, of.settings.planes);
    const double allowed = 2 * tolerance + 10 * unit * longest * longest;
    return {fmt::format("|b - M x| / |b| = {:.2e}, allowed {:.2e}", residual, allowed), residual <= allowed};
}

std::optional<Check> check_order(Backend& backend, KernelLibrary& library, const PoissonCase& of, const std::vector<double>& u,
                                 const SolverSettings& settings) {
    constexpr int fewest_cells = 32;
    PoissonCaseSettings coarse = of.settings;
    coarse.size /= 2, coarse.planes /= 2;
    // Each rank needs its chunk of planes of the coarser grid.
    if (of.exact.empty() || coarse.precision != "f64" || of.settings.size < fewest_cells || coarse.planes < of.ranks.size() * poisson::chunk_planes)
        return std::nullopt;
    const double fine = of.largest_error(u);
    const PoissonCase half(coarse, of.ranks);
    PoissonSolver solver(half.ranks, half.partition, backend, library, half.system);
    std::vector<double> coarse_u(half.right_hand_side.size(), 0.0);
    SolverSettings silent = settings;
    silent.progress = {};
    solver.solve(half.right_hand_side, coarse_u, silent);
    const double order = std::log2(half.largest_error(coarse_u) / fine);
    return Check{fmt::format("largest error {:.2e}, of order {:.2f} in the cells' width", fine, order), std::abs(order - 2) < 0.3};
}

}  // namespace hone::inline v0_1::solvers
