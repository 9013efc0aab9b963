#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "generator/families/dg/matrix_units.hpp"
#include "generator/families/dg/volume/mappings.hpp"

namespace hone::dg {
namespace {

const Mapping& mapping_of(const Config& config) {
    const auto& all = cuda_mappings();
    return *std::find_if(all.begin(), all.end(), [&](const Mapping& m) { return m.name == config.word("mapping"); });
}

using Violation = std::optional<std::string>;

std::vector<Constraint> cuda_constraints(const Shape& shape, const Limits& limits) {
    const auto with_resources = [shape](auto rule) {
        return [shape, rule](const Config& config) -> Violation {
            return rule(mapping_of(config).resources(shape, config), number(config, "min_blocks"));
        };
    };
    return {
        {"mapping",
         [shape](const Config& config) -> Violation {
             const std::string conflict = mapping_of(config).conflict(shape, config);
             return conflict.empty() ? std::nullopt : Violation(conflict);
         }},
        {"threads",
         with_resources([limits](const Resources& needs, std::int64_t blocks) -> Violation { return thread_violation(needs, blocks, limits); })},
        {"shared memory", with_resources([limits](const Resources& needs, std::int64_t blocks) { return shared_violation(needs, blocks, limits); })},
        {"registers", with_resources([limits](const Resources& needs, std::int64_t blocks) { return register_violation(needs, blocks, limits); })},
        {"code size",
         with_resources([](const Resources& needs, std::int64_t) { return too_many(needs.code, largest_code, "unrolled multiply-adds"); })},
    };
}

}  // namespace

const std::vector<Mapping>& cuda_mappings() {
    static const std::vector<Mapping> mappings{element_mapping(), tile_mapping(), mma_mapping(), tf32_mapping()};
    return mappings;
}

SearchSpace cuda_space(const Problem& problem, const Limits& limits) {
    const Shape shape(problem);
    const bool low = shape.low_order();
    std::vector<std::string> names;
    for (const Mapping& mapping : cuda_mappings())
        if (mapping.applies(shape, limits)) names.push_back(mapping.name);
    std::vector<Value> residencies = low ? words({"global", "shared", "immediate", "registers"}) : words({"global", "shared", "staged"});
    if (!low && !matrix_units(shape, limits).empty()) residencies.emplace_back(std::string("nonzero"));
    std::vector<Tunable> tunables{
        {"mapping",
         "element: a thread per element; tile: a thread per tile of nodes x elements; mma, tf32: a warp per tile of the matrix units, f32 by three "
         "TF32 products",
         words(names)},
        {"form", "covariant: fewer products on transformed fields; cartesian: every component along r, s, t", words({"covariant", "cartesian"})},
        fields_per_pass(shape),
        {"elements_per_block", "elements that a block of threads handles", low ? numbers({8, 16, 32, 64, 128}) : numbers({4, 8, 16, 32})},
        {"nodes_per_thread", "nodes whose right-hand sides a thread accumulates at a time", low ? numbers({1, 2, 4}) : numbers({1, 2, 4, 8})},
        {"elements_per_thread", "elements per thread; matrix units: groups of 8 elements per warp", numbers({1, 2, 4})},
        {"operator",
         "where Dr, Ds, Dt are held: read-only loads, shared memory, staged through it in chunks, immediates, or each thread's rows in registers; "
         "nonzero: read-only loads, with nodes sorted by face and the matrix units' tiles of zeros left out",
         residencies},
        {"unroll", "columns of the operator per trip of the inner loop; element: values per copy from and to memory", numbers({1, 2, 4})},
        {"padding", "1: rows in shared memory are lengthened so that neighbouring elements lie in different banks", numbers({0, 1})},
        {"min_blocks", "blocks per multiprocessor that the compiler must leave registers for", numbers({1, 2, 3, 4})},
    };
    const std::int64_t elements = shape.nodes <= 84 ? 8 : 4;
    const std::int64_t nodes = shape.nodes <= 20 ? 1 : 4;
    std::vector<Assignment> safe{{"mapping", "tile"},
                                 {"form", "covariant"},
                                 {"fields_per_pass", std::int64_t{shape.fields}},
                                 {"elements_per_block", elements},
                                 {"nodes_per_thread", nodes},
                                 {"elements_per_thread", std::int64_t{1}},
                                 {"operator", "global"},
                                 {"unroll", std::int64_t{1}},
                                 {"padding", std::int64_t{1}},
                                 {"min_blocks", std::int64_t{1}}};
    return SearchSpace(std::move(tunables), cuda_constraints(shape, limits), std::move(safe));
}

}  // namespace hone::dg
