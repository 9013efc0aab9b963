#include "generator/families/batched_gemm/block.hpp"

// A thread accumulates a tile of C by multiply-adds.

namespace hone::inline v0_1::gemm {
namespace {

struct Tile : BlockKernel {
    Tile(const Shape& of, const Config& config)
        : BlockKernel(of, config,
                      {.matrix_units = false,
                       .along_m = number(config, "thread_m"),
                       .along_n = number(config, "thread_n"),
                       .step = of.vector_width(),
                       .prefetch = false}) {}
};

}  // namespace

Form tile_form(const Problem& problem, const Limits& limits) {
    const Shape shape(problem);
    const Values values(shape, limits);
    FormSpace space{.name = "tile", .help = "a thread accumulates a tile of C"};
    space.tunables = operand_tunables(values, {"thread_m", "rows that a thread accumulates", values.thread_m},
                                      {"thread_n", "columns that a thread accumulates", values.thread_n});
    for (Tunable& tunable : result_tunables(shape, limits)) space.tunables.push_back(std::move(tunable));
    space.tunables.push_back(min_blocks_tunable());
    space.safe = assigned(space.tunables, {{"matrices_per_block", few_matrices(shape, values)},
                                           {"block_m", std::int64_t{shape.m > 128 ? 64 : 32}},
                                           {"block_n", std::int64_t{shape.n > 64 ? 32 : 16}},
                                           {"thread_m", std::int64_t{shape.m > 1 ? 2 : 1}},
                                           {"thread_n", std::int64_t{shape.n > 1 ? 2 : 1}},
                                           {"chunk", std::int64_t{8}},
                                           {"stages", values.stages.front()},
                                           {"epilogue", "direct"},
                                           {"batches_per_block", std::int64_t{1}},
                                           {"tiling", "matrices"},
                                           {"min_blocks", std::int64_t{1}}});
    return block_form<Tile>(problem, limits, std::move(space));
}

}  // namespace hone::inline v0_1::gemm
