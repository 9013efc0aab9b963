#include <fmt/format.h>

#include <utility>

#include "generator/families/corner_force/cuda.hpp"
#include "generator/families/device/cuda_copies.hpp"

// Form `streamed`: zones pass through the registers of a warp.

namespace hone::inline v0_1::corner {
namespace {

constexpr int warp = 32;
constexpr int lane_pitch = warp + 1;  // of numbers that all lanes have, so that several of one lane lie in different banks
constexpr int settings_words = 4;
constexpr int largest_order = 4;  // a line's derivatives fill the registers

int zones_per_block(const Plan& plan) {
    return plan.number("warps_per_block") * (warp / plan.shape.points_along) * plan.number("passes");
}

// Words from zone to zone in shared memory: the zones of half a warp lie in different banks.
int zone_pitch(const Shape& shape) {
    return padded(3 * shape.vector_words() + shape.energies(), shape.points_along, 128 / shape.bytes());
}

std::int64_t shared_words(const Plan& plan) {
    const Shape& shape = plan.shape;
    const int n = shape.nodes_along;
    const int points = 5 * shape.points_along;          // of a line: the Jacobian's inverse at the start, and the mass
    const int made = 4 * n + shape.energies_along + 1;  // a line's forces, work and bound on dt
    const int of_warp = warp / shape.points_along * zone_pitch(shape) + (points + made) * lane_pitch;
    return std::int64_t{plan.number("warps_per_block")} * of_warp + shape.points_along * (2 * n + shape.energies_along) + settings_words;
}

BlockResources resources(const Plan& plan) {
    const Shape& shape = plan.shape;
    // Values and slopes of six fields and what is summed up, less what the compiler keeps in
    // shared memory.
    const int held = 12 * shape.nodes_along + 4 * shape.nodes_along + 16;
    return {.threads = std::int64_t{warp} * plan.number("warps_per_block"),
            .shared_bytes = shared_words(plan) * shape.bytes(),
            .registers = shape.bytes() / 4 * held};
}

KernelSource kernel(const Problem& problem, const Config& config) {
    const Plan plan(problem, config, Target::cuda);
    const Shape& shape = plan.shape;
    const Pass& pass = plan.passes.front();
    KernelSource source = make_source(plan);
    Launch launch;
    launch.entry = pass.entry;
    launch.range_axis = 0;
    launch.range_per_block = zones_per_block(plan);
    launch.grid[0] = (shape.zones + launch.range_per_block - 1) / launch.range_per_block;
    launch.block = {warp * plan.number("warps_per_block"), 1, 1};
    launch.shared_bytes = shared_words(plan) * shape.bytes();
    source.step.push_back(launch);
    const std::string constants =
        fmt::format("constexpr int threads_per_block = {}, blocks_per_multiprocessor = {}, passes = {}, unrolled_pairs = {}, zone_pitch = {};\n",
                    launch.block[0], plan.number("min_blocks"), plan.number("passes"), plan.number("unrolled_pairs"), zone_pitch(shape));
    Flags flags{{"f32", shape.precision == Precision::f32},
                {"solid", false},
                {"branchless", true},
                {"w_in_shared", plan.config.has("w_in", "shared")},
                {"kept_reads", false}};
    add_copies(flags, Copies::words_or_zeros);
    source.text = render("corner_force/streamed.cu",
                         {{"banner", banner(plan, source.executed_operations)},
                          {"constants", numeric_constants(plan).append(Block().lines_of(constants))},
                          {"tables", axis_parts(shape, Target::cuda)},
                          {"entry", signature(plan, pass)}},
                         flags);
    return source;
}

}  // namespace

bool streams(const Shape& shape) {
    return shape.dimension == 2 && shape.result == "products" && shape.order > 1 && shape.order <= largest_order;
}

Form streamed_form(const Problem& problem) {
    const Shape shape(problem);
    return {.space = {.name = "streamed",
                      .help = "points, forces and work in one launch: zones stream through warps, a thread for each line of points",
                      .tunables =
                          {{"warps_per_block", "warps of a block, each with zones of its own", numbers({1, 2, 4, 8})},
                           {"passes", "groups of zones that a warp works on one after another", numbers({1, 2, 4, 8, 16, 32})},
                           {"unrolled_pairs", "pairs of points of a line whose code is written one after another", numbers({1, shape.order})},
                           {"w_in",
                            "where a line keeps values and slopes of w: registers; shared: in shared memory, which leaves registers to the physics",
                            words({"registers", "shared"}), Value("registers")},
                           min_blocks({1, 2, 3, 4, 5, 6, 8, 10, 12, 16})},
                      .safe = {{"warps_per_block", std::int64_t{4}},
                               {"passes", std::int64_t{4}},
                               {"unrolled_pairs", std::int64_t{1}},
                               {"w_in", "registers"},
                               {"min_blocks", std::int64_t{1}}},
                      .former = [](const Config& config) { return config.has(form_tunable, "streamed"); }},
            .needs = {Feature::async_copies},
            .resources = [problem](const Config& config) { return resources(Plan(problem, config, Target::cuda)); },
            .resources_read = {"warps_per_block"},
            .kernel = [problem](const Config& config) { return kernel(problem, config); }};
}

}  // namespace hone::inline v0_1::corner
