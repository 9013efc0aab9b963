#include "generator/families/device/cuda_launch.hpp"
#include "generator/families/poisson7/cuda.hpp"

// The plain form, and the safe one: a thread has one cell of each of eight planes, and neighbours
// come through the caches. Eight planes of 32 columns are what is summed first.

namespace hone::inline v0_1::poisson {
namespace {

struct Points {
    Points(const Grid& grid_of_problem, const Config& config)
        : grid(grid_of_problem), block_x(config.integer("block_x")), block_y(config.integer("block_y")) {}

    Grid grid;
    std::int64_t block_x, block_y;

    std::int64_t threads() const { return block_x * block_y; }
    BlockResources resources() const { return {.threads = threads(), .registers = 40 + 4 * grid.word()}; }

    Block constants() const {
        Block block = word_types(grid);
        block.line("constexpr int block_x = {}, block_y = {};", block_x, block_y);
        if (grid.sums() == 0) block.line("constexpr int chunk = {};  // planes of a block", chunk_planes);
        block.append(sum_constants(grid));
        if (grid.sums() > 0) block.line("constexpr unsigned all_lanes = 0xffffffff;");
        if (grid.fused()) block.append(scalar_words());
        return block;
    }

    Flags flags() const {
        Flags result = common_flags(grid);
        result.emplace_back("apply", grid.kind == Kind::apply || grid.kind == Kind::apply_dot);
        result.emplace_back("f32", grid.precision == Precision::f32);
        return result;
    }

    KernelSource kernel(const Problem& problem, const Config& config) const {
        KernelSource source = common_source(problem, Target::cuda);
        source.text = render("poisson7/points.cu",
                             {{"banner", banner(problem, config, Target::cuda)},
                              {"constants", constants()},
                              {"parameters", parameters(problem)},
                              {"shared_constants", shared_constants(grid)},
                              {"keep_in_history", keep_in_history()}},
                             flags());
        source.entries = {"poisson7"};
        const Dim3 blocks{divide_up(grid.nx, block_x), divide_up(grid.ny, block_y), grid.chunks()};
        source.step = {cuda_launch("poisson7", blocks, {block_x, block_y, 1})};
        source.step[0].range_axis = 2;
        source.step[0].range_per_block = chunk_planes;
        add_sums(source, grid);
        return source;
    }
};

}  // namespace

Form points_form(const Problem& problem, const Limits&) {
    FormSpace space{.name = "points",
                    .help = "a thread has one cell of each of eight planes, and neighbours by cached loads",
                    .tunables = {block_x_tunable({32, 64, 128}), block_y_tunable({1, 2, 4, 8})},
                    .constraints = {small_blocks()},
                    .safe = {{"block_x", 32}, {"block_y", 4}}};
    return cuda_form<Points>(problem, std::move(space), {"block_x", "block_y"});
}

}  // namespace hone::inline v0_1::poisson
