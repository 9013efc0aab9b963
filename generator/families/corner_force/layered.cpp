#include "generator/families/corner_force/layered.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace hone::corner {
namespace {

// The smallest number from `words` on that is `step` more than a multiple of the banks.
int padded(int words, int step, int banks) {
    return words + ((step - words) % banks + banks) % banks;
}

int odd(int words) {
    return words + 1 - words % 2;
}

Block source_of(const Shape& shape) {
    Block block;
    if (!shape.physics()) return block.text("const real* const source = w;");
    if (!shape.works()) return block.text("const real* const source = field < dimension ? x : v;");
    return block.text("const real* const source = field < dimension ? x : field < 2 * dimension ? v : w;");
}

Block layout_constants(const LayeredLayout& layout, const Plan& plan) {
    Block block;
    block.line("constexpr int fields = {}, layers = splits, rows = {};  // differentiated; at a time; of points in them", layout.fields, layout.rows);
    block.line("constexpr int layer_nodes = {}, layer_energies = {}, layer_rows = {};", layout.layer_nodes, layout.layer_energies, layout.layer_rows);
    block.line("constexpr int node_pitch = {}, energy_pitch = {}, point_pitch = {}, layer_pitch = {};", layout.node_pitch, layout.energy_pitch,
               layout.point_pitch, layout.layer_pitch);
    block.line("constexpr int slot = {}, across_words = {}, point_words = {}, table_words = {}, zone_pitch = {};", layout.slot, layout.across_words,
               layout.point_words, layout.table_words, layout.zone_pitch);
    const int node_teams = plan.team() / layout.layer_nodes;
    block.line("constexpr int node_teams = {}, rounds_of_nodes = {};  // of threads, one for each node of a layer", node_teams,
               (layout.fields + node_teams - 1) / node_teams);
    if (plan.shape.dimension == 3) {
        const int line_teams = plan.team() / (plan.splits() * plan.shape.nodes_along);
        block.line("constexpr int line_teams = {}, rounds_of_lines = {};  // of threads, one for each line along the second axis", line_teams,
                   (layout.fields + line_teams - 1) / line_teams);
    }
    if (layout.folded) block.line("constexpr int rows_of_banks = {};", 128 / plan.shape.bytes() / plan.shape.points_along);
    if (plan.shape.works()) block.line("constexpr int power_slot = {};", plan.shape.physics() ? plan.shape.dimension * plan.shape.dimension : 0);
    if (layout.several && plan.shape.works()) block.line("constexpr int force_sum_words = {};", layout.force_sum_words);
    return block;
}

}  // namespace

bool is_layered(const Config& config) {
    return config.word("form") == "layered";
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
    across_words = std::max(fields, shape.physics() ? d : 0) * d * rows * node_pitch;
    const int numbers = fields * d + (shape.physics() ? 1 : 0);
    point_words = std::max(numbers * slot, plan.team());
    layer_pitch = node_pitch;
    if (solid) {
        const auto halves = [&](int pitch) { return 2 * fields * layers * pitch + (shape.physics() ? layers * layer_energies : 0); };
        layer_pitch = padded(layer_nodes, n, banks);
        if (halves(layer_pitch) > point_words) layer_pitch = odd(layer_nodes);  // some conflicts take less than the room
        point_words = std::max(point_words, halves(layer_pitch));
    }
    force_sum_words = shape.physics() ? shape.vector_words() : 0;
    table_words = solid ? p * (2 * n + (shape.works() ? shape.energies_along : 0)) : 0;
    const int sums = several ? force_sum_words + (shape.works() ? shape.energies() : 0) : 0;
    const int words = across_words + point_words + rows * energy_pitch + sums;
    zone_pitch = plan.team() >= banks ? words : padded(words, plan.team(), banks);
}

int layered_registers(const Plan& plan) {
    const Shape& shape = plan.shape;
    const int words = shape.bytes() / 4;
    const int sums = 2 * std::max(shape.points_along, shape.nodes_along) + shape.nodes_along;  // of a row
    return words * std::max(!shape.physics() ? 24 : shape.dimension == 3 ? 46 : 28, sums) + 32;
}

std::optional<std::string> layered_violation(const Shape& shape, const Config& config) {
    if (config.word("gradients") != "fused") return "form=layered stores nothing: gradients=fused";
    if (shape.dimension == 3 && shape.physics() && config.word("decomposition") != "projector") return "form=layered is decomposition=projector";
    if (config.integer("points_per_pass") != 1) return "form=layered has a thread for each point of a pass: points_per_pass=1";
    return std::nullopt;
}

std::string layered_text(const Plan& plan, const Block& of_banner, const Block& constants, const Block& of_barrier) {
    const Shape& shape = plan.shape;
    const LayeredLayout layout(plan);
    const bool f32 = shape.precision == Precision::f32;
    const bool solid = shape.dimension == 3;
    // What the physics of a point takes from memory is fetched a pass ahead where there are registers for it (measured on an H200).
    const bool early = shape.physics() && (!solid || shape.order == 1 || f32);
    Block all_constants = constants;
    all_constants.append(layout_constants(layout, plan));
    if (solid && shape.physics()) all_constants.line("constexpr real epsilon = {};", f32 ? "1.1920929e-7f" : "2.220446049250313e-16");
    return render("corner_force/layered.cu",
                  {{"banner", of_banner},
                   {"constants", all_constants},
                   {"barrier", of_barrier},
                   {"tables", axis_tables(shape, Target::cuda)},
                   {"comment", Block().text(pass_comment(plan.passes.front()))},
                   {"entry", signature(plan, plan.passes.front())},
                   {"source", source_of(shape)}},
                  {{"f32", f32},
                   {"solid", solid},
                   {"physics", shape.physics()},
                   {"works", shape.works()},
                   {"early", early},
                   {"late", !early},
                   {"keeps_stress", shape.keeps_stress()},
                   {"folded", layout.folded},
                   {"several", layout.several},
                   {"several_rows", layout.several && !solid}});
}

}  // namespace hone::corner
