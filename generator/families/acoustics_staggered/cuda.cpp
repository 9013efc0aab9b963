#include <fmt/format.h>

#include <algorithm>

#include "generator/families/acoustics_staggered/grid.hpp"
#include "generator/families/device/bulk_copies.hpp"
#include "generator/render.hpp"

namespace hone::acoustics {
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
    bool kept_reads = false;       // the second cache gives up what is copied last
    std::int64_t lead = 0;         // of a block over its neighbours

    Plan(const Problem& problem, const Config& config)
        : grid(problem),
          block_x(config.integer("block_x")),
          block_y(config.integer("block_y")),
          points(config.integer("points_per_thread")),
          in_registers(config.word("staging") != "cache"),
          exchanged(config.word("staging") == "shared" || (grid.kind == Kind::step && config.word("staging") == "bulk")),
          by_warps(config.word("staging") == "shuffle"),
          bulk(config.word("staging") == "bulk"),
          planes(config.word("staging") == "planes") {
        if (grid.levels > 1) return;
        kept_reads = config.word("reads") == "kept";
        lead = config.integer("lead");
    }

    // Of several time steps: threads of a row that exchange values, and those at each end whose cells only serve the others.
    std::int64_t tile_threads() const { return by_warps ? 32 : block_x; }
    std::int64_t margin() const { return divide_up(grid.levels * grid.reach(), points); }
};

Block constants(const Plan& plan, const Config& config) {
    const Grid& grid = plan.grid;
    const std::int64_t group_bytes = std::min(plan.points * grid.word(), widest_load);
    const std::string vector_words = group_bytes == grid.word() ? "" : std::to_string(group_bytes / grid.word());
    Block block;
    block.line("using real = {};", grid.precision == Precision::f32 ? "float" : "double");
    block.line("using vector = {}{};  // a load", grid.precision == Precision::f32 ? "float" : "double", vector_words);
    block.line("using wide = long long;  // a position in an array");
    block.line("constexpr int dimension = {}, half = {};  // half: M, half the order in space", grid.dimension, grid.half);
    block.line("constexpr int ghost = {}, left = {};  // rows (and planes) before the first cell, and words of its row", grid.ghost(), grid.left());
    block.line("constexpr bool array_media = {}, absorbing = {};", grid.array_media, grid.absorbing);
    block.line("constexpr int block_x = {}, block_y = {}, threads_per_block = block_x * block_y, min_blocks = {};", plan.block_x, plan.block_y,
               config.integer("min_blocks"));
    block.line("constexpr int points = {}, group_alignment = {};  // cells of a row that a thread takes at a time", plan.points, group_bytes);
    if (grid.levels > 1) {
        block.line("constexpr int levels = {};  // time steps of a pass", grid.levels);
        block.line("constexpr int tile_threads = {}, margin = {};  // threads of a tile, and those at each end that only serve the others",
                   plan.tile_threads(), plan.margin());
        block.line("constexpr int side_groups = {}, tile_groups = block_x + 2 * side_groups;  // beside a tile, for nobody",
                   divide_up(grid.half, plan.points));
    } else if (plan.exchanged)
        block.line("constexpr int groups_left = {}, groups_right = {};  // beside a thread's own, that hold what its cells need",
                   groups_beside(grid, config, grid.half - 1), groups_beside(grid, config, grid.half));
    if (plan.planes) {
        const std::int64_t side = words_beside(grid, config, grid.half);
        block.line("constexpr int rows = {};  // of a plane, one below the other, that a thread takes", config.integer("rows_per_thread"));
        block.line("constexpr int stages = {}, stage_words = {};  // planes in shared memory or on their way, and all words of each",
                   config.integer("stages"), plane_words(grid, config));
        if (grid.kind == Kind::step)
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
    block.line("constexpr int layers_per_trip = {};", config.integer("unroll"));
    block.line("constexpr bool in_registers = {};  // what is needed of the layers around stays in registers", plan.in_registers);
    block.line("constexpr bool ahead = {};         // a layer is read while the one before is computed", config.integer("ahead") == 1);
    block.line("constexpr bool streaming_stores = {};", config.word("stores") == "streaming");
    return block;
}

// Damping factors by role.
Block damping(const Grid& grid) {
    const bool rows = grid.dimension == 2;
    Block block;
    if (!grid.absorbing) return block.line("const Damping damping;");
    return block.line("const Damping damping(damping_x, damping_y, {}, x_read, {}, ny, nz, pitch);", rows ? "nullptr" : "damping_z", "y_read");
}

// The layers of a block: an equal share.
Block share(const char* axis) {
    Block block;
    block.line("const int march = (last - first + int(gridDim.{0}) - 1) / int(gridDim.{0});  // layers that a block takes one after the other", axis);
    return block;
}

// The thread's cells in a tile of several time steps: `count` of them in its row, rows [layer_first, layer_last), of which it reads some around.
Block place_of_levels(const Plan& plan) {
    Block block;
    block.line("constexpr int y_read = 0;  // the march is along y");
    block.line("constexpr int reach = levels * (2 * half - 1), inner = tile_threads - 2 * margin;");
    block.line("const int tile = int(blockIdx.x) * (block_x / tile_threads) + int(threadIdx.x) / tile_threads, place = threadIdx.x % tile_threads;");
    block.line("const int x = (tile * inner + place - margin) * points;");
    block.line("const int x_read = min(x, (nx - 1 + reach) / points * points);  // threads beyond read the last ghosts again");
    block.line("const int count = place >= margin && place < margin + inner ? nx - x : 0;  // cells of the thread in its row, if there are less");
    block.append(share("y"));
    block.line("const int layer_first = first + int(blockIdx.y) * march, layer_last = min(layer_first + march, last);");
    block.line("const int arrivals_first = layer_first - reach, arrivals_last = layer_last + reach;");
    block.line("wide at = wide(arrivals_first + ghost) * pitch + left + x_read;");
    block.append(damping(plan.grid));
    return block.line("const real *b_x = {}, *b_y = {};", plan.grid.array_media ? "bx" : "b", plan.grid.array_media ? "by" : "b");
}

// The thread's cells: `count` of them in its row, layers [layer_first, layer_last) by `layer_step`; `at` is the position of the first.
Block place(const Plan& plan) {
    const Grid& grid = plan.grid;
    const bool rows = grid.dimension == 2;
    Block block;
    if (rows) {
        block.line("constexpr int y_read = 0;  // the march is along y");
    } else {
        block.line("const int y = blockIdx.y * block_y + threadIdx.y;");
        block.line("const int y_read = min(y, ny - 1{});", plan.exchanged ? " + half" : "");
    }
    if (plan.exchanged) {
        if (plan.bulk) {
            block.line("constexpr int sector = 32 / sizeof(real);  // words that memory moves at a time: blocks' copies begin and end there");
            block.line("const int share = (nx + int(gridDim.x) - 1) / int(gridDim.x);  // of the row, the same for every block");
            block.line("const int inner_x = (share + sector - 1) / sector * sector / points;  // threads that have cells");
        } else {
            block.line("constexpr int inner_x = block_x - groups_left - groups_right;  // threads that have cells");
        }
        block.line("const int x_first = (int(blockIdx.x) * inner_x - groups_left) * points;  // of the block");
        block.line("const int x = x_first + int(threadIdx.x) * points;");
        if (plan.bulk) {
            block.line("const int taken_words = (groups_left + inner_x + groups_right) * points;  // of a row, by the block");
            block.line("const int x_last = min((nx - 1 + half) / points * points, x_first + taken_words - points);");
            block.line("const int x_read = min(x, x_last);  // threads beyond read the last faces again");
        } else {
            block.line("constexpr int taken_words = block_x * points;  // of a row, by the block");
            block.line("const int x_read = min(x, (nx - 1 + half) / points * points);  // threads beyond the row read its last faces again");
        }
        block.line("const bool has_cells = threadIdx.x >= groups_left && threadIdx.x < groups_left + inner_x{};", rows ? "" : " && y < ny");
    } else {
        block.line("const int x_first = blockIdx.x * block_x * points;  // of the block");
        block.line("constexpr int taken_words = block_x * points;  // of a row, by the block");
        block.line("const int x = x_first + int(threadIdx.x) * points;");
        block.line("const int x_read = min(x, (nx - 1) / points * points);  // threads beyond the row read its last cells again");
        if (!rows) block.line("const bool has_cells = y < ny;");
    }
    const std::string count = rows && !plan.exchanged ? "nx - x" : "has_cells ? nx - x : 0";
    block.line("const int count = {};  // cells of the thread in its row, if there are less", count);
    if (rows) {
        block.line("const int layer_stride = pitch;");
        block.append(share("y"));
        block.line("const int block_first = first + int(blockIdx.y) * march;");
        block.line("const int layer_first = block_first + threadIdx.y, layer_last = min(block_first + march, last);");
        block.line("constexpr int layer_step = block_y;");
        block.line("wide at = wide(layer_first + ghost) * pitch + left + x_read;");
    } else {
        block.line("const int layer_stride = (ny + 2 * ghost) * pitch;");
        block.append(share("z"));
        block.line("const int layer_first = first + int(blockIdx.z) * march, layer_last = min(layer_first + march, last);");
        block.line("constexpr int layer_step = 1;");
        block.line("wide at = wide(layer_first + ghost) * layer_stride + (y_read + ghost) * pitch + left + x_read;");
    }
    const bool velocity = grid.kind == Kind::velocity;
    const char* const slow = rows ? "v" : "w";
    block.line("{}real* __restrict__ const along = {};  // velocity along the march", velocity ? "" : "const ", slow);
    if (grid.kind == Kind::step) block.line("real* __restrict__ const along_next = {}_next;", slow);
    block.append(damping(grid));
    if (grid.kind == Kind::pressure) return block;
    block.line("const real *b_x = {}, *b_along = {};", grid.array_media ? "bx" : "b", grid.array_media ? (rows ? "by" : "bz") : "b");
    return block.line("const real* b_y = {};", grid.array_media ? "by" : "b");
}

// The same of planes in shared memory: `count` cells in each of `rows` rows; `at` is the position of the first of a march's first plane, `tile_at`
// that of the block's first one. Where pressures arrive they begin M planes before, in a step 2 M - 1, and so does `at`.
Block place_of_planes(const Plan& plan) {
    const Grid& grid = plan.grid;
    Block block;
    block.line("const Tile tile(ny, pitch);");
    block.line("const int x = tile.x + int(threadIdx.x) * points, y = tile.y + int(threadIdx.y) * rows;");
    const char* const faces = grid.kind == Kind::step ? " + half" : "";
    block.line("const int x_read = min(x, (nx - 1{}) / points * points);  // factors of threads beyond the cells, and beyond the faces of these",
               faces);
    block.line("const auto y_read = [&](int r) {{ return min(y + r, ny - 1{}); }};", faces);
    block.line("const auto count_of = [&](int r) {{ return y + r < ny ? nx - x : 0; }};  // cells of the thread in a row, if there are less");
    block.append(share("z"));
    block.line("const int layer_first = first + int(blockIdx.z) * march, layer_last = min(layer_first + march, last);");
    block.line("const int plane = (ny + 2 * ghost) * pitch;");
    block.line("const wide tile_at = wide(layer_first + ghost) * plane + (tile.y + ghost) * pitch + left + tile.x;");
    const char* const before = grid.kind == Kind::pressure ? "" : grid.kind == Kind::velocity ? " - half * wide(plane)" : " - warm_up * wide(plane)";
    block.line("wide at = tile_at + (y - tile.y) * pitch + (x - tile.x){};", before);
    if (grid.absorbing) {
        block.line("Damping damping[rows];");
        block.line("#pragma unroll");
        block.line("for (int r = 0; r < rows; ++r) damping[r] = Damping(damping_x, damping_y, damping_z, x_read, y_read(r), ny, nz, pitch);");
    } else {
        block.line("const Damping damping[rows];");
    }
    if (grid.kind == Kind::pressure) return block;
    return block.line("const real *b_x = {}, *b_y = {}, *b_along = {};", grid.array_media ? "bx" : "b", grid.array_media ? "by" : "b",
                      grid.array_media ? "bz" : "b");
}

Block pace(const Plan& plan) {
    return Block().lines_of(render(plan.lead > 0 ? "device/pace.cu" : "device/no_pace.cu", {}));
}

Block copy_piece(const Plan& plan) {
    if (!plan.kept_reads) return Block().lines_of(render("acoustics_staggered/copy_piece.cu", {}));
    return Block().lines_of(render("acoustics_staggered/copy_piece_kept.cu", {{"kept_reads", Block().lines_of(render("device/kept_reads.cu", {}))}}));
}

Block kernel_text(const Problem& problem, const Plan& plan) {
    const auto part = [](const std::string& name) { return Block().lines_of(render("acoustics_staggered/" + name + ".cu", {})); };
    Holes holes{{"parameters", parameters(problem)}};
    if (plan.grid.levels > 1) {
        holes.emplace_back("place", place_of_levels(plan));
        holes.emplace_back("neighbours", part(plan.by_warps ? "levels_shuffle" : "levels_shared"));
        return Block().lines_of(render("acoustics_staggered/levels.cu", holes));
    }
    if (plan.planes) {
        holes.emplace_back("place", place_of_planes(plan));
        const Block kernel = Block().lines_of(render("acoustics_staggered/planes_" + problem.word("kernel") + ".cu", holes));
        return Block().lines_of(
            render("acoustics_staggered/planes.cu", {{"copy_piece", copy_piece(plan)}, {"pace", pace(plan)}, {"kernel", kernel}}));
    }
    holes.emplace_back("place", place(plan));
    const Holes of_bulk_rows{{"bulk_copies", bulk_copies(plan.kept_reads)}, {"pace", pace(plan)}};
    holes.emplace_back("rows", !plan.bulk ? part("rows_loads") : Block().lines_of(render("acoustics_staggered/rows_bulk.cu", of_bulk_rows)));
    if (plan.grid.kind == Kind::step) holes.emplace_back("row", part(plan.exchanged ? "step_exchange" : "step_own"));
    return Block().lines_of(render("acoustics_staggered/" + problem.word("kernel") + ".cu", holes));
}

}  // namespace

KernelSource cuda_kernel(const Problem& problem, const Config& config, const Limits& limits) {
    const Plan plan(problem, config);
    const Grid& grid = plan.grid;
    KernelSource source = common_source(problem, Target::cuda);
    source.text = render("acoustics_staggered/kernel.cu", {{"banner", banner(problem, config, Target::cuda)},
                                                           {"constants", constants(plan, config)},
                                                           {"weight", weight_function(grid, "__device__ __forceinline__ ")},
                                                           {"kernel", kernel_text(problem, plan)}});
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

}  // namespace hone::acoustics
