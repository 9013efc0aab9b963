#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "generator/families/corner_force/cuda.hpp"
#include "generator/families/device/cuda_copies.hpp"

// Form `teams`: a zone's layers of points by teams of warps, which wait for each other twice.

namespace hone::inline v0_1::corner {
namespace {

constexpr int warp = 32;

int even(int words) {
    return words + words % 2;
}

// Threads and shared memory of a zone, in words. Rows lie apart by twice an odd number of words:
// then a warp reads two words of each of its rows at once, from different banks.
struct TeamsLayout {
    explicit TeamsLayout(const Plan& plan);

    int threads() const { return teams * team; }
    std::int64_t shared_words() const { return table_words + std::int64_t{layers} * half_layer + std::int64_t{teams} * team_words + sum_words; }

    int layers, teams, team_layers;                        // of points: at a time; teams of warps, and what one of them works on
    int fields;                                            // that are differentiated
    int pairs;                                             // of points of a row
    int team_rows, rows_of_warp, team;                     // rows of points that a team has, a warp of it; threads
    int layer_nodes, layer_energies;                       // of one layer
    int half_field, energies_of_half, half_layer;          // what nodes give to a layer
    int node_pitch, point_pitch;                           // of a row: a number's parts, a number at its points
    int w_of_row, energies_of_row, row_words;              // where parts of w and coefficients are; a row
    int team_words, table_words, sum_words, copied_words;  // of a team; tables; sums over passes; what is copied for points
    int node_teams, rounds_of_nodes;
};

TeamsLayout::TeamsLayout(const Plan& plan) {
    const Shape& shape = plan.shape;
    const int d = shape.dimension, n = shape.nodes_along, p = shape.points_along;
    layers = plan.number("layers");
    teams = plan.number("teams");
    team_layers = plan.number("team_layers");
    fields = 2 * d + (shape.works() ? d : 0);
    pairs = p / 2;
    team_rows = team_layers * p;
    const int warps = pieces(team_rows, warp / pairs);
    rows_of_warp = pieces(team_rows, warps);
    team = warp * warps;
    layer_nodes = n * n;
    layer_energies = shape.energies_along * shape.energies_along;
    // Lines of the fields lie side by side in the banks, where there is room.
    half_field = shape.order > 4 ? padded(layer_nodes, n, 128 / shape.bytes()) : layer_nodes;
    energies_of_half = 2 * fields * half_field;
    half_layer = even(energies_of_half + layer_energies);
    node_pitch = even(n);
    const int made = d * d + (shape.works() ? 1 : 0);
    point_pitch = made * (p + 1) <= 2 * d * d * node_pitch ? p + 1 : p;
    w_of_row = std::max(2 * d * d * node_pitch, even(made * point_pitch));
    energies_of_row = w_of_row + d * d * node_pitch;
    row_words = even(energies_of_row + shape.energies_along);
    if (row_words % 4 == 0) row_words += 2;
    team_words = team_rows * row_words;
    table_words = even(pairs * (2 * n + shape.energies_along));
    sum_words = layers < p ? shape.vector_words() + (shape.works() ? shape.energies() : 0) : 0;
    copied_words = plan.config.has("point_data", "async") ? d * d * team : 0;
    node_teams = threads() / layer_nodes;
    rounds_of_nodes = node_teams == 0 ? 0 : pieces(fields, node_teams);
}

std::string constants_of(const TeamsLayout& layout, const Plan& plan) {
    const Shape& shape = plan.shape;
    std::string text = fmt::format(
        "constexpr int fields = {}, layers = {}, teams = {}, team_layers = {}, team_rows = {}, rows_of_warp = {};  // differentiated; of points\n"
        "constexpr int team = {}, threads_per_block = teams * team, blocks_per_multiprocessor = {};\n"
        "constexpr int layer_nodes = {}, layer_energies = {}, pairs_along = points_along / 2, made_numbers = {};\n"
        "constexpr int half_field = {}, energies_of_half = {}, half_layer = {}, node_pitch = {}, point_pitch = {};\n"
        "constexpr int w_of_row = {}, energies_of_row = {}, row_words = {}, team_words = {}, table_words = {};\n"
        "constexpr int node_teams = {}, rounds_of_nodes = {};  // of threads, one for each node of a layer\n"
        "constexpr real epsilon = {};\n",
        layout.fields, layout.layers, layout.teams, layout.team_layers, layout.team_rows, layout.rows_of_warp, layout.team, plan.number("min_blocks"),
        layout.layer_nodes, layout.layer_energies, shape.works() ? 10 : 9, layout.half_field, layout.energies_of_half, layout.half_layer,
        layout.node_pitch, layout.point_pitch, layout.w_of_row, layout.energies_of_row, layout.row_words, layout.team_words, layout.table_words,
        layout.node_teams, layout.rounds_of_nodes, shape.precision == Precision::f32 ? "1.1920929e-7f" : "2.220446049250313e-16");
    text += fmt::format("constexpr int layers_unrolled = {};\n", layout.layers < shape.points_along ? 1 : layout.layers);
    const std::int64_t ahead = integer_or(plan.config, "fetch_ahead", 0);
    if (ahead > 0) text += fmt::format("constexpr int fetched_ahead = {};\n", ahead);
    return text;
}

BlockResources resources(const Plan& plan) {
    const TeamsLayout layout(plan);
    // Derivatives of a pair's second point while the first one's physics is computed.
    return {.threads = layout.threads(), .shared_bytes = layout.shared_words() * plan.shape.bytes(), .registers = plan.shape.bytes() / 4 * 48 + 32};
}

KernelSource kernel(const Problem& problem, const Config& config) {
    const Plan plan(problem, config, Target::cuda);
    const Shape& shape = plan.shape;
    const TeamsLayout layout(plan);
    const Pass& pass = plan.passes.front();
    KernelSource source = make_source(plan);
    Launch launch;
    launch.entry = pass.entry;
    launch.range_axis = 0;
    launch.range_per_block = 1;
    launch.grid[0] = shape.zones;
    launch.block = {layout.threads(), 1, 1};
    launch.shared_bytes = layout.shared_words() * shape.bytes();
    source.step.push_back(launch);
    const bool several = layout.layers < shape.points_along;
    const bool copied = config.has("point_data", "async");
    Flags flags{{"f32", shape.precision == Precision::f32},
                {"solid", true},
                {"branchless", false},
                {"physics", true},
                {"works", shape.works()},
                {"keeps_stress", shape.keeps_stress()},
                {"stress_comes", false},
                {"copied", copied},
                {"several", several},
                {"mirrored", !several},
                {"warp_teams", layout.team == warp},
                {"fetches_ahead", integer_or(config, "fetch_ahead", 0) > 0},
                {"kept_reads", false}};
    add_copies(flags, Copies::words_or_zeros, copied);
    source.text = render("corner_force/teams.cu",
                         {{"banner", banner(plan, source.executed_operations)},
                          {"constants", numeric_constants(plan).append(Block().lines_of(constants_of(layout, plan)))},
                          {"tables", axis_parts(shape, Target::cuda)},
                          {"comment", Block().lines_of(pass_comment(pass))},
                          {"entry", signature(plan, pass)}},
                         flags);
    return source;
}

}  // namespace

bool has_teams(const Shape& shape) {
    return shape.dimension == 3 && shape.physics() && !shape.keeps_corner() && shape.order > 1;
}

Form teams_form(const Problem& problem, const Limits& limits) {
    const Shape shape(problem);
    std::vector<Tunable> tunables{layers_at_a_time(shape),
                                  {"teams", "of warps, each of which goes through layers by itself", numbers({1, 2, 3, 4, 6, 8})},
                                  {"team_layers", "layers that a team works on at a time", divisors(shape.points_along)},
                                  point_data(),
                                  min_blocks({1, 2, 3, 4, 5, 6, 8, 10, 11, 12})};
    std::vector<Assignment> safe{{"layers", std::int64_t{2}},
                                 {"teams", std::int64_t{1}},
                                 {"team_layers", std::int64_t{shape.order > 6 ? 1 : 2}},
                                 {"point_data", "loads"},
                                 {"min_blocks", std::int64_t{1}}};
    if (limits.has(Feature::bulk_copies)) {
        tunables.push_back(fetch_ahead());
        safe.push_back({"fetch_ahead", std::int64_t{0}});
    }
    std::vector<Constraint> constraints{{"teams",
                                         [problem](const Config& config) -> std::optional<std::string> {
                                             const TeamsLayout layout(Plan(problem, config, Target::cuda));
                                             if (layout.layers % layout.team_layers != 0) return "layers of a team do not divide the layers";
                                             if (layout.teams * layout.team_layers > layout.layers) return "some teams have no layers";
                                             if (layout.threads() < layout.layer_nodes)
                                                 return fmt::format("{} nodes of a layer have {} threads; take more teams or layers",
                                                                    layout.layer_nodes, layout.threads());
                                             return std::nullopt;
                                         },
                                         {"layers", "teams", "team_layers"}},
                                        {"copies",
                                         [problem](const Config& config) -> std::optional<std::string> {
                                             const TeamsLayout layout(Plan(problem, config, Target::cuda));
                                             if (layout.copied_words <= layout.team_layers * layout.half_layer) return std::nullopt;
                                             return "what the points take does not fit where a team's layers were";
                                         },
                                         {"layers", "teams", "team_layers", "point_data"}}};
    return {.space = {.name = "teams",
                      .help = "points, forces and work in one launch: teams of warps go through layers of points by themselves, two points a thread",
                      .tunables = std::move(tunables),
                      .constraints = std::move(constraints),
                      .safe = std::move(safe),
                      .former = [](const Config& config) { return config.has(form_tunable, "teams"); }},
            .needs = {Feature::async_copies},
            .resources = [problem](const Config& config) { return resources(Plan(problem, config, Target::cuda)); },
            .resources_read = {"layers", "teams", "team_layers"},
            .kernel = [problem](const Config& config) { return kernel(problem, config); }};
}

}  // namespace hone::inline v0_1::corner
