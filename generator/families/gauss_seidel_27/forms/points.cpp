#include "generator/families/gauss_seidel_27/cuda.hpp"
#include "generator/families/gauss_seidel_27/forms.hpp"

// A launch per colour, each thread with points of the colour: the textbook's way.

namespace hone::inline v0_1::gauss_seidel {
namespace {

constexpr int colours = 8;

struct Points : CudaKernel {
    Points(const Grid& of_grid, const Config& config)
        : CudaKernel(of_grid, config),
          z_block(config.integer("z_block")),
          clamped_loads(config.has("edges", "clamped")),
          colour_split(config.has("layout", "colour_split")) {
        block_x = config.integer("block_x");
        block_y = config.integer("block_y");
    }

    std::int64_t z_block;
    bool clamped_loads;
    bool colour_split;  // the stencil is packed colour by colour in a table

    BlockResources resources() const { return {.threads = threads(), .registers = registers(0)}; }

    // The table of packed stencils: a row of one coefficient of a colour, and all of it.
    std::int64_t packed_row() const { return divide_up(divide_up(grid.nx, 2), line_words()) * line_words(); }
    std::int64_t packed_words() const { return colours * coefficients * divide_up(grid.nz, 2) * divide_up(grid.ny, 2) * packed_row(); }

    Block own_constants() const {
        Block block;
        block.line("constexpr int z_block = {};            // planes that a block covers", z_block);
        block.line("constexpr int points_per_thread = {};  // along x", points_per_thread);
        return block.line("constexpr bool clamped_loads = {};  // threads beyond the grid repeat the last point's loads, or have none",
                          clamped_loads);
    }

    Block stencil_of_own_point() const {
        if (!colour_split) return stencil_of_point("x_read", "y_read");
        return Block().line("const Coefficients s{{packed + packed_position(x_read, y_read, z, nx, ny, nz), packed_stride(nx, ny, nz)}};");
    }

    // A launch that fills the table with one colour's stencils.
    Launch pack(int colour) const {
        Launch launch;
        launch.entry = "pack_stencil";
        launch.grid = {divide_up(packed_row(), copy_threads), divide_up(grid.ny, 2), divide_up(grid.nz, 2)};
        launch.block = {copy_threads, 1, 1};
        launch.constants = {colour};
        return launch;
    }

    KernelSource kernel(const Problem& problem, const Config& config, const Limits&) const {
        Text text{{{"banner", banner(problem, config, Target::cuda)},
                   {"constants", constants(own_constants())},
                   {"parameters", parameters(colour_split ? "const real* __restrict__ packed" : "", "colour")},
                   {"parameters_of_packing", parameters("real* __restrict__ packed", "colour")},
                   {"stencil_of_block", stencil_of_block()},
                   {"stencil_of_point", stencil_of_own_point()}},
                  {}};
        add_coefficients(text, colour_split);
        KernelSource result = source(problem);
        result.text = text.of("points.cu");
        result.entries = {"gauss_seidel_27"};
        const Dim3 blocks{divide_up(divide_up(grid.nx, 2), block_x * points_per_thread), divide_up(divide_up(grid.ny, 2), block_y),
                          divide_up(grid.nz, z_block)};
        for (int colour = 0; colour < colours; ++colour) {
            result.step.push_back(launch("gauss_seidel_27", blocks, z_block));
            result.step.back().constants = {colour};
        }
        if (!colour_split) return result;
        result.tables.push_back({"packed", packed_words(), {}});
        result.entries.emplace_back("pack_stencil");
        for (int colour = 0; colour < colours; ++colour) result.prepare.push_back(pack(colour));
        return result;
    }
};

}  // namespace

Form points_form(const Problem& problem, const Limits& limits) {
    const Grid grid(problem);
    const std::vector<StencilIn> places = places_for_points(grid.stencil);
    FormSpace space{.name = "points",
                    .help = "a launch per colour, each thread with points of the colour",
                    .tunables = {{"block_x", "threads along x", numbers({16, 32, 64, 128})},
                                 block_y_tunable(),
                                 z_block_tunable({2, 4, 8, 16, 32, 64}),
                                 points_per_thread_tunable({1, 2}),
                                 stencil_in_tunable(places),
                                 {"edges", "threads beyond the grid have no loads, or repeat the last point's", words({"guarded", "clamped"})},
                                 min_blocks_tunable()},
                    .constraints = {small_blocks([grid](const Config& config) { return Points(grid, config).threads(); })},
                    .safe = {{"block_x", 32},
                             {"block_y", 4},
                             {"z_block", 8},
                             {"points_per_thread", 1},
                             {"stencil_in", word_of(places.front())},
                             {"edges", "guarded"},
                             {"min_blocks", 1}},
                    .former = formerly(1, "cache")};
    if (grid.stencil == Stencil::variable) {
        space.tunables.push_back(
            {"layout", "of the stencil: as it is, or packed colour by colour in a table of the kernel", words({"natural", "colour_split"})});
        space.safe.push_back({"layout", "natural"});
    }
    return cuda_form<Points>(problem, limits, std::move(space));
}

}  // namespace hone::inline v0_1::gauss_seidel
