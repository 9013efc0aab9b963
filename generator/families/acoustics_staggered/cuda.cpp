#include "generator/families/acoustics_staggered/cuda.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "generator/families/device/cuda_copies.hpp"

namespace hone::inline v0_1::acoustics {
namespace {

constexpr std::int64_t widest_load = 16;  // bytes

Reason rejected_when(bool condition, const char* reason) {
    return condition ? Reason(reason) : Reason();
}

// The velocity along the march by its role.
Block along_march(const Grid& grid) {
    const char* const name = grid.dimension == 2 ? "v" : "w";
    Block block;
    block.line("{}real* __restrict__ const along = {};  // velocity along the march", grid.kind == Kind::velocity ? "" : "const ", name);
    if (grid.kind == Kind::step) block.line("real* __restrict__ const along_next = {}_next;", name);
    return block;
}

// The media at faces by their roles.
Block media_of_faces(const Grid& grid, const Parts& parts) {
    const bool arrays = grid.array_media;
    const char *const x = arrays ? "bx" : "b", *const y = arrays ? "by" : "b", *const z = arrays ? "bz" : "b";
    Block block;
    if (grid.kind == Kind::pressure) return block;
    if (grid.levels > 1 && !parts.planes) return block.line("const real *b_x = {}, *b_y = {};", x, y);
    if (grid.dimension == 2) return block.line("const real *b_x = {}, *b_along = {};", x, y);
    return block.line("const real *b_x = {}, *b_y = {}, *b_along = {};", x, y, z);
}

// A layer is many instructions in 3D, and in a step of high order: more of them per trip take
// seconds to compile, and gain nothing.
std::vector<std::int64_t> layers_per_trip(const Grid& grid) {
    if (grid.dimension == 3) return {1, 2};
    if (grid.kind == Kind::step && grid.half == 8) return {1, 2, 4};
    return {1, 2, 4, 8, 16};
}

}  // namespace

CudaKernel::CudaKernel(const Grid& of_grid, const Config& config)
    : grid(of_grid),
      block_x(config.integer("block_x")),
      block_y(integer_or(config, "block_y", 1)),
      points_per_thread(config.integer("points_per_thread")),
      // Rules about resources know no more than what read_by_resources names.
      layers_per_block(integer_or(config, "layers_per_block", 0)),
      unroll(integer_or(config, "unroll", 1)),
      min_blocks(integer_or(config, "min_blocks", 1)),
      streaming_stores(config.has("stores", "streaming")) {
}

std::int64_t CudaKernel::words_beside(std::int64_t reach) const {
    const std::int64_t words = std::max(sector_bytes / grid.word(), points_per_thread);
    return divide_up(reach, words) * words;
}

std::int64_t CudaKernel::columns(const BlockCells& cells) const {
    return divide_up(grid.nx, cells.x) * (grid.dimension == 2 ? 1 : divide_up(grid.ny, cells.y));
}

std::int64_t CudaKernel::layers(const BlockCells& cells, const Limits& limits) const {
    if (layers_per_block != 0) return layers_per_block;
    const std::int64_t blocks = std::max<std::int64_t>(limits.multiprocessors * min_blocks / columns(cells), 1);
    return std::max(divide_up(grid.layers(), blocks), shortest_march(grid));
}

Block CudaKernel::constants(const Block& own, bool by_rows_of_threads) const {
    const std::int64_t group_bytes = std::min(points_per_thread * grid.word(), widest_load);
    const std::string vector_words = group_bytes == grid.word() ? "" : std::to_string(group_bytes / grid.word());
    Block block;
    block.line("using real = {};", grid.real());
    if (points_per_thread > 1) block.line("using vector = {}{};  // a load", grid.real(), vector_words);
    block.line("using wide = long long;  // a position in an array");
    block.line("constexpr int half = {};  // M, half the order in space", grid.half);
    block.line("constexpr int ghost = {}, left = {};  // rows{} before the first cell, and words of its row", grid.ghost(), grid.left(),
               grid.dimension == 3 ? " and planes" : "");
    block.line("constexpr int block_x = {}, block_y = {}, threads_per_block = block_x * block_y, min_blocks = {};", block_x, block_y, min_blocks);
    if (points_per_thread > 1)
        block.line("constexpr int points = {}, group_alignment = {};  // cells of a row that a thread takes at a time", points_per_thread,
                   group_bytes);
    else
        block.line("constexpr int points = 1;  // cells of a row that a thread takes at a time");
    block.append(own);
    if (by_rows_of_threads) return block.line("constexpr int layer_step = {}, layers_per_trip = {};", grid.dimension == 3 ? "1" : "block_y", unroll);
    return block.line("constexpr int layers_per_trip = {};", unroll);
}

Flags CudaKernel::flags(const Parts& parts) const {
    const bool two_steps = parts.planes && grid.levels > 1, levels = parts.levels, marches = !levels && !parts.planes, in_3d = grid.dimension == 3;
    const bool pressure = grid.kind == Kind::pressure, velocity = grid.kind == Kind::velocity, step = grid.kind == Kind::step && !two_steps;
    const bool in_registers = marches && parts.in_registers, cached = marches && !parts.in_registers;
    Flags result{{"levels", levels},
                 {"planes", parts.planes},
                 {"march_of_pressure", marches && pressure},
                 {"march_of_velocity", marches && velocity},
                 {"march_of_step", marches && step},
                 {"pressure", pressure},
                 {"velocity", velocity},
                 {"step", step},
                 {"halves", pressure || velocity},
                 {"two_steps", two_steps},
                 {"in_3d", in_3d},
                 {"absorbing", grid.absorbing},
                 {"array_media", grid.array_media},
                 {"several_points", points_per_thread > 1},
                 {"streaming_stores", streaming_stores},
                 {"prefetch", parts.prefetch},
                 {"by_warps", parts.by_warps},
                 {"cached", cached},
                 {"in_registers", in_registers},
                 {"registers_alone", in_registers && !parts.bulk},
                 {"bulk", parts.bulk},
                 {"exchanged", parts.exchanged},
                 {"idle_threads", parts.exchanged || in_3d},
                 {"kept_reads", parts.kept_reads},
                 {"paced", parts.paced},
                 // Of the functions those that the kernel calls.
                 {"spans", !levels},
                 {"scalar_media", !grid.array_media},
                 {"media_at", grid.array_media && (levels || (marches && !parts.bulk))},
                 {"strides", cached || (marches && in_3d) || (parts.planes && grid.kind == Kind::step)},
                 {"windows", levels || in_registers || (parts.planes && grid.kind == Kind::step)},
                 {"scattered_sums", levels || (in_registers && step)},
                 {"weighted_sums", levels || parts.planes || (in_registers && step)},
                 {"scaled_groups", grid.absorbing || parts.planes},
                 {"sums_of_groups", !velocity},
                 {"new_velocities", cached || in_3d},
                 {"velocities_of_neighbours", cached || (in_3d && !parts.exchanged)}};
    add_copies(result, Copies::sixteen_bytes);
    return result;
}

KernelSource CudaKernel::source(const Problem& problem, const Config& config, const Block& constants, const Parts& parts) const {
    KernelSource source = common_source(problem, Target::cuda);
    source.text = render("acoustics_staggered/kernel.cu",
                         {{"banner", banner(problem, config, Target::cuda)},
                          {"constants", constants},
                          {"weight", weight_function(grid, "__device__ __forceinline__ ")},
                          {"parameters", parameters(problem)},
                          {"along_march", along_march(grid)},
                          {"media_of_faces", media_of_faces(grid, parts)}},
                         flags(parts));
    return source;
}

Launch CudaKernel::launch(const std::string& entry, const BlockCells& cells, std::int64_t layers, std::int64_t shared_bytes) const {
    Launch launch;
    launch.entry = entry;
    launch.block = {block_x, block_y, 1};
    launch.grid = {divide_up(grid.nx, cells.x), grid.dimension == 2 ? 1 : divide_up(grid.ny, cells.y), 1};
    launch.range_axis = grid.dimension - 1;
    launch.grid[static_cast<std::size_t>(launch.range_axis)] = divide_up(grid.layers(), layers);
    launch.range_per_block = layers;
    launch.shared_bytes = shared_bytes;
    return launch;
}

std::int64_t shortest_march(const Grid& grid) {
    return grid.levels * grid.half * 2;
}

std::int64_t span(std::int64_t points, std::int64_t before, std::int64_t after) {
    return divide_up(before, points) * points + points + divide_up(after, points) * points;
}

void add_lead(Block& block, std::int64_t max_lead) {
    if (max_lead > 0) block.line("constexpr int lead = {};  // layers that a block may be ahead of its neighbours", max_lead);
}

// What all of these share, by the tunables that they have. Those that most rules ask for come
// first: so less is asked.
FormSpace march_space(const Grid& grid, const MarchSpace& march) {
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
                             return rejected_when(config.integer("block_x") * integer_or(config, "block_y", 1) < 64,
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
                 const std::int64_t rows = config.integer("block_y") * integer_or(config, "rows_per_thread", 1), beside = 2 * grid.half - 1;
                 if (grid.ny <= small_plane || beside <= 3 * rows) return {};
                 return fmt::format("{} rows of every plane are read for {}: block_y is larger", rows + beside, rows);
             },
             march.rows_per_thread ? std::vector<std::string>{"block_y", "rows_per_thread"} : std::vector<std::string>{"block_y"}});
    if (march.keeps_pace) form.constraints.push_back(lead_of_a_block());
    return form;
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

Constraint lead_of_a_block() {
    return {"lead_of_a_block",
            [](const Config& config) {
                return rejected_when(config.integer("max_lead") > 0 && config.integer("layers_per_block") != 0,
                                     "only blocks that march through an equal share of the layers keep to their neighbours' "
                                     "pace: layers_per_block is 0");
            },
            {"layers_per_block", "max_lead"}};
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

std::vector<std::string> read_by_resources(const FormSpace& form) {
    std::vector<std::string> names;
    for (const char* name : {"block_x", "block_y", "rows_per_thread", "points_per_thread", "prefetch", "stages", "unroll"})
        if (std::any_of(form.tunables.begin(), form.tunables.end(), [&](const Tunable& tunable) { return tunable.name == name; }))
            names.emplace_back(name);
    return names;
}

}  // namespace hone::inline v0_1::acoustics
