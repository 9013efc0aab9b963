#include "generator/families/dg/volume/tile.hpp"

// Low orders: a thread keeps the rows of its node in registers and takes its elements one after the
// other.

namespace hone::inline v0_1::dg {
namespace {

struct Rows : TileKernel {
    Rows(const Shape& of, const Config& config) : TileKernel(of, config, 1, OperatorIn::registers) {}
};

}  // namespace

Form rows_form(const Problem& problem, const Limits&) {
    const Shape shape(problem);
    return tile_form_of<Rows>(
        problem, {.name = "rows",
                  .help = "a thread keeps its node's rows of the operator in registers, for its elements one after the other",
                  .tunables = {algebra_tunable(), fields_per_pass(shape), elements_per_block({8, 16, 32, 64, 128}), elements_per_thread({2, 4}),
                               unrolled_columns(), padded_rows(), min_blocks()},
                  .safe = {{"algebra", "covariant"},
                           {"fields_per_pass", std::int64_t{shape.fields}},
                           {"elements_per_block", std::int64_t{16}},
                           {"elements_per_thread", std::int64_t{2}},
                           {"unroll", std::int64_t{1}},
                           {"padding", std::int64_t{1}},
                           {"min_blocks", std::int64_t{1}}},
                  .former = [](const Config& config) { return config.has("mapping", "tile") && config.has("operator", "registers"); }});
}

}  // namespace hone::inline v0_1::dg
