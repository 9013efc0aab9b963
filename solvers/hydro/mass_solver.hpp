#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/library.hpp"
#include "solvers/hydro/mass_system.hpp"

namespace hone::inline v0_1::solvers::hydro {

/// How the vector updates of an iteration are launched on a GPU; a processor has them one by one.
enum class VectorUpdates {
    separate,    ///< residual and direction in a launch each
    fused,       ///< in one, as FusedMassKernels
    cooperative  ///< the same, where the driver sees to it that all blocks are on the device
};
/// "separate", "fused" or "cooperative"; throws Error for anything else.
VectorUpdates parse_vector_updates(const std::string& word);

struct MassSettings {
    double tolerance = 1e-8;  ///< of sqrt(r . Q r) by its first value, Q the inverse diagonal: for each component by itself
    int most_iterations = 300;
    /// Iterations from one look of the host at the residuals to the next; above 1 the first look
    /// waits until as many are done as earlier solves took. A look keeps a GPU waiting for a part
    /// of an iteration, and costs nothing on a processor; iterations after the last one needed are
    /// lost. No result depends on it.
    int check_every = 2;
    VectorUpdates updates = VectorUpdates::fused;  ///< no digit depends on it
    /// Iterations that a GPU queues at once, as a graph, from the second solve of the same arrays
    /// on; 0: launch by launch.
    int recorded = 8;
};

enum class MassEnding {
    converged,
    too_many_iterations,
    breakdown  ///< the matrix is not positive definite, or there is a number that is none
};
std::string to_string(MassEnding ending);

struct MassSolve {
    MassEnding ending = MassEnding::converged;  ///< the worst of all components
    std::vector<int> iterations;                ///< [component]
    std::vector<double> residuals;              ///< [component]: sqrt(r . Q r) by its first value, at the end
    int executed = 0;                           ///< iterations that were queued: up to the look that found all components done
};

/// The problem of the product that a solver launches: what is to be tuned. `dotted`: with the dot
/// products of what it takes and makes. Throws Error for elements that the system does not have.
Problem product_problem(const MassSystem& system, MassForm form = MassForm::rows, bool dotted = true);
/// What the product reads of the matrix, on a device, in the order of its arrays. `rows`: the first
/// ones, of which alone the product is wanted; others may become 0.
std::vector<DeviceArray> product_arrays(Backend& backend, const MassSystem& system, MassForm form, std::optional<int> rows = {});
/// 1 / the diagonal, by rows. Throws Error where it is not positive.
std::vector<double> inverse_diagonal(const MassSystem& system);
/// For each row the components that are held at 0, as bits.
std::vector<std::int32_t> held_components(const MassSystem& system);

/// The form that is faster for most: elements, but for order 1, and for order 2 on small meshes of
/// squares. Measured on an H200 (benchmarks/results/h200) and on 16 cores. `rows`: of the whole of
/// which the system is a part.
MassForm usual_mass_form(const MassSystem& system, std::int64_t rows = 0);
/// The form whose product takes less time by the results of a device, for this system or the
/// nearest size; usual_mass_form where one of the two products has no result there.
MassForm tuned_mass_form(const Database& database, const DeviceSide& device, const MassSystem& system);

/// Conjugate gradients with a diagonal preconditioner for M x_c = b_c, all components of a vector
/// field at once, on the device of a backend. Their scalars stay there, and a component that has
/// converged stops there: the host only looks every so many iterations whether all are done.
///
///     MassSolver solver(*backend, library, {matrix, 3, walls});
///     const MassSolve solve = solver.solve(force, acceleration, {.tolerance = 1e-12});
///     if (solve.ending != MassEnding::converged) ...
///
/// The product with the matrix is the family csr_spmv or fe_mass with p . M p in the same kernel;
/// sums are taken in a fixed order. So no digit of the solution depends on the configuration or on
/// the number of threads; the two forms differ by rounding.
class MassSolver {
  public:
    /// Uploads the matrix, or what it is made of, and looks its kernel up. `configuration`
    /// ("lanes=8,...") stands in place of what the library would choose. Backend and library must
    /// outlive the solver. Throws Error for a matrix or elements whose arrays do not fit together,
    /// and for a diagonal that is not positive.
    MassSolver(Backend& backend, KernelLibrary& library, const MassSystem& system, MassForm form = MassForm::rows,
               const std::string& configuration = "");
    ~MassSolver();

    /// Solves from x = 0. `b` and `x` are device arrays [components][rows]; b is not changed. Fixed
    /// words of b do not matter, those of x become 0. What may happen (no convergence, breakdown)
    /// is the value; x is then the last one.
    MassSolve solve(const void* b, void* x, const MassSettings& settings = {});
    /// The same for data of the host.
    MassSolve solve(std::span<const double> b, std::span<double> x, const MassSettings& settings = {});

    /// The family of the product, and what was found for it: "exact: lanes=8,...".
    std::string family() const;
    std::string kernel() const;
    Grade grade() const;  ///< of that answer

  private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace hone::inline v0_1::solvers::hydro
