#include "generator/families/batched_gemm/block.hpp"

// A warp accumulates a tile of C on the FP64 matrix units.

namespace hone::inline v0_1::gemm {
namespace {

struct Mma : BlockKernel {
    Mma(const Shape& of, const Config& config)
        : BlockKernel(of, config,
                      {.matrix_units = true,
                       .along_m = number(config, "warp_m"),
                       .along_n = number(config, "warp_n"),
                       .step = number(config, "depth"),
                       .prefetch = config.has("prefetch", 1)}) {}
};

// Two chunks at least, of two steps each.
bool prefetches(const Shape& shape, const Limits& limits) {
    constexpr int shortest = 32;
    return limits.has(Feature::async_copies) && shape.k >= shortest;
}

}  // namespace

Form mma_form(const Problem& problem, const Limits& limits) {
    const Shape shape(problem);
    const Values values(shape, limits);
    FormSpace space{.name = "mma", .help = "a warp accumulates a tile of C on the matrix units"};
    space.tunables = operand_tunables(values, {"warp_m", "groups of 16 rows that a warp accumulates", values.thread_m, {}, "thread_m"},
                                      {"warp_n", "groups of 8 columns that a warp accumulates", values.thread_n, {}, "thread_n"});
    space.tunables.push_back({"depth", "values along k of one instruction", values.depth});
    for (Tunable& tunable : result_tunables(shape, limits)) space.tunables.push_back(std::move(tunable));
    if (prefetches(shape, limits))
        space.tunables.push_back(
            {"prefetch", "steps whose operands a warp loads from shared memory before it multiplies", numbers({0, 1}), Value(0), "ahead"});
    space.tunables.push_back(min_blocks_tunable());
    space.safe = assigned(space.tunables, {{"matrices_per_block", few_matrices(shape, values)},
                                           {"block_m", std::int64_t{shape.m > 32 ? 64 : 32}},
                                           {"block_n", std::int64_t{shape.n > 16 ? 32 : 16}},
                                           {"warp_m", std::int64_t{shape.m > 32 ? 2 : 1}},
                                           {"warp_n", std::int64_t{shape.n > 16 ? 2 : 1}},
                                           {"chunk", std::int64_t{shape.k > 16 ? 16 : 8}},
                                           {"stages", values.stages.front()},
                                           {"depth", values.depth.front()},
                                           {"epilogue", "direct"},
                                           {"batches_per_block", std::int64_t{1}},
                                           {"tiling", "matrices"},
                                           {"prefetch", std::int64_t{0}},
                                           {"min_blocks", std::int64_t{1}}});
    return block_form<Mma>(problem, limits, std::move(space));
}

}  // namespace hone::inline v0_1::gemm
