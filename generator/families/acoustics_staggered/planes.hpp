#pragma once

#include "generator/families/acoustics_staggered/cuda.hpp"

namespace hone::inline v0_1::acoustics {

/// A march in 3D whose planes are in shared memory, where asynchronous copies bring them: the forms
/// planes and two_steps. Template: planes.cu.
struct TileOfPlanes : CudaKernel {
    TileOfPlanes(const Grid& of_grid, const Config& config)
        : CudaKernel(of_grid, config),
          rows_per_thread(integer_or(config, "rows_per_thread", 1)),
          stages(integer_or(config, "stages", 1)),
          max_lead(integer_or(config, "max_lead", 0)),
          kept_reads(config.has("cache_hint", "kept")) {}

    std::int64_t rows_per_thread;
    std::int64_t stages;    ///< planes in shared memory, or on their way there
    std::int64_t max_lead;  ///< of a block over its neighbours; 0: as much as it likes
    bool kept_reads;        ///< the second cache gives up what is copied last

    /// The cells of a plane that the block's threads compute.
    BlockCells tile_cells() const { return {block_x * points_per_thread, block_y * rows_per_thread}; }
    Parts parts() const { return {.planes = true, .kept_reads = kept_reads, .paced = max_lead > 0}; }

    /// The constants of a kernel: `sides` are those of what lies around the tile.
    Block tile_constants(std::int64_t stage_words, const Block& sides) const {
        Block own;
        own.line("constexpr int rows = {};  // of a plane, one below the other, that a thread takes", rows_per_thread);
        own.line("constexpr int stages = {}, stage_words = {};  // planes in shared memory or on their way, and all words of each", stages,
                 stage_words);
        own.append(sides);
        add_lead(own, max_lead);
        return constants(own, false);
    }
};

}  // namespace hone::inline v0_1::acoustics
