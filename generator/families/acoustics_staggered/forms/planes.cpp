#include "generator/families/acoustics_staggered/planes.hpp"

#include <fmt/format.h>

// A march in 3D with sums in registers and planes in shared memory, by asynchronous copies.

namespace hone::inline v0_1::acoustics {
namespace {

struct Planes : TileOfPlanes {
    using TileOfPlanes::TileOfPlanes;

    // Words beside a tile's rows; and those that the pressures of a step need, around the faces
    // there.
    std::int64_t side() const { return words_beside(grid.half); }
    std::int64_t pressure_side() const {
        const std::int64_t points = points_per_thread;
        return words_beside((divide_up(grid.half - 1, points) + divide_up(grid.half, points)) * points);
    }

    // Of one plane of everything that the kernel reads.
    std::int64_t stage_words() const {
        const auto [x, y] = tile_cells();
        const std::int64_t media = grid.array_media ? 2 : 1, own = x * y, around = 2 * grid.half - 1, beside = 2 * side();
        if (grid.kind == Kind::pressure) return (x + beside) * y + x * (y + around) + (1 + media) * own;
        if (grid.kind == Kind::velocity) return (x + beside) * (y + around) + 3 * media * own;
        const std::int64_t pressures = (x + 2 * pressure_side()) * (y + 2 * around);
        return pressures + media * ((x + beside) * y + x * (y + around) + own) + (media - 1) * own;
    }

    BlockCells block_cells() const { return tile_cells(); }
    std::int64_t shared_bytes() const { return stages * stage_words() * grid.word(); }

    // Sums (and in a step pressures) of the planes that wait, for every cell; of one row what is
    // read around it; and where the copies come from.
    int registers() const {
        constexpr std::int64_t addresses = 40;
        const std::int64_t points = points_per_thread, m = grid.half;
        const std::int64_t kept = (grid.kind == Kind::step ? 4 * m + 1 : 2 * m + 1) * points * rows_per_thread;
        const std::int64_t of_next_plane = 8 * (unroll - 1);
        return static_cast<int>(addresses + of_next_plane + (kept + 4 * points) * grid.word() / 4);
    }

    Block own_constants() const {
        Block sides;
        if (grid.kind == Kind::step)
            sides.line("constexpr int side = {}, pressure_side = {};  // words beside a tile's rows, of velocities and of pressures", side(),
                       pressure_side());
        else
            sides.line("constexpr int side = {};  // words beside a tile's rows", side());
        return tile_constants(stage_words(), sides);
    }
};

}  // namespace

Form planes_form(const Problem& problem, const Limits& limits) {
    const Grid grid(problem);
    FormSpace space = march_space(grid, {.name = "planes",
                                         .help = "a march with sums in registers and planes in shared memory, by asynchronous copies",
                                         .former = "planes",
                                         .ahead = false,
                                         .copies = true,
                                         .keeps_pace = true,
                                         .rows_per_thread = true});
    const auto wide_planes = [grid](const Config& config) -> Reason {
        // What a stage holds around the tile comes from the second cache once more.
        const Planes planes(grid, config);
        const BlockCells cells = planes.tile_cells();
        const std::int64_t arrays = 4 + (grid.kind == Kind::velocity ? 3 : grid.kind == Kind::step ? 4 : 1) * (grid.array_media ? 1 : 0);
        const std::int64_t words = planes.stage_words(), own = arrays * cells.x * cells.y;
        if (8 * words <= (grid.half < 8 ? 13 : 16) * own) return {};
        return fmt::format("{} words are read of every plane for {}: too many are around the tile", words, own);
    };
    space.constraints.push_back({"wide_planes", wide_planes, {"block_x", "block_y", "rows_per_thread", "points_per_thread"}});
    space.constraints.push_back(kept_reads());
    return needing({Feature::async_copies}, cuda_form<Planes>(problem, limits, std::move(space)));
}

}  // namespace hone::inline v0_1::acoustics
