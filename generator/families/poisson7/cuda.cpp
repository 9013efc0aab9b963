#include <fmt/format.h>

#include <algorithm>

#include "generator/families/device/cuda_launch.hpp"
#include "generator/families/poisson7/grid.hpp"
#include "generator/render.hpp"

namespace hone::inline v0_1::poisson {
namespace {

constexpr std::int64_t warp = 32;

std::int64_t divide_up(std::int64_t a, std::int64_t b) {
    return (a + b - 1) / b;
}

// What a problem and a configuration decide, and every block asks.
struct Plan {
    Grid grid;
    std::int64_t block_x, block_y, z_block, words, rows, ahead, min_blocks;
    std::int64_t lead;   // of a block over its neighbours; 0: as much as it likes
    std::int64_t asked;  // planes from asking for one to loading it; 0: it does not ask
    std::string staging;
    bool streaming;

    Plan(const Problem& problem, const Config& config)
        : grid(problem),
          block_x(config.integer("block_x")),
          block_y(config.integer("block_y")),
          z_block(config.integer("z_block")),
          words(config.integer("load_bytes") / grid.word()),
          rows(config.integer("rows_per_thread")),
          ahead(config.has("prefetch", 2) ? 2 : 1),
          min_blocks(config.integer("min_blocks")),
          lead(integer_or(config, "max_lead", 0)),
          asked(integer_or(config, "l2_planes", 0)),
          staging(config.has(form_tunable, "cells")   ? "caches"
                  : config.has(form_tunable, "march") ? "registers"
                                                      : "shared"),
          streaming(config.word("cache_hint") == "streaming") {}

    bool march() const { return staging != "caches"; }
};

Block constants(const Plan& plan) {
    Block block;
    block.line("using real = {};", plan.grid.precision == Precision::f32 ? "float" : "double");
    block.line("using wide = long long;  // a position in an array");
    block.line("constexpr int block_x = {}, block_y = {}, threads_per_block = block_x * block_y, min_blocks = {};", plan.block_x, plan.block_y,
               plan.min_blocks);
    block.line("constexpr int words = {}, rows = {};  // of a thread", plan.words, plan.rows);
    block.line("constexpr int z_block = {};         // planes that a block covers", plan.z_block);
    if (plan.lead > 0) block.line("constexpr int lead = {};  // planes that a block may be ahead of its neighbours", plan.lead);
    if (plan.asked > 0)
        block.line("constexpr int far = {};  // planes from the one at hand to the one that the second cache is asked for", plan.ahead + plan.asked);
    if (plan.march() || plan.grid.sums() > 0) block.line("constexpr unsigned all_lanes = 0xffffffff;");
    if (plan.march()) block.line("constexpr int segment = {};         // lanes of a warp in the same row", std::min(warp, plan.block_x));
    if (plan.grid.sums() > 0) {
        block.line("constexpr int sums = {}, chunk = {}, group_columns = {}, group_lanes = group_columns / words;", plan.grid.sums(), chunk_planes,
                   group_columns);
        block.line("constexpr int sums_per_block = {}, cells_per_block = {}, sum_threads = {};", sums_per_block, cells_per_block, sum_threads);
    }
    if (plan.grid.fused()) block.append(scalar_words());
    return block;
}

// What is loaded of a cell, in its words of the arrays. The march keeps these while they are under
// way: computing with them would wait for them.
std::vector<std::string> loaded(const Grid& grid) {
    switch (grid.kind) {
        case Kind::apply:
        case Kind::apply_dot:
            return {"p"};
        case Kind::direction:
            return {"z", "p_old"};
        case Kind::residual:
            return grid.has_field_diagonal() ? std::vector<std::string>{"r_old", "w", "inverse_diagonal"} : std::vector<std::string>{"r_old", "w"};
    }
    return {};
}

// "{a.p[at]}": the words of one cell as they were loaded.
std::string all_of(const std::vector<std::string>& names, const std::string& pattern) {
    std::string list;
    for (const auto& name : names) list += (list.empty() ? "" : ", ") + fmt::format(fmt::runtime(pattern), name);
    return "{" + list + "}";
}

// "a.{} += by;" for each name.
Block for_each(const std::vector<std::string>& names, const std::string& pattern) {
    Block block;
    for (const auto& name : names) block.line("{}", fmt::format(fmt::runtime(pattern), name));
    return block;
}

// Arrays of cells that the march goes through, or those of them that it reads.
std::vector<std::string> fields_of_march(const Problem& problem, bool read) {
    std::vector<std::string> names;
    for (const auto& array : arrays(problem))
        if (array.strides.size() == 3 && !array.name.starts_with('c') && !(read && array.access == Access::out)) names.push_back(array.name);
    return names;
}

Holes holes(const Problem& problem, const Config& config, const Plan& plan) {
    const std::vector<std::string> names = loaded(plan.grid);
    return {{"banner", banner(problem, config, Target::cuda)},
            {"constants", constants(plan)},
            {"arrays", arrays_struct(problem)},
            {"parameters", parameters(problem)},
            {"gathered", gathered(problem)},
            {"keep_in_history", keep_in_history()},
            {"vector", Block().line("using vector = {}{};", plan.grid.precision == Precision::f32 ? "float" : "double",
                                    plan.words == 1 ? "" : std::to_string(plan.words))},
            {"fields_moved", for_each(fields_of_march(problem, false), "a.{} += by;")},
            {"cells_asked_for", for_each(fields_of_march(problem, true), "ask_for(a.{} + at, bytes);")},
            {"loaded_words", for_each(names, "Word {};")},
            {"value_at", Block().line("return {};", all_of(names, "a.{}[at]"))},
            {"cells_at", Block().line("return {};", all_of(names, "load(a.{} + at)"))},
            {"cell_of_words", Block().line("const Loaded<real> of_cell{};", all_of(names, "from.{}.at[t]"))},
            {"inverse_diagonal_of_cell", Block().line("const real q = {}.inverse_diagonal;", plan.grid.has_field_diagonal() ? "from" : "a")},
            {"shared_rows",
             Block().line("__shared__ Words shared_rows[2][block_y][{}][block_x];  // the first and last rows of the threads, of two planes in turn",
                          plan.rows == 1 ? 1 : 2)}};
}

Flags flags(const Plan& plan) {
    Flags result = common_flags(plan.grid);
    result.insert(result.end(), {{"apply", plan.grid.kind == Kind::apply || plan.grid.kind == Kind::apply_dot},
                                 {"f32", plan.grid.precision == Precision::f32},
                                 {"streaming", plan.streaming},
                                 {"loads_once", plan.grid.coefficients == Coefficients::face || plan.grid.kind == Kind::direction ||
                                                    (plan.grid.kind != Kind::residual && plan.grid.has_field_diagonal())},
                                 {"march", plan.march()},
                                 {"shared_rows", plan.staging == "shared"},
                                 {"two_ahead", plan.ahead == 2},
                                 {"paced", plan.lead > 0},
                                 {"asks_ahead", plan.asked > 0},
                                 {"several_words", plan.words > 1},
                                 {"one_row", plan.rows == 1}});
    return result;
}

}  // namespace

KernelSource cuda_kernel(const Problem& problem, const Config& config) {
    const Plan plan(problem, config);
    const bool summed = plan.grid.sums() > 0;
    KernelSource source = common_source(problem, Target::cuda);
    source.text = render("poisson7/kernel.cu", holes(problem, config, plan), flags(plan));
    source.entries = {"poisson7"};
    source.step = {cuda_launch("poisson7",
                               {divide_up(plan.grid.nx, plan.block_x * plan.words), divide_up(plan.grid.ny, plan.block_y * plan.rows),
                                divide_up(plan.grid.nz, plan.z_block)},
                               {plan.block_x, plan.block_y, 1})};
    source.step[0].range_axis = 2;
    source.step[0].range_per_block = plan.z_block;
    if (!summed) return source;
    source.entries.emplace_back("sum_groups");
    source.step.push_back(cuda_launch("sum_groups", {plan.grid.block_sums(), 1, 1}, {sum_threads, 1, 1}));
    return source;
}

}  // namespace hone::inline v0_1::poisson
