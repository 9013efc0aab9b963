#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "generator/families/corner_force/cuda.hpp"
#include "generator/families/device/cuda_copies.hpp"

// Teams of warps go through layers of a zone's points, each by itself, from what nodes give to a
// layer to what it gives back. A thread has two mirrored points.

namespace hone::inline v0_1::corner {
namespace {

int even(int words) {
    return words + words % 2;
}

// Threads and shared memory of a zone, in words. Rows lie apart by twice an odd number of words:
// then a warp reads two words of each of its rows at once, from different banks.
struct Layout {
    int fields = 0;                                            // that are differentiated
    int pairs = 0;                                             // of points of a row
    int team_rows = 0, rows_of_warp = 0;                       // rows of points that a team has, a warp of it
    int layer_nodes = 0, layer_energies = 0;                   // of one layer
    int made_numbers = 0;                                      // at a point, for nodes
    int half_field = 0, energies_of_half = 0, half_layer = 0;  // what nodes give to a layer
    int node_pitch = 0, point_pitch = 0;                       // of a row: a number's parts, a number at its points
    int w_of_row = 0, energies_of_row = 0, row_words = 0;      // where parts of w and coefficients are; a row
    int team_words = 0, table_words = 0, sum_words = 0;        // of a team; tables; sums over passes
    int copied_words = 0;                                      // for points
    int node_teams = 0, rounds_of_nodes = 0;                   // of threads, one for each node of a layer
};

struct Teams : ZoneKernel {
    Teams(const Shape& of_zones, const Config& config)
        : ZoneKernel(of_zones, Target::cuda, {all_at_once(of_zones, "teams")}),
          layers(static_cast<int>(config.integer("layers"))),
          teams(static_cast<int>(config.integer("teams"))),
          team_layers(static_cast<int>(config.integer("team_layers"))),
          min_blocks(static_cast<int>(integer_or(config, "min_blocks", 1))),
          async(config.has("point_data", "async")),
          fetch_ahead(integer_or(config, "fetch_ahead", 0)) {
        splits = layers;
        lay_out();
    }

    int layers, teams, team_layers;  // of points: at a time; teams of warps, and what one of them works on
    int min_blocks;
    bool async;                // what the physics takes from memory is copied past the registers
    std::int64_t fetch_ahead;  // zones from those at work to those whose data the L2 cache is asked for; 0: none
    Layout layout;

    bool several() const { return layers < shape.points_along; }
    int threads() const { return teams * team; }
    std::int64_t shared_bytes() const {
        return (layout.table_words + std::int64_t{layers} * layout.half_layer + std::int64_t{teams} * layout.team_words + layout.sum_words) *
               shape.bytes();
    }
    // Derivatives of a pair's second point while the first one's physics is computed.
    BlockResources resources() const { return {.threads = threads(), .shared_bytes = shared_bytes(), .registers = shape.bytes() / 4 * 48 + 32}; }

    void lay_out();
    Block own_constants() const;
    Flags flags() const;
    Launch launch() const;
    KernelSource kernel(const Problem& problem, const Config& config) const;
};

void Teams::lay_out() {
    const int d = shape.dimension, n = shape.nodes_along, p = shape.points_along;
    Layout& to = layout;
    to.fields = 2 * d + (shape.works() ? d : 0);
    to.pairs = p / 2;
    to.team_rows = team_layers * p;
    const int warps = pieces(to.team_rows, warp / to.pairs);
    to.rows_of_warp = pieces(to.team_rows, warps);
    team = warp * warps;
    to.layer_nodes = n * n;
    to.layer_energies = shape.energies_along * shape.energies_along;
    // Lines of the fields lie side by side in the banks, where there is room.
    to.half_field = shape.order > 4 ? padded(to.layer_nodes, n, 128 / shape.bytes()) : to.layer_nodes;
    to.energies_of_half = 2 * to.fields * to.half_field;
    to.half_layer = even(to.energies_of_half + to.layer_energies);
    to.node_pitch = even(n);
    to.made_numbers = d * d + (shape.works() ? 1 : 0);
    to.point_pitch = to.made_numbers * (p + 1) <= 2 * d * d * to.node_pitch ? p + 1 : p;
    to.w_of_row = std::max(2 * d * d * to.node_pitch, even(to.made_numbers * to.point_pitch));
    to.energies_of_row = to.w_of_row + d * d * to.node_pitch;
    to.row_words = even(to.energies_of_row + shape.energies_along);
    if (to.row_words % 4 == 0) to.row_words += 2;
    to.team_words = to.team_rows * to.row_words;
    to.table_words = even(to.pairs * (2 * n + shape.energies_along));
    to.sum_words = several() ? shape.vector_words() + (shape.works() ? shape.energies() : 0) : 0;
    to.copied_words = async ? d * d * team : 0;
    to.node_teams = threads() / to.layer_nodes;
    to.rounds_of_nodes = to.node_teams == 0 ? 0 : pieces(to.fields, to.node_teams);
}

Block Teams::own_constants() const {
    const Layout& at = layout;
    std::string text = fmt::format(
        "constexpr int fields = {}, layers = {}, teams = {}, team_layers = {}, team_rows = {}, rows_of_warp = {};  // differentiated; of points\n"
        "constexpr int team = {}, threads_per_block = teams * team, blocks_per_multiprocessor = {};\n"
        "constexpr int layer_nodes = {}, layer_energies = {}, pairs_along = points_along / 2, made_numbers = {};\n"
        "constexpr int half_field = {}, energies_of_half = {}, half_layer = {}, node_pitch = {}, point_pitch = {};\n"
        "constexpr int w_of_row = {}, energies_of_row = {}, row_words = {}, team_words = {}, table_words = {};\n"
        "constexpr int node_teams = {}, rounds_of_nodes = {};  // of threads, one for each node of a layer\n"
        "constexpr real epsilon = {};\n"
        "constexpr int layers_unrolled = {};\n",
        at.fields, layers, teams, team_layers, at.team_rows, at.rows_of_warp, team, min_blocks, at.layer_nodes, at.layer_energies, at.made_numbers,
        at.half_field, at.energies_of_half, at.half_layer, at.node_pitch, at.point_pitch, at.w_of_row, at.energies_of_row, at.row_words,
        at.team_words, at.table_words, at.node_teams, at.rounds_of_nodes, epsilon(shape), several() ? 1 : layers);
    if (fetch_ahead > 0) text += fmt::format("constexpr int fetched_ahead = {};\n", fetch_ahead);
    return Block().lines_of(text);
}

Flags Teams::flags() const {
    Flags result{{"f32", shape.precision == Precision::f32},
                 {"solid", true},
                 {"branchless", false},
                 {"physics", true},
                 {"works", shape.works()},
                 {"keeps_stress", shape.keeps_stress()},
                 {"stress_comes", false},
                 {"copied", async},
                 {"several", several()},
                 {"mirrored", !several()},
                 {"warp_teams", team == warp},
                 {"fetches_ahead", fetch_ahead > 0},
                 {"kept_reads", false}};
    add_copies(result, Copies::words_or_zeros, async);
    return result;
}

// A block for each zone.
Launch Teams::launch() const {
    Launch result;
    result.entry = passes.front().entry;
    result.range_axis = 0;
    result.range_per_block = 1;
    result.grid[0] = shape.zones;
    result.block = {threads(), 1, 1};
    result.shared_bytes = shared_bytes();
    return result;
}

KernelSource Teams::kernel(const Problem& problem, const Config& config) const {
    const Pass& pass = passes.front();
    KernelSource source = common_source(*this, problem);
    source.step.push_back(launch());
    source.text = render("corner_force/teams.cu",
                         {{"banner", banner(*this, problem, config)},
                          {"constants", numeric_constants(*this).append(own_constants())},
                          {"tables", axis_parts(shape, Target::cuda)},
                          {"comment", Block().lines_of(pass_comment(pass))},
                          {"entry", signature(*this, problem, pass)}},
                         flags());
    return source;
}

Reason uneven_teams(const Teams& kernel) {
    if (kernel.layers % kernel.team_layers != 0) return "layers of a team do not divide the layers";
    if (kernel.teams * kernel.team_layers > kernel.layers) return "some teams have no layers";
    if (kernel.threads() >= kernel.layout.layer_nodes) return std::nullopt;
    return fmt::format("{} nodes of a layer have {} threads; take more teams or layers", kernel.layout.layer_nodes, kernel.threads());
}

Reason large_copies(const Teams& kernel) {
    if (kernel.layout.copied_words <= kernel.team_layers * kernel.layout.half_layer) return std::nullopt;
    return "what the points take does not fit where a team's layers were";
}

}  // namespace

Form teams_form(const Problem& problem, const Limits& limits) {
    const Shape shape(problem);
    FormSpace space{
        .name = "teams",
        .help = "points, forces and work in one launch: teams of warps go through layers of points by themselves, two points a thread",
        .tunables = {layers_tunable(shape),
                     {"teams", "of warps, each of which goes through layers by itself", numbers({1, 2, 3, 4, 6, 8})},
                     {"team_layers", "layers that a team works on at a time", divisors(shape.points_along, shape.points_along)},
                     point_data_tunable(),
                     min_blocks_tunable({1, 2, 3, 4, 5, 6, 8, 10, 11, 12})},
        .constraints = {{"teams", [shape](const Config& config) { return uneven_teams(Teams(shape, config)); }, {"layers", "teams", "team_layers"}},
                        {"copies",
                         [shape](const Config& config) { return large_copies(Teams(shape, config)); },
                         {"layers", "teams", "team_layers", "point_data"}}},
        .safe = {{"layers", std::int64_t{2}},
                 {"teams", std::int64_t{1}},
                 {"team_layers", std::int64_t{shape.order > 6 ? 1 : 2}},
                 {"point_data", "loads"},
                 {"min_blocks", std::int64_t{1}}}};
    if (limits.has(Feature::bulk_copies)) {
        space.tunables.push_back(fetch_ahead_tunable());
        space.safe.push_back({"fetch_ahead", std::int64_t{0}});
    }
    return cuda_form<Teams>(problem, std::move(space), {"layers", "teams", "team_layers"});
}

}  // namespace hone::inline v0_1::corner
