#include <fmt/format.h>

#include <algorithm>

#include "generator/families/dg/algebra.hpp"
#include "generator/families/dg/volume/forms.hpp"

// Form `tile`: a register tile of nodes x elements per thread, operator and fields streamed past
// it. The work horse from order 4 on, and with one node and one element the safe configuration at
// every order. Form `rows`: a thread keeps the rows of its node and takes its elements one after
// the other.

namespace hone::inline v0_1::dg {
namespace {

constexpr int staged_columns = 8;  // columns of the operator that a staged chunk holds: 16-byte copies for every thread at all orders

// How a configuration cuts the block into warps and lanes.
struct Tile {
    int nodes_per_thread, elements_per_thread, elements_per_block;
    int elements_per_trip;  // accumulated at a time
    int group;              // neighbouring nodes of a thread: one 16-byte load of the operator
    int unroll;
    int node_lanes, element_lanes, warps_along_nodes, warps_along_elements;
    int nodes_padded;  // columns of the operator's table
    int inner;         // rows of the table: nodes rounded up to `unroll` or to a staged chunk
    int row;           // stride between elements in shared memory
    int dimension;
    int pack;  // coefficients of one node that are loaded at a time, Dr, Ds, Dt and a zero, or Dr and Ds
    std::string residency;

    Tile(const Shape& shape, const Config& config)
        : nodes_per_thread(static_cast<int>(integer_or(config, "nodes_per_thread", 1))),
          elements_per_thread(number(config, "elements_per_thread")),
          elements_per_block(number(config, "elements_per_block")),
          elements_per_trip(elements_per_thread),
          group(std::min(nodes_per_thread, shape.vector_width())),
          unroll(number(config, "unroll")),
          dimension(shape.dimension),
          pack(dimension == 2 ? 2 : 4),
          residency(config.has(form_tunable, "rows") ? "registers" : config.word("operator")) {
        if (in_registers()) elements_per_trip = 1;
        const int groups = (shape.nodes + nodes_per_thread - 1) / nodes_per_thread;
        // Lanes along nodes: the count that idles fewest, 8 when equal (a warp then loads 8
        // operator and 4 field vectors at a time).
        node_lanes = 8;
        for (const int lanes : {16, 4})
            if (round_up(groups, lanes) < round_up(groups, node_lanes) && element_groups() % (32 / lanes) == 0) node_lanes = lanes;
        element_lanes = 32 / node_lanes;
        warps_along_nodes = round_up(groups, node_lanes) / node_lanes;
        warps_along_elements = element_groups() / element_lanes;
        nodes_padded = warps_along_nodes * node_lanes * nodes_per_thread;
        inner = round_up(shape.nodes, residency == "staged" ? staged_columns : unroll);
        const int width = shape.vector_width();
        const int vectors = (inner + width - 1) / width;
        // An odd number of 16-byte vectors keeps neighbouring elements in different banks.
        row = (number(config, "padding") == 1 && vectors % 2 == 0 ? vectors + 1 : vectors) * width;
    }
    bool in_registers() const { return residency == "registers"; }
    int element_groups() const { return elements_per_block / elements_per_thread; }
    int threads() const { return 32 * warps_along_nodes * warps_along_elements; }
    int loads_per_thread() const {
        if (threads() == 0) return 0;  // too few elements for a warp, which is refused
        return (elements_per_block * row + threads() - 1) / threads();
    }
    // One node per thread loads its coefficients as one packed vector; otherwise a vector holds
    // neighbouring nodes.
    bool packed() const { return nodes_per_thread == 1; }
    int operator_column() const { return (packed() ? pack : dimension) * nodes_padded; }
    int operator_words() const { return inner * operator_column(); }
    int operator_words_shared() const {
        if (residency == "shared") return operator_words();
        return residency == "staged" ? 2 * staged_columns * operator_column() : 0;
    }
    // Factors lie between fields and operator; the operator starts at a multiple of 16 bytes.
    int factor_words(const Algebra& algebra) const { return round_up(elements_per_block * algebra.factor_count(), 4); }
};

std::optional<std::string> layout_violation(const Shape& shape, const Config& config) {
    const Tile tile(shape, config);
    if (tile.element_groups() % tile.element_lanes == 0) return std::nullopt;
    return fmt::format("{} groups of elements are no multiple of the {} in a warp", tile.element_groups(), tile.element_lanes);
}

Resources resources(const Shape& shape, const Config& config) {
    const Tile tile(shape, config);
    const Algebra& form = pass_algebra(shape, config);
    Resources result;
    result.threads = tile.threads();
    result.shared_bytes = static_cast<std::int64_t>(shape.bytes()) *
                          (form.field_count() * tile.elements_per_block * tile.row + tile.factor_words(form) + tile.operator_words_shared());
    const int words = shape.bytes() / 4;
    const int live = form.accumulators * tile.nodes_per_thread * tile.elements_per_trip + form.field_count() * tile.elements_per_trip * tile.unroll +
                     tile.dimension * (tile.in_registers() ? tile.inner : tile.nodes_per_thread);
    const int staging = tile.loads_per_thread() * form.field_count();
    result.registers = words * std::max(live, staging) + 24;  // addresses, indices and loop counters
    result.code = static_cast<std::int64_t>(form.products.size()) * tile.nodes_per_thread * tile.elements_per_trip *
                  (tile.in_registers() ? tile.inner : tile.unroll);
    return result;
}

Block constants(const Shape& shape, const Algebra& form, const Tile& tile, const Config& config) {
    const char* real = shape.precision == Precision::f32 ? "float" : "double";
    Block block;
    block.line("using real = {};", real);
    block.line("constexpr int nodes = {}, fields = {}, factors = {}, accumulators = {};", shape.nodes, shape.fields, form.factor_count(),
               form.accumulators);
    block.line("constexpr int dimension = {}, geometry_words = dimension * dimension;", shape.dimension);
    block.line("constexpr int fields_per_pass = {}, passes = fields / fields_per_pass;", form.field_count());
    block.line("constexpr int elements_per_block = {}, nodes_per_thread = {}, elements_per_thread = {};", tile.elements_per_block,
               tile.nodes_per_thread, tile.elements_per_thread);
    block.line("constexpr int elements_per_trip = {}, trips = elements_per_thread / elements_per_trip;", tile.elements_per_trip);
    block.line("constexpr int element_groups = {};  // elements_per_block / elements_per_thread", tile.element_groups());
    block.line("constexpr int node_lanes = {}, element_lanes = {}, warps_along_nodes = {}, threads_per_block = {};", tile.node_lanes,
               tile.element_lanes, tile.warps_along_nodes, tile.threads());
    block.line("constexpr int blocks_per_multiprocessor = {};", number(config, "min_blocks"));
    block.line("constexpr int vector_width = {};  // values in 16 bytes", shape.vector_width());
    block.line("constexpr int group = {};         // neighbouring nodes of a thread", tile.group);
    block.line("constexpr int row = {};           // nodes of one field of one element in shared memory, padded", tile.row);
    block.line("constexpr int loads_per_thread = {};", tile.loads_per_thread());
    block.line("constexpr int inner = {}, unroll = {};  // columns of the operator, and how many per trip", tile.inner, tile.unroll);
    block.line("constexpr int nodes_padded = {};      // rows of the operator", tile.nodes_padded);
    if (tile.packed())
        block.line("constexpr int operator_column = {} * nodes_padded;  // [node]({})", tile.pack, tile.pack == 2 ? "Dr, Ds" : "Dr, Ds, Dt, 0");
    else
        block.text("constexpr int operator_column = dimension * nodes_padded;  // [along r, s, t][node]");
    if (tile.residency == "staged") block.line("constexpr int chunk = {};             // columns of the operator in flight", staged_columns);
    return block;
}

// The rows of the thread's node, for all its elements.
Block own_rows(const Tile& tile) {
    Block block;
    block.line("real own_rows[inner][{}];", tile.pack);
    block.text("#pragma unroll");
    return block.line("for (int m = 0; m < inner; ++m) load(own_rows[m], D + m * operator_column + node * {});", tile.pack);
}

// Where column m + j of the operator begins.
std::string column(const Tile& tile) {
    return tile.residency == "staged" ? "now + (m + j - start)" : tile.residency == "global" ? "D + (m + j)" : "operator_here + (m + j)";
}

// The coefficients of a node, which lie together, named as those of several nodes are.
Block packed_coefficients(const Tile& tile) {
    Block block;
    if (!tile.in_registers()) {
        block.line("real packed[{}];", tile.pack);
        block.line("load(packed, {} * operator_column + node * {});", column(tile), tile.pack);
    }
    const char* const from = tile.in_registers() ? "own_rows[m + j]" : "packed";
    if (tile.dimension == 2) return block.line("const real d[2][1][1] = {{{{{{{0}[0]}}}}, {{{{{0}[1]}}}}}};", from);
    return block.line("const real d[3][1][1] = {{{{{{{0}[0]}}}}, {{{{{0}[1]}}}}, {{{{{0}[2]}}}}}};", from);
}

Block products(const Algebra& form) {
    Block block;
    for (const Product& product : form.products)
        block.line("sum[{}][r][c] {} d[{}][r / group][r % group] * u[{}][c][j];", product.accumulator,
                   product.sign > 0 ? "+=" : "-=", product.derivative, product.field);
    return block;
}

Block combine(const Algebra& form) {
    Block block;
    for (std::size_t f = 0; f < form.combine.size(); ++f)
        block.line("field[({} * elements_per_block + e) * row + n] = {};", f,
                   expression(form.combine[f], form.combine_scale, [](int i) { return fmt::format("sum[{}][r][c]", i); }));
    return block;
}

// Operator in the order of the loads: column by column, zero where padded.
TableSpec table(const Shape& shape, const Tile& tile) {
    TableSpec result{"D", tile.operator_words(), {}};
    result.contents.assign(static_cast<std::size_t>(result.words), 0.0);
    for (int m = 0; m < shape.nodes; ++m)
        for (int a = 0; a < shape.dimension; ++a) {
            const SquareMatrix& columns = shape.reference().transposed[static_cast<std::size_t>(a)];
            double* const to = &result.contents[static_cast<std::size_t>(m * tile.operator_column() + (tile.packed() ? a : a * tile.nodes_padded))];
            for (int n = 0; n < shape.nodes; ++n) to[tile.packed() ? tile.pack * n : n] = columns(m, n);
        }
    return result;
}

KernelSource kernel(const Problem& problem, const Config& config) {
    const Shape shape(problem);
    const Tile tile(shape, config);
    const Algebra& form = pass_algebra(shape, config);
    const double executed = executed_operations(problem, config, static_cast<double>(tile.nodes_padded) * tile.inner);
    const Holes holes{{"banner", banner(problem, config, Target::cuda, executed)},
                      {"constants", constants(shape, form, tile, config)},
                      {"operator_here", Block().line("real* const operator_here = factor + {};", tile.factor_words(form))},
                      {"element_factors", element_factors(form, "own")},
                      {"transform", transform_into_field(form)},
                      {"own_rows", own_rows(tile)},
                      {"packed_coefficients", packed_coefficients(tile)},
                      {"load_coefficients",
                       Block().line("load(d[a][r], {} * operator_column + a * nodes_padded + node + r * (node_lanes * group));", column(tile))},
                      {"products", products(form)},
                      {"name_combine_factors", name_combine_factors(form)},
                      {"combine", combine(form)}};
    const bool staged = tile.residency == "staged", in_shared = tile.operator_words_shared() != 0;
    const Flags flags{{"staged", staged},
                      {"operator_in_shared", in_shared},
                      {"operator_kept", in_shared && !staged},
                      {"in_registers", tile.in_registers()},
                      {"packed", tile.in_registers() || tile.packed()}};
    KernelSource source = make_source(problem, Target::cuda, render("dg/volume/tile.cu", holes, flags), executed);
    source.tables.push_back(table(shape, tile));
    source.step.push_back(block_launch(shape, tile.elements_per_block, resources(shape, config)));
    return source;
}

// What both forms refuse and take.
Form form_of(const Problem& problem, FormSpace space) {
    const Shape shape(problem);
    space.constraints = {{"layout", [shape](const Config& config) { return layout_violation(shape, config); }, all_but_min_blocks(space)}};
    return counted_form(problem, std::move(space), resources, kernel);
}

}  // namespace

Form tile_form(const Problem& problem, const Limits& limits) {
    const Shape shape(problem);
    const bool low = shape.low_order(), stages = !low && limits.has(Feature::async_copies);
    return form_of(problem, {.name = "tile",
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

Form rows_form(const Problem& problem) {
    const Shape shape(problem);
    return form_of(problem, {.name = "rows",
                             .help = "a thread keeps its node's rows of the operator in registers, for its elements one after the other",
                             .tunables = {algebra_tunable(), fields_per_pass(shape), elements_per_block({8, 16, 32, 64, 128}),
                                          elements_per_thread({2, 4}), unrolled_columns(), padded_rows(), min_blocks()},
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
