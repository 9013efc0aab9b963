#include "generator/families/acoustics_staggered/levels.hpp"

#include <fmt/format.h>

namespace hone::inline v0_1::acoustics {

Levels::Levels(const Grid& of_grid, const Config& config, bool warp_is_tile)
    : CudaKernel(of_grid, config), by_warps(warp_is_tile), prefetch(config.has("prefetch", 1)) {
}

std::int64_t Levels::shared_bytes() const {
    if (by_warps) return 0;
    return 2 * grid.levels * (block_x + 2 * side_groups()) * points_per_thread * grid.word();  // two exchanges for each, whatever is beside a row
}

// Windows and sums, what the steps leave to each other, and what is read, besides a row around the
// thread's points.
int Levels::registers() const {
    constexpr std::int64_t addresses = 24;
    const std::int64_t levels = grid.levels, behind = grid.reach(), media = grid.array_media ? (levels + 1) / 2 + 2 * levels : 0;
    const std::int64_t kept = levels * 4 * grid.half + (levels - 1) * behind + (levels - 1) / 2 * 2 * behind;
    const std::int64_t read = (3 + media) * points_per_thread * (prefetch ? 2 : 1);
    const std::int64_t values = kept * points_per_thread + read + points_per_thread + (by_warps ? 2 * grid.half : points_per_thread);
    return static_cast<int>(addresses + values * grid.word() / 4);
}

Block Levels::own_constants() const {
    Block own;
    own.line("constexpr int levels = {};  // time steps of a pass", grid.levels);
    own.line("constexpr int tile_threads = {}, margin = {};  // threads of a tile, and those at each end that only serve the others", tile_threads(),
             margin());
    own.line("constexpr int side_groups = {}, tile_groups = block_x + 2 * side_groups;  // beside a tile, for nobody", side_groups());
    return constants(own, false);
}

FormSpace levels_space(const Grid& grid, const std::string& name, const std::string& help, const std::string& former,
                       std::int64_t (*threads_of_tile)(const Config&)) {
    return {.name = name,
            .help = help,
            .tunables = {{"block_x", "threads along x", numbers({32, 64, 128, 256, 512})},
                         {"layers_per_block",
                          "rows that a block takes one after the other; 0: an equal share for each",
                          numbers({0, 32, 64, 128, 256, 512, 1024}),
                          {},
                          "march"},
                         {"points_per_thread", "cells of a row that a thread takes at a time: the width of its loads", numbers({1, 2, 4, 8})},
                         {"prefetch", "rows that are read before they are needed", numbers({0, 1}), {}, "ahead"},
                         {"unroll", "rows per trip of the march's loop", numbers({1, 2, 4, 8})},
                         {"stores", "streaming: what is written leaves the caches first", words({"plain", "streaming"})},
                         {"min_blocks", "blocks per multiprocessor that the compiler must leave registers for", numbers({1, 2, 3, 4, 6, 8, 12, 16})}},
            .constraints = {aligned_points(grid),
                            long_march(shortest_march(grid)),
                            {"wide_tile",
                             [grid, threads_of_tile](const Config& config) -> Reason {
                                 const std::int64_t cells = threads_of_tile(config) * config.integer("points_per_thread"),
                                                    sides = 2 * grid.levels * grid.reach();
                                 if (cells >= 3 * sides / 2) return {};
                                 return fmt::format("of a tile of {} cells {} only serve the others: a third of it has to be left", cells, sides);
                             },
                             {"block_x", "points_per_thread"}}},
            .safe = {{"block_x", 256},
                     {"layers_per_block", 128},
                     {"points_per_thread", 1},
                     {"prefetch", 0},
                     {"unroll", 1},
                     {"stores", "plain"},
                     {"min_blocks", 1}},
            .former = [former](const Config& config) { return config.has("staging", former); }};
}

}  // namespace hone::inline v0_1::acoustics
