#include "generator/families/acoustics_staggered/levels.hpp"

// Several time steps of one pass in 2D, where a warp is a tile of its own.

namespace hone::inline v0_1::acoustics {
namespace {

struct LevelsOfWarps : Levels {
    LevelsOfWarps(const Grid& of_grid, const Config& config) : Levels(of_grid, config, true) {}
};

}  // namespace

Form shuffled_form(const Problem& problem, const Limits& limits) {
    const Grid grid(problem);
    FormSpace space = levels_space(grid, "shuffled", "values along x from the other lanes of a warp", "shuffle", [](const Config&) { return warp; });
    space.count = count_of_tiles<LevelsOfWarps>(grid);
    return cuda_form<LevelsOfWarps>(problem, limits, std::move(space));
}

}  // namespace hone::inline v0_1::acoustics
