#include <fmt/format.h>

#include <algorithm>

#include "generator/families/acoustics_staggered/grid.hpp"
#include "generator/families/device/cuda_copies.hpp"
#include "generator/render.hpp"

namespace hone::inline v0_1::acoustics {
namespace {

constexpr std::int64_t widest_load = 16;  // bytes

// What a problem and a configuration decide, and every block asks.
struct Plan {
    Grid grid;
    std::int64_t block_x, block_y, points;
    bool in_registers, exchanged;  // values of the layers around; new velocities of the layer, through shared memory
    bool by_warps;                 // of several time steps: a warp is a tile of its own
    bool bulk;                     // rows come by bulk copies
    bool planes;                   // planes are in shared memory
    bool prefetch, streaming_stores;
    bool kept_reads = false;  // the second cache gives up what is copied last
    std::int64_t lead = 0;    // of a block over its neighbours

    Plan(const Problem& problem, const Config& config)
        : grid(problem),
          block_x(config.integer("block_x")),
          block_y(integer_or(config, "block_y", 1)),
          points(config.integer("points_per_thread")),
          in_registers(!config.has(form_tunable, "cached")),
          exchanged(config.has(form_tunable, "exchanged") || (grid.kind == Kind::step && config.has(form_tunable, "bulk"))),
          by_warps(config.has(form_tunable, "shuffled")),
          bulk(config.has(form_tunable, "bulk")),
          planes(config.has(form_tunable, "planes")),
          prefetch(config.has("prefetch", 1)),
          streaming_stores(config.word("stores") == "streaming") {
        if (grid.levels > 1 && !planes) return;
        kept_reads = config.has("cache_hint", "kept");
        lead = integer_or(config, "max_lead", 0);
    }

    bool two_steps() const { return planes && grid.levels > 1; }
    // Of several time steps: threads of a row that exchange values, and those at each end whose
    // cells only serve the others.
    std::int64_t tile_threads() const { return by_warps ? 32 : block_x; }
    std::int64_t margin() const { return divide_up(grid.levels * grid.reach(), points); }
};

Block constants(const Plan& plan, const Config& config) {
    const Grid& grid = plan.grid;
    const std::int64_t group_bytes = std::min(plan.points * grid.word(), widest_load);
    const char* const word = grid.precision == Precision::f32 ? "float" : "double";
    const std::string vector_words = group_bytes == grid.word() ? "" : std::to_string(group_bytes / grid.word());
    Block block;
    block.line("using real = {};", word);
    if (plan.points > 1) block.line("using vector = {}{};  // a load", word, vector_words);
    block.line("using wide = long long;  // a position in an array");
    block.line("constexpr int half = {};  // M, half the order in space", grid.half);
    block.line("constexpr int ghost = {}, left = {};  // rows{} before the first cell, and words of its row", grid.ghost(), grid.left(),
               grid.dimension == 3 ? " and planes" : "");
    block.line("constexpr int block_x = {}, block_y = {}, threads_per_block = block_x * block_y, min_blocks = {};", plan.block_x, plan.block_y,
               config.integer("min_blocks"));
    if (plan.points > 1)
        block.line("constexpr int points = {}, group_alignment = {};  // cells of a row that a thread takes at a time", plan.points, group_bytes);
    else
        block.line("constexpr int points = 1;  // cells of a row that a thread takes at a time");
    if (grid.levels > 1 && !plan.planes) {
        block.line("constexpr int levels = {};  // time steps of a pass", grid.levels);
        block.line("constexpr int tile_threads = {}, margin = {};  // threads of a tile, and those at each end that only serve the others",
                   plan.tile_threads(), plan.margin());
        block.line("constexpr int side_groups = {}, tile_groups = block_x + 2 * side_groups;  // beside a tile, for nobody",
                   divide_up(grid.half, plan.points));
    } else if (plan.exchanged)
        block.line("constexpr int groups_left = {}, groups_right = {};  // beside a thread's own, that hold what its cells need",
                   groups_beside(grid, config, grid.half - 1), groups_beside(grid, config, grid.half));
    if (plan.planes) {
        const std::int64_t side = words_of_side(grid, config);
        block.line("constexpr int rows = {};  // of a plane, one below the other, that a thread takes", config.integer("rows_per_thread"));
        block.line("constexpr int stages = {}, stage_words = {};  // planes in shared memory or on their way, and all words of each",
                   config.integer("stages"), plane_words(grid, config));
        if (plan.two_steps())
            block.line(
                "constexpr int margin = {}, side = {}, lasting_words = {};  // cells of a tile's rows that only serve the others, words beside them",
                margin_cells(grid, config), side, lasting_words(grid, config));
        else if (grid.kind == Kind::step)
            block.line("constexpr int side = {}, pressure_side = {};  // words beside a tile's rows, of velocities and of pressures", side,
                       pressures_beside(grid, config));
        else
            block.line("constexpr int side = {};  // words beside a tile's rows", side);
    }
    if (plan.bulk) {
        block.line("constexpr int stages = {};  // layers on their way through shared memory", config.integer("stages"));
        block.line("constexpr int side_groups = {}, arriving = {}, exchange_words = {};", groups_beside(grid, config, grid.half),
                   3 + arriving_media(grid), exchange_bytes(grid, config) / grid.word());
    }
    if (plan.lead > 0) block.line("constexpr int lead = {};  // layers that a block may be ahead of its neighbours", plan.lead);
    if (grid.levels == 1 && !plan.planes)
        block.line("constexpr int layer_step = {}, layers_per_trip = {};", grid.dimension == 3 ? "1" : "block_y", config.integer("unroll"));
    else
        block.line("constexpr int layers_per_trip = {};", config.integer("unroll"));
    return block;
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
Block media_of_faces(const Plan& plan) {
    const bool arrays = plan.grid.array_media;
    const char *const x = arrays ? "bx" : "b", *const y = arrays ? "by" : "b", *const z = arrays ? "bz" : "b";
    Block block;
    if (plan.grid.kind == Kind::pressure) return block;
    if (plan.grid.levels > 1 && !plan.planes) return block.line("const real *b_x = {}, *b_y = {};", x, y);
    if (plan.grid.dimension == 2) return block.line("const real *b_x = {}, *b_along = {};", x, y);
    return block.line("const real *b_x = {}, *b_y = {}, *b_along = {};", x, y, z);
}

// What of the template a kernel has.
Flags flags(const Plan& plan) {
    const Grid& grid = plan.grid;
    const bool two_steps = plan.two_steps(), levels = grid.levels > 1 && !two_steps, marches = !levels && !plan.planes, in_3d = grid.dimension == 3;
    const bool pressure = grid.kind == Kind::pressure, velocity = grid.kind == Kind::velocity, step = grid.kind == Kind::step && !two_steps;
    const bool in_registers = marches && plan.in_registers, cached = marches && !plan.in_registers;
    Flags flags{{"levels", levels},
                {"planes", plan.planes},
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
                {"several_points", plan.points > 1},
                {"streaming_stores", plan.streaming_stores},
                {"prefetch", plan.prefetch},
                {"by_warps", plan.by_warps},
                {"cached", cached},
                {"in_registers", in_registers},
                {"registers_alone", in_registers && !plan.bulk},
                {"bulk", plan.bulk},
                {"exchanged", plan.exchanged},
                {"idle_threads", plan.exchanged || in_3d},
                {"kept_reads", plan.kept_reads},
                {"paced", plan.lead > 0},
                // Of the functions those that the kernel calls.
                {"spans", !levels},
                {"scalar_media", !grid.array_media},
                {"media_at", grid.array_media && (levels || (marches && !plan.bulk))},
                {"strides", cached || (marches && in_3d) || (plan.planes && grid.kind == Kind::step)},
                {"windows", levels || in_registers || (plan.planes && grid.kind == Kind::step)},
                {"scattered_sums", levels || (in_registers && step)},
                {"weighted_sums", levels || plan.planes || (in_registers && step)},
                {"scaled_groups", grid.absorbing || plan.planes},
                {"sums_of_groups", !velocity},
                {"new_velocities", cached || in_3d},
                {"velocities_of_neighbours", cached || (in_3d && !plan.exchanged)}};
    add_copies(flags, Copies::sixteen_bytes);
    return flags;
}

std::string text_of(const Problem& problem, const Config& config, const Plan& plan) {
    return render("acoustics_staggered/kernel.cu",
                  {{"banner", banner(problem, config, Target::cuda)},
                   {"constants", constants(plan, config)},
                   {"weight", weight_function(plan.grid, "__device__ __forceinline__ ")},
                   {"parameters", parameters(problem)},
                   {"along_march", along_march(plan.grid)},
                   {"media_of_faces", media_of_faces(plan)}},
                  flags(plan));
}

}  // namespace

KernelSource cuda_kernel(const Problem& problem, const Config& config, const Limits& limits) {
    const Plan plan(problem, config);
    const Grid& grid = plan.grid;
    KernelSource source = common_source(problem, Target::cuda);
    source.text = text_of(problem, config, plan);
    Launch launch;
    launch.entry = source.entries.front();
    launch.block = {plan.block_x, plan.block_y, 1};
    const BlockCells cells = block_cells(grid, config);
    launch.grid = {divide_up(grid.nx, cells.x), grid.dimension == 2 ? 1 : divide_up(grid.ny, cells.y), 1};
    launch.range_axis = grid.dimension - 1;
    launch.grid[static_cast<std::size_t>(launch.range_axis)] = divide_up(grid.layers(), layers_per_block(grid, config, limits));
    launch.range_per_block = layers_per_block(grid, config, limits);
    launch.shared_bytes = shared_bytes(grid, config);
    source.step = {launch};
    return source;
}

}  // namespace hone::inline v0_1::acoustics
