#include "generator/families/dg/volume/tile.hpp"

// A thread accumulates a tile of nodes x elements. The work horse from order 4 on, and with one
// node and one element the safe configuration at every order.

namespace hone::inline v0_1::dg {
namespace {

OperatorIn place_of(const Config& config) {
    if (config.has("operator", "shared")) return OperatorIn::shared;
    return config.has("operator", "staged") ? OperatorIn::staged : OperatorIn::global;
}

struct Tile : TileKernel {
    Tile(const Shape& of, const Config& config) : TileKernel(of, config, number(config, "nodes_per_thread"), place_of(config)) {}
};

}  // namespace

Form tile_form(const Problem& problem, const Limits& limits) {
    const Shape shape(problem);
    const bool low = shape.low_order(), stages = !low && limits.has(Feature::async_copies);
    return tile_form_of<Tile>(problem,
                              {.name = "tile",
                               .help = "a thread accumulates a tile of nodes x elements in registers",
                               .tunables = {algebra_tunable(),
                                            fields_per_pass(shape),
                                            low ? elements_per_block({8, 16, 32, 64, 128}) : elements_per_block({4, 8, 16, 32}),
                                            {"nodes_per_thread", "nodes whose right-hand sides a thread accumulates at a time",
                                             low ? numbers({1, 2, 4}) : numbers({1, 2, 4, 8})},
                                            // At low orders memory sets the limit: tiles of more
                                            // elements only idle threads.
                                            low ? elements_per_thread({1, 2}) : elements_per_thread({1, 2, 4}),
                                            where_operator_is(stages ? words({"global", "shared", "staged"}) : words({"global", "shared"})),
                                            unrolled_columns(),
                                            padded_rows(),
                                            min_blocks()},
                               .safe = {{"algebra", "covariant"},
                                        {"fields_per_pass", std::int64_t{shape.fields}},
                                        {"elements_per_block", std::int64_t{shape.nodes <= 84 ? 8 : 4}},
                                        {"nodes_per_thread", std::int64_t{shape.nodes <= 20 ? 1 : 4}},
                                        {"elements_per_thread", std::int64_t{1}},
                                        {"operator", "global"},
                                        {"unroll", std::int64_t{1}},
                                        {"padding", std::int64_t{1}},
                                        {"min_blocks", std::int64_t{1}}},
                               .former = [](const Config& config) { return config.has("mapping", "tile") && !config.has("operator", "registers"); }});
}

}  // namespace hone::inline v0_1::dg
