#include <fmt/format.h>

#include <algorithm>

#include "generator/families/gauss_seidel_27_grid.hpp"

namespace hone::gauss_seidel {
namespace {

using Reason = std::optional<std::string>;

// Registers that a thread needs besides the stencil, in 32-bit words: addresses and loop counters, and the values in flight.
constexpr int address_registers = 24;
constexpr int values_in_flight = 12;

std::vector<Tunable> cuda_tunables() {
    return {{"block_x", "threads along x", numbers({8, 16, 32, 64, 128})},
            {"block_y", "threads along y", numbers({1, 2, 4, 8, 16})},
            {"z_block", "planes that a block covers", numbers({2, 4, 8, 16, 32, 64})},
            {"points_per_thread", "points along x that a thread updates in one slice", numbers({1, 2, 4})},
            {"edges", "threads beyond the grid skip their loads, or repeat the last point's", words({"guarded", "clamped"})},
            {"min_blocks", "blocks per multiprocessor that the compiler must leave registers for", numbers({1, 2, 4, 8})}};
}

SearchSpace cuda_space(const Grid& grid, const Limits& limits) {
    const int registers_per_word = bytes_per_word(grid.precision) / 4;
    const auto threads = [](const Config& config) { return config.integer("block_x") * config.integer("block_y"); };
    std::vector<Constraint> constraints{
        {"threads_per_block",
         [=](const Config& config) -> Reason {
             if (threads(config) <= limits.max_threads_per_block) return {};
             return fmt::format("{} threads in a block, the device allows {}", threads(config), limits.max_threads_per_block);
         }},
        {"warps",
         [=](const Config& config) -> Reason {
             if (threads(config) % 32 == 0) return {};
             return fmt::format("{} threads in a block leave part of a warp idle", threads(config));
         }},
        {"resident_threads",
         [=](const Config& config) -> Reason {
             const std::int64_t resident = threads(config) * config.integer("min_blocks");
             if (resident <= limits.max_threads_per_multiprocessor) return {};
             return fmt::format("{} threads on a multiprocessor, the device holds {}", resident, limits.max_threads_per_multiprocessor);
         }},
        {"registers", [=](const Config& config) -> Reason {
             const std::int64_t available = limits.registers_per_multiprocessor / (threads(config) * config.integer("min_blocks"));
             const std::int64_t needed = address_registers + values_in_flight * registers_per_word;
             if (needed <= available) return {};
             return fmt::format("about {} registers per thread are needed, {} can be had", needed, available);
         }}};
    std::vector<Assignment> safe{{"block_x", 32}, {"block_y", 4}, {"z_block", 8}, {"points_per_thread", 1}, {"edges", "guarded"}, {"min_blocks", 1}};
    return {cuda_tunables(), std::move(constraints), std::move(safe)};
}

SearchSpace cpu_space() {
    std::vector<Tunable> tunables{{"y_block", "rows along y that a thread takes at a time", numbers({4, 16, 64, 256})},
                                  {"z_block", "planes that a thread takes at a time", numbers({2, 4, 8, 16})},
                                  {"vector_bytes", "width of the vectors along x", numbers({16, 32, 64})}};
    return {std::move(tunables), {}, {{"y_block", 16}, {"z_block", 4}, {"vector_bytes", 16}}};
}

}  // namespace

SearchSpace space(const Problem& problem, const Limits& limits) {
    return limits.target == Target::cuda ? cuda_space(Grid(problem), limits) : cpu_space();
}

}  // namespace hone::gauss_seidel
