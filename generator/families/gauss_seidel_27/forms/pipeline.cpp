#include <algorithm>

#include "generator/families/gauss_seidel_27/bulk_copies.hpp"
#include "generator/families/gauss_seidel_27/forms.hpp"
#include "generator/families/gauss_seidel_27/slabs.hpp"

// Slabs of planes and the planes between them in one launch. Planes of a slab have warps of their
// own, and what they made goes on through shared memory.

namespace hone::inline v0_1::gauss_seidel {
namespace {

struct Pipeline : SlabKernel {
    Pipeline(const Grid& of_grid, const Config& config) : SlabKernel(of_grid, config), max_lead(config.integer("max_lead")) {
        block_y = block_warps(config.integer("warps_per_row"));
    }

    std::int64_t max_lead;  // rows that slabs may be ahead of the planes between them; 0: any

    bool later_planes() const { return planes_per_slab > 1; }
    std::int64_t earlier() const { return (planes_per_slab + 1) / 2; }  // planes of a slab that have the earlier colours
    std::int64_t later() const { return planes_per_slab / 2; }

    OverlappingWarps overlapping() const { return OverlappingWarps::reaching(4, points_per_thread); }
    std::int64_t warps_of_plane() const { return overlapping().for_words(grid.nx + 2); }
    // Warps that copy, and one that says what is finished.
    std::int64_t helpers() const { return later_planes() ? 4 : 3; }
    // Of the planes of a slab and of the one between slabs.
    std::int64_t block_warps(std::int64_t warps_of_a_plane) const { return (planes_per_slab + 1) * warps_of_a_plane + helpers(); }

    // Stages of the planes of the later colours, of which others read, too, and of the plane
    // between slabs.
    std::int64_t later_stages() const { return stages + 2; }
    std::int64_t between_stages() const { return later_planes() ? std::max<std::int64_t>(stages - 1, 2) : stages; }
    static constexpr std::int64_t fresh_places = 3;  // steps whose new rows of the earlier colours are kept
    std::int64_t shared_bytes() const {
        const std::int64_t fresh_rows = later_planes() ? fresh_places * 2 * earlier() : 0;
        return stages * stage_bytes(2 * earlier() + 2, earlier()) + later_stages() * stage_bytes(2 * later(), later()) +
               between_stages() * stage_bytes(4, 1) + fresh_rows * CopiedRows(grid).row_words * grid.word_bytes();
    }
    BlockResources resources() const {
        const std::int64_t values = 14 * points_per_thread;  // sums of two rows and of the next one, and rows that arrive
        return {.threads = threads(), .shared_bytes = shared_bytes(), .registers = registers(values)};
    }

    Block own_constants() const {
        Block block;
        block.line("constexpr int points_per_thread = {};  // along x", points_per_thread);
        if (max_lead > 0)
            block.line("constexpr int lead = {};  // rows that planes of the earlier colours may be ahead of those beside them", max_lead);
        return block.line("constexpr int planes_per_slab = {}, slab_stages = {};", planes_per_slab, stages);
    }

    KernelSource kernel(const Problem& problem, const Config& config, const Limits&) const {
        Text text = SlabKernel::text(problem, config, own_constants(), true, "");
        text.flags.insert(text.flags.end(), {{"paced_slabs", max_lead > 0}, {"later_planes", later_planes()}});
        KernelSource result = source(problem);
        result.text = text.of("pipeline.cu");
        add_progress(result);
        result.step.push_back(slab_launch("gauss_seidel_27_pipeline", block_warps(warps_of_plane()), slabs() + 1, shared_bytes()));
        result.entries.emplace_back("gauss_seidel_27_pipeline");
        return result;
    }
};

}  // namespace

Form pipeline_form(const Problem& problem, const Limits& limits) {
    const Grid grid(problem);
    const StencilIn place = SlabKernel::place(grid);
    return needing({Feature::bulk_copies},
                   cuda_form<Pipeline>(
                       problem, limits,
                       {.name = "pipeline",
                        .help = "slabs of planes and the planes between them, each plane with warps of its own; new rows go on through shared memory",
                        .tunables = {planes_per_slab_tunable({1, 3, 5}), warps_per_row_tunable({2, 3, 4, 5, 6, 8, 10}),
                                     points_per_thread_tunable({2, 4}), stages_tunable({2, 3, 4, 6}), cache_hint_tunable(),
                                     stencil_in_tunable({place}), min_blocks_tunable({1, 2, 3}), max_lead_tunable({0, 16, 24, 32})},
                        .constraints = {aligned_pairs(grid),
                                        rows_in_block(grid, [grid](const Config& config) { return Pipeline(grid, config).warps_of_plane(); })},
                        .safe = {{"planes_per_slab", 1},
                                 {"warps_per_row", 10},
                                 {"points_per_thread", 2},
                                 {"stages", 2},
                                 {"cache_hint", "plain"},
                                 {"stencil_in", word_of(place)},
                                 {"min_blocks", 1},
                                 {"max_lead", 0}}}));
}

}  // namespace hone::inline v0_1::gauss_seidel
