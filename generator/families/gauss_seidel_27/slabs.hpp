#pragma once

#include "generator/families/gauss_seidel_27/cuda.hpp"

namespace hone::inline v0_1::gauss_seidel {

/// What kernels have in common that take slabs of planes and the planes between them, with rows
/// that bulk copies bring two at a time.
struct SlabKernel : CudaKernel {
    SlabKernel(const Grid& of_grid, const Config& config);

    std::int64_t planes_per_slab;  ///< planes that a block takes together
    std::int64_t stages;           ///< of bulk copies that are on their way or read
    bool streaming_copies;         ///< what is copied of f leaves the L2 cache first

    bool copied_stencil() const { return stencil_in == StencilIn::copied; }
    std::int64_t slabs() const { return divide_up(grid.nz, planes_per_slab + 1); }
    /// Bytes of a stage with two rows of so many arrays, and with the stencils of so many planes.
    std::int64_t stage_bytes(std::int64_t arrays, std::int64_t planes) const;

    /// A text whose planes between slabs follow these within the launch, or come in a later one.
    /// `constant` is an argument that the launches give.
    Text text(const Problem& problem, const Config& config, const Block& own, bool follows, const std::string& constant) const;
    /// A launch of so many blocks of so many warps. Slabs begin with planes of the earlier colours,
    /// wherever the range does.
    Launch slab_launch(const std::string& entry, std::int64_t warps, std::int64_t blocks, std::int64_t shared_bytes) const;
    /// Adds the table of what is finished, and the launch that sets it back.
    void add_progress(KernelSource& source) const;

    /// The place of the stencil, of a grid that slabs serve.
    static StencilIn place(const Grid& grid) { return grid.stencil == Stencil::constant ? StencilIn::by_value : StencilIn::copied; }
};

}  // namespace hone::inline v0_1::gauss_seidel
