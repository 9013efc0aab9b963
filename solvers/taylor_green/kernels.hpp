#pragma once

#include <array>
#include <memory>
#include <string>

#include "runtime/backend.hpp"
#include "runtime/ranks/grid_partition.hpp"

namespace hone::inline v0_1::solvers {

/// The explicit part of an incompressible flow's time step on a periodic staggered mesh, on a
/// processor or a GPU: plain kernels, compiled through hone's backend. The mesh has nx x ny x nz
/// cubic cells of width h (nz = 1 in two dimensions), fields [nz][ny][pitch]. Word (i, j, k) of
/// velocity component c lies on the face before cell (i, j, k) along axis c: u at (i, j + 1/2, k +
/// 1/2) h.
///
/// Of a mesh that is cut a rank has nz planes, from number `first` on. Its fields have a plane more
/// before and behind these, the neighbours', which kernels read; pointers are to plane 0, the first
/// own one.
///
/// Convection is in divergence form with averages of two neighbours, which conserves mass, momentum
/// and (without viscosity) energy: F. H. Harlow, J. E. Welch, Physics of Fluids 8 (1965). Diffusion
/// is the second difference.
class FlowKernels {
  public:
    struct Mesh {
        int nx = 0, ny = 0, nz = 0;
        std::int64_t pitch = 0;  ///< words from one row to the next
        double h = 0;
        Precision precision = Precision::f64;
        int first = 0, all_planes = 0;  ///< 0: all are here

        bool is_cut() const { return all_planes > nz; }
        bool is_flat() const { return nz == 1 && !is_cut(); }
        std::int64_t plane() const { return pitch * ny; }
        std::int64_t words() const { return plane() * nz; }
        std::int64_t before() const { return is_cut() ? plane() : 0; }  ///< words of a field before its first own one
        std::int64_t stored_words() const { return words() + 2 * before(); }
    };
    /// Device arrays of an application, per component and per cell.
    struct Fields {
        std::array<void*, 3> velocity{}, change{};
        void* cells = nullptr;
    };
    static constexpr int stages = 3;

    /// Throws Error with the compiler's reason when the kernels do not compile.
    FlowKernels(Backend& backend, const Mesh& mesh);

    /// What one stage of the time step takes: change = keep change + dt F(velocity); velocity +=
    /// share change.
    struct Stage {
        double keep = 0, share = 0;
    };
    void set_numbers(const std::array<Stage, stages>& of_stages, double dt, double viscosity);

    /// change = keep change + dt (-div (velocity velocity) + viscosity Laplace velocity), in these
    /// planes
    void momentum(const Fields& fields, int stage, const CellRange& planes) const { launch(0, fields, stage, planes); }
    /// cells = -div (velocity + share change)
    void divergence(const Fields& fields, int stage, const CellRange& planes) const { launch(1, fields, stage, planes); }
    /// velocity += share change - grad cells
    void project(const Fields& fields, int stage, const CellRange& planes) const { launch(2, fields, stage, planes); }

    /// Source of the three kernels, for tests.
    static KernelSource source(const Mesh& mesh, Target target);

  private:
    void launch(std::size_t number, const Fields& fields, int stage, const CellRange& planes) const;

    Backend& backend_;
    Mesh mesh_;
    KernelSource source_;
    std::unique_ptr<Module> module_;
    std::array<int, 3> entries_{};
    DeviceArray numbers_;
};

}  // namespace hone::inline v0_1::solvers
