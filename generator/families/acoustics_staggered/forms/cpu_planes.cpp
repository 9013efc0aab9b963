#include "generator/families/acoustics_staggered/cpu.hpp"

// All threads go through the planes together, and new velocities are in rings that they share.

namespace hone::inline v0_1::acoustics {
namespace {

struct CpuPlanes : CpuKernel {
    using CpuKernel::CpuKernel;

    KernelSource kernel(const Problem& problem, const Config& config) const {
        return source(problem, config, levels_constant(grid), arguments(), CpuPart::planes);
    }
};

}  // namespace

Form cpu_planes_form(const Problem& problem, const Limits& limits) {
    FormSpace space = team_space(Grid(problem), "planes",
                                 "all threads go through the planes together, each with its rows, and read new velocities from each other, of rings "
                                 "that they share");
    space.safe = {{"y_block", 16}};
    // Threads together took whole rows through all planes, whatever else was asked for.
    space.former = [](const Config& config) { return config.has("team", "planes") && config.has("x_block", whole_axis) && config.has("march", 0); };
    add_stores(space);
    return cpu_form<CpuPlanes>(problem, with_vectors(std::move(space), limits));
}

}  // namespace hone::inline v0_1::acoustics
