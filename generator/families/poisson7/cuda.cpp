#include "generator/families/poisson7/cuda.hpp"

#include "generator/families/device/cuda_launch.hpp"

namespace hone::inline v0_1::poisson {

Tunable block_x_tunable(std::vector<std::int64_t> values) {
    return {"block_x", "threads along x", numbers(std::move(values))};
}

Tunable block_y_tunable(std::vector<std::int64_t> values) {
    return {"block_y", "threads along y", numbers(std::move(values))};
}

Constraint small_blocks() {
    const auto violation = [](const Config& config) -> Reason {
        if (config.integer("block_x") * config.integer("block_y") >= 64) return {};
        return "a multiprocessor holds 32 blocks at most: with one warp each, half of it stays empty";
    };
    return {"small_blocks", violation, {"block_x", "block_y"}};
}

Block sum_constants(const Grid& grid, const char* own) {
    Block block;
    if (grid.sums() == 0) return block;
    block.line("constexpr int sums = {}, chunk = {}, group_columns = {}{};", grid.sums(), chunk_planes, group_columns, own);
    return block.line("constexpr int sums_per_block = {}, cells_per_block = {}, sum_threads = {};", sums_per_block, cells_per_block, sum_threads);
}

void add_sums(KernelSource& source, const Grid& grid) {
    if (grid.sums() == 0) return;
    source.entries.emplace_back("sum_groups");
    source.step.push_back(cuda_launch("sum_groups", {grid.block_sums(), 1, 1}, {sum_threads, 1, 1}));
}

}  // namespace hone::inline v0_1::poisson
