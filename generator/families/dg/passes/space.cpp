#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "generator/families/device/cuda_residency.hpp"
#include "generator/families/dg/passes/immediate.hpp"
#include "generator/families/dg/passes/passes.hpp"
#include "generator/families/dg/passes/tile.hpp"

namespace hone::dg {
namespace {

std::int64_t operator_words(const Shape& shape, const StageTile& tile, const Parts& parts) {
    if (!tile.shared_operator) return 0;
    const int columns = std::max(parts.surface ? tile.flux_columns : 0, parts.volume ? shape.dimension * tile.field_columns : 0);
    return static_cast<std::int64_t>(tile.nodes_padded) * columns;
}

// Configurations of families without the tunable have no volume part.
bool has_volume(const PassTraits& traits) {
    return !traits.fusions.empty();
}

int volume_accumulators(const Shape& shape, const PassTraits& traits, const Config& config) {
    return has_volume(traits) ? algebra(shape.equation, config.word("form")).accumulators : 0;
}

// What a launch of a configuration has at most.
Parts most_parts(const PassTraits& traits, const Config& config) {
    return {has_volume(traits) && config.word("fused") == "whole", true};
}

int registers(const Shape& shape, const PassTraits& traits, const Config& config) {
    if (immediate(config))
        return std::max(immediate_registers(shape, config, most_parts(traits, config)),
                        immediate_registers(shape, config, {.volume = has_volume(traits)}));
    const StageTile tile(shape, config);
    const int sums = std::max(shape.fields, volume_accumulators(shape, traits, config)) * tile.nodes_per_thread * tile.elements_per_thread;
    const int operands = shape.fields * tile.elements_per_thread * tile.unroll + (has_volume(traits) ? shape.dimension : 1) * tile.nodes_per_thread;
    if (tile.mma) {
        const int held = std::max(shape.fields, volume_accumulators(shape, traits, config));
        return matrix_registers(shape, held, tile.elements_per_thread, shape.dimension, 1, shape.fields) + 40;
    }
    const int gathered = 2 * shape.fields + 10;  // of a point of a face, with normal and impedances
    // The compiler brings some two thirds of the operands in ahead of their use.
    return shape.bytes() / 4 * std::max(sums + 2 * operands / 3, gathered) + 40;
}

// Where memory sets the limit and a block's fields and fluxes fit any device's shared memory: there even the safe configuration is a fused one.
bool fusing_pays(const Shape& shape, const Limits& limits) {
    constexpr int most_nodes = 20;
    return shape.nodes <= most_nodes && matrix_units(shape, limits).empty();
}

using Violation = std::optional<std::string>;

Violation mma_violation(const Shape& shape, const StageTile& tile, const Config& config) {
    const std::string units = "the matrix units ";
    if (tile.shared_operator) return units + "read the operators with operator=global";
    if (tile.nodes_per_thread != 1) return units + "have tiles of 16 nodes: nodes_per_thread=1";
    const int groups = shape.precision == Precision::f32 ? 4 : 2;
    if (tile.elements_per_thread > groups) return units + fmt::format("have room for {} groups of 8 elements", groups);
    if (tile.elements_per_block % (mma_elements * tile.elements_per_thread) != 0)
        return units + fmt::format("need a multiple of {} elements per block", mma_elements * tile.elements_per_thread);
    if (chosen(config, "fused", "whole") && !tile.traces_in_shared) return units + "have fields and fluxes at once: traces=shared";
    return std::nullopt;
}

Violation tile_violation(const Shape& shape, const PassTraits& traits, const Config& config) {
    const StageTile tile(shape, config);
    if (tile.traces_in_shared && config.word("fused") != "whole") return "traces=shared: only a fused whole has the fields in shared memory";
    if (immediate(config)) return immediate_violation(shape, config, most_parts(traits, config));
    if (tile.unroll > 4) return fmt::format("{} columns of an operator per trip take too many registers", tile.unroll);
    if (tile.mma) return mma_violation(shape, tile, config);
    if (tile.elements_per_block % tile.elements_per_thread != 0) return "elements_per_thread does not divide elements_per_block";
    if (tile.threads() < 32) return fmt::format("{} threads in a block, fewer than a warp", tile.threads());
    if (tile.nodes_padded - shape.nodes >= shape.nodes / 3 + 1)
        return fmt::format("{} nodes per thread leave a third of {} threads without a node", tile.nodes_per_thread, tile.node_threads);
    return std::nullopt;
}

// Of the launch that takes most.
std::int64_t most_shared_bytes(const Shape& shape, const PassTraits& traits, const Config& config) {
    if (!has_volume(traits)) return stage_shared_bytes(shape, config, {.surface = true});
    if (config.word("fused") == "whole") return stage_shared_bytes(shape, config, most_parts(traits, config));
    return std::max(stage_shared_bytes(shape, config, {.volume = true}), stage_shared_bytes(shape, config, {.surface = true}));
}

Violation shared_violation(std::int64_t bytes, const Config& config, const Limits& limits) {
    if (bytes > limits.shared_bytes_per_block) return fmt::format("{} bytes of shared memory, a block has {}", bytes, limits.shared_bytes_per_block);
    const std::int64_t resident = (bytes + reserved_shared_bytes) * number(config, "min_blocks");
    if (resident <= limits.shared_bytes_per_multiprocessor) return std::nullopt;
    return fmt::format("{} bytes of shared memory for min_blocks blocks, a multiprocessor has {}", resident, limits.shared_bytes_per_multiprocessor);
}

}  // namespace

bool chosen(const Config& config, std::string_view name, std::string_view word) {
    const auto& values = config.assignments();
    return std::any_of(values.begin(), values.end(),
                       [&](const Assignment& value) { return value.name == name && value.value == Value(std::string(word)); });
}

int block_threads(const Shape& shape, const Config& config) {
    return immediate(config) ? ImmediateLayout(shape, config).threads() : StageTile(shape, config).threads();
}

int stage_factor_words(const Shape& shape, const StageTile& tile, const Parts& parts, const Config& config) {
    return parts.volume ? round_up(tile.elements_per_block * algebra(shape.equation, config.word("form")).factor_count(), 4) : 0;
}

std::int64_t stage_shared_bytes(const Shape& shape, const Config& config, const Parts& parts) {
    if (immediate(config)) return shape.bytes() * ImmediateLayout(shape, config).shared_words(parts);
    const StageTile tile(shape, config);
    const std::int64_t place = static_cast<std::int64_t>(tile.elements_per_block) * shape.fields * tile.place(shape, parts);
    return shape.bytes() *
           ((place + 3) / 4 * 4 + tile.out_words(shape) + stage_factor_words(shape, tile, parts, config) + operator_words(shape, tile, parts));
}

std::optional<std::string> copy_violation(const Shape& shape, const Config& config) {
    const int width = number(config, "copy_width");
    if (width * shape.bytes() <= 16 && shape.words() % width == 0) return std::nullopt;
    return fmt::format("copies of {} values do not divide the {} of an element or exceed 16 bytes", width, shape.words());
}

SearchSpace pass_cuda_space(const Shape& shape, const PassTraits& traits, const Limits& limits) {
    std::vector<Tunable> tunables;
    std::vector<Assignment> safe;
    if (has_volume(traits)) {
        tunables.push_back({"fused", "what one launch does: separate: volume, surface and update each; surface_update: the last two; whole: all",
                            words(traits.fusions)});
        tunables.push_back(
            {"form", "covariant: fewer products on transformed fields; cartesian: every component along r, s, t", words({"covariant", "cartesian"})});
        tunables.push_back({"traces", "where the faces' own values come from: memory, or the fields that a fused whole keeps in shared memory for it",
                            words({"memory", "shared"})});
        safe = {{"fused", fusing_pays(shape, limits) ? "whole" : "separate"}, {"form", "covariant"}, {"traces", "memory"}};
    }
    const std::string units = matrix_units(shape, limits);
    const bool mma = !units.empty();
    if (mma) {
        tunables.push_back({"mapping",
                            "tile: a thread per tile of nodes x elements; mma, tf32: a warp per tile of the matrix units, f32 by three TF32 products",
                            words({"tile", units})});
        safe.push_back({"mapping", "tile"});
    }
    const bool low = shape.low_order();
    constexpr int with_async_copies = 80;
    const bool in_the_code = low && limits.architecture >= with_async_copies && immediate_code(shape, {.surface = true}) <= largest_code;
    for (Tunable& tunable : std::vector<Tunable>{
             {"elements_per_block", "elements that a block of threads handles", low ? numbers({4, 8, 16, 32, 64}) : numbers({4, 8, 16, 32})},
             {"nodes_per_thread", "nodes whose right-hand sides a thread accumulates; operator=immediate: parts that an element's nodes are cut into",
              numbers({1, 2, 4})},
             {"elements_per_thread", "elements whose right-hand sides a thread accumulates", numbers({1, 2, 4})},
             {"operator",
              "where D and LIFT are held: read-only loads, shared memory, or immediates, where a thread then makes half of an element's right-hand "
              "sides",
              in_the_code ? words({"global", "shared", "immediate"}) : words({"global", "shared"})},
             {"unroll", "columns of an operator per trip of the inner loop; immediate: points of faces that a thread gathers at a time",
              in_the_code ? numbers({1, 2, 4, 6}) : numbers({1, 2, 4})},
             {"copy_width", "values per load and store of fields and right-hand sides", numbers({1, 2, 4})},
             {"min_blocks", "blocks per multiprocessor that the compiler must leave registers for",
              low && !mma ? numbers({1, 2, 3, 4}) : numbers({1, 2, 3})}})
        tunables.push_back(std::move(tunable));
    const bool whole = has_volume(traits) && fusing_pays(shape, limits);
    const std::int64_t elements = whole ? (shape.order <= 2 ? 32 : 16) : shape.order <= 2 ? 16 : 4;
    const std::int64_t elements_per_thread = shape.nodes > 200 ? 4 : 1;  // 1024 threads hold four elements of up to 256 nodes only
    for (Assignment& assignment : std::vector<Assignment>{{"elements_per_block", elements},
                                                          {"nodes_per_thread", std::int64_t{whole ? 2 : 1}},
                                                          {"elements_per_thread", elements_per_thread},
                                                          {"operator", "global"},
                                                          {"unroll", std::int64_t{whole ? 2 : 1}},
                                                          {"copy_width", std::int64_t{whole && shape.words() % 2 == 0 ? 2 : 1}},
                                                          {"min_blocks", std::int64_t{1}}})
        safe.push_back(std::move(assignment));
    std::vector<Constraint> constraints{
        {"tile", [=](const Config& config) { return tile_violation(shape, traits, config); }},
        {"copies", [shape](const Config& config) { return copy_violation(shape, config); }},
        {"shared_memory", [=](const Config& config) { return shared_violation(most_shared_bytes(shape, traits, config), config, limits); }}};
    for (Constraint& constraint : residency_constraints(
             limits, [shape](const Config& config) { return block_threads(shape, config); },
             [=](const Config& config) { return registers(shape, traits, config); }))
        constraints.push_back(std::move(constraint));
    return SearchSpace(std::move(tunables), std::move(constraints), std::move(safe));
}

}  // namespace hone::dg
