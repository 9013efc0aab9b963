#include "generator/families/acoustics_staggered/march.hpp"

#include <algorithm>

namespace hone::inline v0_1::acoustics {

March::March(const Grid& of_grid, const Config& config, const How& how_values_come)
    : CudaKernel(of_grid, config), how(how_values_come), prefetch(config.has("prefetch", 1)) {
}

std::int64_t March::groups_beside(std::int64_t reach) const {
    const std::int64_t words = std::max(how.whole_words, points_per_thread);
    return divide_up(reach, words) * words / points_per_thread;
}

std::int64_t March::groups_exchanged() const {
    return how.exchanged ? groups_beside(grid.half - 1) + groups_beside(grid.half) : 0;
}

std::int64_t March::exchange_bytes() const {
    if (!how.exchanged) return 0;
    const std::int64_t rows = block_y * (block_x + groups_exchanged()) * points_per_thread;
    const std::int64_t side_rows = grid.dimension == 3 ? (block_y + 2 * grid.half - 1) * block_x * points_per_thread : 0;
    return 2 * (rows + side_rows) * grid.word();  // two layers in turns
}

BlockCells March::block_cells() const {
    return {(block_x - groups_exchanged()) * points_per_thread, grid.dimension == 2 ? 1 : block_y};
}

// About how many 32-bit registers a thread needs.
int March::registers() const {
    constexpr std::int64_t addresses = 24;
    const std::int64_t points = points_per_thread, m = grid.half;
    const bool step = grid.kind == Kind::step, in_2d = grid.dimension == 2;
    // What a thread reads when it comes to a layer: groups around its own, and groups of the other
    // arrays.
    std::int64_t row = span(points, m, m) + (grid.kind == Kind::pressure ? 2 : 2 * grid.dimension) * points;
    if (step) row = span(points, m, m) + 5 * points;
    if (step && !how.exchanged) row = span(points, 2 * m - 1, 2 * m - 1) + (grid.array_media ? 2 : 1) * span(points, m - 1, m) + 3 * points;
    std::int64_t values = row + points;
    // Factors of the cells, and in 2D of the faces that a thread computes for its neighbours; in 3D
    // these wait for what along y needs more.
    if (grid.absorbing) values += points + (step && in_2d && !how.exchanged ? span(points, m - 1, m) : 0);
    if (prefetch) values += row;
    if (how.in_registers) values += (step ? 4 : 2) * m * points;
    // Faces along the march, which compilers compute side by side; of order 16 in 2D those of the
    // thread's next points wait with them.
    if (step && !how.in_registers) {
        values += 2 * m * points;
        if (in_2d && m > 4) values += 2 * m * (points - 1) * grid.word() / 4;
    }
    if (step && !in_2d && !how.exchanged) {
        values += 3 * m * points;  // the neighbours' velocities along y
        // And their media, beside what waits along the march.
        if (how.in_registers && grid.array_media) values += 2 * m * points;
    }
    return static_cast<int>(addresses + values * grid.word() / 4);
}

Block March::exchange_constants() const {
    if (!how.exchanged) return {};
    return Block().line("constexpr int groups_left = {}, groups_right = {};  // beside a thread's own, that hold what its cells need",
                        groups_beside(grid.half - 1), groups_beside(grid.half));
}

}  // namespace hone::inline v0_1::acoustics
