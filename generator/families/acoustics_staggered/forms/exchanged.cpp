#include "generator/families/acoustics_staggered/levels.hpp"
#include "generator/families/acoustics_staggered/march.hpp"

// A march of a step with layers in registers, whose blocks exchange new velocities through shared
// memory; of several steps in 2D, all values along x.

namespace hone::inline v0_1::acoustics {
namespace {

struct Exchanged : March {
    Exchanged(const Grid& of_grid, const Config& config) : March(of_grid, config, {.in_registers = true, .exchanged = true}) {}
};

struct LevelsOfBlocks : Levels {
    LevelsOfBlocks(const Grid& of_grid, const Config& config) : Levels(of_grid, config, false) {}
};

}  // namespace

Form exchanged_form(const Problem& problem, const Limits& limits) {
    const Grid grid(problem);
    if (grid.levels == 1)
        return cuda_form<Exchanged>(problem, limits,
                                    march_space(grid, {.name = "exchanged",
                                                       .help = "a march with layers in registers, and new velocities through shared memory",
                                                       .former = "shared",
                                                       .rows_of_threads = grid.dimension == 3}));
    FormSpace space = levels_space(grid, "exchanged", "values along x through shared memory from the whole block", "shared",
                                   [](const Config& config) { return config.integer("block_x"); });
    space.count = count_of_tiles<LevelsOfBlocks>(grid);
    return cuda_form<LevelsOfBlocks>(problem, limits, std::move(space));
}

}  // namespace hone::inline v0_1::acoustics
