#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "generator/families/device/cpu_team.hpp"
#include "generator/families/dg/parity.hpp"
#include "generator/families/dg/volume/forms.hpp"

// The CPU kernel whose lanes are neighbouring elements: no vector has lanes without work, whatever
// the number of nodes, and even and odd parts cost no more than addresses. Words change places
// between lanes on the way in and out, `lanes` x `lanes` at a time. An entry of D is multiplied
// with vectors of all fields at once.

namespace hone::inline v0_1::dg {
namespace {

struct Group {
    int lanes, rows_per_tile;
    bool by_parity;

    explicit Group(const Config& config)
        : lanes(number(config, "lanes")), rows_per_tile(number(config, "rows_per_tile")), by_parity(config.has("basis", "parity")) {}
};

using Violation = std::optional<std::string>;

Violation sums_violation(const Shape& shape, const Config& config, const Limits& limits) {
    const Group group(config);
    const int registers_per_vector = (group.lanes * shape.bytes() + limits.vector_bytes - 1) / limits.vector_bytes;
    const int needed = whole_algebra(shape, config).accumulators * group.rows_per_tile * registers_per_vector;
    // A processor has 32 vector registers of 64 bytes, or 16 shorter ones. One tile is always worth
    // trying.
    const int most = limits.vector_bytes >= 64 ? 30 : 15;
    if (needed <= most || group.rows_per_tile == 1) return std::nullopt;
    return fmt::format("{} vector registers for sums, at most {} are worth trying", needed, most);
}

Violation words_violation(const Shape& shape, const Config& config) {
    const Group group(config);
    if (group.lanes <= shape.words()) return std::nullopt;
    return fmt::format("{} lanes, an element has {} words", group.lanes, shape.words());
}

// Of rows of one parity (or of all), the columns that products along `along` take: of the same, or
// of the other one.
struct Rows {
    const Shape& shape;
    const Parity* parity;  // none: nodal values

    int count(bool odd) const { return parity == nullptr ? (odd ? 0 : shape.nodes) : odd ? parity->odd() : parity->even(); }
    double entry(int along, int row, bool odd, int column, bool column_odd) const {
        if (parity == nullptr) return shape.reference().derivative[static_cast<std::size_t>(along)](row, column);
        return parity->derivative(shape.reference(), along, row, odd, column, column_odd);
    }
};

// In the order in which the kernel reads: [tile of rows][column][along][row of the tile]; with
// parts the columns of the same parity, then those of the other.
TableSpec table(const Rows& of, int rows_per_tile) {
    TableSpec result{"D", 0, {}};
    for (const bool odd : {false, true})
        for (int begin = 0; begin < of.count(odd); begin += rows_per_tile)
            for (const bool changing : {false, true})
                for (int column = 0; column < of.count(odd != changing); ++column)
                    for (int along = 0; along < of.shape.dimension; ++along)
                        for (int row = begin; row < std::min(begin + rows_per_tile, of.count(odd)); ++row)
                            if ((of.parity != nullptr && changes_parity(along)) == changing)
                                result.contents.push_back(of.entry(along, row, odd, column, odd != changing));
    result.words = static_cast<std::int64_t>(result.contents.size());
    return result;
}

// `places`: which of a column's entries a product along r, s, t takes.
Block products(const Algebra& form, const std::vector<int>& places, bool by_parity, bool changing) {
    Block block;
    for (const Product& product : form.products)
        if (!by_parity || changes_parity(product.derivative) == changing)
            block.line("sum[{}][r] {} D[{} * count + r] * u[{}];", product.accumulator,
                       product.sign > 0 ? "+=" : "-=", places[static_cast<std::size_t>(product.derivative)], product.field);
    return block;
}

Block assigned(const std::vector<Sum>& sums, const char* to, const std::string& scale, const char* operand) {
    Block block;
    for (std::size_t f = 0; f < sums.size(); ++f)
        block.line("{}[{}] = {};", to, f, expression(sums[f], scale, [&](int i) { return fmt::format(fmt::runtime(operand), i); }));
    return block;
}

KernelSource kernel(const Problem& problem, const Config& config) {
    const Shape shape(problem);
    const Group group(config);
    const Algebra& form = whole_algebra(shape, config);
    const Rows rows{shape, group.by_parity ? &Parity::of(shape.reference()) : nullptr};
    const TableSpec derivatives = table(rows, group.rows_per_tile);
    // Each entry of D takes part in as many products as fields have such a derivative.
    const double executed = executed_operations(problem, config, static_cast<double>(derivatives.words) / shape.dimension);
    Block constants;
    constants.line("using real = {};", shape.precision == Precision::f32 ? "float" : "double");
    constants.line("constexpr int nodes = {}, fields = {}, words = nodes * fields, factors = {}, accumulators = {};", shape.nodes, shape.fields,
                   form.factor_count(), form.accumulators);
    constants.line("constexpr int dimension = {}, geometry_words = dimension * dimension, derivatives = {};", shape.dimension,
                   group.by_parity ? shape.dimension - 1 : shape.dimension);
    constants.line("constexpr int lanes = {}, rows_per_tile = {};", group.lanes, group.rows_per_tile);
    Block parts;
    if (group.by_parity) {
        parts.line("constexpr int even_parts = {}, odd_parts = {};", rows.count(false), rows.count(true));
        parts.line("static const short first_node[] = {{{}}}, second_node[] = {{{}}};", fmt::join(rows.parity->first, ", "),
                   fmt::join(rows.parity->second, ", "));
    }
    Block unroll;
    unroll.line("#pragma GCC unroll {}", number(config, "unroll"));
    const std::vector<int> places = group.by_parity ? std::vector<int>{0, 0, 1} : std::vector<int>{0, 1, 2};
    const Holes holes{{"banner", banner(problem, config, Target::cpu, executed)},
                      {"constants", constants},
                      {"tables_of_parts", parts},
                      {"element_factors", element_factors(form, "factor", "vector")},
                      {"name_load_factors",
                       form.transforms() ? name_factors(form, "vector") : Block().text("(void)own;  // fields are differentiated as they are")},
                      {"transform", assigned(form.transform, "field", "", "value[{}]")},
                      {"unroll", unroll},
                      {"products", products(form, places, group.by_parity, false)},
                      {"changing_products", products(form, places, group.by_parity, true)},
                      {"name_combine_factors", name_factors(form, "vector")},
                      {"combine", assigned(form.combine, "out", form.combine_scale, "sum[{}][r]")},
                      {"team", team(config)},
                      {"parallel", team_parallel(config)},
                      {"seat", team_seat(config)}};
    KernelSource source =
        make_source(problem, Target::cpu, render("dg/volume/kernel.cpp/elements", holes, {{"by_parity", group.by_parity}}), executed);
    source.tables.push_back(derivatives);
    source.step.push_back({"dg_volume", {1, 1, 1}, {1, 1, 1}, 0, 1, 0, {}});
    return source;
}

}  // namespace

Form elements_form(const Problem& problem, const Limits& limits) {
    const Shape shape(problem);
    const bool f32 = shape.precision == Precision::f32;
    // Untuned: the widest vectors that an element's words fill, and sums of most registers.
    std::int64_t lanes = 16 / shape.bytes(), rows = 1;
    while (2 * lanes <= std::min(limits.vector_bytes / shape.bytes(), shape.words())) lanes *= 2;
    while (2 * rows * algebra(shape.equation, "covariant").accumulators <= (limits.vector_bytes >= 64 ? 24 : 12)) rows *= 2;
    FormSpace space{
        .name = "elements",
        .help = "vectors of neighbouring elements, for which rows of D accumulate in registers",
        .tunables = {algebra_tunable(),
                     {"basis", "what D works on: nodal values, or their even and odd parts under the element's reflection that swaps r and s",
                      words({"nodal", "parity"})},
                     {"lanes", "words of a vector: neighbouring nodes (vector), or neighbouring elements (elements)",
                      f32 ? numbers({4, 8, 16}) : numbers({2, 4, 8})},
                     {"rows_per_tile", "rows of D accumulated at a time", numbers({1, 2, 3, 4, 6, 8})},
                     unrolled_columns()},
        .constraints = {{"registers", [shape, limits](const Config& config) { return sums_violation(shape, config, limits); }},
                        {"words_of_an_element", [shape](const Config& config) { return words_violation(shape, config); }}},
        .safe = {{"algebra", "covariant"},
                 {"basis", shape.order > 1 ? "parity" : "nodal"},
                 {"lanes", lanes},
                 {"rows_per_tile", rows},
                 {"unroll", Value(1)}}};
    return {.space = with_team(std::move(space), limits), .kernel = [problem](const Config& config) { return kernel(problem, config); }};
}

}  // namespace hone::inline v0_1::dg
