#pragma once

#include <array>
#include <memory>

#include "runtime/backend.hpp"

namespace hone::inline v0_1::solvers {

/// What multigrid needs beside the smoother, in three small kernels of the application's own:
/// residuals, and the way from one grid to the next. Grids have n interior points a direction,
/// fields [n + 2][n + 2][pitch]; point (X, Y, Z) of the coarse grid is point (2 X, 2 Y, 2 Z) of the
/// fine one. Of a grid that is cut a rank has `planes` of them, from number `first` (even) on:
/// plane 0 of its arrays is point Z = first.
class TransferKernels {
  public:
    struct Grid {
        int n = 0, pitch = 0;
        int planes = 0;  ///< without those around them; 0: all n
        int first = 0;

        int inner() const { return planes > 0 ? planes : n; }
    };
    /// Planes of an array.
    struct Range {
        int first = 0, last = 0;
    };

    /// The kernels' text, for tests. The same body serves both targets.
    static KernelSource source(Target target, Precision precision);

    /// Throws Error with the compiler's reason when they do not compile.
    TransferKernels(Backend& backend, Precision precision);

    /// residual = f - operator u at the interior points of all planes but the first and the last;
    /// `coefficients` are the operator's 27.
    void residual(void* residual, const void* u, const void* f, const void* coefficients, const Grid& grid) const;
    /// coarse = the transpose of `add_interpolated` applied to fine, divided by 8 where `mean` says
    /// so: on these planes of the coarse grid.
    void restrict_to(void* coarse, const void* fine, const Grid& coarse_grid, const Grid& fine_grid, bool mean, const Range& planes) const;
    /// fine += coarse, linear along each axis between the coarse points: on these planes of the
    /// fine grid.
    void add_interpolated(void* fine, const void* coarse, const Grid& fine_grid, const Grid& coarse_grid, const Range& planes) const;
    /// The same on all planes but the first and the last.
    void restrict_to(void* coarse, const void* fine, const Grid& coarse_grid, const Grid& fine_grid, bool mean) const {
        restrict_to(coarse, fine, coarse_grid, fine_grid, mean, {1, coarse_grid.inner() + 1});
    }
    void add_interpolated(void* fine, const void* coarse, const Grid& fine_grid, const Grid& coarse_grid) const {
        add_interpolated(fine, coarse, fine_grid, coarse_grid, {1, fine_grid.inner() + 1});
    }

  private:
    void launch(int entry, const std::array<void*, 4>& arrays, const Range& planes, const std::array<int, 7>& constants) const;

    std::unique_ptr<Module> module_;
    int residual_ = 0, restrict_ = 0, interpolate_ = 0;
};

}  // namespace hone::inline v0_1::solvers
