#include <fmt/format.h>

#include <algorithm>

#include "foundation/error.hpp"
#include "generator/families/acoustics_staggered/grid.hpp"

namespace hone::inline v0_1::acoustics {
namespace {

using Reason = std::optional<std::string>;

constexpr std::int64_t sector = 32;  // bytes that memory moves at a time

Reason rejected_when(bool condition, const char* reason) {
    return condition ? Reason(reason) : Reason();
}

// In 2D a march that holds layers has one row of threads.
std::int64_t block_y(const Config& config) {
    return integer_or(config, "block_y", 1);
}

std::int64_t threads(const Config& config) {
    return config.integer("block_x") * block_y(config);
}

bool is(const Config& config, const char* form) {
    return config.has(form_tunable, form);
}

std::int64_t rows_of_thread(const Config& config) {
    return integer_or(config, "rows_per_thread", 1);
}

// Words of a row from `before` a thread's points to `after` behind them, in whole groups.
std::int64_t span(std::int64_t points, std::int64_t before, std::int64_t after) {
    return divide_up(before, points) * points + points + divide_up(after, points) * points;
}

// The same of several time steps: windows and sums, what they leave to each other, and what is
// read, besides a row around the thread's points.
std::int64_t registers_of_levels(const Grid& grid, const Config& config, std::int64_t points) {
    const std::int64_t levels = grid.levels, behind = grid.reach(), media = grid.array_media ? (levels + 1) / 2 + 2 * levels : 0;
    const std::int64_t kept = levels * 4 * grid.half + (levels - 1) * behind + (levels - 1) / 2 * 2 * behind;
    const std::int64_t read = (3 + media) * points * (config.has("prefetch", 1) ? 2 : 1);
    return kept * points + read + points + (is(config, "shuffled") ? 2 * grid.half : points);
}

// The same of a march whose planes are in shared memory: sums (and in a step pressures) of the
// planes that wait, for every cell; of one row what is read around it; and where the copies come
// from.
std::int64_t registers_of_planes(const Grid& grid, const Config& config) {
    constexpr std::int64_t addresses = 40;
    const std::int64_t points = config.integer("points_per_thread"), rows = rows_of_thread(config), m = grid.half;
    if (grid.levels > 1)  // sums of both steps, pressures and velocities that wait for the second one
        return addresses + ((3 * grid.reach() + 2 * m + 2) * rows + 4) * points * grid.word() / 4;
    const std::int64_t kept = (grid.kind == Kind::step ? 4 * m + 1 : 2 * m + 1) * points * rows;
    const std::int64_t of_next_plane = 8 * (config.integer("unroll") - 1);
    return addresses + of_next_plane + (kept + 4 * points) * grid.word() / 4;
}

// About how many 32-bit registers a thread needs.
std::int64_t registers(const Grid& grid, const Config& config) {
    constexpr std::int64_t addresses = 24;
    const std::int64_t points = config.integer("points_per_thread"), m = grid.half;
    if (is(config, "planes")) return registers_of_planes(grid, config);
    if (grid.levels > 1) return addresses + registers_of_levels(grid, config, points) * grid.word() / 4;
    // What a thread reads when it comes to a layer: groups around its own, and groups of the other
    // arrays.
    std::int64_t row = span(points, m, m) + (grid.kind == Kind::pressure ? 2 : 2 * grid.dimension) * points;
    const bool exchanged = is(config, "exchanged") || is(config, "bulk");
    if (grid.kind == Kind::step) row = span(points, m, m) + 5 * points;
    if (grid.kind == Kind::step && !exchanged)
        row = span(points, 2 * m - 1, 2 * m - 1) + (grid.array_media ? 2 : 1) * span(points, m - 1, m) + 3 * points;
    std::int64_t values = row + points;
    // Factors of the cells, and in 2D of the faces that a thread computes for its neighbours; in 3D
    // these wait for what along y needs more.
    if (grid.absorbing) values += points + (grid.kind == Kind::step && grid.dimension == 2 && !exchanged ? span(points, m - 1, m) : 0);
    if (config.has("prefetch", 1)) values += row;
    if (!is(config, "cached")) values += (grid.kind == Kind::step ? 4 : 2) * m * points;
    // Faces along the march, which compilers compute side by side; of order 16 in 2D those of the
    // thread's next points wait with them.
    if (grid.kind == Kind::step && is(config, "cached")) {
        values += 2 * m * points;
        if (grid.dimension == 2 && m > 4) values += 2 * m * (points - 1) * grid.word() / 4;
    }
    if (grid.kind == Kind::step && grid.dimension == 3 && !exchanged) values += 3 * m * points;  // the neighbours' velocities along y
    // And their media, beside what waits along the march.
    if (grid.kind == Kind::step && grid.dimension == 3 && is(config, "march") && grid.array_media) values += 2 * m * points;
    return addresses + values * grid.word() / 4;
}

// Layers below which filling the registers takes longer than the march.
std::int64_t shortest_march(const Grid& grid) {
    return grid.levels * grid.half * 2;
}

// Layers of a block of two time steps, whose tiles are few and large: with the share that takes
// least time, in whole waves of blocks, each of which has planes that only begin its march.
std::int64_t best_share(const Grid& grid, std::int64_t columns, std::int64_t resident) {
    const std::int64_t most = std::max<std::int64_t>(grid.layers() / shortest_march(grid), 1);
    const auto planes = [&](std::int64_t parts) {
        return divide_up(columns * parts, resident) * (divide_up(grid.layers(), parts) + grid.levels * grid.reach());
    };
    std::int64_t best = 1;
    for (std::int64_t parts = 2; parts <= most; ++parts)
        if (planes(parts) < planes(best)) best = parts;
    return std::max(divide_up(grid.layers(), best), shortest_march(grid));
}

// The cells of a plane that the threads of two time steps compute.
BlockCells tile_cells(const Config& config) {
    return {config.integer("block_x") * config.integer("points_per_thread"), block_y(config) * rows_of_thread(config)};
}

// What the device can hold is read from these.
std::vector<std::string> read_by_resources(const FormSpace& form) {
    std::vector<std::string> names;
    for (const char* name : {"block_x", "block_y", "rows_per_thread", "points_per_thread", "prefetch", "stages", "unroll"})
        if (std::any_of(form.tunables.begin(), form.tunables.end(), [&](const Tunable& tunable) { return tunable.name == name; }))
            names.emplace_back(name);
    return names;
}

BlockResources resources(const Grid& grid, const Config& config) {
    return {.threads = threads(config), .shared_bytes = shared_bytes(grid, config), .registers = static_cast<int>(registers(grid, config))};
}

Constraint aligned_points(const Grid& grid) {
    return {"aligned_points",
            [pitch = grid.pitch](const Config& config) -> Reason {
                const std::int64_t points = config.integer("points_per_thread");
                if (pitch % points == 0) return {};
                return fmt::format("loads of {} words need rows that start at multiples of them, the pitch is {}", points, pitch);
            },
            {"points_per_thread"}};
}

// For forms that hold layers.
Constraint long_march(std::int64_t least) {
    return {"long_march",
            [least](const Config& config) {
                const std::int64_t march = config.integer("layers_per_block");
                return rejected_when(march != 0 && march < least,
                                     "filling the registers takes longer than the march: it has 2 M layers or more for every time step");
            },
            {"layers_per_block"}};
}

// A layer is many instructions in 3D, and in a step of high order: more of them per trip take
// seconds to compile, and gain nothing.
std::vector<std::int64_t> layers_per_trip(const Grid& grid) {
    if (grid.dimension == 3) return {1, 2};
    if (grid.kind == Kind::step && grid.half == 8) return {1, 2, 4};
    return {1, 2, 4, 8, 16};
}

// What sets a form of one time step apart from the others.
struct March {
    std::string name, help;
    std::string former;           // value of the tunable `staging` that it had
    bool rows_of_threads = true;  // along y
    bool ahead = true;            // layers may be read before they are needed
    bool copies = false;          // layers come into shared memory, in stages
    bool keeps_pace = false;      // blocks may wait for their neighbours
    bool rows_per_thread = false;
};

Constraint lead_of_a_block() {
    return {"lead_of_a_block",
            [](const Config& config) {
                return rejected_when(config.integer("max_lead") > 0 && config.integer("layers_per_block") != 0,
                                     "only blocks that march through an equal share of the layers keep to their neighbours' "
                                     "pace: layers_per_block is 0");
            },
            {"layers_per_block", "max_lead"}};
}

// What all of these share, by the tunables that they have. Those that most rules ask for come
// first: so less is asked.
FormSpace marching(const Grid& grid, const March& march) {
    const bool planes = grid.dimension == 3;
    FormSpace form{
        .name = march.name, .help = march.help, .former = [word = march.former](const Config& config) { return config.has("staging", word); }};
    const auto add = [&form](bool has, Tunable tunable, const Value& safe) {
        if (!has) return;
        form.safe.push_back({tunable.name, safe});
        form.tunables.push_back(std::move(tunable));
    };
    const bool cached = march.name == "cached";
    add(true, {"block_x", "threads along x", planes ? numbers({16, 32, 64, 128, 256}) : numbers({32, 64, 128, 192, 256})},
        march.rows_of_threads ? 32 : 64);
    add(march.rows_of_threads, {"block_y", "threads along y", planes ? numbers({1, 2, 4, 8, 16, 32}) : numbers({1, 2, 4, 8, 16})}, 8);
    add(march.rows_per_thread, {"rows_per_thread", "rows of a plane that a thread takes", numbers({1, 2}), Value(1)}, 1);
    add(true, {"points_per_thread", "cells of a row that a thread takes at a time: the width of its loads", numbers({1, 2, 4})}, 1);
    add(true,
        {"layers_per_block",
         "layers (rows in 2D, planes in 3D) that a block takes one after the other; 0: an equal share for each that the device holds at a time",
         planes ? numbers({0, 1, 4, 8, 16, 32, 64, 128, 256, 1024}) : numbers({0, 1, 4, 8, 16, 32, 64, 128, 256, 512, 1024}),
         {},
         "march"},
        cached ? 8 : 0);
    add(march.ahead, {"prefetch", "layers that are read before they are needed", numbers({0, 1}), {}, "ahead"}, 0);
    add(march.copies, {"stages", "layers in shared memory, or on their way there", planes ? numbers({2, 3}) : numbers({2, 3, 4, 6, 8})}, 2);
    add(true, {"unroll", "layers per trip of the march's loop", numbers(layers_per_trip(grid))}, 1);
    add(true, {"min_blocks", "blocks per multiprocessor that the compiler must leave registers for", numbers({1, 2, 3, 4, 6, 8})}, 1);
    add(true, {"stores", "streaming: what is written leaves the caches first", words({"plain", "streaming"})}, "plain");
    add(march.copies,
        {"cache_hint", "kept: the second cache gives up what is copied into shared memory last", words({"plain", "kept"}), Value("plain"), "reads"},
        "plain");
    add(march.keeps_pace,
        {"max_lead", "layers that a block may be ahead of its neighbours before it waits for them; 0: as many as it likes",
         planes ? numbers({0, 1, 2}) : numbers({0, 6, 8}), Value(0), "lead"},
        0);
    const std::vector<std::string> block =
        march.rows_of_threads ? std::vector<std::string>{"block_x", "block_y"} : std::vector<std::string>{"block_x"};
    form.constraints = {{"small_blocks",
                         [](const Config& config) {
                             return rejected_when(threads(config) < 64,
                                                  "a multiprocessor holds 32 blocks at most: with one warp each, half of it stays empty");
                         },
                         block},
                        aligned_points(grid),
                        {"unrolled_march",
                         [](const Config& config) {
                             const std::int64_t layers = config.integer("layers_per_block");
                             return rejected_when(layers != 0 && config.integer("unroll") > layers, "more layers per trip than the march has");
                         },
                         {"layers_per_block", "unroll"}}};
    if (!cached) form.constraints.push_back(long_march(shortest_march(grid) * (march.rows_per_thread ? 4 : 1)));
    if (planes)
        form.constraints.push_back(
            {"rows_read_again",
             [grid](const Config& config) -> Reason {
                 // Of every plane a block reads 2 M - 1 rows beside its own; small planes are in
                 // the second cache.
                 constexpr std::int64_t small_plane = 64;
                 const std::int64_t rows = block_y(config) * rows_of_thread(config), beside = 2 * grid.half - 1;
                 if (grid.ny <= small_plane || beside <= 3 * rows) return {};
                 return fmt::format("{} rows of every plane are read for {}: block_y is larger", rows + beside, rows);
             },
             march.rows_per_thread ? std::vector<std::string>{"block_y", "rows_per_thread"} : std::vector<std::string>{"block_y"}});
    if (march.keeps_pace) form.constraints.push_back(lead_of_a_block());
    return form;
}

FormSpace cached_form(const Grid& grid) {
    FormSpace form = marching(grid, {.name = "cached", .help = "values around by cached loads", .former = "cache"});
    if (grid.dimension == 2)
        form.constraints.push_back({"rows_of_a_march",
                                    [](const Config& config) {
                                        return rejected_when(
                                            config.integer("layers_per_block") != 0 && config.integer("layers_per_block") < config.integer("block_y"),
                                            "a block marches over the rows of its threads at least");
                                    },
                                    {"layers_per_block", "block_y"}});
    return form;
}

// Rows of a march in 2D come by bulk copies.
FormSpace bulk_form(const Grid& grid) {
    FormSpace form = marching(grid, {.name = "bulk",
                                     .help = "a march with layers in registers, whose rows come by bulk copies",
                                     .former = "bulk",
                                     .rows_of_threads = false,
                                     .ahead = false,
                                     .copies = true,
                                     .keeps_pace = grid.kind == Kind::step});
    form.constraints.push_back(
        {"bulk_copies",
         [grid](const Config& config) -> Reason {
             constexpr std::int64_t alignment = 16;
             // Rows, where a block's cells begin, and where copies go behind what it exchanges.
             for (const std::int64_t words : {grid.pitch, block_cells(grid, config).x, exchange_bytes(grid, config) / grid.word()})
                 if (words * grid.word() % alignment != 0)
                     return fmt::format("bulk copies begin and end at multiples of {} bytes, {} words do not", alignment, words);
             return {};
         },
         {"block_x", "points_per_thread"}});
    return form;
}

Constraint kept_reads() {
    return {"kept_reads",
            [](const Config& config) {
                // ptxas 13.0 gives a copy that has its place in shared memory from a uniform
                // register a broken descriptor (ADR 0036).
                return rejected_when(config.word("cache_hint") == "kept" && config.integer("unroll") % config.integer("stages") == 0,
                                     "kept copies into places that the compiler knows are compiled wrongly: other stages, or another unroll");
            },
            {"cache_hint", "unroll", "stages"}};
}

FormSpace planes_form(const Grid& grid) {
    FormSpace form = marching(grid, {.name = "planes",
                                     .help = "a march with sums in registers and planes in shared memory, by asynchronous copies",
                                     .former = "planes",
                                     .ahead = false,
                                     .copies = true,
                                     .keeps_pace = true,
                                     .rows_per_thread = true});
    form.constraints.push_back(
        {"wide_planes",
         [grid](const Config& config) -> Reason {
             // What a stage holds around the tile comes from the second cache once more.
             const BlockCells cells = block_cells(grid, config);
             const std::int64_t arrays = 4 + (grid.kind == Kind::velocity ? 3 : grid.kind == Kind::step ? 4 : 1) * (grid.array_media ? 1 : 0);
             const std::int64_t words = plane_words(grid, config), own = arrays * cells.x * cells.y;
             if (8 * words <= (grid.half < 8 ? 13 : 16) * own) return {};
             return fmt::format("{} words are read of every plane for {}: too many are around the tile", words, own);
         },
         {"block_x", "block_y", "rows_per_thread", "points_per_thread"}});
    form.constraints.push_back(kept_reads());
    return form;
}

// Several time steps of one pass, in 2D.
FormSpace levels_form(const Grid& grid, const std::string& name, const std::string& help, const std::string& former) {
    return {.name = name,
            .help = help,
            .tunables = {{"block_x", "threads along x", numbers({32, 64, 128, 256, 512})},
                         {"layers_per_block",
                          "rows that a block takes one after the other; 0: an equal share for each",
                          numbers({0, 32, 64, 128, 256, 512, 1024}),
                          {},
                          "march"},
                         {"points_per_thread", "cells of a row that a thread takes at a time: the width of its loads", numbers({1, 2, 4, 8})},
                         {"prefetch", "rows that are read before they are needed", numbers({0, 1}), {}, "ahead"},
                         {"unroll", "rows per trip of the march's loop", numbers({1, 2, 4, 8})},
                         {"stores", "streaming: what is written leaves the caches first", words({"plain", "streaming"})},
                         {"min_blocks", "blocks per multiprocessor that the compiler must leave registers for", numbers({1, 2, 3, 4, 6, 8, 12, 16})}},
            .constraints = {aligned_points(grid),
                            long_march(shortest_march(grid)),
                            {"wide_tile",
                             [grid](const Config& config) -> Reason {
                                 const std::int64_t threads_of_tile = is(config, "shuffled") ? 32 : config.integer("block_x");
                                 const std::int64_t cells = threads_of_tile * config.integer("points_per_thread"),
                                                    sides = 2 * grid.levels * grid.reach();
                                 if (cells >= 3 * sides / 2) return {};
                                 return fmt::format("of a tile of {} cells {} only serve the others: a third of it has to be left", cells, sides);
                             },
                             {"block_x", "points_per_thread"}}},
            .safe = {{"block_x", 256},
                     {"layers_per_block", 128},
                     {"points_per_thread", 1},
                     {"prefetch", 0},
                     {"unroll", 1},
                     {"stores", "plain"},
                     {"min_blocks", 1}},
            .former = [former](const Config& config) { return config.has("staging", former); }};
}

// Two time steps of one pass, in 3D.
FormSpace two_steps_form(const Grid& grid) {
    return {.name = "planes",
            .help = "a march with sums in registers and planes in shared memory, which the second step follows",
            .tunables = {{"block_x", "threads along x", numbers({8, 16, 18, 20, 24, 32, 34})},
                         {"block_y", "threads along y", numbers({8, 12, 16, 20, 24, 28, 32, 36, 40, 48})},
                         {"rows_per_thread", "rows of a plane that a thread takes", numbers({1, 2})},
                         {"points_per_thread", "cells of a row that a thread takes at a time: the width of its loads", numbers({1, 2, 4})},
                         {"layers_per_block",
                          "planes that a block takes one after the other; 0: a share with which the last wave of blocks is as full as the others",
                          numbers({0, 32, 64, 128, 256})},
                         {"stages", "planes in shared memory, or on their way there, beside those that are read again", numbers({2, 3})},
                         {"unroll", "planes per trip of the march's loop", numbers({1, 2})},
                         {"min_blocks", "blocks per multiprocessor that the compiler must leave registers for", numbers({1, 2})},
                         {"stores", "streaming: what is written leaves the caches first", words({"plain", "streaming"})},
                         {"cache_hint", "kept: the second cache gives up what is copied into shared memory last", words({"plain", "kept"})},
                         {"max_lead", "planes that a block may be ahead of its neighbours before it waits for them; 0: as many as it likes",
                          numbers({0, 1, 2}), Value(0)}},
            .constraints = {aligned_points(grid),
                            long_march(shortest_march(grid)),
                            {"whole_pieces",
                             [grid](const Config& config) {
                                 constexpr std::int64_t piece = 16;  // bytes of a copy
                                 return rejected_when(tile_cells(config).x * grid.word() % piece != 0, "rows of a tile are whole copies of 16 bytes");
                             },
                             {"block_x", "points_per_thread"}},
                            {"wide_tile",
                             [grid](const Config& config) -> Reason {
                                 const BlockCells tile = tile_cells(config), own = block_cells(grid, config);
                                 if (own.x > 0 && own.y > 0 && 5 * own.x * own.y >= 2 * tile.x * tile.y) return {};
                                 return fmt::format("of a tile of {} x {} cells too many only serve the others: two fifths have to be left", tile.x,
                                                    tile.y);
                             },
                             {"block_x", "block_y", "rows_per_thread", "points_per_thread"}},
                            kept_reads(),
                            lead_of_a_block()},
            .safe = {{"block_x", 32},
                     {"block_y", 16},
                     {"rows_per_thread", 1},
                     {"points_per_thread", 1},
                     {"layers_per_block", 0},
                     {"stages", 2},
                     {"unroll", 1},
                     {"min_blocks", 1},
                     {"stores", "plain"},
                     {"cache_hint", "plain"},
                     {"max_lead", 0}}};
}

std::vector<FormSpace> cuda_spaces(const Grid& grid, const Limits& limits) {
    constexpr int with_bulk_copies = 90, with_copies_past_registers = 80;
    constexpr std::int64_t piece = 16;  // bytes of a copy past the registers
    if (grid.levels > 1 && grid.dimension == 3) return {two_steps_form(grid)};
    if (grid.levels > 1)
        return {levels_form(grid, "exchanged", "values along x through shared memory from the whole block", "shared"),
                levels_form(grid, "shuffled", "values along x from the other lanes of a warp", "shuffle")};
    const bool planes = grid.dimension == 3;
    std::vector<FormSpace> forms{cached_form(grid)};
    forms.push_back(marching(grid, {.name = "march", .help = "a march with layers in registers", .former = "registers", .rows_of_threads = planes}));
    if (grid.kind == Kind::step)
        forms.push_back(marching(grid, {.name = "exchanged",
                                        .help = "a march with layers in registers, and new velocities through shared memory",
                                        .former = "shared",
                                        .rows_of_threads = planes}));
    if (!planes && limits.architecture >= with_bulk_copies) forms.push_back(bulk_form(grid));
    if (planes && limits.architecture >= with_copies_past_registers && grid.pitch * grid.word() % piece == 0) forms.push_back(planes_form(grid));
    return forms;
}

}  // namespace

BlockCells block_cells(const Grid& grid, const Config& config) {
    const std::int64_t points = config.integer("points_per_thread"), block_x = config.integer("block_x");
    const std::int64_t rows = grid.dimension == 2 ? 1 : block_y(config) * rows_of_thread(config);
    if (is(config, "planes") && grid.levels > 1) return {block_x * points - 2 * margin_cells(grid, config), rows - 2 * grid.reach()};
    if (grid.levels > 1) {
        const std::int64_t tile = is(config, "shuffled") ? 32 : block_x, margin = divide_up(grid.levels * grid.reach(), points);
        return {block_x / tile * (tile - 2 * margin) * points, rows};
    }
    const bool bulk = is(config, "bulk"), exchanged = is(config, "exchanged") || (grid.kind == Kind::step && bulk);
    const std::int64_t others = exchanged ? groups_beside(grid, config, grid.half - 1) + groups_beside(grid, config, grid.half) : 0;
    const std::int64_t most = (block_x - others) * points;
    if (!bulk || !exchanged) return {most, rows};
    // An equal share of the row, in whole sectors.
    const std::int64_t words = sector / grid.word(), columns = divide_up(grid.nx, most);
    return {divide_up(divide_up(grid.nx, columns), words) * words, rows};
}

std::int64_t groups_beside(const Grid& grid, const Config& config, std::int64_t reach) {
    const std::int64_t points = config.integer("points_per_thread");
    if (!is(config, "bulk")) return divide_up(reach, points);
    const std::int64_t words = std::max(sector / grid.word(), points);
    return divide_up(reach, words) * words / points;
}

std::int64_t layers_per_block(const Grid& grid, const Config& config, const Limits& limits) {
    if (config.integer("layers_per_block") != 0) return config.integer("layers_per_block");
    const BlockCells cells = block_cells(grid, config);
    const std::int64_t columns = divide_up(grid.nx, cells.x) * (grid.dimension == 2 ? 1 : divide_up(grid.ny, cells.y));
    const std::int64_t resident = limits.multiprocessors * config.integer("min_blocks");
    if (is(config, "planes") && grid.levels > 1) return best_share(grid, columns, resident);
    const std::int64_t blocks = std::max<std::int64_t>(resident / columns, 1);
    return std::max(divide_up(grid.layers(), blocks), shortest_march(grid));
}

std::int64_t words_beside(const Grid& grid, const Config& config, std::int64_t reach) {
    const std::int64_t words = std::max(sector / grid.word(), config.integer("points_per_thread"));
    return divide_up(reach, words) * words;
}

std::int64_t pressures_beside(const Grid& grid, const Config& config) {
    const std::int64_t points = config.integer("points_per_thread");
    return words_beside(grid, config, (divide_up(grid.half - 1, points) + divide_up(grid.half, points)) * points);
}

std::int64_t margin_cells(const Grid& grid, const Config& config) {
    constexpr std::int64_t piece = 16;  // bytes of a copy
    const std::int64_t words = std::max(piece / grid.word(), config.integer("points_per_thread"));
    return divide_up(grid.reach(), words) * words;
}

std::int64_t words_of_side(const Grid& grid, const Config& config) {
    if (grid.levels == 1) return words_beside(grid, config, grid.half);
    // With the margin whole sectors: there the tile's rows begin.
    const std::int64_t margin = margin_cells(grid, config);
    return words_beside(grid, config, margin + grid.half) - margin;
}

std::int64_t lasting_words(const Grid& grid, const Config& config) {
    const BlockCells tile = tile_cells(config);
    const std::int64_t pressures = (tile.x + 2 * words_of_side(grid, config)) * (tile.y + 2 * grid.reach());
    return pressures + (grid.array_media ? 2 * tile.x * tile.y : 0);
}

std::int64_t plane_words(const Grid& grid, const Config& config) {
    if (grid.levels > 1) {
        const BlockCells tile = tile_cells(config);
        const std::int64_t across = (tile.x + 2 * words_of_side(grid, config)) * tile.y, along_y = tile.x * (tile.y + grid.reach());
        return (grid.array_media ? 2 : 1) * (across + along_y) + tile.x * tile.y;
    }
    const BlockCells cells = block_cells(grid, config);
    const std::int64_t media = grid.array_media ? 2 : 1, own = cells.x * cells.y, around = 2 * grid.half - 1,
                       beside = 2 * words_beside(grid, config, grid.half);
    if (grid.kind == Kind::pressure) return (cells.x + beside) * cells.y + cells.x * (cells.y + around) + (1 + media) * own;
    if (grid.kind == Kind::velocity) return (cells.x + beside) * (cells.y + around) + 3 * media * own;
    const std::int64_t pressures = (cells.x + 2 * pressures_beside(grid, config)) * (cells.y + 2 * around);
    return pressures + media * ((cells.x + beside) * cells.y + cells.x * (cells.y + around) + own) + (media - 1) * own;
}

std::int64_t exchange_bytes(const Grid& grid, const Config& config) {
    const bool bulk = is(config, "bulk");
    if (!is(config, "exchanged") && !(bulk && grid.kind == Kind::step)) return 0;
    const std::int64_t block_x = config.integer("block_x"), rows_of_threads = block_y(config), points = config.integer("points_per_thread");
    if (grid.levels > 1)  // two exchanges for each, whatever is beside a row
        return 2 * grid.levels * (block_x + 2 * divide_up(grid.half, points)) * points * grid.word();
    const std::int64_t beside = groups_beside(grid, config, grid.half - 1) + groups_beside(grid, config, grid.half);
    const std::int64_t rows = rows_of_threads * (block_x + beside) * points;
    const std::int64_t side_rows = grid.dimension == 3 ? (rows_of_threads + 2 * grid.half - 1) * block_x * points : 0;
    return 2 * (rows + side_rows) * grid.word();  // two layers in turns
}

int arriving_media(const Grid& grid) {
    if (!grid.array_media) return 0;
    if (grid.kind == Kind::pressure) return 1;
    return grid.kind == Kind::velocity ? 2 : 3;
}

std::int64_t shared_bytes(const Grid& grid, const Config& config) {
    if (grid.dimension == 3 && is(config, "planes")) {
        const std::int64_t stages = config.integer("stages"), of_stages = stages * plane_words(grid, config);
        return (of_stages + (grid.levels > 1 ? (stages + grid.reach()) * lasting_words(grid, config) : 0)) * grid.word();
    }
    if (!is(config, "bulk")) return exchange_bytes(grid, config);
    constexpr std::int64_t barrier = 8;
    const std::int64_t points = config.integer("points_per_thread"), cells = config.integer("block_x") * points;
    const std::int64_t words = (3 + arriving_media(grid)) * cells + 2 * groups_beside(grid, config, grid.half) * points;
    return exchange_bytes(grid, config) + config.integer("stages") * (words * grid.word() + barrier);
}

Forms cuda_forms(const Problem& problem, const Limits& limits) {
    const Grid grid(problem);
    constexpr std::int64_t piece = 16;  // bytes of a copy past the registers
    if (grid.dimension == 3 && grid.levels > 1 &&
        (grid.levels > 2 || grid.half > 2 || limits.architecture < 80 || grid.pitch * grid.word() % piece != 0))
        throw Error(fmt::format("problem \"{}\"", problem.key()), fmt::format("levels is {}", grid.levels),
                    "in 3D GPUs have two time steps in one pass of order 4, with rows of whole 16 bytes, from sm_80 on: leave it out");
    if (grid.in_place)
        throw Error(fmt::format("problem \"{}\"", problem.key()), "update=in_place",
                    "steps in place there are on processors alone: use update=apart");
    Forms forms{{}, grid.levels == 1 ? "cached" : grid.dimension == 3 ? "planes" : "exchanged"};
    for (FormSpace& space : cuda_spaces(grid, limits)) {
        std::vector<std::string> reads = read_by_resources(space);
        // Several steps of a pass take as long as their tiles have threads that serve the others
        // alone: of 64 cells, 42 around three steps of order 8.
        if (grid.levels > 1)
            space.count = [grid](const Config& config) {
                const BlockCells own = block_cells(grid, config);
                const std::int64_t rows = grid.dimension == 2 ? 1 : block_y(config) * rows_of_thread(config);
                const std::int64_t all = config.integer("block_x") * config.integer("points_per_thread") * rows;
                return static_cast<double>(all) / static_cast<double>(own.x * own.y);
            };
        forms.list.push_back({.space = std::move(space),
                              .resources = [grid](const Config& config) { return resources(grid, config); },
                              .resources_read = std::move(reads),
                              .kernel = [problem, limits](const Config& config) { return cuda_kernel(problem, config, limits); }});
    }
    return forms;
}

}  // namespace hone::inline v0_1::acoustics
