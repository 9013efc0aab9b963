#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "runtime/library.hpp"
#include "runtime/ranks/grid_partition.hpp"

namespace hone::inline v0_1::solvers {

/// The explicit part of an incompressible flow's time step on a periodic staggered mesh: the
/// kernels of family staggered_flow, for the three stages of a step. The mesh has nx x ny x nz
/// cubic cells of width h (nz = 1 in two dimensions), fields [nz][ny][pitch]. Word (i, j, k) of
/// velocity component c lies on the face before cell (i, j, k) along axis c: u at (i, j + 1/2, k +
/// 1/2) h.
///
/// Of a mesh that is cut a rank has nz planes, from number `first` on. Its fields have a plane more
/// before and behind these, the neighbours', which kernels read; pointers are to plane 0, the first
/// own one.
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
        void* right_hand_side = nullptr;  ///< of the pressure equation
        void* pressure = nullptr;
    };
    static constexpr int stages = 3;

    /// Looks the kernels up. On any number of ranks they have the configurations of the whole
    /// mesh's, so that no digit knows how many there are. Backend, library and arrays must outlive
    /// it.
    FlowKernels(Backend& backend, KernelLibrary& library, const Mesh& mesh, const Fields& fields);

    /// What one stage of the time step takes: change = keep change + dt F(velocity); velocity +=
    /// share change.
    struct Stage {
        double keep = 0, share = 0;
    };
    void set_numbers(const std::array<Stage, stages>& of_stages, double dt, double viscosity);

    /// change = keep change + dt (-div (velocity velocity) + viscosity Laplace velocity), in these
    /// planes
    void momentum(int stage, const CellRange& planes) const { launch(0, stage, planes); }
    /// right_hand_side = -div (velocity + share change)
    void divergence(int stage, const CellRange& planes) const { launch(1, stage, planes); }
    /// velocity += share change - grad pressure
    void project(int stage, const CellRange& planes) const { launch(2, stage, planes); }

    /// What was found, a line for each kernel: "momentum:   exact, form=...".
    std::string found() const;

  private:
    void launch(std::size_t kernel, int stage, const CellRange& planes) const;

    Backend& backend_;
    Mesh mesh_;
    DeviceArray numbers_;
    std::array<std::shared_ptr<const Kernel>, 3> kernels_;
    std::array<std::vector<BoundKernel>, 3> of_stages_;
};

}  // namespace hone::inline v0_1::solvers
