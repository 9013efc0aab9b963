#include "generator/families/acoustics_staggered/march.hpp"

// A march with layers in registers.

namespace hone::inline v0_1::acoustics {
namespace {

struct Registers : March {
    Registers(const Grid& of_grid, const Config& config) : March(of_grid, config, {.in_registers = true, .exchanged = false}) {}
};

}  // namespace

Form march_form(const Problem& problem, const Limits& limits) {
    const Grid grid(problem);
    return cuda_form<Registers>(
        problem, limits,
        march_space(grid,
                    {.name = "march", .help = "a march with layers in registers", .former = "registers", .rows_of_threads = grid.dimension == 3}));
}

}  // namespace hone::inline v0_1::acoustics
