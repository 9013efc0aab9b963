#include "generator/families/gauss_seidel_27/cuda.hpp"
#include "generator/families/gauss_seidel_27/forms.hpp"

// Four launches of whole rows, both colours of x, a warp for each row and plane.

namespace hone::inline v0_1::gauss_seidel {
namespace {

struct Rows : CudaKernel {
    Rows(const Grid& of_grid, const Config& config) : CudaKernel(of_grid, config), z_block(config.integer("z_block")) {
        block_y = config.integer("block_y");
        block_z = z_block / 2;
    }

    std::int64_t z_block;

    // What the text declares.
    std::int64_t shared_bytes() const { return stencil_in == StencilIn::shared ? coefficients * grid.word_bytes() : 0; }
    BlockResources resources() const {
        const std::int64_t values = per_point() ? 10 * points_per_thread : 12 * points_per_thread / 2;
        return {.threads = threads(), .shared_bytes = shared_bytes(), .registers = registers(values)};
    }

    Block own_constants() const {
        Block block;
        block.line("constexpr int z_block = {};            // planes that a block covers", z_block);
        return block.line("constexpr int points_per_thread = {};  // along x", points_per_thread);
    }

    std::string rendered(const Problem& problem, const Config& config) const {
        Text text{{{"banner", banner(problem, config, Target::cuda)},
                   {"constants", constants(own_constants())},
                   {"parameters", parameters("", "row_parity")}},
                  {}};
        add_groups(text);
        if (variable()) return text.of("rows.cu/variable");
        add_coefficients(text);
        text.flags.emplace_back("shared_stencil", stencil_in == StencilIn::shared);
        text.holes.emplace_back("stencil_of_block", stencil_of_block());
        text.holes.emplace_back("stencil_of_point", stencil_of_point("x", "y"));
        return text.of("rows.cu");
    }

    KernelSource kernel(const Problem& problem, const Config& config, const Limits&) const {
        KernelSource result = source(problem);
        result.text = rendered(problem, config);
        result.entries = {"gauss_seidel_27_rows"};
        const Dim3 blocks{1, divide_up(divide_up(grid.ny, 2), block_y), divide_up(grid.nz, z_block)};
        for (int row_parity = 0; row_parity < 4; ++row_parity) {
            result.step.push_back(launch("gauss_seidel_27_rows", blocks, z_block));
            result.step.back().constants = {row_parity};
        }
        return result;
    }
};

std::vector<StencilIn> places(Stencil stencil) {
    if (stencil == Stencil::constant) return {StencilIn::registers, StencilIn::shared, StencilIn::read_only, StencilIn::by_value};
    return places_for_points(stencil);
}

}  // namespace

Form rows_form(const Problem& problem, const Limits& limits) {
    const Grid grid(problem);
    return cuda_form<Rows>(
        problem, limits,
        {.name = "rows",
         .help = "four launches of whole rows, both colours of x, a warp for each row and plane",
         .tunables = {block_y_tunable(), z_block_tunable({2, 4, 8, 16, 32, 64}), points_per_thread_tunable({2, 4}),
                      stencil_in_tunable(places(grid.stencil)), min_blocks_tunable()},
         .constraints = {small_blocks([grid](const Config& config) { return Rows(grid, config).threads(); }), aligned_pairs(grid)},
         .safe = {{"block_y", 4}, {"z_block", 8}, {"points_per_thread", 2}, {"stencil_in", word_of(places(grid.stencil).front())}, {"min_blocks", 1}},
         .former = formerly(2, "cache")});
}

}  // namespace hone::inline v0_1::gauss_seidel
