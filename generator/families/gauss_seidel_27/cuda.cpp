#include <fmt/format.h>

#include <algorithm>

#include "generator/families/device/cuda_copies.hpp"
#include "generator/families/gauss_seidel_27/grid.hpp"
#include "generator/render.hpp"

namespace hone::inline v0_1::gauss_seidel {
namespace {

constexpr std::int64_t widest_load = 16;  // bytes
constexpr std::int64_t line_bytes = 128;
constexpr std::int64_t copy_threads = 128;

std::int64_t divide_up(std::int64_t a, std::int64_t b) {
    return (a + b - 1) / b;
}

// What a problem and a configuration decide, and every block asks.
struct Plan : Choice {
    Grid grid;
    std::int64_t multiprocessors;

    Plan(const Problem& problem, const Config& config, const Limits& limits)
        : Choice(Grid(problem), config), grid(problem), multiprocessors(limits.multiprocessors) {}

    bool chases() const { return colours_per_pass == 8; }
    bool per_point() const { return grid.stencil_per_point(); }
    bool bulk() const { return staged_rows(staging) > 0; }
    bool equal_shares() const { return walks == 0; }
    /// Blocks with equal shares of the planes of a launch: as many as the device holds.
    int shares() const { return static_cast<int>(std::max<std::int64_t>(multiprocessors * min_blocks, 1)); }
    bool hands_over() const { return leaves_partial_sums(staging); }
    /// Both partial sums of the planes of the later colours.
    std::int64_t partial_words() const { return 2 * std::max<std::int64_t>(grid.nz / 2, 1) * grid.plane(); }
    /// Old rows around the boundaries between parts of a plane, of every plane.
    std::int64_t kept_words() const {
        const std::int64_t rows_kept = hands_over() ? 5 : 3;  // as in the kernel
        return (equal_shares() ? 2 * shares() : (grid.nz + 2) * (walks - 1)) * rows_kept * grid.pitch;
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
    if (!plan.chases() && !plan.slabs()) block.line("constexpr int z_block = {};            // planes that a block covers", plan.z_block);
    if (plan.staging != "shared") block.line("constexpr int points_per_thread = {};  // along x", plan.points_per_thread);
    if (plan.lead > 0)
        block.line("constexpr int lead = {};  // rows that planes of the earlier colours may be ahead of those beside them", plan.lead);
    if (plan.walks > 1) block.line("constexpr int walks = {};              // of a plane, by blocks that share it", plan.walks);
    if (plan.slabs() || plan.pipeline())
        block.line("constexpr int planes_per_slab = {}, slab_stages = {};", plan.planes_per_slab, plan.stages);
    else if (plan.bulk())
        block.line("constexpr int rows_per_stage = {}, stages = {};", staged_rows(plan.staging), plan.stages);
    if (plan.slabs()) block.line("constexpr int told_every = {};  // steps from telling other blocks to telling them again", plan.told_every);
    if (plan.colours_per_pass == 1)
        block.line("constexpr bool clamped_loads = {};  // threads beyond the grid repeat the last point's loads, or have none", plan.clamped);
    return block;
}

// The holes and flags of a template with those of the pieces that it uses.
struct Text {
    Holes holes;
    Flags flags;

    std::string of(const std::string& name) const { return render("gauss_seidel_27/" + name, holes, flags); }
};

// How coefficient k of a point is read where its stencil stays in memory.
Block coefficient(const Plan& plan) {
    const char* const load = plan.stencil_in == "shared" || plan.copied_stencil ? "*" : plan.stencil_in == "streaming" ? "__ldcs" : "__ldg";
    Block block;
    if (plan.grid.stencil == Stencil::symmetric) {
        block.open("__device__ __forceinline__ real operator[](int k) const");
        block.line("if (k >= 13) return {}(from + (k - 13) * stride);", load);
        block.line("return {}(from + (13 - k) * stride + (k / 9 - 1) * plane + (k / 3 % 3 - 1) * pitch + (k % 3 - 1));", load);
        return block.close();
    }
    const char* const address = plan.per_point() ? "from + k * stride" : "from + k";
    return block.line("__device__ __forceinline__ real operator[](int k) const {{ return {}({}); }}", load, address);
}

// `struct Coefficients`: s[k] is coefficient k of a point, s[13] the reciprocal of its centre.
// `packed` is the table that `pack_stencil` fills.
void add_coefficients(Text& text, const Plan& plan) {
    const bool by_value = plan.stencil_in == "by_value", in_registers = plan.stencil_in == "registers";
    const std::int64_t words = line_bytes / plan.word();
    text.holes.emplace_back("coefficient", coefficient(plan));
    text.holes.emplace_back("packed_row", Block().line("const int row = ((nx + 1) / 2 + {0} - 1) / {0} * {0};", words));
    text.flags.insert(text.flags.end(), {{"colour_split", plan.split},
                                         {"stencil_per_point", plan.per_point()},
                                         {"symmetric", plan.grid.stencil == Stencil::symmetric},
                                         {"by_value", by_value},
                                         {"in_registers", in_registers},
                                         {"in_memory", !by_value && !in_registers}});
}

Block stencil_of_block(const Plan& plan) {
    Block block;
    if (plan.grid.stencil != Stencil::constant || plan.stencil_in == "by_value" || plan.stencil_in == "shared") return block;
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

// `table` declares the kernel's own array, `constant` is the argument that differs between
// launches, if there is one.
Block parameters(const Plan& plan, const std::string& table, const std::string& constant) {
    Block block;
    block.line("real* u, const real* __restrict__ f, const real* __restrict__ stencil,{}", table.empty() ? "" : " " + table + ",");
    if (plan.stencil_in == "by_value") block.line("const __grid_constant__ Coefficients s,");
    return block.line("int nx, int ny, int nz, int pitch, int first, int last{}", constant.empty() ? "" : ", int " + constant);
}

// Aligned groups of words along a row: the widest loads that a thread's points allow.
void add_groups(Text& text, const Plan& plan) {
    const std::int64_t bytes = std::min(plan.points_per_thread * plan.word(), widest_load);
    Block group;
    group.line("using vector = {}{};", plan.grid.precision == Precision::f32 ? "float" : "double", bytes / plan.word());
    group.line("// Neighbouring words of a row: points of even and odd x in turns.");
    group.open(fmt::format("struct alignas({}) Group", bytes));
    group.line("real word[points_per_thread];");
    group.close(";");
    text.holes.emplace_back("group", group);
    text.flags.insert(text.flags.end(), {{"stencil_per_point", plan.per_point()}, {"streaming", plan.stencil_in == "streaming"}});
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
    Text text{{{"banner", head},
               {"constants", constants(plan)},
               {"parameters", parameters(plan, plan.split ? "const real* __restrict__ packed" : "", "colour")},
               {"parameters_of_packing", parameters(plan, "real* __restrict__ packed", "colour")},
               {"stencil_of_block", stencil_of_block(plan)},
               {"stencil_of_point", stencil_of_point(plan, "x_read", "y_read")}},
              {}};
    add_coefficients(text, plan);
    source.text = text.of(plan.staging == "registers" ? "march.cu" : plan.staging == "shared" ? "slices.cu" : "points.cu");
    source.entries = {"gauss_seidel_27"};
    const std::int64_t columns = plan.block_x * (plan.staging == "shared" ? 1 : plan.points_per_thread);
    const Dim3 grid{divide_up(divide_up(plan.grid.nx, 2), columns), divide_up(divide_up(plan.grid.ny, 2), plan.block_y),
                    divide_up(plan.grid.nz, plan.z_block)};
    for (int colour = 0; colour < 8; ++colour) source.step.push_back(launch(plan, "gauss_seidel_27", grid, colour));
}

void two_colours(const Plan& plan, const Block& head, KernelSource& source) {
    const bool variable = plan.grid.stencil == Stencil::variable;
    Text text{{{"banner", head}, {"constants", constants(plan)}, {"parameters", parameters(plan, "", "row_parity")}}, {}};
    add_groups(text, plan);
    if (!variable) {
        add_coefficients(text, plan);
        text.flags.emplace_back("shared_stencil", plan.stencil_in == "shared");
        text.holes.emplace_back("stencil_of_block", stencil_of_block(plan));
        text.holes.emplace_back("stencil_of_point", stencil_of_point(plan, "x", "y"));
    }
    source.text = text.of(variable ? "rows.cu/variable" : "rows.cu");
    source.entries = {"gauss_seidel_27_rows"};
    const Dim3 grid{1, divide_up(divide_up(plan.grid.ny, 2), plan.block_y), divide_up(plan.grid.nz, plan.z_block)};
    for (int row_parity = 0; row_parity < 4; ++row_parity) source.step.push_back(launch(plan, "gauss_seidel_27_rows", grid, row_parity));
}

std::string slabs_text(const Plan& plan, const Block& head) {
    const std::string constant = plan.chases() && plan.slabs() ? "slabs_at_once" : "";
    Text text{{{"banner", head}, {"constants", constants(plan)}, {"parameters", parameters(plan, plan.chases() ? "real* tickets" : "", constant)}},
              {{"chases", plan.chases()},
               {"of_slabs", true},
               {"bulk", true},
               {"copying_warp", true},
               {"paced", false},
               {"kept_reads", false},
               {"copied_stencil", plan.copied_stencil},
               {"streaming_copies", plan.streaming_copies}}};
    if (plan.pipeline()) text.flags.insert(text.flags.end(), {{"paced_slabs", plan.lead > 0}, {"later_planes", plan.planes_per_slab > 1}});
    add_groups(text, plan);
    add_coefficients(text, plan);
    text.holes.emplace_back("stencil_of_block", plan.copied_stencil ? Block().line("const real* const s = stencil;") : stencil_of_block(plan));
    return text.of(plan.slabs() ? "slabs.cu" : "pipeline.cu");
}

// The kernel's own arrays.
std::string tables_of_walk(const Plan& plan) {
    std::string tables = plan.hands_over() ? "real* partial_sums" : "";
    const auto add = [&](const char* table) { tables += (tables.empty() ? "" : ", ") + std::string(table); };
    if (plan.walks != 1) add("real* kept_rows");
    if (plan.chases()) add("real* tickets");
    return tables;
}

// The planes that the blocks of a launch walk through: those of one parity, or all, the odd ones
// behind the even ones.
Block walk_parameters(const Plan& plan) {
    const std::string shares = plan.equal_shares() ? "all_shares" : "";
    if (plan.hands_over() || plan.chases()) return parameters(plan, tables_of_walk(plan), shares);
    return parameters(plan, tables_of_walk(plan), "z_parity" + (shares.empty() ? "" : ", int " + shares));
}

Block rows_of_block(const Plan& plan) {
    return Block().line("Rows rows{{buffer, full, {}u_plane, f_plane, {}plane, pitch, copied_words(nx, pitch), ny, x_read, turn}};",
                        plan.copying_warp ? "read, " : "", plan.copied_stencil ? "stencils, stencil_0, " : "");
}

std::string walk_text(const Plan& plan, const Block& head) {
    const bool variable = plan.grid.stencil == Stencil::variable, symmetric = plan.grid.stencil == Stencil::symmetric;
    Text text{{{"banner", head}, {"constants", constants(plan)}, {"parameters", walk_parameters(plan)}},
              {{"chases", plan.chases()}, {"of_slabs", false}, {"bulk", plan.bulk()}, {"copying_warp", plan.copying_warp}, {"paced", plan.lead > 0}}};
    add_groups(text, plan);
    if (!plan.per_point()) {
        const bool constant = plan.grid.stencil == Stencil::constant;
        add_coefficients(text, plan);
        text.holes.emplace_back("stencil_of_block", stencil_of_block(plan));
        text.holes.emplace_back("rows_of_block", rows_of_block(plan));
        text.flags.insert(text.flags.end(), {{"constant", constant},
                                             {"copied_stencil", plan.copied_stencil},
                                             {"stencil_in_memory", !constant && !plan.copied_stencil},
                                             {"kept_reads", false}});
        return text.of("walk.cu");
    }
    text.flags.emplace_back("hands_over", plan.hands_over());
    if (symmetric) text.flags.emplace_back("several_pairs", plan.points_per_thread > 2);
    if (symmetric && !plan.hands_over()) return text.of("walk_per_point.cu/symmetric");
    // Blocks may share a plane.
    text.holes.emplace_back("parameters_of_keeping", parameters(plan, tables_of_walk(plan), plan.equal_shares() ? "all_shares" : ""));
    text.flags.insert(text.flags.end(), {{"shared_planes", plan.walks != 1}, {"equal_shares", plan.equal_shares()}});
    if (variable) return text.of("walk_per_point.cu/variable");
    text.flags.insert(text.flags.end(), {{"copied_couplings", plan.staging == "partial_sums_async"}, {"kept_reads", false}});
    add_copies(text.flags, Copies::values);
    return text.of("walk_partial_sums.cu");
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
    if (plan.equal_shares()) {
        keep.grid[1] = plan.shares();
        keep.grid[2] = 2;  // planes of the earlier colours, and of the later ones
        keep.constants = {plan.shares()};
    }
    keep.block = {copy_threads, 1, 1};
    return keep;
}

void walks(const Plan& plan, const Block& head, KernelSource& source) {
    source.text = walk_text(plan, head);
    Launch walk = launch(plan, "gauss_seidel_27_walk", {1, 1, divide_up(plan.grid.nz, plan.z_block)}, 0);
    walk.block[1] = walking_warps(plan.grid, plan.points_per_thread, plan.staging) + (plan.copying_warp ? 1 : 0);
    walk.shared_bytes = walking_shared_bytes(plan.grid, plan);
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
    if (plan.equal_shares()) {
        walk.grid = {1, plan.shares(), 1};
        walk.range_axis = -1;
    }
    if (plan.walks != 1) {
        if (!plan.equal_shares()) walk.grid[1] = plan.walks;
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
        if (plan.equal_shares()) walk.constants = {plan.shares()};
        add("gauss_seidel_27_earlier_planes", plan.equal_shares() ? 1 : plan.grid.nz / 2 + 1);
        walk.shared_bytes = 0;
        add("gauss_seidel_27_later_planes", plan.equal_shares() ? 1 : std::max<std::int64_t>(plan.grid.nz / 2, 1));
    } else {
        source.entries.push_back(walk.entry);
        for (int z_parity = 0; z_parity < 2; ++z_parity) {
            walk.constants = {z_parity};
            if (plan.equal_shares()) walk.constants.push_back(plan.shares());
            source.step.push_back(walk);
        }
    }
}

void slabs(const Plan& plan, const Block& head, KernelSource& source) {
    source.text = slabs_text(plan, head);
    const std::int64_t count = divide_up(plan.grid.nz, plan.planes_per_slab + 1);
    Launch walk = launch(plan, "gauss_seidel_27_slabs", {1, 1, count}, 0);
    walk.block[1] = slab_warps(plan.grid, plan.points_per_thread, plan.planes_per_slab);
    walk.shared_bytes = slab_shared_bytes(plan.grid, plan);
    walk.constants.clear();
    walk.range_axis = -1;  // slabs begin with planes of the earlier colours, wherever the range does
    if (plan.chases()) {
        // Half of the blocks that the device holds have slabs, the other half the planes between.
        const std::int64_t at_once = std::clamp<std::int64_t>(plan.multiprocessors * plan.min_blocks / 2, 1, count + 1);
        walk.grid[2] = 2 * at_once * divide_up(count + 1, at_once);
        walk.constants = {static_cast<int>(at_once)};
        source.tables.push_back({"tickets", plan.grid.nz + 2, {}, true});
        source.step = {begin_of_chase(plan), walk};
        source.step.front().constants = walk.constants;
    } else {
        source.step = {walk, walk};
        source.step.back().entry = "gauss_seidel_27_between";
    }
    for (const Launch& launch : source.step) source.entries.push_back(launch.entry);
}

void pipeline(const Plan& plan, const Block& head, KernelSource& source) {
    source.text = slabs_text(plan, head);
    Launch walk = launch(plan, "gauss_seidel_27_pipeline", {1, 1, divide_up(plan.grid.nz, plan.planes_per_slab + 1) + 1}, 0);
    walk.block[1] = pipeline_block_warps(pipeline_warps(plan.grid, plan.points_per_thread), plan.planes_per_slab);
    walk.shared_bytes = pipeline_shared_bytes(plan.grid, plan);
    walk.constants.clear();
    walk.range_axis = -1;  // as of slabs
    source.tables.push_back({"tickets", plan.grid.nz + 2, {}, true});
    source.step = {begin_of_chase(plan), walk};
    for (const Launch& launch : source.step) source.entries.push_back(launch.entry);
}

// Adds the table of packed stencils and the launches that fill it.
void pack(const Plan& plan, KernelSource& source) {
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

KernelSource cuda_kernel(const Problem& problem, const Config& config, const Limits& limits) {
    const Plan plan(problem, config, limits);
    const Block head = banner(problem, config, Target::cuda);
    KernelSource source = common_source(problem, Target::cuda);
    if (plan.colours_per_pass == 1)
        one_colour(plan, head, source);
    else if (plan.colours_per_pass == 2)
        two_colours(plan, head, source);
    else if (plan.slabs())
        slabs(plan, head, source);
    else if (plan.pipeline())
        pipeline(plan, head, source);
    else
        walks(plan, head, source);
    if (plan.split) pack(plan, source);
    constexpr int stencil_array = 2;
    if (plan.stencil_in == "by_value") source.by_value = {stencil_array};
    return source;
}

}  // namespace hone::inline v0_1::gauss_seidel
