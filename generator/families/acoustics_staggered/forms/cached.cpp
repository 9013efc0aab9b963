#include "generator/families/acoustics_staggered/march.hpp"

// Values around a point by cached loads.

namespace hone::inline v0_1::acoustics {
namespace {

struct Cached : March {
    Cached(const Grid& of_grid, const Config& config) : March(of_grid, config, {.in_registers = false, .exchanged = false}) {}
};

}  // namespace

Form cached_form(const Problem& problem, const Limits& limits) {
    const Grid grid(problem);
    FormSpace space = march_space(grid, {.name = "cached", .help = "values around by cached loads", .former = "cache"});
    const auto rows_of_a_march = [](const Config& config) -> Reason {
        if (config.integer("layers_per_block") == 0 || config.integer("layers_per_block") >= config.integer("block_y")) return {};
        return "a block marches over the rows of its threads at least";
    };
    if (grid.dimension == 2) space.constraints.push_back({"rows_of_a_march", rows_of_a_march, {"layers_per_block", "block_y"}});
    return cuda_form<Cached>(problem, limits, std::move(space));
}

}  // namespace hone::inline v0_1::acoustics
