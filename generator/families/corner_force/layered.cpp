
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "generator/families/corner_force/cuda.hpp"
#include "generator/families/device/cuda_copies.hpp"

// Form `layered`: a zone's points layer by layer.

namespace hone::inline v0_1::corner {
namespace {

// Whether each point sums up its row of nodes for itself.
bool sums_directly(const Plan& plan) {
    return plan.config.has("derivatives", "direct");
}

// Whether a thread has two points, which are mirror images along the first axis.
bool has_pairs(const Plan& plan) {
    return plan.points_of_thread() == 2;
}

// Whether what the physics takes from memory is copied past the registers.
bool copies_points(const Plan& plan) {
    return plan.config.has("point_data", "async");
}

// Whether sums along an axis are made of even and odd parts.
bool has_parity(const Plan& plan) {
    return plan.config.has("axis_sums", "parity");
}

// Zones from those at work to those whose data the second cache is asked for; 0: none.
std::int64_t fetched_ahead(const Plan& plan) {
    return integer_or(plan.config, "fetch_ahead", 0);
}

// Teams of threads along the second axis of a solid, one thread for each line of nodes.
int lines_at_once(const Plan& plan) {
    return plan.team() / (plan.splits() * plan.shape.nodes_along);
}

// Whether the three products of a field with a table along the second axis are dealt out one by
// one: where that takes fewer rounds.
bool deals_tables(const Plan& plan, int fields) {
    const auto rounds = [&](int numbers) { return (numbers + lines_at_once(plan) - 1) / lines_at_once(plan); };
    return plan.shape.dimension == 3 && has_parity(plan) && rounds(3 * fields) < 3 * rounds(fields);
}

// Whether lines along the second axis are dealt out one by one, whatever field they are of; all
// three products of a line come together, and take what they read once, which is worth a fifth.
// Pairs never deal out whole fields: that takes no fewer rounds, and their fields lie apart.
bool deals_lines(const Plan& plan, int fields) {
    const int lines = fields * plan.splits() * plan.shape.nodes_along;
    const auto rounds = [&](int numbers) { return (numbers + plan.team() - 1) / plan.team(); };
    return has_pairs(plan) && (!deals_tables(plan, fields) || 10 * 3 * rounds(lines) <= 12 * rounds(3 * lines));
}

// Where its half-way results lie in shared memory, in words. Distances are such that a warp's
// accesses go to different banks.
struct LayeredLayout {
    explicit LayeredLayout(const Plan& plan);

    int fields;                                      // that are differentiated: components of x, v and w
    int rows;                                        // of points in the layers
    int layer_nodes, layer_energies, layer_rows;     // of one layer
    int node_pitch, energy_pitch, point_pitch;       // of rows
    int layer_pitch;                                 // of a layer's nodes
    int half_field, half_layer, half_words;          // of nodes at layers: from field to field, from layer to layer, all
    int row_words;                                   // of a number of all rows
    int derived, made;                               // numbers at a point: from nodes, and for them
    int slot;                                        // of a number at all points of the layers
    bool folded;                                     // points of a row are exchanged, so that columns lie in different banks
    bool several;                                    // passes over layers, whose sums are added up
    int across_words, point_words, force_sum_words;  // of a zone
    int bernstein_words, pair_words;                 // of tables in shared memory
    int table_words, zone_pitch;                     // of a block, and from zone to zone

    int copied_words;  // of a point

    std::int64_t shared_words(int zones, int team) const { return table_words + std::int64_t{zones} * (zone_pitch + copied_words * team); }
};

int odd(int words) {
    return words + 1 - words % 2;
}

LayeredLayout::LayeredLayout(const Plan& plan) {
    const Shape& shape = plan.shape;
    const int d = shape.dimension;
    const int layers = plan.splits();
    const int banks = 128 / shape.bytes();
    const int n = shape.nodes_along;
    const int p = shape.points_along;
    const bool solid = d == 3;
    fields = (shape.physics() ? 2 * d : 0) + (shape.works() ? d : 0);
    layer_rows = solid ? p : 1;
    rows = layers * layer_rows;
    layer_nodes = solid ? n * n : n;
    layer_energies = solid ? shape.energies_along * shape.energies_along : shape.energies_along;
    node_pitch = odd(n);
    energy_pitch = odd(shape.energies_along);
    folded = p <= banks && banks % p == 0;
    point_pitch = folded ? p : p + 1;
    slot = rows * point_pitch;
    several = layers < p;
    row_words =
        has_pairs(plan) ? padded(rows * node_pitch, n, banks) : rows * node_pitch;  // lines of the fields of a layer: side by side in the banks
    across_words = std::max(fields, shape.physics() ? d : 0) * d * row_words;
    derived = fields * d + (shape.physics() ? 1 : 0);
    made = (shape.physics() ? d * d : 0) + (shape.works() ? 1 : 0);
    const int numbers = sums_directly(plan) || has_pairs(plan) ? made : derived;
    point_words = std::max(numbers * slot, plan.team());
    if (has_pairs(plan)) point_words = std::max(point_words, d * d * layers * layer_nodes);
    layer_pitch = node_pitch;
    if (has_pairs(plan)) {
        half_field = layer_nodes;
        half_layer = 2 * fields * layer_nodes + n;
        half_words = layers * half_layer;
        point_words = std::max(point_words, half_words + layers * layer_energies);
    } else {
        if (solid) {
            const auto halves = [&](int pitch) { return 2 * fields * layers * pitch + (shape.physics() ? layers * layer_energies : 0); };
            layer_pitch = padded(layer_nodes, n, banks);
            if (halves(layer_pitch) > point_words) layer_pitch = odd(layer_nodes);  // some conflicts take less than the room
            point_words = std::max(point_words, halves(layer_pitch));
        }
        half_field = layers * layer_pitch;
        half_layer = layer_pitch;
        half_words = 2 * fields * half_field;
    }
    force_sum_words = shape.physics() ? shape.vector_words() : 0;
    copied_words = copies_points(plan) ? plan.points_of_thread() * (d * d + 1) : 0;
    bernstein_words = solid && shape.works() ? p * shape.energies_along : 0;
    pair_words = has_pairs(plan) ? p / 2 * (2 * n + shape.energies_along) : 0;
    table_words = bernstein_words + (has_pairs(plan) ? pair_words : solid ? 2 * p * n : 0);
    const int sums = several ? force_sum_words + (shape.works() ? shape.energies() : 0) : 0;
    const int words = across_words + point_words + rows * energy_pitch + sums;
    zone_pitch = plan.team() >= banks ? words : padded(words, plan.team(), banks);
}

Block layout_constants(const LayeredLayout& layout, const Plan& plan) {
    Block block;
    block.line("constexpr int fields = {}, layers = splits, rows = {};  // differentiated; at a time; of points in them", layout.fields, layout.rows);
    block.line("constexpr int layer_nodes = {}, layer_energies = {}, layer_rows = {};", layout.layer_nodes, layout.layer_energies, layout.layer_rows);
    block.line("constexpr int node_pitch = {}, energy_pitch = {}, point_pitch = {}, half_field = {}, half_layer = {}, half_words = {};",
               layout.node_pitch, layout.energy_pitch, layout.point_pitch, layout.half_field, layout.half_layer, layout.half_words);
    std::string others;
    if (has_parity(plan))
        others +=
            fmt::format(", derived = {}, made_numbers = {}, parts = team / rows, row_words = {}", layout.derived, layout.made, layout.row_words);
    if (has_pairs(plan)) others += fmt::format(", pairs_along = points_along / 2, pair_words = {}", layout.pair_words);
    if (layout.bernstein_words > 0) others += fmt::format(", bernstein_words = {}", layout.bernstein_words);
    if (fetched_ahead(plan) > 0) others += fmt::format(", fetched_ahead = {}", fetched_ahead(plan));
    block.line("constexpr int slot = {}, across_words = {}, point_words = {}, table_words = {}, zone_pitch = {}{};", layout.slot, layout.across_words,
               layout.point_words, layout.table_words, layout.zone_pitch, others);
    const int node_teams = plan.team() / layout.layer_nodes;
    block.line("constexpr int node_teams = {}, rounds_of_nodes = {};  // of threads, one for each node of a layer", node_teams,
               (layout.fields + node_teams - 1) / node_teams);
    if (plan.shape.dimension == 3) {
        const int line_teams = lines_at_once(plan);
        block.line("constexpr int line_teams = {}, rounds_of_lines = {};  // of threads, one for each line along the second axis", line_teams,
                   (layout.fields + line_teams - 1) / line_teams);
    }
    if (layout.folded) block.line("constexpr int rows_of_banks = {};", 128 / plan.shape.bytes() / plan.shape.points_along);
    if (plan.shape.works()) block.line("constexpr int power_slot = {};", plan.shape.physics() ? plan.shape.dimension * plan.shape.dimension : 0);
    if (layout.several && plan.shape.works()) block.line("constexpr int force_sum_words = {};", layout.force_sum_words);
    return block;
}

// Of a thread; the compiler is held to them.
int registers(const Plan& plan) {
    const Shape& shape = plan.shape;
    const int words = shape.bytes() / 4;
    const int sums = 2 * std::max(shape.points_along, shape.nodes_along) + shape.nodes_along;  // of a row
    return words * std::max(!shape.physics() ? 24 : shape.dimension == 3 ? 32 : 28, sums) + 32;
}

BlockResources resources(const Plan& plan) {
    const int zones = plan.number("zones_per_block");
    return {.threads = std::int64_t{zones} * plan.team(),
            .shared_bytes = LayeredLayout(plan).shared_words(zones, plan.team()) * plan.shape.bytes(),
            .registers = registers(plan)};
}

std::string text_of(const Plan& plan, const LayeredLayout& layout, double executed_operations) {
    const Shape& shape = plan.shape;
    const bool f32 = shape.precision == Precision::f32;
    const bool solid = shape.dimension == 3;
    // What the physics of a point takes from memory is fetched a pass ahead where there are
    // registers for it (measured on an H200).
    const bool copied = copies_points(plan);
    const bool staged = plan.config.has("derivatives", "staged");
    const bool one_by_one = deals_lines(plan, layout.fields);
    const bool early = !copied && shape.physics() && (!solid || shape.order == 1 || f32);
    Block all_constants = cuda_constants(plan);
    all_constants.append(layout_constants(layout, plan));
    if (solid && shape.physics()) all_constants.line("constexpr real epsilon = {};", f32 ? "1.1920929e-7f" : "2.220446049250313e-16");
    Flags flags{{"f32", f32},
                {"solid", solid},
                {"branchless", false},
                {"physics", shape.physics()},
                {"works", shape.works()},
                {"early", early},
                {"late", shape.physics() && !early && !copied},
                {"copied", copied},
                {"paired", has_pairs(plan)},
                {"energies_late", shape.physics() && !has_pairs(plan)},
                {"loaded", !copied},
                {"pairs_copied", copied && has_pairs(plan)},
                {"points_copied", copied && !has_pairs(plan)},
                {"tables_of_rows", solid && !has_pairs(plan)},
                {"bernstein_rows", layout.bernstein_words > 0},
                {"sums_of_columns", shape.physics() && !has_pairs(plan)},
                {"pointed", !early && !(copied && !shape.keeps_stress())},
                {"keeps_stress", shape.keeps_stress()},
                {"direct", sums_directly(plan)},
                {"staged", staged},
                {"staged_plainly", staged && !has_parity(plan)},
                {"staged_by_parity", staged && has_parity(plan)},
                {"folded", layout.folded},
                {"several", layout.several},
                {"parity", has_parity(plan)},
                {"lines_one_by_one", one_by_one},
                {"lines_by_field", solid && !one_by_one && !deals_tables(plan, layout.fields)},
                {"lines_by_table", !one_by_one && deals_tables(plan, layout.fields)},
                {"mirrored", has_parity(plan) && !layout.several},
                {"fetches_ahead", fetched_ahead(plan) > 0},
                {"stress_comes", !shape.physics()},
                {"several_rows", layout.several && !solid},
                {"kept_reads", false}};
    add_copies(flags, Copies::words_or_zeros, copied);
    return render("corner_force/layered.cu",
                  {{"banner", banner(plan, executed_operations)},
                   {"constants", all_constants},
                   {"barrier", team_barrier(plan)},
                   {"tables", has_parity(plan) ? axis_parts(shape, Target::cuda) : axis_tables(shape, Target::cuda)},
                   {"comment", Block().text(pass_comment(plan.passes.front()))},
                   {"entry", signature(plan, plan.passes.front())}},
                  flags);
}

KernelSource kernel(const Problem& problem, const Config& config) {
    const Plan plan(problem, config, Target::cuda);
    const Pass& pass = plan.passes.front();
    KernelSource source = make_source(plan);
    source.step.push_back(team_launch(plan, pass, resources(plan).shared_bytes));
    source.text = text_of(plan, LayeredLayout(plan), source.executed_operations);
    return source;
}

}  // namespace

Form layered_form(const Problem& problem, const Limits& limits) {
    const Shape shape(problem);
    const bool several = shape.dimension == 3 && shape.order >= 3 && shape.order <= 5;
    const bool pairs = shape.dimension == 3 && shape.order > 1 && shape.physics();
    std::vector<Tunable> tunables{
        zones_per_block(),
        layers_at_a_time(shape),
        {"derivatives",
         "staged: rows of nodes become rows of points in shared memory; direct: each point sums up its row of nodes; paired: a thread does, for two "
         "points that are mirror images",
         pairs ? words({"staged", "direct", "paired"}) : words({"staged", "direct"}), Value("staged")},
        min_blocks({1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20})};
    std::vector<Assignment> safe{{"zones_per_block", safe_zones(shape)},
                                 {"layers", std::int64_t{several ? 2 : 1}},
                                 {"derivatives", "staged"},
                                 {"min_blocks", std::int64_t{1}}};
    std::vector<std::string> read{"zones_per_block", "layers", "derivatives"};
    if (shape.order > 1) {
        tunables.push_back({"axis_sums",
                            "along an axis: plain; parity: of sums and differences of mirrored nodes or points, with half of the constants",
                            words({"plain", "parity"}), Value("plain")});
        safe.push_back({"axis_sums", "plain"});
    }
    if (shape.physics() && limits.has(Feature::async_copies)) {
        tunables.push_back(point_data());
        safe.push_back({"point_data", "loads"});
        read.emplace_back("point_data");
    }
    if (limits.has(Feature::bulk_copies)) {
        tunables.push_back(fetch_ahead());
        safe.push_back({"fetch_ahead", std::int64_t{0}});
    }
    std::vector<Constraint> constraints;
    if (pairs)
        constraints.push_back({"pairs",
                               [problem](const Config& config) -> std::optional<std::string> {
                                   if (!config.has("derivatives", "paired")) return std::nullopt;
                                   if (!config.has("axis_sums", "parity")) return "pairs of points take sums by parity";
                                   const Plan plan(problem, config, Target::cuda);
                                   const int nodes = LayeredLayout(plan).layer_nodes;
                                   if (plan.team() >= nodes) return std::nullopt;
                                   return fmt::format("{} nodes of a layer have {} threads; take more layers", nodes, plan.team());
                               },
                               {"zones_per_block", "layers", "derivatives", "axis_sums"}});
    Form form{.space = {.name = "layered",
                        .help = "points, forces and work in one launch, layer by layer of points, at any order",
                        .tunables = std::move(tunables),
                        .constraints = std::move(constraints),
                        .safe = std::move(safe),
                        .former = [](const Config& config) { return config.has(form_tunable, "layered"); }},
              .resources = [problem](const Config& config) { return resources(Plan(problem, config, Target::cuda)); },
              .resources_read = std::move(read),
              .kernel = [problem](const Config& config) { return kernel(problem, config); }};
    // Rows of points that are not kept leave room.
    if (shared_violation(safe_needs(form), 1, limits)) form.space.safe[2].value = "direct";
    return form;
}

}  // namespace hone::inline v0_1::corner
