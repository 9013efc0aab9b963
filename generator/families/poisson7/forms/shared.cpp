#include <fmt/format.h>

#include "generator/families/poisson7/groups.hpp"

// A march along z with planes in registers, where threads along y share rows through shared memory.

namespace hone::inline v0_1::poisson {
namespace {

constexpr std::int64_t static_shared_bytes = 48 * 1024;  // more needs dynamic shared memory

struct Shared : Planes {
    Shared(const Grid& grid_of_problem, const Config& config) : Planes(grid_of_problem, config), max_lead(integer_or(config, "max_lead", 0)) {}

    std::int64_t max_lead;  // planes of a block over its neighbours; 0: as many as it likes

    static constexpr int planes_shared = 2;                           // in turn
    int rows_shared() const { return rows_per_thread == 1 ? 1 : 2; }  // the first and the last one of a thread
    std::int64_t shared_bytes() const { return planes_shared * threads() * rows_shared() * load_bytes; }
    BlockResources resources() const { return {.threads = threads(), .shared_bytes = shared_bytes(), .registers = registers()}; }

    KernelSource kernel(const Problem& problem, const Config& config) const {
        Block own;
        if (max_lead > 0) own.line("constexpr int lead = {};  // planes that a block may be ahead of its neighbours", max_lead);
        Holes all = holes(problem, config, constants(own.append(own_constants())));
        all.emplace_back("shared_rows",
                         Block().line("__shared__ Words shared_rows[{}][block_y][{}][block_x];  // the first and last rows of the threads, of two "
                                      "planes in turn",
                                      planes_shared, rows_shared()));
        Flags decided = flags();
        decided.emplace_back("paced", max_lead > 0);
        decided.emplace_back("one_row", rows_per_thread == 1);
        return source(problem, render("poisson7/shared.cu", all, decided));
    }
};

}  // namespace

Form shared_form(const Problem& problem, const Limits& limits) {
    const Grid grid(problem);
    FormSpace space = Planes::space(grid, limits);
    space.name = "shared";
    space.help = "a march along z with planes in registers, and rows in shared memory for the neighbours along y";
    space.tunables[1] = block_y_tunable({2, 4, 8, 16});
    if (limits.has(Feature::ordered_accesses)) {
        space.tunables.push_back({"max_lead", "planes that a block may be ahead of its neighbours before it waits for them; 0: as many as it likes",
                                  numbers({0, 1, 2, 4}), Value(0), "lead"});
        space.safe.push_back({"max_lead", 0});
    }
    space.constraints.push_back({"declared_memory", [grid](const Config& config) -> Reason {
                                     const std::int64_t bytes = Shared(grid, config).shared_bytes();
                                     if (bytes <= static_shared_bytes) return {};
                                     return fmt::format("{} bytes of shared memory in a block, {} can be declared", bytes, static_shared_bytes);
                                 }});
    space.former = [](const Config& config) { return config.has("staging", "shared"); };
    return cuda_form<Shared>(problem, std::move(space), Planes::resources_read());
}

}  // namespace hone::inline v0_1::poisson
