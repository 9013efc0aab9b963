#include "generator/families/gauss_seidel_27/slabs.hpp"

#include <algorithm>

#include "generator/families/gauss_seidel_27/forms.hpp"

// Slabs of planes, each walking along y with all colours, and the planes between them behind. The
// planes of a slab lie in the registers of the same threads, so that most rows serve all planes
// that need them when they arrive.

namespace hone::inline v0_1::gauss_seidel {
namespace {

struct Slabs : SlabKernel {
    Slabs(const Grid& of_grid, const Config& config)
        : SlabKernel(of_grid, config), passes(config.integer("passes")), told_every(config.integer("told_every")) {
        block_y = config.integer("warps_per_row");
    }

    std::int64_t passes;      // launches: 1 where the planes between slabs follow these in the same one
    std::int64_t told_every;  // steps from telling other blocks of finished rows to telling them again

    bool follows() const { return passes == 1; }

    // Points along x that new values of a slab depend on.
    std::int64_t reach() const { return planes_per_slab > 1 ? 8 : 4; }
    OverlappingWarps overlapping() const { return OverlappingWarps::reaching(reach(), points_per_thread); }
    // With the one that copies.
    std::int64_t warps() const { return overlapping().for_words(grid.nx + 1) + 1; }

    std::int64_t shared_bytes() const { return stages * stage_bytes(2 * planes_per_slab + 2, planes_per_slab); }
    BlockResources resources() const {
        const std::int64_t values = (5 * (planes_per_slab + 1) + 8) * points_per_thread;  // sums and old rows of every plane, and rows that arrive
        return {.threads = threads(), .shared_bytes = shared_bytes(), .registers = registers(values)};
    }

    Block own_constants() const {
        Block block;
        block.line("constexpr int points_per_thread = {};  // along x", points_per_thread);
        block.line("constexpr int planes_per_slab = {}, slab_stages = {};", planes_per_slab, stages);
        return block.line("constexpr int told_every = {};  // steps from telling other blocks to telling them again", told_every);
    }

    KernelSource kernel(const Problem& problem, const Config& config, const Limits& limits) const {
        const Text text = SlabKernel::text(problem, config, own_constants(), follows(), follows() ? "slabs_at_once" : "");
        KernelSource result = source(problem);
        result.text = text.of("slabs.cu");
        if (follows()) {
            // Half of the blocks that the device holds have slabs, the other half the planes
            // between.
            const std::int64_t at_once = std::clamp<std::int64_t>(limits.multiprocessors * min_blocks / 2, 1, slabs() + 1);
            add_progress(result);
            result.step.push_back(slab_launch("gauss_seidel_27_slabs", warps(), 2 * at_once * divide_up(slabs() + 1, at_once), shared_bytes()));
            for (Launch& launch : result.step) launch.constants = {static_cast<int>(at_once)};
            result.entries.emplace_back("gauss_seidel_27_slabs");
            return result;
        }
        for (const char* entry : {"gauss_seidel_27_slabs", "gauss_seidel_27_between"}) {
            result.step.push_back(slab_launch(entry, warps(), slabs(), shared_bytes()));
            result.entries.emplace_back(entry);
        }
        return result;
    }
};

}  // namespace

Form slabs_form(const Problem& problem, const Limits& limits) {
    const Grid grid(problem);
    const StencilIn place = SlabKernel::place(grid);
    return needing(
        {Feature::bulk_copies},
        cuda_form<Slabs>(
            problem, limits,
            {.name = "slabs",
             .help = "slabs of planes, each walking along y with all colours, and the planes between them behind",
             .tunables = {planes_per_slab_tunable({1, 3}),
                          {"passes", "launches: 1 if planes between slabs follow these in the same one, 2 if they come after all of them",
                           numbers({1, 2})},
                          warps_per_row_tunable({4, 6, 8, 12, 16}),
                          points_per_thread_tunable({2, 4}),
                          stages_tunable({2, 3, 4, 6}),
                          cache_hint_tunable(),
                          stencil_in_tunable({place}),
                          min_blocks_tunable({1, 2, 3}),
                          {"told_every", "steps of two rows from telling other blocks of finished ones to telling them again, with passes=1",
                           numbers({2, 4}), Value(4)}},
             .constraints = {aligned_pairs(grid),
                             {"followers",
                              [](const Config& config) {
                                  return rejected_when(config.has("passes", 2) && !config.has("told_every", 4),
                                                       "in a launch of their own the planes between slabs follow nobody: told_every=4");
                              },
                              {"passes", "told_every"}},
                             rows_in_block(grid, [grid](const Config& config) { return Slabs(grid, config).warps(); })},
             .safe = {{"planes_per_slab", 1},
                      {"passes", 2},
                      {"warps_per_row", 16},
                      {"points_per_thread", 2},
                      {"stages", 2},
                      {"cache_hint", "plain"},
                      {"stencil_in", word_of(place)},
                      {"min_blocks", 1},
                      {"told_every", 4}}}));
}

}  // namespace hone::inline v0_1::gauss_seidel
