#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "generator/families/device/cuda_copies.hpp"
#include "generator/families/dg/coefficients.hpp"
#include "generator/families/dg/parity.hpp"
#include "generator/families/dg/passes/operands.hpp"
#include "generator/families/dg/passes/ways.hpp"
#include "generator/families/dg/volume/forms.hpp"

// Form `element_parity`: Maxwell in 2D. Two threads share an element, one for each curl, and run
// the same text, in which the operator stands; it works on even and odd parts. So half of the
// coefficients are zero, and each of the others stands in the code once.

namespace hone::inline v0_1::dg {
namespace {

struct Layout {
    int elements_per_block, copy_width;
    int row;  // stride between elements in shared memory

    Layout(const Shape& shape, const Config& config)
        : elements_per_block(number(config, "elements_per_block")), copy_width(number(config, "copy_width")) {
        // Elements are loaded in vectors. An odd number of these keeps neighbouring elements, and
        // so neighbouring threads, in different banks.
        const int width = std::gcd(shape.nodes, shape.vector_width());
        row = (shape.words() / width | 1) * width;
    }
    int threads() const { return 2 * elements_per_block; }
};

Resources resources(const Shape& shape, const Config& config) {
    const Layout layout(shape, config);
    const Parity& parity = Parity::of(shape.reference());
    Resources result;
    result.threads = layout.threads();
    // The last copy of a block may reach beyond its words.
    result.shared_bytes = static_cast<std::int64_t>(shape.bytes()) * (layout.elements_per_block * layout.row + shape.vector_width());
    constexpr int sums = 12;  // under way, with the factors and what is put
    result.registers = shape.bytes() / 4 * (2 * shape.nodes + sums) + 20;
    const int both = parity.even() * parity.odd();
    result.code = std::int64_t{parity.even()} * parity.even() + std::int64_t{parity.odd()} * parity.odd() + 2 * both;
    return result;
}

// Entries of the derivative along r + s or r - s between parts, where these are kept.
Coefficients derivative(const Shape& shape, int along) {
    const Parity& parity = Parity::of(shape.reference());
    std::vector<std::pair<int, bool>> kept(static_cast<std::size_t>(shape.nodes));  // number of a part, and whether it is odd
    for (int i = 0; i < parity.even(); ++i) kept[static_cast<std::size_t>(parity.first[static_cast<std::size_t>(i)])] = {i, false};
    for (int i = 0; i < parity.odd(); ++i) kept[static_cast<std::size_t>(parity.second[static_cast<std::size_t>(i)])] = {i, true};
    return {shape.nodes, shape.nodes, [&](int n, int c) {
                const auto [row, row_is_odd] = kept[static_cast<std::size_t>(n)];
                const auto [column, column_is_odd] = kept[static_cast<std::size_t>(c)];
                if ((row_is_odd != column_is_odd) != changes_parity(along)) return 0.0;
                return parity.derivative(shape.reference(), along, row, row_is_odd, column, column_is_odd);
            }};
}

KernelSource kernel(const Problem& problem, const Config& config) {
    const Shape shape(problem);
    const Layout layout(shape, config);
    const Parity& parity = Parity::of(shape.reference());
    const std::array<Coefficients, 2> along{derivative(shape, 0), derivative(shape, 1)};
    const Algebra& form = algebra(shape.equation, "covariant");
    const double executed = (4.0 * (along[0].nonzeros() + along[1].nonzeros()) + static_cast<double>(form.operations_per_node()) * shape.nodes) *
                            static_cast<double>(shape.elements);
    Block constants = shape_constants(shape);
    constants.append(copy_constants(shape, config)).append(block_constants(layout.threads(), config));
    constants.line("constexpr int geometry_words = {}, elements_per_block = {}, nodal_row = {}, even_parts = {}, odd_parts = {};",
                   shape.geometry_words(), layout.elements_per_block, layout.row, parity.even(), parity.odd());
    constants.append(node_table("first_node", parity.first)).append(node_table("second_node", parity.second));
    for (const int a : {0, 1})
        constants.append(coefficient_table(a == 0 ? "along_sum[nodes][nodes]" : "along_difference[nodes][nodes]",
                                           along.at(static_cast<std::size_t>(a)), shape.nodes, shape.precision));
    Block calls;
    constexpr int rows = 12;  // with the products of order 10 below the 16384 instructions up to which loops are unrolled
    for (int begin = 0; begin < parity.even(); begin += rows) calls.line("differentiate({}, {});", begin, std::min(begin + rows, parity.even()));
    Flags flags{{"block_copies", shape.words() % layout.copy_width != 0}, {"kept_reads", false}};
    add_copies(flags, Copies::words_or_zeros);
    KernelSource source =
        make_source(problem, Target::cuda,
                    render("dg/volume/element.cu/by_parity",
                           {{"banner", banner(problem, config, Target::cuda, executed)}, {"constants", constants}, {"differentiate", calls}}, flags),
                    executed);
    source.step.push_back(block_launch(shape, layout.elements_per_block, resources(shape, config)));
    return source;
}

}  // namespace

bool element_parity_applies(const Shape& shape) {
    return shape.dimension == 2;
}

Form element_parity_form(const Problem& problem) {
    const Shape shape(problem);
    std::vector<std::int64_t> widths;
    for (int width = 1; width <= shape.vector_width(); width *= 2) widths.push_back(width);
    Tunable residency = min_blocks();
    residency.values = numbers({1, 2, 4, 6, 8, 12});
    FormSpace space{.name = "element_parity",
                    .help = "a thread owns half of an element, the operator stands in the code and works on even and odd parts",
                    .tunables = {elements_per_block({32, 64, 128}),  // whole warps
                                 {"copy_width", "values per load and store of fields and right-hand sides", numbers(widths)},
                                 std::move(residency)},
                    .safe = {{"elements_per_block", std::int64_t{32}}, {"copy_width", widths.back()}, {"min_blocks", std::int64_t{1}}},
                    .former = [](const Config&) { return false; }};
    return needing({Feature::async_copies}, counted_form(problem, std::move(space), resources, kernel));
}

}  // namespace hone::inline v0_1::dg
