#include <fmt/format.h>

#include <algorithm>

#include "generator/families/device/cpu_team.hpp"
#include "generator/families/device/cuda_residency.hpp"
#include "generator/families/gauss_seidel_27/grid.hpp"

namespace hone::gauss_seidel {
namespace {

using Reason = std::optional<std::string>;

// CPU: the y_block of a form that does not divide y.
constexpr std::int64_t whole_planes = 256;

// Tunables of both targets that a problem has.
std::vector<Value> stencil_places(Stencil stencil) {
    switch (stencil) {
        case Stencil::constant:
            return words({"registers", "shared", "read_only", "by_value"});
        case Stencil::semi_constant:
            return words({"registers", "read_only"});
        case Stencil::variable:
        case Stencil::symmetric:
            return words({"read_only", "streaming"});
    }
    return {};
}

std::vector<std::string> stagings(Stencil stencil, const Limits& limits) {
    constexpr int with_async_copies = 80, with_bulk_copies = 90;
    if (stencil == Stencil::symmetric) {
        std::vector<std::string> all{"cache", "registers", "partial_sums"};
        if (limits.architecture >= with_async_copies) all.emplace_back("partial_sums_async");
        return all;
    }
    std::vector<std::string> all{"cache", "registers", "shared"};
    if (stencil != Stencil::variable && limits.architecture >= with_bulk_copies) all.insert(all.end(), {"bulk_1", "bulk_2"});
    return all;
}

std::vector<Tunable> cuda_tunables(Stencil stencil, const Limits& limits) {
    std::vector<Tunable> tunables{
        {"colours_per_pass",
         "1: points of one colour; 2: whole rows, both colours of x; 4: all colours of a plane, in a walk along y; 8: the same in one launch, odd "
         "planes following the even ones",
         stencil == Stencil::symmetric ? numbers({1, 4, 8}) : numbers({1, 2, 4, 8})},
        {"staging",
         "how planes reach a thread: cached loads, a march with a plane (4 and 8 colours: the next rows) in registers, one with slices in shared "
         "memory, or bulk copies of one or two rows; partial_sums: as registers, and planes of the later colours get what those of the earlier ones "
         "amount to, in a table of the kernel; partial_sums_async: with coefficients copied to shared memory meanwhile",
         words(stagings(stencil, limits))},
        {"block_x", "threads along x", numbers({16, 32, 64, 128})},
        {"block_y", "threads along y, each on rows of its own; 4 and 8 colours: warps of a row, at most", numbers({1, 2, 4, 6, 8, 16})},
        {"z_block", "planes that a block covers: one after the other, or for whole rows with a warp for each", numbers({2, 4, 8, 16, 32, 64})},
        {"points_per_thread", "points along x of a thread in one slice", numbers({1, 2, 4})},
        {"stencil_in",
         "where the stencil is held; streaming: read-only loads that leave the caches to what is read again; by_value: in the arguments of the "
         "launch, which "
         "lie in constant memory",
         stencil_places(stencil)},
        {"edges", "threads beyond the grid have no loads, or repeat the last point's", words({"guarded", "clamped"})},
        {"min_blocks", "blocks per multiprocessor that the compiler must leave registers for", numbers({1, 2, 3, 4, 6, 8})},
        {"layout", "of a variable stencil: as it is, or packed colour by colour in a table of the kernel",
         stencil == Stencil::variable ? words({"natural", "colour_split"}) : words({"natural"})}};
    if (stencil == Stencil::variable || stencil == Stencil::symmetric)
        tunables.push_back(
            {"walks", "blocks that share a plane, each of which walks through a part of its rows", numbers({1, 2, 3, 4, 6, 8}), Value(1)});
    return tunables;
}

// Whether threads own whole rows, both colours of x.
bool rows(const Config& config) {
    return config.integer("colours_per_pass") > 1;
}

// Whether a block walks through a plane.
bool walks(const Config& config) {
    return config.integer("colours_per_pass") >= 4;
}

std::int64_t threads(const Config& config) {
    return config.integer("block_x") * config.integer("block_y") * (config.integer("colours_per_pass") == 2 ? config.integer("z_block") / 2 : 1);
}

// About how many 32-bit registers a thread needs.
std::int64_t registers(const Grid& grid, const Config& config) {
    constexpr std::int64_t addresses = 20;
    const std::int64_t points = config.integer("points_per_thread");
    const bool per_point = grid.stencil_per_point();
    std::int64_t values = 4;
    // A walk with a stencil per point takes up to 60 words a point where it may; with 35 it keeps a few elsewhere, which all the waiting for memory
    // hides. Planes that leave partial sums keep coefficients longer, unless they lie in shared memory; those that get them have more rows under way
    // in f32.
    if (leaves_partial_sums(config.word("staging")))
        values += std::max(config.word("staging") == "partial_sums" ? 45 : 35, grid.precision == Precision::f32 ? 55 : 27) * points;
    else if (rows(config) && per_point)
        values += (walks(config) ? 35 : 10) * points;
    else if (rows(config))
        values += (walks(config) ? 24 : 12) * points / 2;
    else if (config.word("staging") == "registers")
        values += 9 * (points + 1);
    if (walks(config) && !per_point && config.word("staging") == "registers") values += 12 * points;
    if (config.word("stencil_in") == "registers") values += coefficients;
    return addresses + values * bytes_per_word(grid.precision) / 4;
}

std::int64_t shared_bytes(const Grid& grid, const Config& config) {
    std::int64_t words = config.word("stencil_in") == "shared" ? coefficients : 0;
    if (config.word("staging") == "shared") words += 2 * (2 * config.integer("block_x") + 2) * (2 * config.integer("block_y") + 2);
    return words * bytes_per_word(grid.precision);
}

// What a device can hold.
std::vector<Constraint> resource_constraints(const Grid& grid, const Limits& limits) {
    constexpr std::int64_t static_shared_bytes = 48 * 1024;  // more needs dynamic shared memory
    std::vector<Constraint> constraints = residency_constraints(limits, threads, [grid](const Config& config) { return registers(grid, config); });
    const std::vector<Constraint> others{
        {"shared_memory", [=](const Config& config) -> Reason {
             const std::int64_t dynamic = walks(config) ? walking_shared_bytes(grid, config.word("staging"), config.integer("points_per_thread")) : 0;
             if (dynamic > limits.shared_bytes_per_block)
                 return fmt::format("{} bytes of shared memory for the rows, a block has {}", dynamic, limits.shared_bytes_per_block);
             const std::int64_t bytes = shared_bytes(grid, config);
             const std::int64_t all = (bytes + dynamic) * config.integer("min_blocks");
             if (bytes > static_shared_bytes)
                 return fmt::format("{} bytes of shared memory in a block, {} can be declared", bytes, static_shared_bytes);
             if (all <= limits.shared_bytes_per_multiprocessor) return {};
             return fmt::format("{} bytes of shared memory on a multiprocessor, the device has {}", all, limits.shared_bytes_per_multiprocessor);
         }}};
    constraints.insert(constraints.end(), others.begin(), others.end());
    return constraints;
}

Reason rejected_when(bool condition, const char* reason) {
    return condition ? Reason(reason) : Reason();
}

// What the forms of the kernel can do.
std::vector<Constraint> form_constraints(const Grid& grid) {
    return {{"small_blocks",
             [](const Config& config) {
                 return rejected_when(threads(config) < 64, "a multiprocessor holds 32 blocks at most: with one warp each, half of it stays empty");
             }},
            {"stencil_loads",
             [constant = grid.stencil == Stencil::constant](const Config& config) {
                 const std::string& stencil_in = config.word("stencil_in");
                 return rejected_when(
                     constant && !rows(config) && (stencil_in == "shared" || stencil_in == "read_only"),
                     "with one colour a coefficient serves a point or two, so it must cost no load: stencil_in is registers or by_value");
             }},
            {"one_warp_per_row",
             [](const Config& config) {
                 return rejected_when(rows(config) && config.integer("block_x") != 32, "a row belongs to one warp: block_x is 32");
             }},
            {"rows_through_caches",
             [](const Config& config) {
                 return rejected_when(config.integer("colours_per_pass") == 2 && config.word("staging") != "cache",
                                      "whole rows are read through the caches");
             }},
            {"staging_of_walks",
             [](const Config& config) {
                 const std::string& staging = config.word("staging");
                 return rejected_when(!walks(config) && (staged_rows(staging) > 0 || leaves_partial_sums(staging)),
                                      "bulk copies bring the rows of a walk, and walks hand over partial sums");
             }},
            {"walk",
             [](const Config& config) -> Reason {
                 if (!walks(config)) return {};
                 const std::string& staging = config.word("staging");
                 if (staging == "cache" || staging == "shared") return "a walk has the next rows in registers, or bulk copies of them";
                 const std::string& stencil_in = config.word("stencil_in");
                 if (stencil_in == "registers" || stencil_in == "shared")
                     return "a walk needs its registers for sums: stencil_in is by_value or read_only";
                 return rejected_when(config.integer("z_block") != 2, "a block walks through one plane of two: z_block is 2");
             }},
            {"rows_in_block",
             [grid](const Config& config) -> Reason {
                 if (!walks(config)) return {};
                 const std::int64_t warps = walking_warps(grid, config.integer("points_per_thread"), config.word("staging"));
                 if (warps <= config.integer("block_y")) return {};
                 return fmt::format("rows of {} points need {} warps, block_y is {}", grid.nx, warps, config.integer("block_y"));
             }},
            {"aligned_copies",
             [grid](const Config& config) -> Reason {
                 constexpr std::int64_t alignment = 16;
                 const std::int64_t bytes = grid.pitch * bytes_per_word(grid.precision);
                 if (staged_rows(config.word("staging")) == 0 || bytes % alignment == 0) return {};
                 return fmt::format("bulk copies need rows of a multiple of {} bytes, the pitch is {}", alignment, bytes);
             }},
            {"pairs",
             [](const Config& config) {
                 return rejected_when(rows(config) && config.integer("points_per_thread") < 2,
                                      "with both colours of x a thread has 2 points or more");
             }},
            {"aligned_pairs",
             [pitch = grid.pitch](const Config& config) -> Reason {
                 const std::int64_t points = config.integer("points_per_thread");
                 if (!rows(config) || pitch % points == 0) return {};
                 return fmt::format("loads of {} words need rows that start at multiples of them, the pitch is {}", points, pitch);
             }},
            {"rows_clamp",
             [](const Config& config) { return rejected_when(rows(config) && config.word("edges") != "clamped", "whole rows clamp their loads"); }},
            {"words_apart",
             [](const Config& config) {
                 return rejected_when(!rows(config) && config.integer("points_per_thread") > 2,
                                      "points of one colour are two words apart: 4 in a thread make no load wider");
             }},
            {"marches_split",
             [per_point = grid.stencil_per_point()](const Config& config) {
                 return rejected_when(
                     per_point && !rows(config) && config.word("staging") != "cache" && config.word("layout") == "natural",
                     "saving loads of the grid is in vain while every second coefficient loaded goes unused: the layout is colour_split");
             }},
            {"points_in_shared_slices",
             [](const Config& config) {
                 return rejected_when(config.word("staging") == "shared" && config.integer("points_per_thread") != 1,
                                      "with slices in shared memory a thread has one point of the colour");
             }},
            {"march",
             [](const Config& config) {
                 return rejected_when(!rows(config) && config.word("staging") != "cache" && config.integer("z_block") < 4,
                                      "a march needs two slices of the colour: z_block is 4 or more");
             }},
            {"split_by_colour", [](const Config& config) {
                 return rejected_when(rows(config) && config.word("layout") == "colour_split",
                                      "both colours of x are read together: the layout is natural");
             }}};
}

// What blocks that share a plane need.
Constraint walks_constraint(const Grid& grid) {
    return {"shared_planes", [grid](const Config& config) -> Reason {
                constexpr std::int64_t fewest_steps = 2;
                const std::int64_t sharing = walks_per_plane(grid, config);
                if (sharing == 1) return {};
                if (config.integer("colours_per_pass") != 4) return "blocks share a plane with colours_per_pass=4 only";
                if (grid.stencil == Stencil::symmetric && !leaves_partial_sums(config.word("staging")))
                    return "blocks share a plane of a symmetric stencil with staging=partial_sums or partial_sums_async only";
                const std::int64_t steps = (grid.ny + 1) / 2 + 1;  // of two rows, as in the kernel
                if (steps / sharing >= fewest_steps) return {};
                return fmt::format("a walk through {} rows has {} steps, {} blocks need {} each", grid.ny, steps, sharing, fewest_steps);
            }};
}

SearchSpace cuda_space(const Grid& grid, const Limits& limits) {
    std::vector<Constraint> constraints;
    if (grid.stencil_per_point()) constraints.push_back(walks_constraint(grid));  // first: it rejects most, so that members are found sooner
    for (auto& constraint : resource_constraints(grid, limits)) constraints.push_back(std::move(constraint));
    for (auto& constraint : form_constraints(grid)) constraints.push_back(std::move(constraint));
    std::vector<Tunable> tunables = cuda_tunables(grid.stencil, limits);
    const Value stencil_in = stencil_places(grid.stencil).front();
    std::vector<Assignment> safe{
        {"colours_per_pass", 1},  {"staging", "cache"},       {"block_x", 32},      {"block_y", 4},    {"z_block", 8},
        {"points_per_thread", 1}, {"stencil_in", stencil_in}, {"edges", "guarded"}, {"min_blocks", 1}, {"layout", "natural"}};
    if (grid.stencil_per_point()) safe.push_back({"walks", 1});
    return {std::move(tunables), std::move(constraints), std::move(safe)};
}

SearchSpace cpu_space(const Limits& limits) {
    std::vector<Tunable> tunables{{"colours_per_pass", "2: rows, both colours of x; 8: a wave of planes with all colours", numbers({2, 8})},
                                  {"y_block", "rows along y that a thread takes at a time", numbers({4, 16, 64, whole_planes})},
                                  {"z_block", "planes that a thread takes at a time", numbers({2, 4, 8, 16, 32, 64})},
                                  {"vector_bytes", "width of the vectors along x", numbers({16, 32, 64})}};
    std::vector<Constraint> constraints{{"whole_planes",
                                         [](const Config& config) -> Reason {
                                             if (config.integer("colours_per_pass") == 2 || config.integer("y_block") == whole_planes) return {};
                                             return fmt::format("a wave of planes does not divide y: y_block is {}", whole_planes);
                                         }},
                                        {"vector_width", [limits](const Config& config) -> Reason {
                                             if (config.integer("vector_bytes") <= limits.vector_bytes) return {};
                                             return fmt::format("vectors of {} bytes, the processor's have {}", config.integer("vector_bytes"),
                                                                limits.vector_bytes);
                                         }}};
    for (Tunable& tunable : team_tunables(limits)) tunables.push_back(std::move(tunable));
    constraints.push_back(team_constraint());
    std::vector<Assignment> safe{{"colours_per_pass", 2}, {"y_block", 16}, {"z_block", 4}, {"vector_bytes", 16}};
    for (Assignment& assignment : safe_team()) safe.push_back(std::move(assignment));
    return {std::move(tunables), std::move(constraints), std::move(safe)};
}

}  // namespace

std::int64_t walking_warps(const Grid& grid, std::int64_t points_per_thread, const std::string& staging) {
    constexpr std::int64_t lanes = 32;
    const std::int64_t halo_lanes = points_per_thread >= 4 ? 1 : 2;  // as in the kernel
    const std::int64_t words = (lanes - 2 * halo_lanes - (leaves_partial_sums(staging) ? 1 : 0)) * points_per_thread;
    return (grid.nx + 1 + words - 1) / words;
}

int staged_rows(const std::string& staging) {
    return staging == "bulk_2" ? 2 : staging == "bulk_1" ? 1 : 0;
}

bool leaves_partial_sums(const std::string& staging) {
    return staging == "partial_sums" || staging == "partial_sums_async";
}

std::int64_t walks_per_plane(const Grid& grid, const Config& config) {
    return grid.stencil_per_point() ? config.integer("walks") : 1;
}

std::int64_t walking_shared_bytes(const Grid& grid, const std::string& staging, std::int64_t points_per_thread) {
    if (staging == "partial_sums_async") {
        constexpr std::int64_t groups = 2 * 18 * 32;  // two rows of a warp, each with all that couples it with the planes beside
        return walking_warps(grid, points_per_thread, staging) * groups * points_per_thread * bytes_per_word(grid.precision);
    }
    constexpr std::int64_t stages = 2;
    constexpr std::int64_t planes = 4;  // three of u and one of f
    return stages * planes * staged_rows(staging) * grid.pitch * bytes_per_word(grid.precision);
}

SearchSpace space(const Problem& problem, const Limits& limits) {
    return limits.target == Target::cuda ? cuda_space(Grid(problem), limits) : cpu_space(limits);
}

}  // namespace hone::gauss_seidel
