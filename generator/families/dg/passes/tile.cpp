#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "generator/families/dg/passes/operands.hpp"

// A thread accumulates a tile of nodes x elements in registers. Fields (for the volume part) and
// fluxes (for the surface part) of the block's elements lie in shared memory, one after the other
// in the same place, and so do right-hand sides at last, so that memory is read and written in one
// piece.

namespace hone::inline v0_1::dg {
namespace {

struct Tile {
    int elements_per_block, nodes_per_thread, elements_per_thread, unroll;
    int node_threads, nodes_padded;
    bool shared_operator;
    bool traces_in_shared;
    Operands operands;

    Tile(const Shape& shape, const Config& config)
        : elements_per_block(number(config, "elements_per_block")),
          nodes_per_thread(number(config, "nodes_per_thread")),
          elements_per_thread(number(config, "elements_per_thread")),
          unroll(number(config, "unroll")),
          node_threads((shape.nodes + nodes_per_thread - 1) / nodes_per_thread),
          nodes_padded(node_threads * nodes_per_thread),
          shared_operator(config.has("operator", "shared")),
          traces_in_shared(config.has("traces", "shared")),
          operands(shape, unroll) {}

    int threads() const { return node_threads * (elements_per_block / elements_per_thread); }
    /// Words of the place that fields, fluxes and right-hand sides take in turns.
    int place(const Shape& shape, const Parts& parts) const {
        return round_up(elements_per_block * shape.fields * std::max(operands.place(parts, traces_in_shared), shape.nodes), 4);
    }
    std::int64_t operator_words(const Shape& shape, const Parts& parts) const {
        if (!shared_operator) return 0;
        const int columns = std::max(parts.surface ? operands.flux_columns : 0, parts.volume ? shape.dimension * operands.field_columns : 0);
        return std::int64_t{nodes_padded} * columns;
    }
};

std::optional<std::string> tile_violation(const Shape& shape, const Config& config) {
    const Tile tile(shape, config);
    if (tile.elements_per_block % tile.elements_per_thread != 0) return "elements_per_thread does not divide elements_per_block";
    if (tile.threads() < 32) return fmt::format("{} threads in a block, fewer than a warp", tile.threads());
    if (tile.nodes_padded - shape.nodes >= shape.nodes / 3 + 1)
        return fmt::format("{} nodes per thread leave a third of {} threads without a node", tile.nodes_per_thread, tile.node_threads);
    return std::nullopt;
}

// Small blocks; larger ones where the whole of a stage of low order is one launch, which fits any
// device's shared memory.
std::vector<Assignment> safe_tile(const Shape& shape, const std::vector<Pass>& passes) {
    const bool low = fuses_all(passes) && shape.nodes <= most_nodes_of_fused_blocks, lowest = shape.order <= 2;
    const std::int64_t elements = low ? (lowest ? 32 : 16) : lowest ? 16 : 4;
    const std::int64_t elements_per_thread = shape.nodes > 200 ? 4 : 1;  // 1024 threads hold four elements of up to 256 nodes only
    const std::int64_t two_where_low = low ? 2 : 1;
    std::vector<Assignment> safe;
    if (has_volume(passes)) safe.push_back({"algebra", "covariant"});
    if (fuses_all(passes)) safe.push_back({"traces", "memory"});
    safe.insert(safe.end(), {{"elements_per_block", elements},
                             {"nodes_per_thread", two_where_low},
                             {"elements_per_thread", elements_per_thread},
                             {"operator", "global"},
                             {"unroll", two_where_low},
                             {"copy_width", std::int64_t{low && shape.words() % 2 == 0 ? 2 : 1}},
                             {"min_blocks", std::int64_t{1}}});
    return safe;
}

FormSpace tile_space(const Shape& shape, const std::vector<Pass>& passes, const Limits& limits) {
    FormSpace form;
    if (has_volume(passes)) form.tunables.push_back(algebra_tunable());
    if (fuses_all(passes))
        form.tunables.push_back({"traces", "where the faces' own values come from: memory, or the fields that are kept in shared memory for it",
                                 words({"memory", "shared"})});
    form.tunables.insert(form.tunables.end(), {elements_per_block_tunable(block_sizes(shape, 4)),
                                               {"nodes_per_thread", "nodes whose right-hand sides a thread accumulates", numbers({1, 2, 4})},
                                               {"elements_per_thread", "elements whose right-hand sides a thread accumulates", numbers({1, 2, 4})},
                                               {"operator", operator_help, words({"global", "shared"})},
                                               {"unroll", "columns of an operator per trip of the inner loop", numbers({1, 2, 4})},
                                               copy_tunable(),
                                               residency_tunable(shape, limits)});
    form.constraints = {{"tile",
                         [shape](const Config& config) { return tile_violation(shape, config); },
                         {"elements_per_block", "nodes_per_thread", "elements_per_thread", "unroll"}}};
    form.safe = safe_tile(shape, passes);
    form.former = [](const Config& config) {
        const Value* const mapping = config.find("mapping");
        return (mapping == nullptr || *mapping == Value("tile")) && !config.has("operator", "immediate");
    };
    return form;
}

BlockResources tile_resources(const Shape& shape, const Config& config, const Parts& parts) {
    const Tile tile(shape, config);
    BlockResources needs;
    needs.threads = tile.threads();
    needs.shared_bytes =
        shape.bytes() * (tile.place(shape, parts) + factor_words(shape, config, tile.elements_per_block, parts) + tile.operator_words(shape, parts));
    const int sums = held_sums(shape, config, parts) * tile.nodes_per_thread * tile.elements_per_thread;
    const int operands = shape.fields * tile.elements_per_thread * tile.unroll + (parts.volume ? shape.dimension : 1) * tile.nodes_per_thread;
    const int gathered = parts.surface ? 2 * shape.fields + 10 : 0;  // of a point of a face, with normal and impedances
    // The compiler brings some two thirds of the operands in ahead of their use.
    needs.registers = shape.bytes() / 4 * std::max(sums + 2 * operands / 3, gathered) + 40;
    return needs;
}

Block tile_constants(const Plan& plan) {
    const Tile tile(plan.shape, plan.config);
    Block block = face_constants(plan.shape);
    block.line("constexpr int elements_per_block = {}, elements_per_thread = {}, element_groups = elements_per_block / elements_per_thread;",
               tile.elements_per_block, tile.elements_per_thread);
    block.line("constexpr int nodes_per_thread = {}, node_threads = {}, nodes_padded = {};", tile.nodes_per_thread, tile.node_threads,
               tile.nodes_padded);
    block.line("constexpr int unroll = {};        // columns of an operator per trip", tile.unroll);
    block.append(block_constants(tile.threads(), plan.config)).append(copy_constants(plan.shape, plan.config));
    return block.append(operand_constants(plan, tile.operands));
}

void add_tile_operators(Plan& plan) {
    const Tile tile(plan.shape, plan.config);
    add_column_operators(plan, tile.operands, tile.nodes_padded, tile.operands.flux_columns);
}

// Where the metric factors and an operator lie behind `here`.
Block tile_places(const Plan& plan, const Tile& tile, const Pass& pass) {
    const Parts parts = parts_of(pass);
    Block block;
    if (pass.surface)
        block.text(tile.traces_in_shared ? "real* const fluxes = here + fields * elements_per_block * field_row;" : "real* const fluxes = here;");
    if (!pass.volume && !tile.shared_operator) return block;
    block.line("constexpr int field_words = {};  // and those of the fluxes", tile.place(plan.shape, parts));
    if (pass.volume) {
        block.line("constexpr int factor_words = {};", factor_words(plan.shape, plan.config, tile.elements_per_block, parts));
        block.text("real* const factor = here + field_words;  // [elements_per_block][factors]");
    }
    if (tile.shared_operator) block.line("real* const operator_here = {};", pass.volume ? "factor + factor_words" : "here + field_words");
    return block;
}

Block copy_operator(const char* name, int words) {
    return Block().line("for (int i = threadIdx.x; i < {}; i += threads_per_block) operator_here[i] = {}[i];", words, name);
}

PassText tile_text(const Plan& plan, const Pass& pass) {
    const Tile tile(plan.shape, plan.config);
    PassText text = operand_text(plan, pass, tile.traces_in_shared);
    text.flags.insert("tile");
    if (tile.shared_operator) text.flags.insert("shared_operator");
    text.holes.emplace_back("shared_places", tile_places(plan, tile, pass));
    if (tile.shared_operator) {
        text.holes.emplace_back("copy_derivatives", copy_operator("D", plan.shape.dimension * tile.operands.field_columns * tile.nodes_padded));
        text.holes.emplace_back("copy_lift", copy_operator("LIFT", tile.operands.flux_columns * tile.nodes_padded));
    }
    if (!pass.volume) return text;
    text.holes.emplace_back("products", register_products(plan.own_algebra(), "r"));
    text.holes.emplace_back("combine", register_combination(plan.own_algebra()));
    return text;
}

}  // namespace

Way tile_way() {
    return {.name = "tile",
            .help = "a thread has a tile of nodes x elements",
            .applies = [](const Shape&, const std::vector<Pass>&, const Limits&) { return true; },
            .space = tile_space,
            .resources = tile_resources,
            .constants = tile_constants,
            .add_operators = add_tile_operators,
            .text = tile_text};
}

}  // namespace hone::inline v0_1::dg
