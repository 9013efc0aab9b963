#include <fmt/format.h>

#include <algorithm>

#include "generator/families/device/bulk_copies.hpp"
#include "generator/families/gauss_seidel_27/grid.hpp"
#include "generator/render.hpp"

namespace hone::gauss_seidel {
namespace {

constexpr std::int64_t warp = 32;
constexpr std::int64_t widest_load = 16;  // bytes
constexpr std::int64_t line_bytes = 128;
constexpr std::int64_t copy_threads = 128;

std::int64_t divide_up(std::int64_t a, std::int64_t b) {
    return (a + b - 1) / b;
}

// What a problem and a configuration decide, and every block asks.
struct Plan {
    Grid grid;
    std::int64_t colours_per_pass, block_x, block_y, block_z, z_block, points_per_thread, min_blocks, walks;
    bool clamped, split;
    std::string staging, stencil_in;

    Plan(const Problem& problem, const Config& config)
        : grid(problem),
          colours_per_pass(config.integer("colours_per_pass")),
          block_x(config.integer("block_x")),
          block_y(config.integer("block_y")),
          block_z(colours_per_pass == 2 ? config.integer("z_block") / 2 : 1),
          z_block(config.integer("z_block")),
          points_per_thread(config.integer("points_per_thread")),
          min_blocks(config.integer("min_blocks")),
          walks(walks_per_plane(grid, config)),
          clamped(config.word("edges") == "clamped"),
          split(config.word("layout") == "colour_split"),
          staging(config.word("staging")),
          stencil_in(config.word("stencil_in")) {}

    bool chases() const { return colours_per_pass == 8; }
    bool per_point() const { return grid.stencil_per_point(); }
    bool bulk() const { return staged_rows(staging) > 0; }
    bool hands_over() const { return leaves_partial_sums(staging); }
    /// Both partial sums of the planes of the later colours.
    std::int64_t partial_words() const { return 2 * std::max<std::int64_t>(grid.nz / 2, 1) * grid.plane(); }
    /// Old rows around the boundaries between parts of a plane, of every plane.
    std::int64_t kept_words() const {
        const std::int64_t rows_kept = hands_over() ? 5 : 3;  // as in the kernel
        return (grid.nz + 2) * (walks - 1) * rows_kept * grid.pitch;
    }
    std::int64_t word() const { return bytes_per_word(grid.precision); }
    std::int64_t packed_row() const { return divide_up(divide_up(grid.nx, 2), line_bytes / word()) * (line_bytes / word()); }
    std::int64_t packed_words() const { return 8 * coefficients * divide_up(grid.nz, 2) * divide_up(grid.ny, 2) * packed_row(); }
};

Block constants(const Plan& plan) {
    Block block;
    block.line("using real = {};", plan.grid.precision == Precision::f32 ? "float" : "double");
    block.line("using wide = long long;  // a position in an array");
    block.line("constexpr int block_x = {}, block_y = {}, block_z = {};", plan.block_x, plan.block_y, plan.block_z);
    block.line("constexpr int threads_per_block = block_x * block_y * block_z, min_blocks = {};", plan.min_blocks);
    if (!plan.chases()) block.line("constexpr int z_block = {};            // planes that a block covers", plan.z_block);
    if (plan.staging != "shared") block.line("constexpr int points_per_thread = {};  // along x", plan.points_per_thread);
    if (plan.walks > 1) block.line("constexpr int walks = {};              // of a plane, by blocks that share it", plan.walks);
    if (plan.bulk()) block.line("constexpr int rows_per_stage = {};", staged_rows(plan.staging));
    if (plan.colours_per_pass == 1)
        block.line("constexpr bool clamped_loads = {};  // threads beyond the grid repeat the last point's loads, or have none", plan.clamped);
    else if (plan.colours_per_pass == 2)
        block.line("constexpr int words_per_step = {} * points_per_thread;  // of a row, by one warp", warp);
    return block;
}

// Where a colour's stencils lie in the table that `pack_stencil` fills.
Block packed_layout(const Plan& plan) {
    Block block;
    block.line("// Words of one coefficient of one colour in `packed`, whose rows start on {} bytes.", line_bytes);
    block.open("__device__ __forceinline__ wide packed_stride(int nx, int ny, int nz)");
    block.line("const int row = ((nx + 1) / 2 + {0} - 1) / {0} * {0};", line_bytes / plan.word());
    block.line("return wide((nz + 1) / 2) * ((ny + 1) / 2) * row;");
    block.close();
    block.text("");
    block.line("// First coefficient of point (x, y, z), counted from 1.");
    block.open("__device__ __forceinline__ wide packed_position(int x, int y, int z, int nx, int ny, int nz)");
    block.line("const int row = ((nx + 1) / 2 + {0} - 1) / {0} * {0};", line_bytes / plan.word());
    block.line("const int colour = (x - 1) % 2 + (y - 1) % 2 * 2 + (z - 1) % 2 * 4;");
    block.line("return colour * 27 * packed_stride(nx, ny, nz) + (wide((z - 1) / 2) * ((ny + 1) / 2) + (y - 1) / 2) * row + (x - 1) / 2;");
    block.close();
    block.text("");
    return block;
}

// The same where half of the coefficients are kept by the neighbours that they belong to.
Block symmetric_access(const Plan& plan) {
    Block block;
    block.line("// A point's stencil. s[13] is the reciprocal of the centre coefficient; those before it are kept with the neighbours.");
    block.open("struct Coefficients");
    block.line("const real* from;");
    block.line("wide stride;");
    block.line("int pitch, plane;");
    block.text("");
    block.open("__device__ __forceinline__ real operator[](int k) const");
    const char* const load = plan.stencil_in == "streaming" ? "__ldcs" : "__ldg";
    block.line("if (k >= 13) return {}(from + (k - 13) * stride);", load);
    block.line("return {}(from + (13 - k) * stride + (k / 9 - 1) * plane + (k / 3 % 3 - 1) * pitch + (k % 3 - 1));", load);
    block.close();
    block.close(";");
    return block;
}

// `struct Coefficients`: s[k] is coefficient k of a point, s[13] the reciprocal of its centre.
Block coefficient_access(const Plan& plan) {
    Block block;
    if (plan.split) block.append(packed_layout(plan));
    const bool variable = plan.grid.stencil == Stencil::variable;
    if (plan.grid.stencil == Stencil::symmetric) return symmetric_access(plan);
    block.line("// A point's stencil. s[13] is the reciprocal of the centre coefficient.");
    block.open("struct Coefficients");
    if (plan.stencil_in == "by_value") {
        block.line("real value[27];");
        block.line("__device__ __forceinline__ real operator[](int k) const {{ return value[k]; }}");
    } else if (plan.stencil_in == "registers") {
        block.line("real value[27];");
        block.text("");
        block.open("explicit __device__ __forceinline__ Coefficients(const real* from)");
        block.line("#pragma unroll");
        block.line("for (int k = 0; k < 27; ++k) value[k] = from[k];");
        block.close();
        block.line("__device__ __forceinline__ real operator[](int k) const {{ return value[k]; }}");
    } else {
        const std::string address = variable ? "from + k * stride" : "from + k";
        block.line("const real* from;");
        if (variable) block.line("wide stride;");
        block.text("");
        const char* const load = plan.stencil_in == "shared" ? "*" : plan.stencil_in == "streaming" ? "__ldcs" : "__ldg";
        block.line("__device__ __forceinline__ real operator[](int k) const {{ return {}({}); }}", load, address);
    }
    block.close(";");
    return block;
}

Block stencil_of_block(const Plan& plan) {
    Block block;
    if (plan.grid.stencil != Stencil::constant || plan.stencil_in == "by_value") return block;
    if (plan.stencil_in == "shared") {
        block.line("__shared__ real shared_stencil[27];");
        block.line("const int thread = threadIdx.x + block_x * (threadIdx.y + block_y * threadIdx.z);");
        block.line("for (int k = thread; k < 27; k += threads_per_block) shared_stencil[k] = stencil[k];");
        block.line("__syncthreads();");
        return block.line("const Coefficients s{{shared_stencil}};");
    }
    return block.line("const Coefficients s{{stencil}};");
}

// `y` and `x` name the point's coordinates, which must lie in the grid.
Block stencil_of_point(const Plan& plan, const std::string& x, const std::string& y) {
    Block block;
    if (plan.grid.stencil == Stencil::semi_constant) block.line("const Coefficients s{{stencil + ((z - 1) * wide(ny) + {} - 1) * 32}};", y);
    if (plan.grid.stencil == Stencil::symmetric)
        return block.line("const Coefficients s{{stencil + z * wide(plane) + {} * pitch + {}, (nz + 2) * wide(plane), pitch, plane}};", y, x);
    if (plan.grid.stencil != Stencil::variable) return block;
    if (plan.split) return block.line("const Coefficients s{{packed + packed_position({}, {}, z, nx, ny, nz), packed_stride(nx, ny, nz)}};", x, y);
    return block.line("const Coefficients s{{stencil + ((z - 1) * wide(ny) + {} - 1) * pitch + {}, nz * wide(ny) * pitch}};", y, x);
}

// `table` declares the kernel's own array, `constant` is the argument that differs between launches, if there is one.
Block parameters(const Plan& plan, const std::string& table, const std::string& constant) {
    Block block;
    block.line("real* u, const real* __restrict__ f, const real* __restrict__ stencil,{}", table.empty() ? "" : " " + table + ",");
    if (plan.stencil_in == "by_value") block.line("const __grid_constant__ Coefficients s,");
    return block.line("int nx, int ny, int nz, int pitch, int first, int last{}", constant.empty() ? "" : ", int " + constant);
}

// Aligned groups of words along a row: the widest loads that a thread's points allow.
Block groups(const Plan& plan) {
    const std::int64_t bytes = std::min(plan.points_per_thread * plan.word(), widest_load);
    const char* const load = plan.stencil_in == "streaming" ? "__ldcs" : "__ldg";
    Block block;
    block.line("using vector = {}{};", plan.grid.precision == Precision::f32 ? "float" : "double", bytes / plan.word());
    block.line("// Neighbouring words of a row: points of even and odd x in turns.");
    block.open(fmt::format("struct alignas({}) Group", bytes));
    block.line("real word[points_per_thread];");
    block.close(";");
    block.line("constexpr int vectors = sizeof(Group) / sizeof(vector);");
    block.text("");
    const auto loader = [&](const char* name, const char* how) {
        block.open(fmt::format("__device__ __forceinline__ Group {}(const real* from)", name));
        block.line("Group group;");
        block.line("#pragma unroll");
        block.line("for (int i = 0; i < vectors; ++i) reinterpret_cast<vector*>(&group)[i] = {}(reinterpret_cast<const vector*>(from) + i);", how);
        block.line("return group;");
        block.close();
        block.text("");
    };
    loader("load", "*");
    if (plan.per_point()) loader("load_stencil", load);
    if (plan.grid.stencil == Stencil::symmetric) {
        block.line("// The same for coefficients that the blocks of two planes use: they are to stay in the caches.");
        loader("load_coupling", "__ldg");
    }
    block.line("// Stores the interior points of the group at x.");
    block.open("__device__ __forceinline__ void store(real* row, int x, int nx, const Group& group)");
    block.open("if (x > 0 && x + points_per_thread - 1 <= nx)");
    block.line("#pragma unroll");
    block.line("for (int i = 0; i < vectors; ++i) reinterpret_cast<vector*>(row + x)[i] = reinterpret_cast<const vector*>(&group)[i];");
    block.line("return;");
    block.close();
    block.line("#pragma unroll");
    block.open("for (int i = 0; i < points_per_thread; ++i)");
    block.line("if (x + i > 0 && x + i <= nx) row[x + i] = group.word[i];");
    block.close();
    block.close();
    return block;
}

Launch launch(const Plan& plan, const std::string& entry, Dim3 grid, int constant) {
    Launch result;
    result.entry = entry;
    result.grid = grid;
    result.block = {plan.block_x, plan.block_y, plan.block_z};
    result.range_axis = 2;
    result.range_per_block = plan.z_block;
    result.constants = {constant};
    return result;
}

void one_colour(const Plan& plan, const Block& head, KernelSource& source) {
    Holes holes{{"banner", head},
                {"constants", constants(plan)},
                {"coefficients", coefficient_access(plan)},
                {"parameters", parameters(plan, plan.split ? "const real* __restrict__ packed" : "", "colour")},
                {"stencil_of_block", stencil_of_block(plan)},
                {"stencil_of_point", stencil_of_point(plan, "x_read", "y_read")}};
    const std::string form = plan.staging == "registers" ? "march" : plan.staging;
    source.text = render("gauss_seidel_27/" + form + ".cu", holes);
    source.entries = {"gauss_seidel_27"};
    const std::int64_t columns = plan.block_x * (plan.staging == "shared" ? 1 : plan.points_per_thread);
    const Dim3 grid{divide_up(divide_up(plan.grid.nx, 2), columns), divide_up(divide_up(plan.grid.ny, 2), plan.block_y),
                    divide_up(plan.grid.nz, plan.z_block)};
    for (int colour = 0; colour < 8; ++colour) source.step.push_back(launch(plan, "gauss_seidel_27", grid, colour));
}

void two_colours(const Plan& plan, const Block& head, KernelSource& source) {
    Holes holes{{"banner", head}, {"constants", constants(plan)}, {"parameters", parameters(plan, "", "row_parity")}};
    const bool variable = plan.grid.stencil == Stencil::variable;
    if (variable) {
        holes.emplace_back("groups", groups(plan));
    } else {
        holes.emplace_back("coefficients", coefficient_access(plan));
        holes.emplace_back("sums", Block().lines_of(render("gauss_seidel_27/sums.cu", {{"groups", groups(plan)}})));
        holes.emplace_back("stencil_of_block", stencil_of_block(plan));
        holes.emplace_back("stencil_of_point", stencil_of_point(plan, "x", "y"));
    }
    source.text = render(variable ? "gauss_seidel_27/rows_variable.cu" : "gauss_seidel_27/rows.cu", holes);
    source.entries = {"gauss_seidel_27_rows"};
    const Dim3 grid{1, divide_up(divide_up(plan.grid.ny, 2), plan.block_y), divide_up(plan.grid.nz, plan.z_block)};
    for (int row_parity = 0; row_parity < 4; ++row_parity) source.step.push_back(launch(plan, "gauss_seidel_27_rows", grid, row_parity));
}

// Rows as they come: `rows` declares how, `take_rows` makes the object.
Block rows(const Plan& plan) {
    if (!plan.bulk()) return Block().lines_of(render("gauss_seidel_27/walk_loads.cu", {}));
    return Block().lines_of(render("gauss_seidel_27/walk_bulk.cu", {{"bulk_copies", bulk_copies()}}));
}

Block take_rows(const Plan& plan) {
    Block block;
    if (!plan.bulk()) return block.line("Rows rows(u_plane + x_read, f_plane + x_read, plane, pitch, ny, turn);");
    block.line("extern __shared__ __align__(128) unsigned char shared_memory[];");
    block.line("__shared__ Barrier full[stages];");
    return block.line("Rows rows(reinterpret_cast<real*>(shared_memory), full, u_plane, f_plane, plane, pitch, ny, x_read, turn);");
}

Block stencil_of_row(const Plan& plan) {
    Block block = stencil_of_block(plan);
    if (plan.grid.stencil == Stencil::constant) return block.line("const auto stencil_of_row = [&](int) -> const Coefficients& {{ return s; }};");
    block.open("const auto stencil_of_row = [&](int row)");
    block.line("return Coefficients{{stencil + ((z - 1) * wide(ny) + min(max(row, 1), ny) - 1) * {}}};", row_stencil_words);
    return block.close(";");
}

// The kernel's own arrays.
std::string tables_of_walk(const Plan& plan) {
    std::string tables = plan.hands_over() ? "real* partial_sums" : "";
    const auto add = [&](const char* table) { tables += (tables.empty() ? "" : ", ") + std::string(table); };
    if (plan.walks > 1) add("real* kept_rows");
    if (plan.chases()) add("real* tickets");
    return tables;
}

// The planes that the blocks of a launch walk through: those of one parity, or all, the odd ones behind the even ones.
Block walk_parameters(const Plan& plan) {
    return parameters(plan, tables_of_walk(plan), plan.hands_over() || plan.chases() ? "" : "z_parity");
}

Block turn(const Plan& plan) {
    if (!plan.chases()) return Block().lines_of(render("gauss_seidel_27/turn_alone.cu", {}));
    Block before, admit;
    if (plan.bulk()) {
        before.line("// Bulk copies that start now find what other blocks wrote.");
        before.open("__device__ __forceinline__ void admit_bulk_copies()");
        before.text("asm volatile(\"fence.proxy.async;\" ::: \"memory\");");
        before.close();
        before.text("");
        admit.line("admit_bulk_copies();");
    }
    const Holes holes{{"parameters", walk_parameters(plan)}, {"before_bulk_copies", before}, {"admit_bulk_copies", admit}};
    return Block().lines_of(render("gauss_seidel_27/turn_chase.cu", holes));
}

Block part_of_block(const Plan& plan) {
    return Block().text(plan.walks > 1 ? "const Part part(kept_rows, ny, pitch, z);" : "const Part part(ny);");
}

Block plane_of_block(const Plan& plan) {
    Block block;
    if (plan.chases()) {
        block.line("int* const counters = reinterpret_cast<int*>(tickets);");
        block.line("const int z = plane_of_ticket(counters, first, last);");
        return block.line("Turn turn(counters + z, z, ny, first, last);");
    }
    block.line("const int block_first = first + blockIdx.z * z_block;");
    block.line("const int z = 1 + block_first + (block_first + z_parity) % 2;");
    block.line("if (z > last) return;");
    return block.line("Turn turn;");
}

// How the warps of a row overlap.
Block halo(const Plan& plan) {
    Block block;
    const char* const repeated = "at each end of a warp: they repeat points of the neighbouring warp";
    if (!plan.hands_over()) {
        block.line("constexpr int halo_lanes = points_per_thread >= 4 ? 1 : 2;  // {}", repeated);
        return block.line("constexpr int words_per_warp = (32 - 2 * halo_lanes) * points_per_thread;");
    }
    block.line(
        "// At each end of a warp they repeat points of the neighbouring warp. A new value follows from old ones of up to four words to both sides;");
    block.line("// what is handed over needs new values of a word more: to the left that of an odd point, which reaches a word less.");
    block.line("constexpr int left_halo_lanes = points_per_thread >= 4 ? 1 : 2, right_halo_lanes = left_halo_lanes + 1;");
    return block.line("constexpr int words_per_warp = (32 - left_halo_lanes - right_halo_lanes) * points_per_thread;");
}

Block points(const Plan& plan) {
    return Block().lines_of(render("gauss_seidel_27/walk_points.cu", {{"halo", halo(plan)}, {"groups", groups(plan)}}));
}

Block scatter() {
    return Block().lines_of(render("gauss_seidel_27/walk_scatter.cu", {}));
}

// The rows that a block is there for: all, or a part of a plane that it shares.
Block part(const Plan& plan) {
    if (plan.walks == 1) return Block().lines_of(render("gauss_seidel_27/part_all.cu", {}));
    const char* const boundary = plan.hands_over() ? "gauss_seidel_27/boundary_partial_sums.cu" : "gauss_seidel_27/boundary_variable.cu";
    return Block().lines_of(render("gauss_seidel_27/part_of_rows.cu", {{"boundary", Block().lines_of(render(boundary, {}))},
                                                                       {"parameters", parameters(plan, tables_of_walk(plan), "")}}));
}

// The entries that walk through the planes of two parities, one after the other or in turn.
Block partial_sums_entries(const Plan& plan) {
    Holes holes{{"parameters", walk_parameters(plan)}};
    if (plan.chases()) return Block().lines_of(render("gauss_seidel_27/partial_sums_in_turn.cu", holes));
    holes.emplace_back("part_of_block", part_of_block(plan));
    return Block().lines_of(render("gauss_seidel_27/partial_sums_by_parity.cu", holes));
}

std::string walk_text(const Plan& plan, const Block& head) {
    Holes holes{{"banner", head}, {"constants", constants(plan)}, {"turn", turn(plan)}};
    if (plan.hands_over()) {
        holes.emplace_back("points", points(plan));
        holes.emplace_back("scatter", scatter());
        const char* const couplings = plan.staging == "partial_sums" ? "gauss_seidel_27/couplings_loaded.cu" : "gauss_seidel_27/couplings_copied.cu";
        holes.emplace_back("couplings", Block().lines_of(render(couplings, {})));
        holes.emplace_back("part", part(plan));
        holes.emplace_back("entries", partial_sums_entries(plan));
        return render("gauss_seidel_27/walk_partial_sums.cu", holes);
    }
    holes.emplace_back("parameters", walk_parameters(plan));
    holes.emplace_back("plane_of_block", plane_of_block(plan));
    if (plan.per_point()) {
        holes.emplace_back("points", points(plan));
        if (plan.grid.stencil == Stencil::variable) {
            holes.emplace_back("part", part(plan));
            holes.emplace_back("part_of_block", part_of_block(plan));
            return render("gauss_seidel_27/walk_variable.cu", holes);
        }
        holes.emplace_back("scatter", scatter());
        return render("gauss_seidel_27/walk_symmetric.cu", holes);
    }
    holes.emplace_back("coefficients", coefficient_access(plan));
    holes.emplace_back("groups", groups(plan));
    holes.emplace_back("rows", rows(plan));
    holes.emplace_back("stencil_of_row", stencil_of_row(plan));
    holes.emplace_back("take_rows", take_rows(plan));
    return render("gauss_seidel_27/walk.cu", holes);
}

// The launch that sets the counters of a walk back.
Launch begin_of_chase(const Plan& plan) {
    constexpr std::int64_t counting_threads = 256;
    Launch begin;
    begin.entry = "gauss_seidel_27_begin";
    begin.grid = {divide_up(plan.grid.nz + 2, counting_threads), 1, 1};
    begin.block = {counting_threads, 1, 1};
    return begin;
}

// The launch that keeps what blocks which share a plane need of each other's rows.
Launch keep_rows(const Plan& plan) {
    Launch keep;
    keep.entry = "gauss_seidel_27_keep_rows";
    keep.grid = {divide_up(plan.grid.pitch, copy_threads * plan.points_per_thread), plan.walks - 1, plan.grid.nz + 2};
    keep.block = {copy_threads, 1, 1};
    return keep;
}

void walks(const Plan& plan, const Block& head, KernelSource& source) {
    source.text = walk_text(plan, head);
    Launch walk = launch(plan, "gauss_seidel_27_walk", {1, 1, divide_up(plan.grid.nz, plan.z_block)}, 0);
    walk.block[1] = walking_warps(plan.grid, plan.points_per_thread, plan.staging);
    walk.shared_bytes = walking_shared_bytes(plan.grid, plan.staging, plan.points_per_thread);
    const auto add = [&](const char* entry, std::int64_t blocks) {
        walk.entry = entry;
        walk.grid[2] = blocks;
        source.entries.emplace_back(entry);
        source.step.push_back(walk);
    };
    if (plan.hands_over()) {
        walk.constants.clear();
        walk.range_axis = -1;  // planes beside the range take part
        source.tables.push_back({"partial_sums", plan.partial_words(), {}, true});
    }
    if (plan.walks > 1) {
        walk.grid[1] = plan.walks;
        source.tables.push_back({"kept_rows", plan.kept_words(), {}, true});
        source.step.push_back(keep_rows(plan));
        source.entries.push_back(source.step.front().entry);
    }
    if (plan.chases()) {
        walk.constants.clear();
        walk.range_per_block = 1;
        source.tables.push_back({"tickets", plan.grid.nz + 2, {}, true});
        source.step.push_back(begin_of_chase(plan));
        source.entries.push_back(source.step.front().entry);
        add("gauss_seidel_27_walk", plan.hands_over() ? plan.grid.nz + 1 : plan.grid.nz);
    } else if (plan.hands_over()) {
        add("gauss_seidel_27_earlier_planes", plan.grid.nz / 2 + 1);
        walk.shared_bytes = 0;
        add("gauss_seidel_27_later_planes", std::max<std::int64_t>(plan.grid.nz / 2, 1));
    } else {
        source.entries.push_back(walk.entry);
        for (int z_parity = 0; z_parity < 2; ++z_parity) {
            walk.constants = {z_parity};
            source.step.push_back(walk);
        }
    }
}

// Adds the table of packed stencils and the entry that fills it.
void pack(const Plan& plan, KernelSource& source) {
    source.text += render("gauss_seidel_27/colour_split.cu", {{"parameters", parameters(plan, "real* __restrict__ packed", "colour")}});
    source.tables.push_back({"packed", plan.packed_words(), {}});
    source.entries.emplace_back("pack_stencil");
    for (int colour = 0; colour < 8; ++colour) {
        Launch launch;
        launch.entry = "pack_stencil";
        launch.grid = {divide_up(plan.packed_row(), copy_threads), divide_up(plan.grid.ny, 2), divide_up(plan.grid.nz, 2)};
        launch.block = {copy_threads, 1, 1};
        launch.constants = {colour};
        source.prepare.push_back(launch);
    }
}

}  // namespace

KernelSource cuda_kernel(const Problem& problem, const Config& config) {
    const Plan plan(problem, config);
    const Block head = banner(problem, config, Target::cuda);
    KernelSource source = common_source(problem, Target::cuda);
    if (plan.colours_per_pass == 1)
        one_colour(plan, head, source);
    else if (plan.colours_per_pass == 2)
        two_colours(plan, head, source);
    else
        walks(plan, head, source);
    if (plan.split) pack(plan, source);
    constexpr int stencil_array = 2;
    if (plan.stencil_in == "by_value") source.by_value = {stencil_array};
    return source;
}

}  // namespace hone::gauss_seidel
