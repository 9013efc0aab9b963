#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "generator/families/device/cpu_team.hpp"
#include "generator/families/dg/parity.hpp"
#include "generator/families/dg/volume/text.hpp"

// Neighbouring elements are the lanes of vectors: no vector has lanes without work, whatever
// the number of nodes, and even and odd parts cost no more than addresses. Words change places
// between lanes on the way in and out, `lanes` x `lanes` at a time. An entry of D is multiplied
// with vectors of all fields at once.

namespace hone::inline v0_1::dg {
namespace {

struct Elements {
    Elements(const Shape& of, const Config& config)
        : shape(of),
          algebra(&whole_algebra(shape, config)),
          lanes(number(config, "lanes")),
          rows_per_tile(number(config, "rows_per_tile")),
          unroll(number(config, "unroll")),
          basis(config.word("basis")) {}

    Shape shape;
    const Algebra* algebra;
    int lanes, rows_per_tile, unroll;
    std::string basis;

    Reason many_sums(const Limits& limits) const;
    Reason few_words() const;
    KernelSource kernel(const Problem& problem, const Config& config) const;
};

Reason Elements::many_sums(const Limits& limits) const {
    const int registers_per_vector = (lanes * shape.bytes() + limits.vector_bytes - 1) / limits.vector_bytes;
    const int needed = algebra->accumulators * rows_per_tile * registers_per_vector;
    // A processor has 32 vector registers of 64 bytes, or 16 shorter ones. One tile is always worth
    // trying.
    const int most = limits.vector_bytes >= 64 ? 30 : 15;
    if (needed <= most || rows_per_tile == 1) return std::nullopt;
    return fmt::format("{} vector registers for sums, at most {} are worth trying", needed, most);
}

Reason Elements::few_words() const {
    if (lanes <= shape.words()) return std::nullopt;
    return fmt::format("{} lanes, an element has {} words", lanes, shape.words());
}

// Rows and columns of D in kinds: nodal values are one, parts under a reflection two, under two
// reflections four.
struct Kinds {
    const Shape& shape;
    const Parity* parity = nullptr;
    const DoubleParity* doubled = nullptr;
    std::vector<int> counts;

    Kinds(const Shape& of, const std::string& basis) : shape(of), counts{of.nodes} {
        const ReferenceElement& element = of.reference();
        if (basis == "parity") {
            parity = &Parity::of(element);
            counts = {parity->even(), parity->odd()};
        } else if (basis == "double_parity") {
            doubled = &DoubleParity::of(element);
            counts = {doubled->count(0), doubled->count(1), doubled->count(2), doubled->count(3)};
        }
    }
    /// Rows of a kind take columns of kind ^ change(along).
    int change(int along) const { return doubled != nullptr ? along : parity != nullptr && changes_parity(along) ? 1 : 0; }
    double entry(int along, int kind, int row, int column) const {
        if (doubled != nullptr) return doubled->derivative(shape.reference(), along, kind, row, column);
        const int from = kind ^ change(along);
        if (parity != nullptr) return parity->derivative(shape.reference(), along, row, kind == 1, column, from == 1);
        return shape.reference().derivative[static_cast<std::size_t>(along)](row, column);
    }
    /// As the kernel reads it: [kind][tile of rows][along][column][row of the tile].
    TableSpec table(int rows_per_tile) const {
        TableSpec result{"D", 0, {}};
        for (int kind = 0; kind < static_cast<int>(counts.size()); ++kind) {
            const int rows = counts[static_cast<std::size_t>(kind)];
            for (int begin = 0; begin < rows; begin += rows_per_tile)
                for (int along = 0; along < shape.dimension; ++along)
                    for (int column = 0; column < counts[static_cast<std::size_t>(kind ^ change(along))]; ++column)
                        for (int row = begin; row < std::min(begin + rows_per_tile, rows); ++row)
                            result.contents.push_back(entry(along, kind, row, column));
        }
        result.words = static_cast<std::int64_t>(result.contents.size());
        return result;
    }
    Block constants() const {
        std::vector<int> begins, changes;
        for (std::size_t kind = 0; kind < counts.size(); ++kind)
            begins.push_back(std::accumulate(counts.begin(), counts.begin() + static_cast<std::ptrdiff_t>(kind), 0));
        for (int along = 0; along < shape.dimension; ++along) changes.push_back(change(along));
        return Block().line("constexpr int kinds = {}, kind_count[] = {{{}}}, kind_begin[] = {{{}}}, change[] = {{{}}};", counts.size(),
                            fmt::join(counts, ", "), fmt::join(begins, ", "), fmt::join(changes, ", "));
    }
    Block nodes() const {
        if (parity != nullptr)
            return Block()
                .line("static const short first_node[] = {{{}}};", fmt::join(parity->first, ", "))
                .line("static const short second_node[] = {{{}}};", fmt::join(parity->second, ", "));
        if (doubled == nullptr) return {};
        std::vector<std::string> groups;
        for (const std::array<int, 4>& images : doubled->orbits) groups.push_back(fmt::format("{{{}}}", fmt::join(images, ", ")));
        return Block().line("static const short images[][4] = {{{}}};", fmt::join(groups, ", "));
    }
};

Block products(const Algebra& form, int along) {
    Block block;
    for (const Product& product : form.products)
        if (product.derivative == along)
            block.line("sum[{}][r] {} D[r] * u[{}];", product.accumulator, product.sign > 0 ? "+=" : "-=", product.field);
    return block;
}

Block assigned(const std::vector<Sum>& sums, const char* to, const std::string& scale, const char* operand) {
    Block block;
    for (std::size_t f = 0; f < sums.size(); ++f)
        block.line("{}[{}] = {};", to, f, expression(sums[f], scale, [&](int i) { return fmt::format(fmt::runtime(operand), i); }));
    return block;
}

KernelSource Elements::kernel(const Problem& problem, const Config& config) const {
    const Algebra& form = *algebra;
    const Kinds kinds(shape, basis);
    const TableSpec derivatives = kinds.table(rows_per_tile);
    // Each entry of D takes part in as many products as fields have such a derivative.
    const double executed = executed_operations(shape, *algebra, static_cast<double>(derivatives.words) / shape.dimension);
    Block constants;
    constants.line("using real = {};", shape.precision == Precision::f32 ? "float" : "double");
    constants.line("constexpr int nodes = {}, fields = {}, words = nodes * fields, factors = {}, accumulators = {};", shape.nodes, shape.fields,
                   form.factor_count(), form.accumulators);
    constants.line("constexpr int dimension = {}, geometry_words = dimension * dimension;", shape.dimension);
    constants.line("constexpr int lanes = {}, rows_per_tile = {};", lanes, rows_per_tile);
    Block unroll_line;
    unroll_line.line("#pragma GCC unroll {}", unroll);
    const Holes holes{{"banner", banner(problem, config, Target::cpu, executed)},
                      {"constants", constants},
                      {"kinds", kinds.constants()},
                      {"tables_of_parts", kinds.nodes()},
                      {"element_factors", element_factors(form, "factor", "vector")},
                      {"name_load_factors",
                       form.transforms() ? name_factors(form, "vector") : Block().text("(void)own;  // fields are differentiated as they are")},
                      {"transform", assigned(form.transform, "field", "", "value[{}]")},
                      {"unroll", unroll_line},
                      {"products_along_first", products(form, 0)},
                      {"products_along_second", products(form, 1)},
                      {"products_along_third", products(form, 2)},
                      {"name_combine_factors", name_factors(form, "vector")},
                      {"combine", assigned(form.combine, "out", form.combine_scale, "sum[{}][r]")},
                      {"team", team(config)},
                      {"parallel", team_parallel(config)},
                      {"seat", team_seat(config)}};
    KernelSource source = make_source(problem, Target::cpu,
                                      render("dg/volume/elements.cpp", holes,
                                             {{"by_parity", kinds.parity != nullptr},
                                              {"doubly", kinds.doubled != nullptr},
                                              {"with_parts", kinds.counts.size() > 1},
                                              {"in_3d", shape.dimension == 3}}),
                                      executed);
    source.tables.push_back(derivatives);
    source.step.push_back({"dg_volume", {1, 1, 1}, {1, 1, 1}, 0, 1, 0, {}});
    return source;
}

}  // namespace

Form cpu_elements_form(const Problem& problem, const Limits& limits) {
    const Shape shape(problem);
    const bool f32 = shape.precision == Precision::f32;
    // Untuned: the widest vectors that an element's words fill, and sums of most registers.
    std::int64_t lanes = 16 / shape.bytes(), rows = 1;
    while (2 * lanes <= std::min(limits.vector_bytes / shape.bytes(), shape.words())) lanes *= 2;
    while (2 * rows * dg::algebra(shape.equation, "covariant").accumulators <= (limits.vector_bytes >= 64 ? 24 : 12)) rows *= 2;
    FormSpace space{.name = "elements",
                    .help = "vectors of neighbouring elements, for which rows of D accumulate in registers",
                    .tunables = {algebra_tunable(),
                                 {"basis",
                                  "what D works on: nodal values, or their even and odd parts under the reflection of the element that swaps r and s "
                                  "(parity), or under that and the one that swaps a tetrahedron's other two vertices (double_parity)",
                                  shape.dimension == 3 ? words({"nodal", "parity", "double_parity"}) : words({"nodal", "parity"})},
                                 {"lanes", "words of a vector: neighbouring elements", f32 ? numbers({4, 8, 16}) : numbers({2, 4, 8})},
                                 {"rows_per_tile", "rows of D accumulated at a time", numbers({1, 2, 3, 4, 6, 8})},
                                 unrolled_columns()},
                    .constraints = {{"registers", [shape, limits](const Config& config) { return Elements(shape, config).many_sums(limits); }},
                                    {"words_of_an_element", [shape](const Config& config) { return Elements(shape, config).few_words(); }}},
                    .safe = {{"algebra", "covariant"},
                             {"basis", shape.dimension == 3 && shape.order > 2 ? "double_parity" : "parity"},
                             {"lanes", lanes},
                             {"rows_per_tile", rows},
                             {"unroll", Value(1)}}};
    return {.space = with_team(std::move(space), limits),
            .kernel = [problem](const Config& config) { return Elements(Shape(problem), config).kernel(problem, config); }};
}

}  // namespace hone::inline v0_1::dg
