#pragma once

#include "generator/families/acoustics_staggered/cuda.hpp"

namespace hone::inline v0_1::acoustics {

/// Several time steps of one pass, in 2D: the forms exchanged and shuffled. Template: levels.cu.
struct Levels : CudaKernel {
    Levels(const Grid& of_grid, const Config& config, bool warp_is_tile);

    bool by_warps;  ///< a warp is a tile of its own, else a block
    bool prefetch;  ///< rows are read before they are needed

    /// Threads of a row that exchange values, and those at each end whose cells only serve the
    /// others.
    std::int64_t tile_threads() const { return by_warps ? warp : block_x; }
    std::int64_t margin() const { return divide_up(grid.levels * grid.reach(), points_per_thread); }
    std::int64_t side_groups() const { return divide_up(grid.half, points_per_thread); }  ///< beside a tile, for nobody

    BlockCells tile_cells() const { return {block_x * points_per_thread, 1}; }
    BlockCells block_cells() const { return {block_x / tile_threads() * (tile_threads() - 2 * margin()) * points_per_thread, 1}; }
    std::int64_t shared_bytes() const;
    int registers() const;
    Block own_constants() const;
    Parts parts() const { return {.levels = true, .exchanged = !by_warps, .by_warps = by_warps, .prefetch = prefetch}; }
};

/// `threads_of_tile` of a configuration's block: how many exchange values.
FormSpace levels_space(const Grid& grid, const std::string& name, const std::string& help, const std::string& former,
                       std::int64_t (*threads_of_tile)(const Config&));

}  // namespace hone::inline v0_1::acoustics
