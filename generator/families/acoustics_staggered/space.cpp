#include <fmt/format.h>

#include <algorithm>

#include "generator/error.hpp"
#include "generator/families/acoustics_staggered/grid.hpp"
#include "generator/families/device/cpu_team.hpp"
#include "generator/families/device/cuda_residency.hpp"

namespace hone::acoustics {
namespace {

using Reason = std::optional<std::string>;

constexpr std::int64_t whole = 65536;  // cells along an axis: more than there are
constexpr std::int64_t sector = 32;    // bytes that memory moves at a time

Reason rejected_when(bool condition, const char* reason) {
    return condition ? Reason(reason) : Reason();
}

std::int64_t threads(const Config& config) {
    return config.integer("block_x") * config.integer("block_y");
}

bool in_registers(const Config& config) {
    return config.word("staging") != "cache";
}

bool in_planes(const Config& config) {
    return config.word("staging") == "planes";
}

// Of a thread; there were no others before the tunable.
std::int64_t rows_of_thread(const Config& config) {
    return in_planes(config) ? config.integer("rows_per_thread") : 1;
}

// Words of a row from `before` a thread's points to `after` behind them, in whole groups.
std::int64_t span(std::int64_t points, std::int64_t before, std::int64_t after) {
    return divide_up(before, points) * points + points + divide_up(after, points) * points;
}

// The same of several time steps: windows and sums, what they leave to each other, and what is read, besides a row around the thread's points.
std::int64_t registers_of_levels(const Grid& grid, const Config& config, std::int64_t points) {
    const std::int64_t levels = grid.levels, behind = grid.reach(), media = grid.array_media ? (levels + 1) / 2 + 2 * levels : 0;
    const std::int64_t kept = levels * 4 * grid.half + (levels - 1) * behind + (levels - 1) / 2 * 2 * behind;
    const std::int64_t read = (3 + media) * points * (config.integer("ahead") == 1 ? 2 : 1);
    return kept * points + read + points + (config.word("staging") == "shuffle" ? 2 * grid.half : points);
}

// The same of a march whose planes are in shared memory: sums (and in a step pressures) of the planes that wait, for every cell; of one row what is
// read around it; and where the copies come from.
std::int64_t registers_of_planes(const Grid& grid, const Config& config) {
    constexpr std::int64_t addresses = 40;
    const std::int64_t points = config.integer("points_per_thread"), rows = rows_of_thread(config), m = grid.half;
    const std::int64_t kept = (grid.kind == Kind::step ? 4 * m + 1 : 2 * m + 1) * points * rows;
    const std::int64_t of_next_plane = 8 * (config.integer("unroll") - 1);
    return addresses + of_next_plane + (kept + 4 * points) * grid.word() / 4;
}

// About how many 32-bit registers a thread needs.
std::int64_t registers(const Grid& grid, const Config& config) {
    constexpr std::int64_t addresses = 24;
    const std::int64_t points = config.integer("points_per_thread"), m = grid.half;
    if (grid.levels > 1) return addresses + registers_of_levels(grid, config, points) * grid.word() / 4;
    if (in_planes(config)) return registers_of_planes(grid, config);
    // What a thread reads when it comes to a layer: groups around its own, and groups of the other arrays.
    std::int64_t row = span(points, m, m) + (grid.kind == Kind::pressure ? 2 : 2 * grid.dimension) * points;
    const bool exchanged = config.word("staging") == "shared" || config.word("staging") == "bulk";
    if (grid.kind == Kind::step) row = span(points, m, m) + 5 * points;
    if (grid.kind == Kind::step && !exchanged)
        row = span(points, 2 * m - 1, 2 * m - 1) + (grid.array_media ? 2 : 1) * span(points, m - 1, m) + 3 * points;
    std::int64_t values = row + points;
    // Factors of the cells, and in 2D of the faces that a thread computes for its neighbours; in 3D these wait for what along y needs more.
    if (grid.absorbing) values += points + (grid.kind == Kind::step && grid.dimension == 2 && !exchanged ? span(points, m - 1, m) : 0);
    if (config.integer("ahead") == 1) values += row;
    if (in_registers(config)) values += (grid.kind == Kind::step ? 4 : 2) * m * points;
    // Faces along the march, which compilers compute side by side; of order 16 in 2D those of the thread's next points wait with them.
    if (grid.kind == Kind::step && !in_registers(config)) {
        values += 2 * m * points;
        if (grid.dimension == 2 && m > 4) values += 2 * m * (points - 1) * grid.word() / 4;
    }
    if (grid.kind == Kind::step && grid.dimension == 3 && !exchanged) values += 3 * m * points;  // the neighbours' velocities along y
    // And their media, beside what waits along the march.
    if (grid.kind == Kind::step && grid.dimension == 3 && config.word("staging") == "registers" && grid.array_media) values += 2 * m * points;
    return addresses + values * grid.word() / 4;
}

// Layers below which filling the registers takes longer than the march.
std::int64_t shortest_march(const Grid& grid) {
    return grid.levels * grid.half * 2;
}

// The rules that all forms share.
std::vector<Constraint> cuda_constraints(const Grid& grid, const Limits& limits, std::vector<Constraint> others) {
    std::vector<Constraint> constraints = residency_constraints(limits, threads, [grid](const Config& config) { return registers(grid, config); });
    others.insert(others.end(),
                  {{"shared_memory",
                    [=](const Config& config) -> Reason {
                        const std::int64_t bytes = shared_bytes(grid, config), all = bytes * config.integer("min_blocks");
                        if (bytes > limits.shared_bytes_per_block)
                            return fmt::format("{} bytes of shared memory in a block, the device allows {}", bytes, limits.shared_bytes_per_block);
                        if (all <= limits.shared_bytes_per_multiprocessor) return {};
                        return fmt::format("{} bytes of shared memory on a multiprocessor, the device has {}", all,
                                           limits.shared_bytes_per_multiprocessor);
                    }},
                   {"aligned_points",
                    [pitch = grid.pitch](const Config& config) -> Reason {
                        const std::int64_t points = config.integer("points_per_thread");
                        if (pitch % points == 0) return {};
                        return fmt::format("loads of {} words need rows that start at multiples of them, the pitch is {}", points, pitch);
                    }},
                   {"long_march", [least = shortest_march(grid)](const Config& config) {
                        const std::int64_t march = config.integer("march"), rows = in_planes(config) ? 4 * least : least;
                        return rejected_when(in_registers(config) && march != 0 && march < rows,
                                             "filling the registers takes longer than the march: it has 2 M layers or more for every time step");
                    }}});
    constraints.insert(constraints.end(), others.begin(), others.end());
    return constraints;
}

std::vector<Constraint> march_constraints(const Grid& grid) {
    return {{"small_blocks",
             [](const Config& config) {
                 return rejected_when(threads(config) < 64, "a multiprocessor holds 32 blocks at most: with one warp each, half of it stays empty");
             }},
            {"one_march",
             [rows = grid.dimension == 2](const Config& config) {
                 return rejected_when(rows && in_registers(config) && config.integer("block_y") > 1,
                                      "in 2D a march along y with values in registers has one row of threads: block_y is 1");
             }},
            {"bulk_copies",
             [grid](const Config& config) -> Reason {
                 constexpr std::int64_t alignment = 16;
                 if (in_planes(config)) return {};
                 if (config.word("staging") != "bulk")
                     return rejected_when(config.integer("stages") > 2, "nothing comes in stages: there are 2 of them");
                 // Rows, where a block's cells begin, and where copies go behind what it exchanges.
                 for (const std::int64_t words : {grid.pitch, block_cells(grid, config).x, exchange_bytes(grid, config) / grid.word()})
                     if (words * grid.word() % alignment != 0)
                         return fmt::format("bulk copies begin and end at multiples of {} bytes, {} words do not", alignment, words);
                 return rejected_when(config.integer("ahead") == 1, "bulk copies are ahead already");
             }},
            {"rows_of_a_march",
             [rows = grid.dimension == 2](const Config& config) {
                 return rejected_when(rows && config.integer("march") != 0 && config.integer("march") < config.integer("block_y"),
                                      "a block marches over the rows of its threads at least");
             }},
            {"rows_read_again",
             [grid](const Config& config) -> Reason {
                 // Of every plane a block reads 2 M - 1 rows beside its own; small planes are in the second cache.
                 constexpr std::int64_t small_plane = 64;
                 const std::int64_t rows = config.integer("block_y") * rows_of_thread(config), beside = 2 * grid.half - 1;
                 if (grid.dimension == 2 || grid.ny <= small_plane || beside <= 3 * rows) return {};
                 return fmt::format("{} rows of every plane are read for {}: block_y is larger", rows + beside, rows);
             }},
            {"unrolled_march",
             [](const Config& config) {
                 const std::int64_t march = config.integer("march");
                 return rejected_when(march != 0 && config.integer("unroll") > march, "more layers per trip than the march has");
             }},
            {"kept_reads",
             [](const Config& config) -> Reason {
                 if (config.word("reads") == "plain") return {};
                 const bool copies = in_planes(config) || config.word("staging") == "bulk";
                 if (!copies) return "only copies into shared memory are kept: of planes, or in bulk";
                 // ptxas 13.0 gives a copy that has its place in shared memory from a uniform register a broken descriptor (ADR 0036).
                 return rejected_when(in_planes(config) && config.integer("unroll") % config.integer("stages") == 0,
                                      "kept copies into places that the compiler knows are compiled wrongly: other stages, or another unroll");
             }},
            {"lead_of_a_block", [step = grid.kind == Kind::step](const Config& config) {
                 const bool long_march = in_planes(config) || (step && config.word("staging") == "bulk");
                 return rejected_when(config.integer("lead") > 0 && (!long_march || config.integer("march") != 0),
                                      "only blocks that march through an equal share of the layers keep to their neighbours' pace: planes in shared "
                                      "memory, or rows of a step by bulk copies, with march=0");
             }}};
}

// Of 3D only.
std::vector<Constraint> plane_constraints(const Grid& grid) {
    return {{"rows_of_a_thread",
             [](const Config& config) {
                 return rejected_when(!in_planes(config) && config.integer("rows_per_thread") > 1,
                                      "several rows for each thread there are of planes in shared memory");
             }},
            {"planes",
             [grid](const Config& config) -> Reason {
                 constexpr std::int64_t piece = 16;  // bytes
                 if (!in_planes(config)) return {};
                 if (grid.pitch * grid.word() % piece != 0)
                     return fmt::format("rows are copied {} bytes at a time, and begin at multiples of them", piece);
                 return rejected_when(config.integer("ahead") == 1, "planes in shared memory are ahead already");
             }},
            {"wide_planes", [grid](const Config& config) -> Reason {
                 // What a stage holds around the tile comes from the second cache once more.
                 if (!in_planes(config)) return {};
                 const BlockCells cells = block_cells(grid, config);
                 const std::int64_t arrays = 4 + (grid.kind == Kind::velocity ? 3 : grid.kind == Kind::step ? 4 : 1) * (grid.array_media ? 1 : 0);
                 const std::int64_t words = plane_words(grid, config), own = arrays * cells.x * cells.y;
                 if (8 * words <= (grid.half < 8 ? 13 : 16) * own) return {};
                 return fmt::format("{} words are read of every plane for {}: too many are around the tile", words, own);
             }}};
}

std::vector<Constraint> level_constraints(const Grid& grid) {
    return {{"wide_tile", [grid](const Config& config) -> Reason {
                 const std::int64_t threads_of_tile = config.word("staging") == "shuffle" ? 32 : config.integer("block_x");
                 const std::int64_t cells = threads_of_tile * config.integer("points_per_thread"), sides = 2 * grid.levels * grid.reach();
                 if (cells >= 3 * sides / 2) return {};
                 return fmt::format("of a tile of {} cells {} only serve the others: a third of it has to be left", cells, sides);
             }}};
}

SearchSpace cuda_space_of_levels(const Grid& grid, const Limits& limits) {
    std::vector<Tunable> tunables{
        {"staging", "how values along x reach a thread: from the other lanes of its warp, or through shared memory from the whole block",
         words({"shuffle", "shared"})},
        {"block_x", "threads along x", numbers({32, 64, 128, 256, 512})},
        {"block_y", "threads along y", numbers({1})},
        {"march", "rows that a block takes one after the other; 0: an equal share for each", numbers({0, 32, 64, 128, 256, 512, 1024})},
        {"points_per_thread", "cells of a row that a thread takes at a time: the width of its loads", numbers({1, 2, 4, 8})},
        {"ahead", "rows that are read before they are needed", numbers({0, 1})},
        {"unroll", "rows per trip of the march's loop", numbers({1, 2, 4, 8})},
        {"stores", "streaming: what is written leaves the caches first", words({"plain", "streaming"})},
        {"min_blocks", "blocks per multiprocessor that the compiler must leave registers for", numbers({1, 2, 3, 4, 6, 8, 12, 16})}};
    std::vector<Assignment> safe{{"staging", "shared"}, {"block_x", 256}, {"block_y", 1},      {"march", 128},   {"points_per_thread", 1},
                                 {"ahead", 0},          {"unroll", 1},    {"stores", "plain"}, {"min_blocks", 1}};
    return {std::move(tunables), cuda_constraints(grid, limits, level_constraints(grid)), std::move(safe)};
}

// A layer is many instructions in 3D, and in a step of high order: more of them per trip take seconds to compile, and gain nothing.
std::vector<std::int64_t> layers_per_trip(const Grid& grid) {
    if (grid.dimension == 3) return {1, 2};
    if (grid.kind == Kind::step && grid.half == 8) return {1, 2, 4};
    return {1, 2, 4, 8, 16};
}

SearchSpace cuda_space(const Grid& grid, const Limits& limits) {
    if (grid.levels > 1) return cuda_space_of_levels(grid, limits);
    constexpr int with_bulk_copies = 90, with_copies_past_registers = 80;
    std::vector<Value> staging = grid.kind == Kind::step ? words({"cache", "registers", "shared"}) : words({"cache", "registers"});
    const bool planes = grid.dimension == 3;
    if (!planes && limits.architecture >= with_bulk_copies) staging.emplace_back(std::string("bulk"));
    if (planes && limits.architecture >= with_copies_past_registers) staging.emplace_back(std::string("planes"));
    std::vector<Tunable> tunables{
        {"staging",
         "how values around reach a thread: cached loads; layers in registers along a march; in a step also new velocities through shared memory; "
         "all that and, in 2D, rows by bulk copies; sums along a march, and in 3D planes in shared memory by asynchronous copies",
         std::move(staging)},
        {"block_x", "threads along x", planes ? numbers({16, 32, 64, 128, 256}) : numbers({32, 64, 128, 192, 256})},
        {"block_y", "threads along y", planes ? numbers({1, 2, 4, 8, 16, 32}) : numbers({1, 2, 4, 8, 16})},
        {"march",
         "layers (rows in 2D, planes in 3D) that a block takes one after the other; 0: an equal share for each that the device holds at a time",
         planes ? numbers({0, 1, 4, 8, 16, 32, 64, 128, 256, 1024}) : numbers({0, 1, 4, 8, 16, 32, 64, 128, 256, 512, 1024})},
        {"points_per_thread", "cells of a row that a thread takes at a time: the width of its loads", numbers({1, 2, 4})},
        {"ahead", "layers that are read before they are needed", numbers({0, 1})},
        {"stages", "layers in shared memory, or on their way there", planes ? numbers({2, 3}) : numbers({2, 3, 4, 6, 8})},
        {"unroll", "layers per trip of the march's loop", numbers(layers_per_trip(grid))},
        {"stores", "streaming: what is written leaves the caches first", words({"plain", "streaming"})},
        {"min_blocks", "blocks per multiprocessor that the compiler must leave registers for", numbers({1, 2, 3, 4, 6, 8})},
        {"reads", "kept: the second cache gives up what is copied into shared memory last", words({"plain", "kept"}), Value("plain")},
        {"lead", "layers that a block may be ahead of its neighbours before it waits for them; 0: as many as it likes",
         planes ? numbers({0, 1, 2}) : numbers({0, 6, 8}), Value(0)}};
    std::vector<Assignment> safe{{"staging", "cache"},     {"block_x", 32},   {"block_y", 8},     {"march", 8},
                                 {"points_per_thread", 1}, {"ahead", 0},      {"stages", 2},      {"unroll", 1},
                                 {"stores", "plain"},      {"min_blocks", 1}, {"reads", "plain"}, {"lead", 0}};
    std::vector<Constraint> rules = march_constraints(grid);
    if (planes) {
        tunables.push_back({"rows_per_thread", "rows of a plane that a thread takes, of planes in shared memory", numbers({1, 2}), Value(1)});
        safe.push_back({"rows_per_thread", 1});
        for (Constraint& rule : plane_constraints(grid)) rules.push_back(std::move(rule));
    }
    return {std::move(tunables), cuda_constraints(grid, limits, std::move(rules)), std::move(safe)};
}

// Words that a thread of the CPU's step keeps: 2 M layers of faces, those along y around its rows, and two rows; of several time steps 2 M rows of
// all fields for each.
std::int64_t buffered_words(const Grid& grid, const Config& config) {
    if (grid.dimension == 2 && grid.levels > 1) return 6 * grid.half * grid.levels * (config.integer("x_block") + 2 * grid.levels * grid.reach());
    const std::int64_t rows = config.integer("y_block"), side_rows = grid.dimension == 3 ? rows + 2 * grid.half - 1 : 0;
    return (2 * grid.half * rows + side_rows + 2) * config.integer("x_block");
}

// Of these there is one form for each number of rows.
Constraint whole_planes(const Grid& grid) {
    return {"whole_planes", [grid](const Config& config) -> Reason {
                if (!team_in_planes(grid, config)) return {};
                if (config.integer("x_block") != whole || config.integer("march") != 0)
                    return fmt::format("threads that march together take whole rows through all planes: x_block={} and march=0", whole);
                return rejected_when(config.integer("y_block") < 2 * grid.half,
                                     "a thread's neighbours look 2 M rows across: y_block is not below them");
            }};
}

std::vector<Constraint> cpu_constraints(const Grid& grid, const Limits& limits) {
    constexpr std::int64_t caches = 8;  // times the second cache: beyond that the step is two sweeps again, with a detour
    return {{"vector_width",
             [limits](const Config& config) -> Reason {
                 if (config.integer("vector_bytes") <= limits.vector_bytes) return {};
                 return fmt::format("vectors of {} bytes, the processor's have {}", config.integer("vector_bytes"), limits.vector_bytes);
             }},
            {"buffers", [grid, limits](const Config& config) -> Reason {
                 const std::int64_t bytes = buffered_words(grid, config) * grid.word();
                 if (grid.kind != Kind::step || team_in_planes(grid, config) || bytes <= caches * limits.cache_bytes) return {};
                 return fmt::format("{} bytes for a thread's new velocities, the second cache has {}", bytes, limits.cache_bytes);
             }}};
}

SearchSpace cpu_space(const Grid& grid, const Limits& limits) {
    const bool step = grid.kind == Kind::step, planes = grid.dimension == 3, together = planes && grid.levels > 1;
    std::vector<Tunable> tunables{
        {"x_block", "cells along x that a thread takes at a time", together ? numbers({whole}) : numbers({128, 256, 512, 1024, 2048, 4096, whole})},
        {"y_block", "rows that a thread takes in every plane, in 3D", planes ? numbers({4, 8, 16, 32, 64, whole}) : numbers({1})},
        {"march", "layers (rows in 2D, planes in 3D) that a thread takes one after the other; 0: an equal share for each",
         together ? numbers({0}) : numbers({0, 16, 32, 64, 128, 256})},
        {"vector_bytes", "width of the vectors along x", numbers({16, 32, 64})},
        {"bytes_ahead", "of a row, from asking for them to computing with them; 0: the processor foresees what it can",
         numbers({0, 1024, 2048, 4096}), Value(0)}};
    if (step) tunables.push_back({"stores", "streaming: what is written goes past the caches", words({"plain", "streaming"})});
    if (step && planes)
        tunables.push_back(
            {"team",
             "tiles: a thread computes again what its tiles need of their neighbours' velocities; planes: all threads go through the planes "
             "together, each with its rows, and read them from each other",
             together ? words({"planes"}) : words({"tiles", "planes"}), Value(together ? "planes" : "tiles")});
    // Long rows: where they break off, so does the memory's stream. In 3D shorter ones, of which the caches hold a block's planes.
    const std::int64_t vector_bytes = limits.vector_bytes >= 64 ? 64 : limits.vector_bytes >= 32 ? 32 : 16;
    std::vector<Assignment> safe{{"x_block", together ? whole
                                             : planes ? 512
                                                      : 2048},
                                 {"y_block", planes ? 16 : 1},
                                 {"march", 0},
                                 {"vector_bytes", vector_bytes},
                                 {"bytes_ahead", 1024}};
    if (step) safe.push_back({"stores", "plain"});
    if (step && planes) safe.push_back({"team", together ? "planes" : "tiles"});
    std::vector<Constraint> constraints = cpu_constraints(grid, limits);
    constraints.push_back(whole_planes(grid));
    constraints.push_back(team_constraint());
    for (Tunable& tunable : team_tunables(limits)) tunables.push_back(std::move(tunable));
    for (Assignment& assignment : safe_team()) safe.push_back(std::move(assignment));
    return {std::move(tunables), std::move(constraints), std::move(safe)};
}

}  // namespace

BlockCells block_cells(const Grid& grid, const Config& config) {
    const std::int64_t points = config.integer("points_per_thread"), block_x = config.integer("block_x");
    const std::int64_t rows = grid.dimension == 2 ? 1 : config.integer("block_y") * rows_of_thread(config);
    if (grid.levels > 1) {
        const std::int64_t tile = config.word("staging") == "shuffle" ? 32 : block_x, margin = divide_up(grid.levels * grid.reach(), points);
        return {block_x / tile * (tile - 2 * margin) * points, rows};
    }
    const bool bulk = config.word("staging") == "bulk", exchanged = config.word("staging") == "shared" || (grid.kind == Kind::step && bulk);
    const std::int64_t others = exchanged ? groups_beside(grid, config, grid.half - 1) + groups_beside(grid, config, grid.half) : 0;
    const std::int64_t most = (block_x - others) * points;
    if (!bulk || !exchanged) return {most, rows};
    // An equal share of the row, in whole sectors.
    const std::int64_t words = sector / grid.word(), columns = divide_up(grid.nx, most);
    return {divide_up(divide_up(grid.nx, columns), words) * words, rows};
}

std::int64_t groups_beside(const Grid& grid, const Config& config, std::int64_t reach) {
    const std::int64_t points = config.integer("points_per_thread");
    if (config.word("staging") != "bulk") return divide_up(reach, points);
    const std::int64_t words = std::max(sector / grid.word(), points);
    return divide_up(reach, words) * words / points;
}

std::int64_t layers_per_block(const Grid& grid, const Config& config, const Limits& limits) {
    if (config.integer("march") != 0) return config.integer("march");
    const BlockCells cells = block_cells(grid, config);
    const std::int64_t columns = divide_up(grid.nx, cells.x) * (grid.dimension == 2 ? 1 : divide_up(grid.ny, cells.y));
    const std::int64_t blocks = std::max<std::int64_t>(limits.multiprocessors * config.integer("min_blocks") / columns, 1);
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

std::int64_t plane_words(const Grid& grid, const Config& config) {
    const BlockCells cells = block_cells(grid, config);
    const std::int64_t media = grid.array_media ? 2 : 1, own = cells.x * cells.y, around = 2 * grid.half - 1,
                       beside = 2 * words_beside(grid, config, grid.half);
    if (grid.kind == Kind::pressure) return (cells.x + beside) * cells.y + cells.x * (cells.y + around) + (1 + media) * own;
    if (grid.kind == Kind::velocity) return (cells.x + beside) * (cells.y + around) + 3 * media * own;
    const std::int64_t pressures = (cells.x + 2 * pressures_beside(grid, config)) * (cells.y + 2 * around);
    return pressures + media * ((cells.x + beside) * cells.y + cells.x * (cells.y + around) + own) + (media - 1) * own;
}

std::int64_t exchange_bytes(const Grid& grid, const Config& config) {
    const bool bulk = config.word("staging") == "bulk";
    if (config.word("staging") != "shared" && !(bulk && grid.kind == Kind::step)) return 0;
    const std::int64_t block_x = config.integer("block_x"), block_y = config.integer("block_y"), points = config.integer("points_per_thread");
    if (grid.levels > 1)  // two exchanges for each, whatever is beside a row
        return 2 * grid.levels * (block_x + 2 * divide_up(grid.half, points)) * points * grid.word();
    const std::int64_t beside = groups_beside(grid, config, grid.half - 1) + groups_beside(grid, config, grid.half);
    const std::int64_t rows = block_y * (block_x + beside) * points;
    const std::int64_t side_rows = grid.dimension == 3 ? (block_y + 2 * grid.half - 1) * block_x * points : 0;
    return 2 * (rows + side_rows) * grid.word();  // two layers in turns
}

int arriving_media(const Grid& grid) {
    if (!grid.array_media) return 0;
    if (grid.kind == Kind::pressure) return 1;
    return grid.kind == Kind::velocity ? 2 : 3;
}

std::int64_t shared_bytes(const Grid& grid, const Config& config) {
    if (grid.dimension == 3 && in_planes(config)) return config.integer("stages") * plane_words(grid, config) * grid.word();
    if (config.word("staging") != "bulk") return exchange_bytes(grid, config);
    constexpr std::int64_t barrier = 8;
    const std::int64_t points = config.integer("points_per_thread"), cells = config.integer("block_x") * points;
    const std::int64_t words = (3 + arriving_media(grid)) * cells + 2 * groups_beside(grid, config, grid.half) * points;
    return exchange_bytes(grid, config) + config.integer("stages") * (words * grid.word() + barrier);
}

bool team_in_planes(const Grid& grid, const Config& config) {
    return grid.kind == Kind::step && grid.dimension == 3 && config.word("team") == "planes";
}

SearchSpace space(const Problem& problem, const Limits& limits) {
    const Grid grid(problem);
    if (limits.target == Target::cuda && grid.dimension == 3 && grid.levels > 1)
        throw Error(fmt::format("problem \"{}\"", problem.key()), fmt::format("levels is {}", grid.levels),
                    "several time steps in one pass there are in 3D on processors alone: leave it out");
    return limits.target == Target::cuda ? cuda_space(grid, limits) : cpu_space(grid, limits);
}

}  // namespace hone::acoustics
