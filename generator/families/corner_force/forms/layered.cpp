#include <fmt/format.h>

#include <algorithm>

#include "generator/families/corner_force/cuda.hpp"
#include "generator/families/device/cuda_copies.hpp"

// A zone's points in layers across the last axis, some at a time, each point by a thread.
// Derivatives, physics and all sums of a layer stay in shared memory, so that a zone of any order
// fits.

namespace hone::inline v0_1::corner {
namespace {

// How a row of nodes becomes a row of points: in shared memory, by each point for itself, or by a
// thread for two points that are mirror images along the first axis.
enum class Derivatives { staged, direct, paired };

Derivatives derivatives_of(const Config& config) {
    return config.has("derivatives", "paired")   ? Derivatives::paired
           : config.has("derivatives", "direct") ? Derivatives::direct
                                                 : Derivatives::staged;
}

int odd(int words) {
    return words + 1 - words % 2;
}

int rounds(int numbers, int at_once) {
    return (numbers + at_once - 1) / at_once;
}

// Where the half-way results lie in shared memory, in words. Distances are such that a warp's
// accesses go to different banks.
struct Layout {
    int fields = 0;                                              // that are differentiated: components of x, v and w
    int rows = 0;                                                // of points in the layers
    int layer_nodes = 0, layer_energies = 0, layer_rows = 0;     // of one layer
    int node_pitch = 0, energy_pitch = 0, point_pitch = 0;       // of rows
    int half_field = 0, half_layer = 0, half_words = 0;          // of nodes at layers: from field to field, from layer to layer, all
    int row_words = 0;                                           // of a number of all rows
    int derived = 0, made = 0;                                   // numbers at a point: from nodes, and for them
    int slot = 0;                                                // of a number at all points of the layers
    bool folded = false;                                         // points of a row are exchanged, so that columns lie in different banks
    bool several = false;                                        // passes over layers, whose sums are added up
    int across_words = 0, point_words = 0, force_sum_words = 0;  // of a zone
    int bernstein_words = 0, pair_words = 0;                     // of tables in shared memory
    int table_words = 0, zone_pitch = 0;                         // of a block, and from zone to zone
    int copied_words = 0;                                        // of a thread's points
};

struct Layered : TeamKernel {
    Layered(const Shape& of_zones, const Config& config)
        : TeamKernel(of_zones, config, {all_at_once(of_zones, "layered")}),
          layers(static_cast<int>(config.integer("layers"))),
          derivatives(derivatives_of(config)),
          parity(config.has("axis_sums", "parity")),
          async(config.has("point_data", "async")),
          fetch_ahead(integer_or(config, "fetch_ahead", 0)) {
        splits = layers;
        team = shape.columns() * layers / points_of_thread();
        lay_out();
    }

    int layers;  // of points at a time
    Derivatives derivatives;
    bool parity;               // sums along an axis are made of even and odd parts
    bool async;                // what the physics takes from memory is copied past the registers
    std::int64_t fetch_ahead;  // zones from those at work to those whose data the L2 cache is asked for; 0: none
    Layout layout;

    bool paired() const { return derivatives == Derivatives::paired; }
    int points_of_thread() const { return paired() ? 2 : 1; }
    bool solid() const { return shape.dimension == 3; }
    std::int64_t shared_words() const {
        return layout.table_words + std::int64_t{zones_per_block} * (layout.zone_pitch + layout.copied_words * team);
    }

    // Teams of threads along the second axis of a solid, one thread for each line of nodes.
    int lines_at_once() const { return team / (layers * shape.nodes_along); }
    bool deals_tables() const;
    bool deals_lines() const;
    void lay_out();
    void lay_out_halves();
    int registers() const;
    BlockResources resources() const {
        return {.threads = std::int64_t{zones_per_block} * team, .shared_bytes = shared_words() * shape.bytes(), .registers = registers()};
    }
    Block layout_constants() const;
    Flags flags() const;
    KernelSource kernel(const Problem& problem, const Config& config) const;
};

// Whether the three products of a field with a table along the second axis are dealt out one by
// one: where that takes fewer rounds.
bool Layered::deals_tables() const {
    return solid() && parity && rounds(3 * layout.fields, lines_at_once()) < 3 * rounds(layout.fields, lines_at_once());
}

// Whether lines along the second axis are dealt out one by one, whatever field they are of; all
// three products of a line come together, and take what they read once, which is worth a fifth.
// Pairs never deal out whole fields: that takes no fewer rounds, and their fields lie apart.
bool Layered::deals_lines() const {
    const int lines = layout.fields * layers * shape.nodes_along;
    return paired() && (!deals_tables() || 10 * 3 * rounds(lines, team) <= 12 * rounds(3 * lines, team));
}

void Layered::lay_out() {
    const int d = shape.dimension, n = shape.nodes_along, p = shape.points_along, e = shape.energies_along;
    const int banks = 128 / shape.bytes();
    Layout& to = layout;
    to.fields = (shape.physics() ? 2 * d : 0) + (shape.works() ? d : 0);
    to.layer_rows = solid() ? p : 1;
    to.rows = layers * to.layer_rows;
    to.layer_nodes = solid() ? n * n : n;
    to.layer_energies = solid() ? e * e : e;
    to.node_pitch = odd(n);
    to.energy_pitch = odd(e);
    to.folded = p <= banks && banks % p == 0;
    to.point_pitch = to.folded ? p : p + 1;
    to.slot = to.rows * to.point_pitch;
    to.several = layers < p;
    // Of pairs, lines of the fields of a layer lie side by side in the banks.
    to.row_words = paired() ? padded(to.rows * to.node_pitch, n, banks) : to.rows * to.node_pitch;
    to.across_words = std::max(to.fields, shape.physics() ? d : 0) * d * to.row_words;
    to.derived = to.fields * d + (shape.physics() ? 1 : 0);
    to.made = (shape.physics() ? d * d : 0) + (shape.works() ? 1 : 0);
    to.point_words = std::max((derivatives == Derivatives::staged ? to.derived : to.made) * to.slot, team);
    lay_out_halves();
    to.force_sum_words = shape.physics() ? shape.vector_words() : 0;
    to.copied_words = async ? points_of_thread() * (d * d + 1) : 0;
    to.bernstein_words = solid() && shape.works() ? p * e : 0;
    to.pair_words = paired() ? p / 2 * (2 * n + e) : 0;
    to.table_words = to.bernstein_words + (paired() ? to.pair_words : solid() ? 2 * p * n : 0);
    const int sums = to.several ? to.force_sum_words + (shape.works() ? shape.energies() : 0) : 0;
    const int words = to.across_words + to.point_words + to.rows * to.energy_pitch + sums;
    to.zone_pitch = team >= banks ? words : padded(words, team, banks);
}

// What nodes give to layers lies where numbers of points do later.
void Layered::lay_out_halves() {
    const int d = shape.dimension, n = shape.nodes_along;
    Layout& to = layout;
    if (paired()) {
        to.half_field = to.layer_nodes;
        to.half_layer = 2 * to.fields * to.layer_nodes + n;
        to.half_words = layers * to.half_layer;
        to.point_words = std::max({to.point_words, d * d * layers * to.layer_nodes, to.half_words + layers * to.layer_energies});
        return;
    }
    to.half_layer = to.node_pitch;
    if (solid()) {
        const auto halves = [&](int pitch) { return 2 * to.fields * layers * pitch + (shape.physics() ? layers * to.layer_energies : 0); };
        to.half_layer = padded(to.layer_nodes, n, 128 / shape.bytes());
        if (halves(to.half_layer) > to.point_words) to.half_layer = odd(to.layer_nodes);  // some conflicts take less than the room
        to.point_words = std::max(to.point_words, halves(to.half_layer));
    }
    to.half_field = layers * to.half_layer;
    to.half_words = 2 * to.fields * to.half_field;
}

Block Layered::layout_constants() const {
    Block block;
    block.line("constexpr int fields = {}, layers = splits, rows = {};  // differentiated; at a time; of points in them", layout.fields, layout.rows);
    block.line("constexpr int layer_nodes = {}, layer_energies = {}, layer_rows = {};", layout.layer_nodes, layout.layer_energies, layout.layer_rows);
    block.line("constexpr int node_pitch = {}, energy_pitch = {}, point_pitch = {}, half_field = {}, half_layer = {}, half_words = {};",
               layout.node_pitch, layout.energy_pitch, layout.point_pitch, layout.half_field, layout.half_layer, layout.half_words);
    std::string others;
    if (parity)
        others +=
            fmt::format(", derived = {}, made_numbers = {}, parts = team / rows, row_words = {}", layout.derived, layout.made, layout.row_words);
    if (paired()) others += fmt::format(", pairs_along = points_along / 2, pair_words = {}", layout.pair_words);
    if (layout.bernstein_words > 0) others += fmt::format(", bernstein_words = {}", layout.bernstein_words);
    if (fetch_ahead > 0) others += fmt::format(", fetched_ahead = {}", fetch_ahead);
    block.line("constexpr int slot = {}, across_words = {}, point_words = {}, table_words = {}, zone_pitch = {}{};", layout.slot, layout.across_words,
               layout.point_words, layout.table_words, layout.zone_pitch, others);
    const int node_teams = team / layout.layer_nodes;
    block.line("constexpr int node_teams = {}, rounds_of_nodes = {};  // of threads, one for each node of a layer", node_teams,
               (layout.fields + node_teams - 1) / node_teams);
    if (solid()) {
        const int line_teams = lines_at_once();
        block.line("constexpr int line_teams = {}, rounds_of_lines = {};  // of threads, one for each line along the second axis", line_teams,
                   (layout.fields + line_teams - 1) / line_teams);
    }
    if (layout.folded) block.line("constexpr int rows_of_banks = {};", 128 / shape.bytes() / shape.points_along);
    if (shape.works()) block.line("constexpr int power_slot = {};", shape.physics() ? shape.dimension * shape.dimension : 0);
    if (layout.several && shape.works()) block.line("constexpr int force_sum_words = {};", layout.force_sum_words);
    return block;
}

// Of a thread; the compiler is held to them.
int Layered::registers() const {
    const int words = shape.bytes() / 4;
    const int sums = 2 * std::max(shape.points_along, shape.nodes_along) + shape.nodes_along;  // of a row
    return words * std::max(!shape.physics() ? 24 : solid() ? 32 : 28, sums) + 32;
}

Flags Layered::flags() const {
    const bool f32 = shape.precision == Precision::f32;
    // What the physics of a point takes from memory is fetched a pass ahead where there are
    // registers for it (measured on an H200).
    const bool staged = derivatives == Derivatives::staged;
    const bool one_by_one = deals_lines();
    const bool early = !async && shape.physics() && (!solid() || shape.order == 1 || f32);
    Flags result{{"f32", f32},
                 {"solid", solid()},
                 {"branchless", false},
                 {"physics", shape.physics()},
                 {"works", shape.works()},
                 {"early", early},
                 {"late", shape.physics() && !early && !async},
                 {"copied", async},
                 {"paired", paired()},
                 {"energies_late", shape.physics() && !paired()},
                 {"loaded", !async},
                 {"pairs_copied", async && paired()},
                 {"points_copied", async && !paired()},
                 {"tables_of_rows", solid() && !paired()},
                 {"bernstein_rows", layout.bernstein_words > 0},
                 {"sums_of_columns", shape.physics() && !paired()},
                 {"pointed", !early && !(async && !shape.keeps_stress())},
                 {"keeps_stress", shape.keeps_stress()},
                 {"direct", derivatives == Derivatives::direct},
                 {"staged", staged},
                 {"staged_plainly", staged && !parity},
                 {"staged_by_parity", staged && parity},
                 {"folded", layout.folded},
                 {"several", layout.several},
                 {"parity", parity},
                 {"lines_one_by_one", one_by_one},
                 {"lines_by_field", solid() && !one_by_one && !deals_tables()},
                 {"lines_by_table", !one_by_one && deals_tables()},
                 {"mirrored", parity && !layout.several},
                 {"fetches_ahead", fetch_ahead > 0},
                 {"stress_comes", !shape.physics()},
                 {"several_rows", layout.several && !solid()},
                 {"kept_reads", false}};
    add_copies(result, Copies::words_or_zeros, async);
    return result;
}

KernelSource Layered::kernel(const Problem& problem, const Config& config) const {
    Block all_constants = constants(paired() ? " / 2" : "");
    all_constants.append(layout_constants());
    if (solid() && shape.physics()) all_constants.line("constexpr real epsilon = {};", epsilon(shape));
    const Pass& pass = passes.front();
    KernelSource source = common_source(*this, problem);
    source.step.push_back(launch(pass, shared_words() * shape.bytes()));
    source.text = render("corner_force/layered.cu",
                         {{"banner", banner(*this, problem, config)},
                          {"constants", all_constants},
                          {"barrier", barrier()},
                          {"tables", parity ? axis_parts(shape, Target::cuda) : axis_tables(shape, Target::cuda)},
                          {"comment", Block().text(pass_comment(pass))},
                          {"entry", signature(*this, problem, pass)}},
                         flags());
    return source;
}

}  // namespace

Form layered_form(const Problem& problem, const Limits& limits) {
    const Shape shape(problem);
    const bool several = shape.dimension == 3 && shape.order >= 3 && shape.order <= 5;
    const bool pairs = shape.dimension == 3 && shape.order > 1 && shape.physics();
    std::vector<Tunable> tunables{
        zones_per_block_tunable(),
        layers_tunable(shape),
        {"derivatives",
         "staged: rows of nodes become rows of points in shared memory; direct: each point sums up its row of nodes; paired: a thread does, for two "
         "points that are mirror images",
         pairs ? words({"staged", "direct", "paired"}) : words({"staged", "direct"}), Value("staged")},
        min_blocks_tunable({1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20})};
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
        tunables.push_back(point_data_tunable());
        safe.push_back({"point_data", "loads"});
        read.emplace_back("point_data");
    }
    if (limits.has(Feature::bulk_copies)) {
        tunables.push_back(fetch_ahead_tunable());
        safe.push_back({"fetch_ahead", std::int64_t{0}});
    }
    FormSpace space{.name = "layered",
                    .help = "points, forces and work in one launch, layer by layer of points, at any order",
                    .tunables = std::move(tunables),
                    .safe = std::move(safe)};
    if (pairs)
        space.constraints.push_back({"pairs",
                                     [shape](const Config& config) -> Reason {
                                         if (!config.has("derivatives", "paired")) return std::nullopt;
                                         if (!config.has("axis_sums", "parity")) return "pairs of points take sums by parity";
                                         const Layered kernel(shape, config);
                                         const int nodes = kernel.layout.layer_nodes;
                                         if (kernel.team >= nodes) return std::nullopt;
                                         return fmt::format("{} nodes of a layer have {} threads; take more layers", nodes, kernel.team);
                                     },
                                     {"zones_per_block", "layers", "derivatives", "axis_sums"}});
    Form form = cuda_form<Layered>(problem, std::move(space), std::move(read));
    // Rows of points that are not kept leave room.
    if (shared_violation(safe_needs(form), 1, limits)) form.space.safe[2].value = "direct";
    return form;
}

}  // namespace hone::inline v0_1::corner
