#include <fmt/format.h>

#include <algorithm>

#include "generator/families/device/cpu_team.hpp"
#include "generator/families/device/cpu_vectors.hpp"
#include "generator/families/poisson7/grid.hpp"

namespace hone::inline v0_1::poisson {
namespace {

using Reason = std::optional<std::string>;

constexpr std::int64_t static_shared_bytes = 48 * 1024;  // more needs dynamic shared memory

std::int64_t threads(const Config& config) {
    return config.integer("block_x") * config.integer("block_y");
}

std::int64_t shared_bytes(const Config& config) {
    if (!config.has(form_tunable, "shared")) return 0;
    return 2 * threads(config) * (config.integer("rows_per_thread") == 1 ? 1 : 2) * config.integer("load_bytes");
}

// About how many 32-bit registers a thread needs. Addresses are the same for all threads, for the
// most part.
std::int64_t registers(const Grid& grid, const Config& config) {
    const std::int64_t rows = config.integer("rows_per_thread");
    // Per row: the planes below, here and above (and the next), what else the cells hold of the
    // latter two, coefficients and words to store.
    const std::int64_t held = grid.kind == Kind::residual ? (grid.has_field_diagonal() ? 2 : 1) : grid.kind == Kind::direction ? 1 : 0;
    const std::int64_t planes = config.has("prefetch", 2) ? 3 : 2;
    const std::int64_t moved = (grid.kind == Kind::direction ? 3 : 2) + (grid.coefficients == Coefficients::face ? 4 : 0);
    const bool marches = !config.has(form_tunable, "cells");
    const std::int64_t groups = rows * (1 + planes * (1 + held) + grid.sums() + moved) / (marches ? 1 : 2) + 2;
    return groups * config.integer("load_bytes") / 4;
}

Reason rejected_when(bool condition, const char* reason) {
    return condition ? Reason(reason) : Reason();
}

// What all forms have in common. The tunables that rules ask for come first.
FormSpace common_form(const Grid& grid) {
    return {.name = "",
            .tunables = {{"block_x", "threads along x", numbers({8, 16, 32, 64, 128})},
                         {"block_y", "threads along y", numbers({1, 2, 4, 8, 16})},
                         {"load_bytes", "of neighbouring cells along x that a thread loads at once",
                          grid.word() == 4 ? numbers({4, 8, 16}) : numbers({8, 16})},
                         {"rows_per_thread", "rows along y of a thread", numbers({1, 2, 4})},
                         {"min_blocks", "blocks per multiprocessor that the compiler must leave registers for", numbers({1, 2, 3, 4, 5, 6, 8})},
                         {"z_block", "planes that a block goes through", numbers({8, 16, 32, 64, 128, 256})},
                         {"cache_hint",
                          "loads and stores of words used once: as all others, or in passing, which leaves the caches to the rest",
                          words({"cached", "streaming"}),
                          {},
                          "once"}},
            .constraints = {{"small_blocks",
                             [](const Config& config) {
                                 return rejected_when(threads(config) < 64,
                                                      "a multiprocessor holds 32 blocks at most: with one warp each, half of it stays empty");
                             },
                             {"block_x", "block_y"}},
                            {"whole_groups",
                             [word = grid.word()](const Config& config) {
                                 return rejected_when(config.integer("block_x") * config.integer("load_bytes") / word < group_columns,
                                                      "32 neighbouring cells of a row are summed first: a block has as many at least");
                             },
                             {"block_x", "load_bytes"}},
                            {"aligned_loads",
                             [pitch = grid.pitch, word = grid.word()](const Config& config) -> Reason {
                                 const std::int64_t cells = config.integer("load_bytes") / word;
                                 if (pitch % cells == 0) return {};
                                 return fmt::format("loads of {} words need rows that start at multiples of them, the pitch is {}", cells, pitch);
                             },
                             {"load_bytes"}}},
            .safe = {{"block_x", 32},
                     {"block_y", 4},
                     {"load_bytes", grid.word()},
                     {"rows_per_thread", 1},
                     {"min_blocks", 1},
                     {"z_block", 8},
                     {"cache_hint", "cached"}}};
}

FormSpace cells_form(const Grid& grid) {
    FormSpace form = common_form(grid);
    form.name = "cells";
    form.help = "neighbours of every cell by cached loads";
    form.former = [](const Config& config) { return config.has("staging", "caches"); };
    return form;
}

FormSpace marching_form(const Grid& grid, const Limits& limits) {
    FormSpace form = common_form(grid);
    form.tunables.insert(form.tunables.begin() + 4,
                         {"prefetch", "planes that a march loads before it needs them", numbers({1, 2}), {}, "planes_ahead"});
    form.safe.insert(form.safe.begin() + 4, {"prefetch", 1});
    constexpr int with_bulk_prefetches = 90;
    if (limits.architecture < with_bulk_prefetches) return form;
    form.tunables.push_back(
        {"l2_planes", "planes from asking the second cache for one to loading it; 0: none is asked for", numbers({0, 1, 2, 4}), Value(0)});
    form.safe.push_back({"l2_planes", 0});
    form.constraints.push_back({"asked_lines",
                                [word = grid.word()](const Config& config) {
                                    return rejected_when(config.integer("l2_planes") > 0 && config.integer("load_bytes") != 16,
                                                         "the second cache is asked for whole groups of 16 bytes");
                                },
                                {"load_bytes", "l2_planes"}});
    return form;
}

FormSpace march_form(const Grid& grid, const Limits& limits) {
    FormSpace form = marching_form(grid, limits);
    form.name = "march";
    form.help = "a march along z with planes in registers";
    form.former = [](const Config& config) { return config.has("staging", "registers"); };
    return form;
}

// Rows are shared by threads along y.
FormSpace shared_form(const Grid& grid, const Limits& limits) {
    FormSpace form = marching_form(grid, limits);
    form.name = "shared";
    form.help = "a march along z with planes in registers, and rows in shared memory for the neighbours along y";
    form.tunables[1].values = numbers({2, 4, 8, 16});
    form.tunables.push_back({"max_lead", "planes that a block may be ahead of its neighbours before it waits for them; 0: as many as it likes",
                             numbers({0, 1, 2, 4}), Value(0), "lead"});
    form.safe.push_back({"max_lead", 0});
    form.constraints.push_back({"declared_memory", [](const Config& config) -> Reason {
                                    if (shared_bytes(config) <= static_shared_bytes) return {};
                                    return fmt::format("{} bytes of shared memory in a block, {} can be declared", shared_bytes(config),
                                                       static_shared_bytes);
                                }});
    form.former = [](const Config& config) { return config.has("staging", "shared"); };
    return form;
}

BlockResources resources(const Grid& grid, const Config& config) {
    return {.threads = threads(config), .shared_bytes = shared_bytes(config), .registers = static_cast<int>(registers(grid, config))};
}

// The one form on processors.
FormSpace block_form(const Limits& limits) {
    FormSpace form{
        .name = "blocks",
        .help = "a thread goes through planes with some of their rows",
        .tunables = {{"y_block", "rows along y that a thread takes at a time", numbers({4, 8, 16, 32, 64, 128})},
                     {"z_block", "planes that a thread goes through with them", numbers({8, 16, 32, 64, 128})},
                     {"vector_bytes", "width of the vectors along x", numbers({16, 32, 64})},
                     {"prefetch_rows", "rows from asking for words to computing with them; 0: the processor foresees what it can",
                      numbers({0, 1, 2, 4, 8}), Value(0), "rows_ahead"},
                     {"stores", "streaming: what is written and not read goes past the caches", words({"plain", "streaming"}), Value("plain")}},
        .constraints = {vector_width(limits)},
        .safe = {{"y_block", 16},
                 {"z_block", 16},
                 {"vector_bytes", limits.vector_bytes >= 64   ? 64
                                  : limits.vector_bytes >= 32 ? 32
                                                              : 16},
                 {"prefetch_rows", 2},
                 {"stores", "plain"}},
        .former = [](const Config& config) { return config.find("y_block") != nullptr; }};
    return with_team(std::move(form), limits);
}

}  // namespace

Forms cpu_forms(const Problem& problem, const Limits& limits) {
    return {{{.space = block_form(limits), .kernel = [problem](const Config& config) { return cpu_kernel(problem, config); }}}, "blocks"};
}

Forms cuda_forms(const Problem& problem, const Limits& limits) {
    const Grid grid(problem);
    Forms forms{{}, "cells"};
    for (const FormSpace& space : {cells_form(grid), march_form(grid, limits), shared_form(grid, limits)}) {
        std::vector<std::string> reads{"block_x", "block_y", "load_bytes", "rows_per_thread"};
        if (space.name != "cells") reads.emplace_back("prefetch");
        forms.list.push_back({.space = space,
                              .resources = [grid](const Config& config) { return resources(grid, config); },
                              .resources_read = std::move(reads),
                              .kernel = [problem](const Config& config) { return cuda_kernel(problem, config); }});
    }
    return forms;
}

}  // namespace hone::inline v0_1::poisson
