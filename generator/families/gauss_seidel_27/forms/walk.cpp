#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "generator/families/device/cuda_copies.hpp"
#include "generator/families/gauss_seidel_27/bulk_copies.hpp"
#include "generator/families/gauss_seidel_27/cuda.hpp"
#include "generator/families/gauss_seidel_27/forms.hpp"

// Two launches with all colours of a plane, each block walking along y. Its template is walk.cu
// where rows or all points share a stencil, walk_per_point.cu where every point has its own, and
// walk_partial_sums.cu where planes leave partial sums to those beside them.

namespace hone::inline v0_1::gauss_seidel {
namespace {

// How rows reach a warp: the values of the tunable `staging`.
enum class Staging { registers, bulk_1, bulk_2, partial_sums, partial_sums_async };

constexpr std::array stagings{std::pair{Staging::registers, "registers"}, std::pair{Staging::bulk_1, "bulk_1"}, std::pair{Staging::bulk_2, "bulk_2"},
                              std::pair{Staging::partial_sums, "partial_sums"}, std::pair{Staging::partial_sums_async, "partial_sums_async"}};

Staging staging_of(const Config& config) {
    const std::string& word = config.word("staging");
    return std::find_if(stagings.begin(), stagings.end(), [&](const auto& staging) { return staging.second == word; })->first;
}

bool leaves_partial_sums(Staging staging) {
    return staging == Staging::partial_sums || staging == Staging::partial_sums_async;
}

// Rows that arrive together in bulk copies; 0: there are none.
int rows_per_stage_of(Staging staging) {
    return staging == Staging::bulk_2 ? 2 : staging == Staging::bulk_1 ? 1 : 0;
}

// A new value follows from old ones of up to four points to both sides. What is left to the planes
// beside needs new values of a point more: to the left that of an odd point, which reaches a point
// less.
OverlappingWarps overlapping(Staging staging, std::int64_t points_per_thread) {
    OverlappingWarps warps = OverlappingWarps::reaching(4, points_per_thread);
    if (leaves_partial_sums(staging)) ++warps.right_halo_lanes;
    return warps;
}

// Warps that a row with its last boundary point needs.
std::int64_t warps_of_row(const Grid& grid, Staging staging, std::int64_t points_per_thread) {
    return overlapping(staging, points_per_thread).for_words(grid.nx + 1);
}

struct Walk : CudaKernel {
    Walk(const Grid& of_grid, const Config& config)
        : CudaKernel(of_grid, config),
          staging(staging_of(config)),
          stages(integer_or(config, "stages", 2)),
          blocks_per_plane(integer_or(config, "blocks_per_plane", 1)),
          copying_warp(config.has("copied_by", "warp")) {
        block_y = config.integer("warps_per_row");
    }

    Staging staging;
    std::int64_t stages;            // of bulk copies on their way
    std::int64_t blocks_per_plane;  // 0: equal shares of all planes for as many blocks as the device holds
    bool copying_warp;              // a warp of its own starts bulk copies

    static constexpr std::int64_t z_block = 2;  // a launch has every second plane

    bool partial_sums() const { return leaves_partial_sums(staging); }
    int rows_per_stage() const { return rows_per_stage_of(staging); }
    bool bulk() const { return rows_per_stage() > 0; }
    bool copied_stencil() const { return stencil_in == StencilIn::copied; }
    bool shared_planes() const { return blocks_per_plane != 1; }
    bool equal_shares() const { return blocks_per_plane == 0; }
    // Warps of a block, which has whole rows.
    std::int64_t warps() const { return warps_of_row(grid, staging, points_per_thread) + (copying_warp ? 1 : 0); }

    std::int64_t stencil_rows() const { return 2 * stages + 4; }  // that may be read while others arrive
    std::int64_t shared_bytes() const {
        if (staging == Staging::partial_sums_async) {
            constexpr std::int64_t groups = 2 * 18 * warp;  // two rows of a warp, each with all that couples it with the planes beside
            return warps() * groups * points_per_thread * grid.word_bytes();
        }
        if (!bulk()) return 0;
        constexpr std::int64_t planes = 4;  // three of u and one of f
        const std::int64_t stencils = copied_stencil() ? stencil_rows() * row_stencil_words : 0;
        return (stages * planes * CopiedRows(grid).words_of(rows_per_stage()) + stencils) * grid.word_bytes();
    }
    // A stencil per point takes up to 60 words a point where it may; with 35 it keeps a few
    // elsewhere, which all the waiting for memory hides. Planes that leave partial sums keep
    // coefficients longer, unless they lie in shared memory; those that get them have more rows
    // under way in f32.
    std::int64_t values() const {
        if (partial_sums())
            return std::max(staging == Staging::partial_sums ? 45 : 35, grid.precision == Precision::f32 ? 55 : 27) * points_per_thread;
        if (per_point()) return 35 * points_per_thread;
        return (staging == Staging::registers ? 24 : 12) * points_per_thread;  // sums of rows, and rows that arrive in registers
    }
    BlockResources resources() const { return {.threads = threads(), .shared_bytes = shared_bytes(), .registers = registers(values())}; }

    // Both partial sums of the planes of the later colours.
    std::int64_t partial_words() const { return 2 * std::max<std::int64_t>(grid.nz / 2, 1) * grid.plane(); }
    // Blocks with equal shares of the planes of a launch: as many as the device holds.
    int shares(const Limits& limits) const { return static_cast<int>(std::max<std::int64_t>(limits.multiprocessors * min_blocks, 1)); }
    // Old rows around the boundaries between parts of a plane, of every plane.
    std::int64_t rows_kept() const { return partial_sums() ? 5 : 3; }
    std::int64_t kept_words(const Limits& limits) const {
        return (equal_shares() ? 2 * shares(limits) : (grid.nz + 2) * (blocks_per_plane - 1)) * rows_kept() * grid.pitch;
    }

    Block own_constants() const {
        Block block;
        block.line("constexpr int z_block = {};            // planes that a block covers", z_block);
        block.line("constexpr int points_per_thread = {};  // along x", points_per_thread);
        if (blocks_per_plane > 1) block.line("constexpr int walks = {};              // of a plane, by blocks that share it", blocks_per_plane);
        if (bulk()) block.line("constexpr int rows_per_stage = {}, stages = {};", rows_per_stage(), stages);
        return block;
    }

    // The kernel's own arrays.
    std::string tables() const {
        std::string tables = partial_sums() ? "real* partial_sums" : "";
        if (shared_planes()) tables += std::string(tables.empty() ? "" : ", ") + "real* kept_rows";
        return tables;
    }

    Block walk_parameters() const {
        const std::string shares = equal_shares() ? "all_shares" : "";
        if (partial_sums()) return parameters(tables(), shares);
        return parameters(tables(), "z_parity" + (shares.empty() ? "" : ", int " + shares));
    }

    Block rows_of_block() const {
        return Block().line("Rows rows{{buffer, full, {}u_plane, f_plane, {}plane, pitch, copied_words(nx, pitch), ny, x_read, turn}};",
                            copying_warp ? "read, " : "", copied_stencil() ? "stencils, stencil_0, " : "");
    }

    std::string rendered(const Problem& problem, const Config& config) const {
        Text text{{{"banner", banner(problem, config, Target::cuda)}, {"constants", constants(own_constants())}, {"parameters", walk_parameters()}},
                  {}};
        add_groups(text);
        if (!per_point()) {
            add_coefficients(text);
            text.holes.emplace_back("stencil_of_block", stencil_of_block());
            text.holes.emplace_back("rows_of_block", rows_of_block());
            text.flags.insert(text.flags.end(), {{"bulk", bulk()},
                                                 {"copying_warp", copying_warp},
                                                 {"constant", constant()},
                                                 {"copied_stencil", copied_stencil()},
                                                 {"stencil_in_memory", !constant() && !copied_stencil()},
                                                 {"kept_reads", false}});
            return text.of("walk.cu");
        }
        text.flags.emplace_back("hands_over", partial_sums());
        if (symmetric()) text.flags.emplace_back("several_pairs", points_per_thread > 2);
        if (symmetric() && !partial_sums()) return text.of("walk_per_point.cu/symmetric");
        text.holes.emplace_back("parameters_of_keeping", parameters(tables(), equal_shares() ? "all_shares" : ""));
        text.flags.insert(text.flags.end(), {{"shared_planes", shared_planes()}, {"equal_shares", equal_shares()}});
        if (variable()) return text.of("walk_per_point.cu/variable");
        text.flags.insert(text.flags.end(), {{"copied_couplings", staging == Staging::partial_sums_async}, {"kept_reads", false}});
        add_copies(text.flags, Copies::values);
        return text.of("walk_partial_sums.cu");
    }

    // The launch that keeps what blocks which share a plane need of each other's rows.
    Launch keep_rows(const Limits& limits) const {
        Launch keep;
        keep.entry = "gauss_seidel_27_keep_rows";
        keep.grid = {divide_up(grid.pitch, copy_threads * points_per_thread), blocks_per_plane - 1, grid.nz + 2};
        if (equal_shares()) {
            keep.grid[1] = shares(limits);
            keep.grid[2] = 2;  // planes of the earlier colours, and of the later ones
            keep.constants = {shares(limits)};
        }
        keep.block = {copy_threads, 1, 1};
        return keep;
    }

    // The launch of one parity of planes.
    Launch walk(const std::string& entry, std::int64_t planes, const Limits& limits) const {
        Launch result = launch(entry, {1, std::max<std::int64_t>(blocks_per_plane, 1), planes}, z_block);
        result.block[1] = warps();
        result.shared_bytes = shared_bytes();
        if (equal_shares()) result.grid = {1, shares(limits), 1};
        if (equal_shares() || partial_sums()) result.range_axis = -1;  // planes beside the range take part
        return result;
    }

    KernelSource kernel(const Problem& problem, const Config& config, const Limits& limits) const {
        KernelSource result = source(problem);
        result.text = rendered(problem, config);
        if (partial_sums()) result.tables.push_back({"partial_sums", partial_words(), {}, true});
        if (shared_planes()) {
            result.tables.push_back({"kept_rows", kept_words(limits), {}, true});
            result.step.push_back(keep_rows(limits));
            result.entries.push_back(result.step.front().entry);
        }
        if (partial_sums()) {
            result.step.push_back(walk("gauss_seidel_27_earlier_planes", grid.nz / 2 + 1, limits));
            result.step.push_back(walk("gauss_seidel_27_later_planes", std::max<std::int64_t>(grid.nz / 2, 1), limits));
            result.step.back().shared_bytes = 0;
            result.entries.insert(result.entries.end(), {"gauss_seidel_27_earlier_planes", "gauss_seidel_27_later_planes"});
        } else {
            for (int z_parity = 0; z_parity < 2; ++z_parity) {
                result.step.push_back(walk("gauss_seidel_27_walk", divide_up(grid.nz, z_block), limits));
                result.step.back().constants = {z_parity};
            }
            result.entries.emplace_back("gauss_seidel_27_walk");
        }
        if (equal_shares())
            for (std::size_t i = 1; i < result.step.size(); ++i) result.step[i].constants.push_back(shares(limits));
        return result;
    }
};

std::vector<Staging> stagings_of(const Grid& grid, const Limits& limits) {
    std::vector<Staging> all{Staging::registers};
    if (grid.stencil == Stencil::symmetric) {
        all.push_back(Staging::partial_sums);
        if (limits.has(Feature::async_copies)) all.push_back(Staging::partial_sums_async);
    } else if (grid.stencil != Stencil::variable && limits.has(Feature::bulk_copies) && rows_can_be_copied(grid)) {
        all.insert(all.end(), {Staging::bulk_1, Staging::bulk_2});
    }
    return all;
}

Tunable staging_tunable(const std::vector<Staging>& values) {
    std::vector<std::string> names;
    for (const auto& [staging, name] : stagings)
        if (std::find(values.begin(), values.end(), staging) != values.end()) names.emplace_back(name);
    return {"staging",
            "how rows reach a warp: the next ones in registers, or by bulk copies of one or two rows; partial_sums: in registers, and planes "
            "of the later colours get what those of the earlier ones amount to, in a table of the kernel; partial_sums_async: with "
            "coefficients copied to shared memory meanwhile",
            words(std::move(names))};
}

// A walk needs its registers for sums.
std::vector<StencilIn> places(Stencil stencil, bool bulk) {
    if (stencil == Stencil::constant) return {StencilIn::read_only, StencilIn::by_value};
    if (stencil != Stencil::semi_constant) return places_for_points(stencil);
    if (bulk) return {StencilIn::read_only, StencilIn::copied};
    return {StencilIn::read_only};
}

// What blocks that share a plane need.
Constraint planes_for_blocks(const Grid& grid) {
    return {"shared_planes", [grid](const Config& config) -> Reason {
                constexpr std::int64_t fewest_steps = 2;
                const std::int64_t sharing = config.integer("blocks_per_plane");
                if (sharing == 1) return {};
                if (grid.stencil == Stencil::symmetric && !leaves_partial_sums(staging_of(config)))
                    return "blocks share a plane of a symmetric stencil with staging=partial_sums or partial_sums_async only";
                if (sharing == 0) return {};
                const std::int64_t steps = (grid.ny + 1) / 2 + 1;  // of two rows
                if (steps / sharing >= fewest_steps) return {};
                return fmt::format("a walk through {} rows has {} steps, {} blocks need {} each", grid.ny, steps, sharing, fewest_steps);
            }};
}

constexpr std::array<std::int64_t, 5> warps_of_rows{2, 4, 6, 8, 16};

// Warps that a row of any staging needs at two points a thread, or as many as there may be: the
// fewer, the more registers has each.
std::int64_t safe_warps(const Grid& grid) {
    const std::int64_t needed = warps_of_row(grid, grid.stencil == Stencil::symmetric ? Staging::partial_sums : Staging::registers, 2);
    const auto enough = std::find_if(warps_of_rows.begin(), warps_of_rows.end(), [&](std::int64_t warps) { return warps >= needed; });
    return enough == warps_of_rows.end() ? warps_of_rows.back() : *enough;
}

// What only bulk copies have.
Constraint bulk_copies_alone() {
    return {"bulk_copies_alone",
            [](const Config& config) -> Reason {
                const bool bulk = rows_per_stage_of(staging_of(config)) > 0;
                if (!bulk && config.has("stencil_in", "copied")) return "stencils are copied with bulk copies of rows only: staging=bulk_1 or bulk_2";
                if (!bulk && config.has("copied_by", "warp")) return "a warp of its own starts bulk copies only: staging=bulk_1 or bulk_2";
                return rejected_when(config.integer("stages") > 2 && !config.has("copied_by", "warp"),
                                     "more than two stages are filled by a warp of its own: copied_by=warp");
            },
            {"staging", "stencil_in", "copied_by", "stages"}};
}

}  // namespace

Form walk_form(const Problem& problem, const Limits& limits) {
    const Grid grid(problem);
    const std::vector<Staging> values = stagings_of(grid, limits);
    const bool bulk = std::find(values.begin(), values.end(), Staging::bulk_2) != values.end();
    FormSpace space{.name = "walk",
                    .help = "two launches with all colours of a plane, each block walking along y",
                    .tunables = {staging_tunable(values), warps_per_row_tunable({warps_of_rows.begin(), warps_of_rows.end()}),
                                 points_per_thread_tunable({2, 4}), stencil_in_tunable(places(grid.stencil, bulk)), min_blocks_tunable()},
                    .constraints = {aligned_pairs(grid), rows_in_block(grid, [grid](const Config& config) { return Walk(grid, config).warps(); })},
                    .safe = {{"staging", "registers"},
                             {"warps_per_row", safe_warps(grid)},
                             {"points_per_thread", 2},
                             {"stencil_in", "read_only"},
                             {"min_blocks", 1}},
                    .former = formerly(4)};
    if (bulk) {
        space.tunables.push_back({"copied_by",
                                  "who starts bulk copies: a thread between barriers of the block, or a warp of its own, without barriers",
                                  words({"thread", "warp"}), Value("thread")});
        space.tunables.push_back(stages_tunable({2, 3, 4}));
        space.constraints.push_back(bulk_copies_alone());
        space.safe.insert(space.safe.end(), {{"copied_by", "thread"}, {"stages", 2}});
    }
    if (grid.stencil_per_point()) {
        space.tunables.push_back(
            {"blocks_per_plane",
             "blocks that share a plane, each of which walks through a part of its rows; 0: an equal share of all planes for each "
             "block that the device holds",
             numbers({0, 1, 2, 3, 4, 6, 8}), Value(1), "walks"});
        space.constraints.push_back(planes_for_blocks(grid));
        space.safe.push_back({"blocks_per_plane", 1});
    }
    return cuda_form<Walk>(problem, limits, std::move(space));
}

}  // namespace hone::inline v0_1::gauss_seidel
