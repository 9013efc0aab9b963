#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "generator/families/device/cpu_partial_vectors.hpp"
#include "generator/families/device/cpu_team.hpp"
#include "generator/families/dg/algebra.hpp"
#include "generator/families/dg/volume/forms.hpp"

// The CPU kernel: neighbouring nodes are the lanes of a vector, so that fields are read and
// right-hand sides written as they lie, and a register tile of node vectors x elements is
// accumulated from operator vectors and broadcast field values.

namespace hone::inline v0_1::dg {
namespace {

struct Tile {
    int lanes, vectors_per_tile, elements_per_tile, elements_per_block;
    int nodes_per_tile;
    int nodes_padded;
    int row;  // stride between fields in the block's buffer

    Tile(const Shape& shape, const Config& config)
        : lanes(number(config, "lanes")),
          vectors_per_tile(number(config, "vectors_per_tile")),
          elements_per_tile(number(config, "elements_per_tile")),
          elements_per_block(number(config, "elements_per_block")),
          nodes_per_tile(lanes * vectors_per_tile),
          nodes_padded(round_up(shape.nodes, nodes_per_tile)),
          row(round_up(shape.nodes, 64 / shape.bytes())) {}
};

using Violation = std::optional<std::string>;

Violation spill_violation(const Shape& shape, const Config& config, const Limits& limits) {
    const Tile tile(shape, config);
    const Algebra& form = pass_algebra(shape, config);
    const int registers_per_vector = (tile.lanes * shape.bytes() + limits.vector_bytes - 1) / limits.vector_bytes;
    const int needed = form.accumulators * tile.vectors_per_tile * tile.elements_per_tile * registers_per_vector;
    // AVX-512 and SVE have 32 vector registers, the others 16; twice that many accumulators still
    // beat reloading operands.
    const int most = limits.vector_bytes >= 64 ? 64 : 48;
    if (needed <= most) return std::nullopt;
    return fmt::format("{} vector registers for accumulators, at most {} are worth trying", needed, most);
}

Violation buffer_violation(const Shape& shape, const Config& config, const Limits& limits) {
    const Tile tile(shape, config);
    const int bytes = tile.elements_per_block * shape.fields * tile.row * shape.bytes();
    const int most = limits.cache_bytes / 2;
    if (bytes <= most) return std::nullopt;
    return fmt::format("{} bytes for a block's fields, half the second cache is {}", bytes, most);
}

Block constants(const Shape& shape, const Algebra& form, const Tile& tile) {
    Block block;
    block.line("using real = {};", shape.precision == Precision::f32 ? "float" : "double");
    block.line("constexpr int nodes = {}, fields = {}, factors = {}, accumulators = {};", shape.nodes, shape.fields, form.factor_count(),
               form.accumulators);
    block.line("constexpr int dimension = {}, geometry_words = dimension * dimension;", shape.dimension);
    block.line("constexpr int fields_per_pass = {}, passes = fields / fields_per_pass;", form.field_count());
    block.line("constexpr int lanes = {}, vectors_per_tile = {}, nodes_per_tile = {};", tile.lanes, tile.vectors_per_tile, tile.nodes_per_tile);
    block.line("constexpr int elements_per_tile = {}, elements_per_block = {};", tile.elements_per_tile, tile.elements_per_block);
    block.line("constexpr int row = {};  // nodes of one field in the block's buffer, padded to a cache line", tile.row);
    return block;
}

Block name_load_factors(const Algebra& form) {
    if (form.transforms()) return name_factors(form);
    Block block;
    block.text("(void)own;  // fields are differentiated as they are");
    return block;
}

Block transform(const Algebra& form) {
    Block block;
    for (std::size_t f = 0; f < form.transform.size(); ++f)
        block.line("store<lanes>(field + {} * row, {});", f,
                   expression(form.transform[f], "", [](int i) { return fmt::format("load<count>(source + {} * nodes)", i); }));
    return block;
}

Block products(const Algebra& form) {
    Block block;
    for (const Product& product : form.products)
        block.line("sum[{}][r][c] {} d[{}][r] * u[{} * row];", product.accumulator, product.sign > 0 ? "+=" : "-=", product.derivative,
                   product.field);
    return block;
}

Block combine(const Algebra& form) {
    Block block;
    for (std::size_t f = 0; f < form.combine.size(); ++f)
        block.line("out[{}] = {};", f, expression(form.combine[f], form.combine_scale, [](int i) { return fmt::format("sum[{}][r][c]", i); }));
    return block;
}

// [tile of nodes][column][along r, s, t][node of the tile], so that the inner loop reads straight
// on.
TableSpec table(const Shape& shape, const Tile& tile) {
    TableSpec result{"D", static_cast<std::int64_t>(shape.dimension) * tile.nodes_padded * shape.nodes, {}};
    result.contents.assign(static_cast<std::size_t>(result.words), 0.0);
    for (int start = 0; start < shape.nodes; start += tile.nodes_per_tile)
        for (int m = 0; m < shape.nodes; ++m)
            for (int a = 0; a < shape.dimension; ++a) {
                const SquareMatrix& columns = shape.reference().transposed[static_cast<std::size_t>(a)];
                double* const to =
                    &result
                         .contents[static_cast<std::size_t>(start * shape.dimension * shape.nodes + (shape.dimension * m + a) * tile.nodes_per_tile)];
                for (int n = start; n < std::min(start + tile.nodes_per_tile, shape.nodes); ++n) to[n - start] = columns(m, n);
            }
    return result;
}

KernelSource kernel(const Problem& problem, const Config& config) {
    const Shape shape(problem);
    const Tile tile(shape, config);
    const Algebra& form = pass_algebra(shape, config);
    const Algebra& whole = whole_algebra(shape, config);
    const double executed = executed_operations(problem, config, static_cast<double>(tile.nodes_padded) * shape.nodes);
    Block unroll;
    unroll.line("#pragma GCC unroll {}", number(config, "unroll"));
    Holes holes{{"banner", banner(problem, config, Target::cpu, executed)},
                {"constants", constants(shape, form, tile)},
                {"name_load_factors", name_load_factors(whole)},
                {"transform", transform(whole)},
                {"element_factors", element_factors(form, "own")},
                {"unroll", unroll},
                {"products", products(form)},
                {"name_combine_factors", name_combine_factors(form)},
                {"combine", combine(form)},
                {"team", team(config)},
                {"parallel", team_parallel(config)},
                {"seat", team_seat(config)}};
    Flags flags;
    const bool partial = shape.nodes % tile.lanes != 0;
    add_partial_vectors(holes, flags, shape.precision, tile.lanes, {.loads = partial, .stores = partial});
    KernelSource source = make_source(problem, Target::cpu, render("dg/volume/kernel.cpp", holes, flags), executed);
    source.tables.push_back(table(shape, tile));
    source.step.push_back({"dg_volume", {1, 1, 1}, {1, 1, 1}, 0, 1, 0, {}});
    return source;
}

// What runs untuned: vectors as wide as the processor has them, and a dozen sums, so that its
// multiply-adds need not wait for each other.
std::vector<Assignment> safe_vectors(const Shape& shape, const Limits& limits) {
    const auto assigned = [&shape](std::int64_t lanes, std::int64_t per_tile, std::int64_t per_block) {
        return std::vector<Assignment>{{"algebra", "covariant"},
                                       {"fields_per_pass", std::int64_t{shape.fields}},
                                       {"lanes", lanes},
                                       {"vectors_per_tile", Value(1)},
                                       {"elements_per_tile", per_tile},
                                       {"elements_per_block", per_block},
                                       {"unroll", Value(1)}};
    };
    std::int64_t lanes = 16 / shape.bytes(), per_tile = 4, per_block = 16;
    while (lanes < limits.vector_bytes / shape.bytes() && lanes < shape.nodes) lanes *= 2;
    constexpr int sums = 12;
    const int accumulators = pass_algebra(shape, Config(assigned(lanes, per_tile, per_block))).accumulators;
    while (per_tile > 1 && accumulators * per_tile > sums) per_tile /= 2;
    while (per_block > 4 && buffer_violation(shape, Config(assigned(lanes, per_tile, per_block)), limits)) per_block /= 2;
    return assigned(lanes, per_tile, per_block);
}

FormSpace vector_form(const Shape& shape, const Limits& limits) {
    const bool f32 = shape.precision == Precision::f32;
    FormSpace form{.name = "vector",
                   .help = "vectors of neighbouring nodes, tiles of which accumulate in registers",
                   .tunables = {algebra_tunable(),
                                fields_per_pass(shape),
                                {"lanes", "words of a vector: neighbouring nodes (vector), or neighbouring elements (elements)",
                                 f32 ? numbers({4, 8, 16}) : numbers({2, 4, 8})},
                                {"vectors_per_tile", "vectors of nodes accumulated at a time", numbers({1, 2, 4})},
                                {"elements_per_tile", "elements accumulated at a time", numbers({1, 2, 4})},
                                {"elements_per_block", "elements whose fields are kept in cache", numbers({4, 8, 16, 32, 64})},
                                unrolled_columns()},
                   .constraints = {{"registers", [shape, limits](const Config& config) { return spill_violation(shape, config, limits); }},
                                   {"block_buffer", [shape, limits](const Config& config) { return buffer_violation(shape, config, limits); }}},
                   .safe = safe_vectors(shape, limits),
                   .former = [](const Config& config) { return config.find("vectors_per_tile") != nullptr; }};
    return with_team(std::move(form), limits);
}

}  // namespace

Forms cpu_forms(const Problem& problem, const Limits& limits) {
    return {{{.space = vector_form(Shape(problem), limits), .kernel = [problem](const Config& config) { return kernel(problem, config); }},
             elements_form(problem, limits)},
            "elements"};
}

}  // namespace hone::inline v0_1::dg
