#include "generator/families/poisson7/groups.hpp"

// Neighbours of every cell by cached loads.

namespace hone::inline v0_1::poisson {
namespace {

struct Cells : Groups {
    using Groups::Groups;

    BlockResources resources() const { return {.threads = threads(), .registers = registers(groups_of_words(2) / 2)}; }

    KernelSource kernel(const Problem& problem, const Config& config) const {
        const Block own = grid.sums() > 0 ? Block().line("constexpr unsigned all_lanes = 0xffffffff;") : Block();
        return source(problem, render("poisson7/cells.cu", holes(problem, config, constants(own)), flags()));
    }
};

}  // namespace

Form cells_form(const Problem& problem, const Limits&) {
    FormSpace space = Groups::space(Grid(problem));
    space.name = "cells";
    space.help = "neighbours of every cell by cached loads";
    space.former = [](const Config& config) { return config.has("staging", "caches"); };
    return cuda_form<Cells>(problem, std::move(space), {"block_x", "block_y", "load_bytes", "rows_per_thread"});
}

}  // namespace hone::inline v0_1::poisson
