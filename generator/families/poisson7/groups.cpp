#include "generator/families/poisson7/groups.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "generator/families/device/cuda_launch.hpp"

namespace hone::inline v0_1::poisson {
namespace {

constexpr std::int64_t warp = 32;

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

}  // namespace

Groups::Groups(const Grid& grid_of_problem, const Config& config)
    : grid(grid_of_problem),
      block_x(config.integer("block_x")),
      block_y(config.integer("block_y")),
      load_bytes(config.integer("load_bytes")),
      rows_per_thread(config.integer("rows_per_thread")),
      // Rules about resources know no more than what resources_read names.
      min_blocks(integer_or(config, "min_blocks", 1)),
      z_block(integer_or(config, "z_block", 1)),
      streaming(config.has("cache_hint", "streaming")) {
}

std::int64_t Groups::groups_of_words(std::int64_t planes) const {
    // Per row: the plane below, those here and above with what else their cells hold, sums,
    // coefficients and words to store. Addresses are the same for all threads, for the most part.
    const std::int64_t held = grid.kind == Kind::residual ? (grid.has_field_diagonal() ? 2 : 1) : grid.kind == Kind::direction ? 1 : 0;
    const std::int64_t moved = (grid.kind == Kind::direction ? 3 : 2) + (grid.coefficients == Coefficients::face ? 4 : 0);
    return rows_per_thread * (1 + planes * (1 + held) + grid.sums() + moved);
}

// The tunables that rules ask for come first.
FormSpace Groups::space(const Grid& grid) {
    const auto whole_groups = [word = grid.word()](const Config& config) -> Reason {
        if (config.integer("block_x") * config.integer("load_bytes") / word >= group_columns) return {};
        return "32 neighbouring cells of a row are summed first: a block has as many at least";
    };
    const auto aligned_loads = [pitch = grid.pitch, word = grid.word()](const Config& config) -> Reason {
        const std::int64_t cells = config.integer("load_bytes") / word;
        if (pitch % cells == 0) return {};
        return fmt::format("loads of {} words need rows that start at multiples of them, the pitch is {}", cells, pitch);
    };
    return {
        .name = "",
        .tunables = {block_x_tunable({8, 16, 32, 64, 128}),
                     block_y_tunable({1, 2, 4, 8, 16}),
                     {"load_bytes", "of neighbouring cells along x that a thread loads at once",
                      grid.word() == 4 ? numbers({4, 8, 16}) : numbers({8, 16})},
                     {"rows_per_thread", "rows along y of a thread", numbers({1, 2, 4})},
                     {"min_blocks", "blocks per multiprocessor that the compiler must leave registers for", numbers({1, 2, 3, 4, 5, 6, 8})},
                     {"z_block", "planes that a block goes through", numbers({8, 16, 32, 64, 128, 256})},
                     {"cache_hint",
                      "loads and stores of words used once: as all others, or in passing, which leaves the caches to the rest",
                      hone::words({"cached", "streaming"}),
                      {},
                      "once"}},
        .constraints = {small_blocks(), {"whole_groups", whole_groups, {"block_x", "load_bytes"}}, {"aligned_loads", aligned_loads, {"load_bytes"}}},
        .safe = {{"block_x", 32},
                 {"block_y", 4},
                 {"load_bytes", grid.word()},
                 {"rows_per_thread", 1},
                 {"min_blocks", 1},
                 {"z_block", 8},
                 {"cache_hint", "cached"}}};
}

Block Groups::constants(const Block& own) const {
    Block block = word_types(grid);
    block.line("constexpr int block_x = {}, block_y = {}, threads_per_block = block_x * block_y, min_blocks = {};", block_x, block_y, min_blocks);
    block.line("constexpr int words = {}, rows = {};  // of a thread", words(), rows_per_thread);
    block.line("constexpr int z_block = {};         // planes that a block covers", z_block);
    block.append(own);
    block.append(sum_constants(grid, ", group_lanes = group_columns / words"));
    if (grid.fused()) block.append(scalar_words());
    return block;
}

Holes Groups::holes(const Problem& problem, const Config& config, const Block& constants) const {
    const std::vector<std::string> names = loaded(grid);
    return {{"banner", banner(problem, config, Target::cuda)},
            {"constants", constants},
            {"arrays", arrays_struct(problem)},
            {"parameters", parameters(problem)},
            {"gathered", gathered(problem)},
            {"keep_in_history", keep_in_history()},
            {"vector", Block().line("using vector = {}{};", grid.real(), words() == 1 ? "" : std::to_string(words()))},
            {"fields_moved", for_each(fields_of_march(problem, false), "a.{} += by;")},
            {"loaded_words", for_each(names, "Word {};")},
            {"value_at", Block().line("return {};", all_of(names, "a.{}[at]"))},
            {"cells_at", Block().line("return {};", all_of(names, "load(a.{} + at)"))},
            {"cell_of_words", Block().line("const Loaded<real> of_cell{};", all_of(names, "from.{}.at[t]"))},
            {"inverse_diagonal_of_cell", Block().line("const real q = {}.inverse_diagonal;", grid.has_field_diagonal() ? "from" : "a")}};
}

Flags Groups::flags() const {
    Flags result = common_flags(grid);
    result.insert(result.end(), {{"apply", grid.kind == Kind::apply || grid.kind == Kind::apply_dot},
                                 {"f32", grid.precision == Precision::f32},
                                 {"streaming", streaming},
                                 {"loads_once", grid.coefficients == Coefficients::face || grid.kind == Kind::direction ||
                                                    (grid.kind != Kind::residual && grid.has_field_diagonal())},
                                 {"several_words", words() > 1}});
    return result;
}

KernelSource Groups::source(const Problem& problem, std::string text) const {
    KernelSource source = common_source(problem, Target::cuda);
    source.text = std::move(text);
    source.entries = {"poisson7"};
    const Dim3 blocks{divide_up(grid.nx, block_x * words()), divide_up(grid.ny, block_y * rows_per_thread), divide_up(grid.nz, z_block)};
    source.step = {cuda_launch("poisson7", blocks, {block_x, block_y, 1})};
    source.step[0].range_axis = 2;
    source.step[0].range_per_block = z_block;
    add_sums(source, grid);
    return source;
}

Planes::Planes(const Grid& grid_of_problem, const Config& config)
    : Groups(grid_of_problem, config), prefetch(config.integer("prefetch")), l2_planes(integer_or(config, "l2_planes", 0)) {
}

FormSpace Planes::space(const Grid& grid, const Limits& limits) {
    FormSpace form = Groups::space(grid);
    form.tunables.insert(form.tunables.begin() + 4,
                         {"prefetch", "planes that a march loads before it needs them", numbers({1, 2}), {}, "planes_ahead"});
    form.safe.insert(form.safe.begin() + 4, {"prefetch", 1});
    if (!limits.has(Feature::bulk_copies)) return form;
    form.tunables.push_back(
        {"l2_planes", "planes from asking the second cache for one to loading it; 0: none is asked for", numbers({0, 1, 2, 4}), Value(0)});
    form.safe.push_back({"l2_planes", 0});
    const auto asked_lines = [](const Config& config) -> Reason {
        if (config.integer("l2_planes") == 0 || config.integer("load_bytes") == 16) return {};
        return "the second cache is asked for whole groups of 16 bytes";
    };
    form.constraints.push_back({"asked_lines", asked_lines, {"load_bytes", "l2_planes"}});
    return form;
}

Block Planes::own_constants() const {
    Block block;
    if (l2_planes > 0)
        block.line("constexpr int far = {};  // planes from the one at hand to the one that the second cache is asked for", prefetch + l2_planes);
    block.line("constexpr unsigned all_lanes = 0xffffffff;");
    return block.line("constexpr int segment = {};         // lanes of a warp in the same row", std::min(warp, block_x));
}

Holes Planes::holes(const Problem& problem, const Config& config, const Block& constants) const {
    Holes holes = Groups::holes(problem, config, constants);
    holes.emplace_back("cells_asked_for", for_each(fields_of_march(problem, true), "ask_for(a.{} + at, bytes);"));
    return holes;
}

Flags Planes::flags() const {
    Flags result = Groups::flags();
    result.emplace_back("two_ahead", prefetch == 2);
    result.emplace_back("asks_ahead", l2_planes > 0);
    return result;
}

}  // namespace hone::inline v0_1::poisson
