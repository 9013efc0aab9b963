#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>

#include "generator/families/dg/algebra.hpp"
#include "generator/families/dg/halves.hpp"
#include "generator/families/dg/volume/cuda.hpp"

// Low orders, where memory sets the limit. A thread owns half the right-hand sides of one element;
// the operator's coefficients are immediates of the instructions, so that a multiply-add loads
// nothing and zeros (half of the operator) cost nothing.

namespace hone::inline v0_1::dg {
namespace {

struct Element {
    Element(const Shape& of, const Config& config)
        : shape(of),
          algebra(&whole_algebra(shape, config)),
          elements_per_block(number(config, "elements_per_block")),
          copy_width(number(config, "copy_width")),
          min_blocks(static_cast<int>(integer_or(config, "min_blocks", 1))),
          store_width(std::gcd(shape.nodes, copy_width)) {
        const int vectors = shape.words() / copy_width;
        // An odd number of vectors keeps neighbouring elements, and so neighbouring threads, in
        // different banks.
        row = (config.has("padding", 1) && vectors % 2 == 0 ? vectors + 1 : vectors) * copy_width;
        constexpr int registers_in_flight = 64;
        batch = std::clamp(registers_in_flight * 4 / (copy_width * shape.bytes()), 1, (vectors + 1) / 2);
    }

    Shape shape;
    const Algebra* algebra;
    int elements_per_block;
    int copy_width;  // values per load and store of memory
    int min_blocks;
    int store_width;  // nodes of one field written at a time
    int row;          // stride between elements in shared memory
    int batch;        // vectors that a thread loads at a time

    int threads() const { return 2 * elements_per_block; }
    BlockResources resources() const;
    Block constants() const;
    KernelSource kernel(const Problem& problem, const Config& config) const;
};

BlockResources Element::resources() const {
    BlockResources result{.threads = threads(),
                          .shared_bytes = static_cast<std::int64_t>(shape.bytes()) * elements_per_block * (row + shape.geometry_words())};
    int held = 0;
    for (const Half& half : halves_of(shape, *algebra)) {
        held = std::max(held, half.field_count * shape.nodes + static_cast<int>(half.accumulators.size()) * store_width);
        result.code += static_cast<std::int64_t>(half.products.size()) * nonzeros(shape.reference().derivative[0]);
    }
    // Addresses and indices; f64 coefficients pass through registers too.
    result.registers = shape.bytes() / 4 * (held + algebra->factor_count() + 10) + 20;
    return result;
}

Block Element::constants() const {
    Block block;
    block.line("using real = {};", shape.precision == Precision::f32 ? "float" : "double");
    block.line("constexpr int nodes = {}, fields = {}, words = fields * nodes, factors = {};", shape.nodes, shape.fields, algebra->factor_count());
    block.line("constexpr int geometry_words = {};", shape.geometry_words());
    block.line("constexpr int elements_per_block = {}, threads_per_block = {}, blocks_per_multiprocessor = {};", elements_per_block, threads(),
               min_blocks);
    block.line("constexpr int copy_width = {};  // values per load and store of memory", copy_width);
    block.line("constexpr int batch = {};       // vectors that a thread loads at a time", batch);
    block.line("constexpr int row = {};         // values of one element in shared memory, padded", row);
    return block;
}

// Sum of coefficient * field value over the nonzero coefficients of one accumulator at one node,
// broken into lines.
Block accumulator_lines(const Shape& shape, const Half& half, int accumulator, int node) {
    constexpr std::size_t longest_line = 80;  // before the last term
    Block block;
    std::string line = fmt::format("const real s{}_{} =", accumulator, node);
    bool empty = true;
    for (const Product& product : half.products) {
        if (product.accumulator != accumulator) continue;
        for (int m = 0; m < shape.nodes; ++m) {
            const double value = product.sign * shape.reference().derivative[static_cast<std::size_t>(product.derivative)](node, m);
            if (value == 0) continue;
            const std::string sign = value < 0 ? (empty ? " -" : " - ") : (empty ? " " : " + ");
            if (line.size() > longest_line) {
                block.text(line);
                line = "   ";
            }
            line += fmt::format("{}{:#.{}g}{} * u[{}][{}]", sign, std::abs(value), shape.precision == Precision::f32 ? 9 : 17,
                                shape.precision == Precision::f32 ? "f" : "", product.field - half.first_field, m);
            empty = false;
        }
    }
    block.text(line + (empty ? " 0;" : ";"));
    return block;
}

// Right-hand sides of nodes [node, node + store_width), written as one vector per field.
Block node_lines(const Element& staging, const Half& half, int node) {
    const bool curl = staging.shape.maxwell();
    Block block;
    for (int n = node; n < node + staging.store_width; ++n)
        for (const int accumulator : half.accumulators) block.append(accumulator_lines(staging.shape, half, accumulator, n));
    for (const int output : half.outputs) {
        std::string values;
        for (int n = node; n < node + staging.store_width; ++n) {
            const std::string sum = expression(staging.algebra->combine[static_cast<std::size_t>(output)], curl ? "scale" : "",
                                               [n](int i) { return fmt::format("s{}_{}", i, n); });
            values += (values.empty() ? "" : ", ") + sum;
        }
        block.line("const real rhs{}_{}[{}] = {{{}}};", output, node, staging.store_width, values);
        block.line("store(to + {}, rhs{}_{});", (output - half.outputs.front()) * staging.shape.nodes + node, output, node);
    }
    return block;
}

// Reads and transforms the fields of a half.
Block load_lines(const Element& staging, const Half& half, const std::string& from) {
    const int values = half.field_count * staging.shape.nodes;
    Block block;
    block.line("real raw[{}];", values);
    block.line("load<{}>(raw, {});", std::gcd(std::gcd(values, half.first_field * staging.shape.nodes), staging.copy_width), from);
    block.text("#pragma unroll");
    block.open("for (int m = 0; m < nodes; ++m)");
    for (int f = 0; f < half.field_count; ++f)
        block.line("u[{}][m] = {};", f, expression(staging.algebra->transform[static_cast<std::size_t>(half.first_field + f)], "", [&half](int i) {
                       return fmt::format("raw[{} * nodes + m]", i - half.first_field);
                   }));
    block.close();
    return block;
}

Block differentiate_lines(const Element& staging, const Half& half, const std::string& to) {
    Block block;
    block.line("real* const to = {};", to);
    for (int node = 0; node < staging.shape.nodes; node += staging.store_width) block.append(node_lines(staging, half, node));
    return block;
}

// Where a field of the thread's element lies.
std::string place(int field) {
    return field == 0 ? "mine" : field == 1 ? "mine + nodes" : fmt::format("mine + {} * nodes", field);
}

Block load_half(const Element& staging) {
    const std::vector<Half> parts = halves_of(staging.shape, *staging.algebra);
    if (parts.size() == 1) return load_lines(staging, parts[0], "mine + half * (3 * nodes)");
    const auto load = [&](const Half& half) { return load_lines(staging, half, place(half.first_field)); };
    return either(load(parts[0]), load(parts[1]));
}

Block differentiate(const Element& staging) {
    const std::vector<Half> parts = halves_of(staging.shape, *staging.algebra);
    Block block;
    if (parts.size() == 1) {
        block.text("// First half: dE/dt = curl H; second: dH/dt = -curl E.");
        block.line("const real scale = half == 0 ? {0} : -{0};", staging.algebra->combine_scale.empty() ? "real(1)" : staging.algebra->combine_scale);
        block.append(differentiate_lines(staging, parts[0], "mine + (1 - half) * (3 * nodes)"));
    } else {
        block.text(staging.shape.dimension == 2 ? "// First half: dH/dt = -curl Ez; second: dEz/dt = curl H."
                                                : "// First half: p' = -div u; second: u' = -grad p.");
        const auto lines = [&](const Half& half) { return differentiate_lines(staging, half, place(half.outputs.front())); };
        block.append(either(lines(parts[0]), lines(parts[1])));
    }
    return block;
}

KernelSource Element::kernel(const Problem& problem, const Config& config) const {
    const double executed = executed_operations(shape, *algebra, nonzeros(shape.reference().derivative[0]));
    const Holes holes{{"banner", banner(problem, config, Target::cuda, executed)},
                      {"constants", constants()},
                      {"element_factors", element_factors(*algebra, "own")},
                      {"name_factors", name_factors(*algebra)},
                      {"load_half", load_half(*this)},
                      {"differentiate", differentiate(*this)}};
    KernelSource source = make_source(problem, Target::cuda, render("dg/volume/element.cu", holes), executed);
    source.step.push_back(block_launch(shape, elements_per_block, resources()));
    return source;
}

}  // namespace

Form element_form(const Problem& problem, const Limits&) {
    const Shape shape(problem);
    std::vector<std::int64_t> widths;
    for (const int width : {1, 2, 4})
        if (width * shape.bytes() <= 16 && shape.words() % width == 0) widths.push_back(width);
    FormSpace space{.name = "element",
                    .help = "a thread owns half of an element, the operator stands in the code",
                    .tunables = {algebra_tunable(),
                                 elements_per_block({32, 64, 128}),  // whole warps
                                 {"copy_width", "values per load and store of fields and right-hand sides", numbers(widths)},
                                 padded_rows(),
                                 min_blocks()},
                    .safe = {{"algebra", "covariant"},
                             {"elements_per_block", std::int64_t{32}},
                             {"copy_width", widths.back()},
                             {"padding", std::int64_t{1}},
                             {"min_blocks", std::int64_t{1}}},
                    .former = [](const Config& config) { return config.has("mapping", "element"); }};
    space.tunables[2].former_name = "unroll";
    std::vector<std::string> read = all_but_min_blocks(space);
    return counted_form<Element>(problem, std::move(space), std::move(read));
}

}  // namespace hone::inline v0_1::dg
