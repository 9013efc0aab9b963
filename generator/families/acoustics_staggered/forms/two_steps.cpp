#include <fmt/format.h>

#include <algorithm>

#include "generator/families/acoustics_staggered/planes.hpp"

// Two time steps of one pass in 3D: planes in shared memory, which the second step follows.

namespace hone::inline v0_1::acoustics {
namespace {

struct TwoSteps : TileOfPlanes {
    using TileOfPlanes::TileOfPlanes;

    // Cells at each end of a tile's rows that are computed for the tile's own cells alone, in whole
    // groups of a thread and whole copies.
    std::int64_t margin() const {
        const std::int64_t words = std::max(copy_bytes / grid.word(), points_per_thread);
        return divide_up(grid.reach(), words) * words;
    }
    // Words beside a tile's rows. With the margin whole sectors: there the tile's rows begin.
    std::int64_t side() const { return words_beside(margin() + grid.half) - margin(); }

    // Of one plane of what is read once; and of what is read again until the second step has come
    // there.
    std::int64_t stage_words() const {
        const auto [x, y] = tile_cells();
        const std::int64_t across = (x + 2 * side()) * y, along_y = x * (y + grid.reach());
        return (grid.array_media ? 2 : 1) * (across + along_y) + x * y;
    }
    std::int64_t lasting_words() const {
        const auto [x, y] = tile_cells();
        const std::int64_t pressures = (x + 2 * side()) * (y + 2 * grid.reach());
        return pressures + (grid.array_media ? 2 * x * y : 0);
    }

    BlockCells block_cells() const {
        const BlockCells tile = tile_cells();
        return {tile.x - 2 * margin(), tile.y - 2 * grid.reach()};
    }
    std::int64_t shared_bytes() const { return (stages * stage_words() + (stages + grid.reach()) * lasting_words()) * grid.word(); }

    // Sums of both steps, pressures and velocities that wait for the second one.
    int registers() const {
        constexpr std::int64_t addresses = 40;
        const std::int64_t waiting = (3 * grid.reach() + 2 * grid.half + 2) * rows_per_thread;
        return static_cast<int>(addresses + (waiting + 4) * points_per_thread * grid.word() / 4);
    }

    // Tiles are few and large. An equal share is the one that takes least time, in whole waves of
    // blocks, each of which has planes that only begin its march.
    std::int64_t layers(const BlockCells& cells, const Limits& limits) const {
        if (layers_per_block != 0) return layers_per_block;
        const std::int64_t most = std::max<std::int64_t>(grid.layers() / shortest_march(grid), 1), resident = limits.multiprocessors * min_blocks;
        const auto planes = [&](std::int64_t parts) {
            return divide_up(columns(cells) * parts, resident) * (divide_up(grid.layers(), parts) + grid.levels * grid.reach());
        };
        std::int64_t best = 1;
        for (std::int64_t parts = 2; parts <= most; ++parts)
            if (planes(parts) < planes(best)) best = parts;
        return std::max(divide_up(grid.layers(), best), shortest_march(grid));
    }

    Block own_constants() const {
        return tile_constants(
            stage_words(),
            Block().line(
                "constexpr int margin = {}, side = {}, lasting_words = {};  // cells of a tile's rows that only serve the others, words beside them",
                margin(), side(), lasting_words()));
    }
};

FormSpace space_of_two_steps(const Grid& grid) {
    return {.name = "planes",
            .help = "a march with sums in registers and planes in shared memory, which the second step follows",
            .tunables = {{"block_x", "threads along x", numbers({8, 16, 18, 20, 24, 32, 34})},
                         {"block_y", "threads along y", numbers({8, 12, 16, 20, 24, 28, 32, 36, 40, 48})},
                         {"rows_per_thread", "rows of a plane that a thread takes", numbers({1, 2})},
                         {"points_per_thread", "cells of a row that a thread takes at a time: the width of its loads", numbers({1, 2, 4})},
                         {"layers_per_block",
                          "planes that a block takes one after the other; 0: a share with which the last wave of blocks is as full as the others",
                          numbers({0, 32, 64, 128, 256})},
                         {"stages", "planes in shared memory, or on their way there, beside those that are read again", numbers({2, 3})},
                         {"unroll", "planes per trip of the march's loop", numbers({1, 2})},
                         {"min_blocks", "blocks per multiprocessor that the compiler must leave registers for", numbers({1, 2})},
                         {"stores", "streaming: what is written leaves the caches first", words({"plain", "streaming"})},
                         {"cache_hint", "kept: the second cache gives up what is copied into shared memory last", words({"plain", "kept"})},
                         {"max_lead", "planes that a block may be ahead of its neighbours before it waits for them; 0: as many as it likes",
                          numbers({0, 1, 2}), Value(0)}},
            .constraints = {aligned_points(grid),
                            long_march(shortest_march(grid)),
                            {"whole_pieces",
                             [grid](const Config& config) -> Reason {
                                 if (TwoSteps(grid, config).tile_cells().x * grid.word() % copy_bytes == 0) return {};
                                 return "rows of a tile are whole copies of 16 bytes";
                             },
                             {"block_x", "points_per_thread"}},
                            {"wide_tile",
                             [grid](const Config& config) -> Reason {
                                 const TwoSteps steps(grid, config);
                                 const BlockCells tile = steps.tile_cells(), own = steps.block_cells();
                                 if (own.x > 0 && own.y > 0 && 5 * own.x * own.y >= 2 * tile.x * tile.y) return {};
                                 return fmt::format("of a tile of {} x {} cells too many only serve the others: two fifths have to be left", tile.x,
                                                    tile.y);
                             },
                             {"block_x", "block_y", "rows_per_thread", "points_per_thread"}},
                            kept_reads(),
                            lead_of_a_block()},
            .safe = {{"block_x", 32},
                     {"block_y", 16},
                     {"rows_per_thread", 1},
                     {"points_per_thread", 1},
                     {"layers_per_block", 0},
                     {"stages", 2},
                     {"unroll", 1},
                     {"min_blocks", 1},
                     {"stores", "plain"},
                     {"cache_hint", "plain"},
                     {"max_lead", 0}}};
}

}  // namespace

Form two_steps_form(const Problem& problem, const Limits& limits) {
    const Grid grid(problem);
    FormSpace space = space_of_two_steps(grid);
    space.count = count_of_tiles<TwoSteps>(grid);
    return needing({Feature::async_copies}, cuda_form<TwoSteps>(problem, limits, std::move(space)));
}

}  // namespace hone::inline v0_1::acoustics
