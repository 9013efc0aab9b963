#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "generator/families/corner_force/cuda.hpp"
#include "generator/families/device/cuda_copies.hpp"

// Form `paired`: two mirrored points to a thread.

namespace hone::inline v0_1::corner {
namespace {

constexpr int warp = 32;
constexpr int rate_parts = 8;  // threads that find the largest bound on dt

int odd(int words) {
    return words + 1 - words % 2;
}

// Where its half-way results lie in shared memory, in words. Distances are such that a warp's
// accesses go to different banks.
struct PairedLayout {
    explicit PairedLayout(const Plan& plan);

    std::int64_t shared_words(int teams) const { return table_words + std::int64_t{teams} * team_words; }

    int layers, team;
    int node_pitch, energy_pitch;                 // of rows
    int row_words, plane_pitch, half_words;       // of all rows or a layer of a number
    int copied_words, across_words, point_words;  // of a zone
    int table_words, team_words;                  // of a block, and of a team
    bool folded;                                  // points of a row are exchanged, so that columns lie in different banks
    int rows_of_banks;
};

PairedLayout::PairedLayout(const Plan& plan) {
    const Shape& shape = plan.shape;
    const int n = shape.nodes_along;
    const int m = shape.energies_along;
    const int p = shape.points_along;
    const int banks = 128 / shape.bytes();
    constexpr int fields = 9;
    constexpr int made = 9;
    layers = plan.number("layers");
    const int rows = layers * p;
    team = rows * p / 2;
    node_pitch = odd(n);
    energy_pitch = odd(m);
    row_words = padded(rows * node_pitch, n, banks);
    plane_pitch = padded(n * n, n, banks);
    half_words = 2 * fields * n * n + n;
    folded = p <= banks && banks % p == 0;
    rows_of_banks = folded ? banks / p : 1;
    const int slot = rows * (folded ? p : p + 1);
    across_words = std::max(3 * fields * row_words, made * (row_words + layers * plane_pitch) + layers * m * m);
    point_words = std::max((made + 1) * slot, layers * (half_words + m * m));
    table_words = p / 2 * (2 * n + m);
    const int sums = layers < p ? shape.vector_words() + shape.energies() : 0;
    copied_words = plan.config.has("nodes", "copied") ? 3 * shape.vector_words() + shape.energies() : 0;
    team_words = copied_words + across_words + point_words + rows * energy_pitch + team + rate_parts + sums;
}

BlockResources resources(const Plan& plan) {
    const PairedLayout layout(plan);
    const int teams = plan.number("teams_per_block");
    constexpr int held = 36 + 8;  // derivatives of x and v at both points, less what the compiler puts elsewhere
    return {.threads = std::int64_t{teams} * layout.team,
            .shared_bytes = layout.shared_words(teams) * plan.shape.bytes(),
            .registers = plan.shape.bytes() / 4 * held};
}

KernelSource kernel(const Problem& problem, const Config& config) {
    const Plan plan(problem, config, Target::cuda);
    const Shape& shape = plan.shape;
    const Pass& pass = plan.passes.front();
    const PairedLayout layout(plan);
    const int teams = plan.number("teams_per_block");
    const bool f32 = shape.precision == Precision::f32;
    KernelSource source = make_source(plan);
    Launch launch;
    launch.entry = pass.entry;
    launch.range_axis = 0;
    launch.range_per_block = teams * plan.number("passes");
    launch.grid[0] = (shape.zones + launch.range_per_block - 1) / launch.range_per_block;
    launch.block = {teams * layout.team, 1, 1};
    launch.shared_bytes = layout.shared_words(teams) * shape.bytes();
    source.step.push_back(launch);
    Block constants = numeric_constants(plan);
    constants.line("constexpr real epsilon = {};", f32 ? "1.1920929e-7f" : "2.220446049250313e-16");
    constants.line(
        "constexpr int layers = splits, teams_per_block = {}, passes = {}, threads_per_block = {}, blocks_per_multiprocessor = {}, unrolled_sides = "
        "{};",
        teams, plan.number("passes"), launch.block[0], plan.number("min_blocks"), plan.number("unrolled_sides"));
    constants.line("constexpr int node_pitch = {}, energy_pitch = {}, row_words = {}, plane_pitch = {}, half_words = {};", layout.node_pitch,
                   layout.energy_pitch, layout.row_words, layout.plane_pitch, layout.half_words);
    constants.line("constexpr int copied_words = {}, across_words = {}, point_words = {}, team_words = {}, folded = {}, rows_of_banks = {};",
                   layout.copied_words, layout.across_words, layout.point_words, layout.team_words, layout.folded ? 1 : 0, layout.rows_of_banks);
    Flags flags{{"f32", f32},
                {"solid", true},
                {"branchless", false},
                {"all_layers", layout.layers == shape.points_along},
                {"nodes_copied", layout.copied_words > 0},
                {"nodes_read", layout.copied_words == 0},
                {"kept_reads", false}};
    add_copies(flags, Copies::words_or_zeros);
    Block barrier;
    barrier.line("__device__ __forceinline__ void barrier() {{ {}(); }}", layout.team == warp ? "__syncwarp" : "__syncthreads");
    source.text = render("corner_force/paired.cu",
                         {{"banner", banner(plan, source.executed_operations)},
                          {"constants", constants},
                          {"barrier", barrier},
                          {"tables", axis_parts(shape, Target::cuda)},
                          {"entry", signature(plan, pass)}},
                         flags);
    return source;
}

std::optional<std::string> violation(const Shape& shape, const Config& config) {
    const std::int64_t team = config.integer("layers") * shape.points_along * shape.points_along / 2;
    if (team < rate_parts) return "a team of few threads";
    if (config.integer("teams_per_block") > 1 && team != warp) return "teams that share a block are warps";
    return std::nullopt;
}

}  // namespace

bool pairs(const Shape& shape) {
    return shape.dimension == 3 && shape.result == "products" && shape.order > 1;
}

Form paired_form(const Problem& problem) {
    const Shape shape(problem);
    return {.space = {.name = "paired",
                      .help = "points, forces and work in one launch: teams of threads go from zone to zone, each thread with two mirrored points",
                      .tunables =
                          {layers_of_points(shape),
                           {"teams_per_block", "teams of a block, where a team is a warp", numbers({1, 2, 3, 4, 6})},
                           {"passes", "zones that a team works on one after another", numbers({1, 2, 4, 8, 16, 32})},
                           {"nodes",
                            "copied: a zone's nodes come into shared memory while a team works on the zone before; loads: they are read in each pass",
                            words({"copied", "loads"})},
                           {"unrolled_sides", "points of a pair whose code is written one after the other", numbers({1, 2})},
                           min_blocks({1, 2, 3, 4, 5, 6, 8, 10, 12})},
                      .constraints = {{"teams", [shape](const Config& config) { return violation(shape, config); }, {"layers", "teams_per_block"}}},
                      .safe = {{"layers", std::int64_t{2}},
                               {"teams_per_block", std::int64_t{1}},
                               {"passes", std::int64_t{2}},
                               {"nodes", "copied"},
                               {"unrolled_sides", std::int64_t{1}},
                               {"min_blocks", std::int64_t{1}}},
                      .former = [](const Config& config) { return config.has(form_tunable, "paired"); }},
            .resources = [problem](const Config& config) { return resources(Plan(problem, config, Target::cuda)); },
            .resources_read = {"layers", "teams_per_block", "nodes"},
            .kernel = [problem](const Config& config) { return kernel(problem, config); }};
}

}  // namespace hone::inline v0_1::corner
