#include "generator/families/acoustics_staggered/cpu.hpp"

// All threads go through the planes together, in the fields themselves.

namespace hone::inline v0_1::acoustics {
namespace {

struct CpuMarch : CpuKernel {
    using CpuKernel::CpuKernel;

    KernelSource kernel(const Problem& problem, const Config& config) const {
        return source(problem, config, levels_constant(grid), arguments(), CpuPart::march);
    }
};

}  // namespace

Form cpu_march_form(const Problem& problem, const Limits& limits) {
    const Grid grid(problem);
    FormSpace space = team_space(grid, "march", "all threads go through the planes together, each with its rows, in place");
    space.safe = {{"y_block", whole_axis}};
    add_pairs(space, grid, limits);
    return cpu_form<CpuMarch>(problem, with_vectors(std::move(space), limits));
}

}  // namespace hone::inline v0_1::acoustics
