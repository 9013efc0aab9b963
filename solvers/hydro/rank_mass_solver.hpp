#pragma once

#include <memory>
#include <string>

#include "solvers/hydro/mass_solver.hpp"
#include "solvers/hydro/zone_part.hpp"

namespace hone::inline v0_1::solvers::hydro {

/// MassSolver on several ranks: each has the rows of its own nodes, and all zones around them. Of
/// GPUs the directions of other ranks' nodes travel while the solution takes its step. Dot products
/// are those of MassSolver, sums over the same chunks in the same order, which all ranks gather: so
/// are all digits, on any number of ranks. The scalars stay on the devices, as in MassSolver.
class RankMassSolver {
  public:
    /// All ranks make and call theirs alike. Part, backend and library must outlive it. Throws
    /// Error as MassSolver does.
    RankMassSolver(const ZonePart& part, Backend& backend, KernelLibrary& library, MassForm form, const std::string& configuration = "");
    ~RankMassSolver();
    RankMassSolver(RankMassSolver&&) noexcept;
    RankMassSolver& operator=(RankMassSolver&&) noexcept;

    /// Makes the exchanges with other ranks anew, by what the communicator's settings say now.
    void renew_exchanges();

    /// As MassSolver::solve. `b` counts at own nodes alone; `x` is found at all that are here.
    MassSolve solve(const void* b, void* x, const MassSettings& settings = {});
    /// So many products of this rank's part with the last direction, for their time alone.
    void multiply(int times);

    std::string family() const;
    std::string kernel() const;
    Grade grade() const;

  private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace hone::inline v0_1::solvers::hydro
