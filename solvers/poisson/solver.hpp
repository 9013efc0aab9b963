#pragma once

#include <array>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "runtime/library.hpp"
#include "runtime/ranks/communicator.hpp"
#include "runtime/ranks/grid_partition.hpp"

namespace hone::inline v0_1::solvers {

/// M x = b of the family poisson7: which operator, on which grid, or on a rank's planes of it.
/// Values are in double precision here, whatever the solver computes in.
struct PoissonSystem {
    std::string coefficients = "scalar";  ///< scalar, axis or face
    std::string boundary = "periodic";    ///< periodic, dirichlet or neumann
    std::string precision = "f64";
    int nx = 0, ny = 0, nz = 0;
    /// Couplings along each axis: one word (scalar), one per cell along the axis (axis), or one per
    /// cell of the grid (face).
    std::vector<double> cx, cy, cz;
    /// One word for all cells, or (axis, face) one per cell of the grid; 0 marks a solid cell.
    std::vector<double> diagonal;
    bool singular = false;  ///< constants are in the kernel of M: the mean of b is left out, x has mean 0

    std::int64_t cells() const { return static_cast<std::int64_t>(nx) * ny * nz; }
    /// -Laplace with cells of width h.
    static PoissonSystem laplacian(const std::string& coefficients, const std::string& boundary, const std::string& precision, int nx, int ny, int nz,
                                   double h);
};

enum class Preconditioner { none, jacobi, polynomial };

struct SolverSettings {
    Preconditioner preconditioner = Preconditioner::polynomial;
    double c = 2.05;          ///< of the polynomial c Q - Q M Q; 2 is singular on periodic grids of even sizes
    double tolerance = 1e-8;  ///< of |r| / |first r|
    double small = 0;         ///< a root-mean-square residual of a cell that is enough, whatever the first was
    int most_iterations = 10000;
    int check_every = 20;  ///< iterations from one synchronisation with the host to the next, at most 200
    /// Called after each check with all relative residuals so far.
    std::function<void(std::span<const double>)> progress;
};

enum class Ending { converged, too_many_iterations, breakdown };

struct Solve {
    Ending ending = Ending::converged;
    int iterations = 0;           ///< until the residual was small enough; the solution may have had some more, up to the next check
    int executed = 0;             ///< with those
    std::vector<double> history;  ///< |r| / |first r| after every executed iteration
    double seconds = 0;           ///< of the executed iterations
    double bytes = 0;             ///< compulsory traffic of one iteration
};

std::string to_string(Ending ending);

/// Which planes of a grid each rank has: all as many, in chunks of those that the sums take
/// together. Throws Error for more ranks than chunks.
GridPartition partition_planes(const std::string& boundary, int nx, int ny, int nz, int ranks);
/// The problem whose kernel begins an iteration, on so many planes.
Problem direction_problem(const PoissonSystem& system, int planes);
/// How many planes each rank has: what all_gather takes for a word of each plane.
std::vector<int> planes_of_ranks(const GridPartition& partition);

/// Conjugate gradients on a device, with or without a preconditioner: two kernels an iteration.
/// Their scalars never leave the device; the host looks at them every `check_every` iterations.
///
///     PoissonSolver solver(*backend, library, PoissonSystem::laplacian("scalar", "dirichlet", "f64", 64, 64, 64, 1.0 / 65));
///     std::vector<double> x(64 * 64 * 64);
///     const Solve solve = solver.solve(b, x, {});
///     if (solve.ending != Ending::converged) ...
///
/// On several ranks each has a solver for its planes, and all call it alike. Neighbours' planes
/// travel while the interior is computed, where exchanges have edges; sums are those of the whole
/// grid's blocks, so that no digit of the residuals and of the solution knows how many ranks there
/// are. The scalars stay on the devices there, too: each gathers the sums of all ranks' blocks.
class PoissonSolver {
  public:
    /// Looks the kernels up and uploads the operator. Backend and library must outlive the solver.
    /// `configurations` (kernel=apply, direction or residual to "y_block=16,...") stand in place of
    /// what the library would choose. Throws Error for arrays of wrong lengths.
    PoissonSolver(Backend& backend, KernelLibrary& library, const PoissonSystem& system,
                  const std::map<std::string, std::string>& configurations = {});
    /// A rank's part: `system` has its planes alone, partition.block(rank)[2] of partition_planes.
    /// The communicator must outlive the solver.
    PoissonSolver(Communicator& ranks, const GridPartition& partition, Backend& backend, KernelLibrary& library, const PoissonSystem& system,
                  const std::map<std::string, std::string>& configurations = {});
    ~PoissonSolver();

    /// Solves M x = b from the x given, cell by cell, x fastest. What may happen (no convergence,
    /// breakdown) is the value; x is then the last one.
    Solve solve(std::span<const double> b, std::span<double> x, const SolverSettings& settings);

    /// The same for an application whose data are on the device: fields [nz][ny][pitch] there (of
    /// the rank's planes), of which the first nx words of a row are cells. `solve` takes the
    /// right-hand side and the first x from them, writes over the former, and leaves the solution
    /// in the latter; a singular system's keeps about the mean of the first x. On several ranks the
    /// neighbours' planes of the solution lie beside the own ones then.
    void* right_hand_side() const;
    void* solution() const;
    std::int64_t pitch() const;
    Solve solve(const SolverSettings& settings);

    /// Of exchanges that nothing else is asked for. Messages between processors go while both wait
    /// for them: there edges that are computed apart would cost time, and hide none.
    static EdgePlace usual_edges(const Backend& backend);
    /// Makes the exchanges with other ranks anew, by what the communicator's settings say now.
    void renew_exchanges();

    /// |b - M x| / |b|, from a new product; cells that are solid, and for a singular system the
    /// means, left out.
    double true_residual(std::span<const double> b, std::span<const double> x);

    /// "direction: exact, form=...; residual: ...": what was found for the kernels.
    std::string kernels() const;
    /// How well these answers fit: direction, residual.
    std::array<Grade, 2> grades() const;

  private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace hone::inline v0_1::solvers
