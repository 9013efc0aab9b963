#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "runtime/ranks/communicator.hpp"
#include "runtime/ranks/grid_partition.hpp"
#include "solvers/poisson/solver.hpp"

namespace hone::inline v0_1::solvers {

/// -Laplace u = f on a box of size x size x planes cubic cells.
struct PoissonCaseSettings {
    std::string coefficients = "axis";      ///< how the operator is stored: scalar, axis or face
    std::string boundary = "dirichlet";     ///< periodic, dirichlet or neumann
    std::string precision = "f64";          ///< of the solver
    std::string right_hand_side = "known";  ///< of a solution that is known, or random
    unsigned seed = 1;                      ///< of the random numbers
    int size = 128;                         ///< cells along x and y
    int planes = 128;                       ///< cells along z
};

/// A rank's planes of such an equation, for tests and demonstrations of a solver. The known
/// solution is a product of three smooth functions, one for each coordinate, that fit the boundary.
struct PoissonCase {
    /// All ranks call it alike. Throws Error for more ranks than partition_planes has planes for.
    PoissonCase(const PoissonCaseSettings& settings, Communicator& communicator);

    PoissonCaseSettings settings;
    Communicator& ranks;
    double width;  ///< of a cell, where the box is 1 long along x and y
    GridPartition partition;
    CellRange planes;           ///< of this rank
    PoissonSystem system;       ///< of these planes
    std::vector<double> exact;  ///< the known solution, cell by cell, x fastest; empty for a random right-hand side
    std::vector<double> right_hand_side;

    std::size_t cells_of_plane() const { return static_cast<std::size_t>(settings.size) * static_cast<std::size_t>(settings.size); }
    double cells_of_grid() const { return static_cast<double>(cells_of_plane()) * settings.planes; }

    /// Of all ranks. Requires a known solution.
    double largest_error(const std::vector<double>& u) const;

  private:
    void set_random();
    void set_known();
    double mean_of_grid(const std::vector<double>& cells) const;
};

}  // namespace hone::inline v0_1::solvers
