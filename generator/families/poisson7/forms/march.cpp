#include "generator/families/poisson7/groups.hpp"

// A march along z with planes in registers.

namespace hone::inline v0_1::poisson {
namespace {

struct March : Planes {
    using Planes::Planes;

    BlockResources resources() const { return {.threads = threads(), .registers = registers()}; }

    KernelSource kernel(const Problem& problem, const Config& config) const {
        return source(problem, render("poisson7/march.cu", holes(problem, config, constants(own_constants())), flags()));
    }
};

}  // namespace

Form march_form(const Problem& problem, const Limits& limits) {
    FormSpace space = Planes::space(Grid(problem), limits);
    space.name = "march";
    space.help = "a march along z with planes in registers";
    space.former = [](const Config& config) { return config.has("staging", "registers"); };
    return cuda_form<March>(problem, std::move(space), Planes::resources_read());
}

}  // namespace hone::inline v0_1::poisson
