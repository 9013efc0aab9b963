#pragma once

#include <string>

#include "generator/families/device/cpu_arguments.hpp"
#include "generator/families/gauss_seidel_27/grid.hpp"
#include "generator/form.hpp"
#include "generator/render.hpp"

namespace hone::inline v0_1::gauss_seidel {

/// What the kernels of the forms on processors have in common. A form's own kernel is made of it
/// with the form's tunables.
struct CpuKernel {
    CpuKernel(const Grid& of_grid, const Config& config);

    Grid grid;
    std::int64_t z_block;       ///< planes that a thread takes at a time
    std::int64_t vector_bytes;  ///< of the vectors along x
    std::int64_t fetch_ahead;   ///< rows before which a row's stencils are asked for; 0: never

    bool fetches() const { return fetch_ahead > 0; }
    /// Its source with one launch, by a form's template. `arguments` are those of the entry that
    /// the form adds; `row_parity`: the launch differs from others in the last one.
    KernelSource source(const Problem& problem, const Config& config, const std::string& name, const CpuArguments& arguments, bool row_parity) const;

    /// A form with the tunables that all have behind its own.
    static FormSpace space(FormSpace own, const Grid& grid, const Limits& limits);
};

}  // namespace hone::inline v0_1::gauss_seidel
