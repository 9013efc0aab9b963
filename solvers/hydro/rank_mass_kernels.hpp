#pragma once

#include <cstddef>

#include "generator/families/csr_spmv/family.hpp"
#include "generator/kernel_source.hpp"
#include "solvers/hydro/discretisation.hpp"
#include "solvers/hydro/mass_kernels.hpp"
#include "solvers/item_kernels/item_kernels.hpp"

namespace hone::inline v0_1::solvers::hydro {

/// The kernels of RankMassSolver beside the product with the matrix: MassKernels' arithmetic, cut
/// where sums of all ranks come in.
struct RankMassKernels {
    static constexpr int lane_groups = 8, sharing_threads = 512;
    static constexpr int dot_rows = spmv::chunk_rows;              ///< that csr_spmv and fe_mass sum up first,
    static constexpr int dot_lanes = 1024;                         ///< and how many lanes they deal these sums to
    static constexpr int residual_rows = MassKernels::chunk_rows;  ///< that MassKernels sum up first, and as many lanes

    /// The launches of `source`, in its order.
    enum Step : std::size_t {
        clear_step,
        start_step,
        dots_step,
        update_step,
        turn_step,
        direction_step,
        aim_step,
        go_on_step,
        started_step,
        dotted_step,
        updated_step
    };

    /// Words of `scalars` behind those of MassKernels: [component] p . w, then the last step that
    /// was taken along p.
    static constexpr int more_scalars(int components) { return 2 * components; }

    /// Their text, with a launch of each.
    static KernelSource source(Target target, int components);
    /// Of GPUs that are peers: the kernels from `started_step` on, which gather the sums of all
    /// ranks, too, and take the solution's step at some rows meanwhile: launches of about so many
    /// blocks.
    static KernelSource sharing_source(int components, int blocks);
};

}  // namespace hone::inline v0_1::solvers::hydro
