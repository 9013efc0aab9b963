#include "generator/families/device/cuda_launch.hpp"
#include "generator/families/staggered_flow/grid.hpp"

// The form on GPUs: a thread has one cell of each of a block's planes, and neighbours come through
// the caches.

namespace hone::inline v0_1::flow {
namespace {

struct Points {
    Points(const Grid& grid_of_problem, const Config& config)
        : grid(grid_of_problem),
          block_x(config.integer("block_x")),
          block_y(config.integer("block_y")),
          z_block(config.integer("z_block")),
          min_blocks(config.integer("min_blocks")) {}

    Grid grid;
    std::int64_t block_x, block_y, z_block, min_blocks;

    std::int64_t threads() const { return block_x * block_y; }
    // Addresses take 64 bits each, and so do words of f64.
    BlockResources resources() const { return {.threads = threads(), .registers = 32 + 2 * grid.word()}; }

    KernelSource kernel(const Problem& problem, const Config& config) const {
        KernelSource source = common_source(problem, Target::cuda);
        Holes holes = common_holes(problem, config, Target::cuda);
        holes.emplace_back("constants", Block().line("constexpr int block_x = {}, block_y = {}, z_block = {}, min_blocks = {};", block_x, block_y,
                                                     z_block, min_blocks));
        source.text = render("staggered_flow/points.cu", holes, common_flags(problem));
        const auto blocks = [](std::int64_t cells, std::int64_t of_a_block) { return (cells + of_a_block - 1) / of_a_block; };
        source.step = {
            cuda_launch("staggered_flow", {blocks(grid.nx, block_x), blocks(grid.ny, block_y), blocks(grid.nz, z_block)}, {block_x, block_y, 1})};
        source.step[0].range_axis = 2;
        source.step[0].range_per_block = z_block;
        return source;
    }
};

}  // namespace

Form points_form(const Problem& problem, const Limits&) {
    const Grid grid(problem);
    const auto small = [](const Config& config) -> std::optional<std::string> {
        const std::int64_t threads = config.integer("block_x") * config.integer("block_y");
        if (threads >= 64 && threads <= 512) return std::nullopt;
        return "blocks have 64 to 512 threads";
    };
    return {.space = {.name = "points",
                      .help = "a thread has one cell of each of a block's planes, and neighbours by cached loads",
                      .tunables = {{"block_x", "threads of a block along x", numbers({32, 64, 128, 256})},
                                   {"block_y", "threads of a block along y", numbers({1, 2, 4, 8})},
                                   {"z_block", "planes of a block", numbers({1, 2, 4, 8})},
                                   {"min_blocks", "blocks per multiprocessor that the compiler must leave registers for", numbers({1, 2, 4})}},
                      .constraints = {{"threads", small, {"block_x", "block_y"}}},
                      .safe = {{"block_x", 128}, {"block_y", 1}, {"z_block", 1}, {"min_blocks", 1}}},
            .resources = [grid](const Config& config) { return Points(grid, config).resources(); },
            .resources_read = {"block_x", "block_y", "z_block", "min_blocks"},
            .kernel = [grid, problem](const Config& config) { return Points(grid, config).kernel(problem, config); }};
}

}  // namespace hone::inline v0_1::flow
