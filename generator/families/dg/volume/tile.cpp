#include "generator/families/dg/volume/tile.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace hone::inline v0_1::dg {
namespace {

constexpr int staged_columns = 8;  // columns of the operator that a staged chunk holds: 16-byte copies for every thread at all orders

}  // namespace

TileKernel::TileKernel(const Shape& of, const Config& config, int of_nodes, OperatorIn place)
    : shape(of),
      whole(&whole_algebra(shape, config)),
      algebra(&pass_algebra(shape, config)),
      nodes_per_thread(of_nodes),
      elements_per_thread(number(config, "elements_per_thread")),
      elements_per_block(number(config, "elements_per_block")),
      operator_in(place),
      elements_per_trip(in_registers() ? 1 : elements_per_thread),
      group(std::min(nodes_per_thread, shape.vector_width())),
      unroll(number(config, "unroll")),
      min_blocks(static_cast<int>(integer_or(config, "min_blocks", 1))),
      pack(shape.dimension == 2 ? 2 : 4) {
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
    inner = round_up(shape.nodes, operator_in == OperatorIn::staged ? staged_columns : unroll);
    const int width = shape.vector_width();
    const int vectors = (inner + width - 1) / width;
    // An odd number of 16-byte vectors keeps neighbouring elements in different banks.
    row = (number(config, "padding") == 1 && vectors % 2 == 0 ? vectors + 1 : vectors) * width;
}

int TileKernel::loads_per_thread() const {
    if (threads() == 0) return 0;  // too few elements for a warp, which is refused
    return (elements_per_block * row + threads() - 1) / threads();
}

int TileKernel::operator_words_shared() const {
    if (operator_in == OperatorIn::shared) return operator_words();
    return operator_in == OperatorIn::staged ? 2 * staged_columns * operator_column() : 0;
}

Reason TileKernel::layout_violation() const {
    if (element_groups() % element_lanes == 0) return std::nullopt;
    return fmt::format("{} groups of elements are no multiple of the {} in a warp", element_groups(), element_lanes);
}

BlockResources TileKernel::resources() const {
    BlockResources result;
    result.threads = threads();
    result.shared_bytes =
        static_cast<std::int64_t>(shape.bytes()) * (algebra->field_count() * elements_per_block * row + factor_words() + operator_words_shared());
    const int words = shape.bytes() / 4;
    const int live = algebra->accumulators * nodes_per_thread * elements_per_trip + algebra->field_count() * elements_per_trip * unroll +
                     shape.dimension * (in_registers() ? inner : nodes_per_thread);
    const int staging = loads_per_thread() * algebra->field_count();
    result.registers = words * std::max(live, staging) + 24;  // addresses, indices and loop counters
    result.code = static_cast<std::int64_t>(algebra->products.size()) * nodes_per_thread * elements_per_trip * (in_registers() ? inner : unroll);
    return result;
}

namespace {

Block constants(const TileKernel& tile) {
    const Shape& shape = tile.shape;
    const Algebra& form = *tile.algebra;
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
    block.line("constexpr int blocks_per_multiprocessor = {};", tile.min_blocks);
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
    if (tile.operator_in == OperatorIn::staged)
        block.line("constexpr int chunk = {};             // columns of the operator in flight", staged_columns);
    return block;
}

// The rows of the thread's node, for all its elements.
Block own_rows(const TileKernel& tile) {
    Block block;
    block.line("real own_rows[inner][{}];", tile.pack);
    block.text("#pragma unroll");
    return block.line("for (int m = 0; m < inner; ++m) load(own_rows[m], D + m * operator_column + node * {});", tile.pack);
}

// Where column m + j of the operator begins.
std::string column(const TileKernel& tile) {
    return tile.operator_in == OperatorIn::staged   ? "now + (m + j - start)"
           : tile.operator_in == OperatorIn::global ? "D + (m + j)"
                                                    : "operator_here + (m + j)";
}

// The coefficients of a node, which lie together, named as those of several nodes are.
Block packed_coefficients(const TileKernel& tile) {
    Block block;
    if (!tile.in_registers()) {
        block.line("real packed[{}];", tile.pack);
        block.line("load(packed, {} * operator_column + node * {});", column(tile), tile.pack);
    }
    const char* const from = tile.in_registers() ? "own_rows[m + j]" : "packed";
    if (tile.shape.dimension == 2) return block.line("const real d[2][1][1] = {{{{{{{0}[0]}}}}, {{{{{0}[1]}}}}}};", from);
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
TableSpec table(const TileKernel& tile) {
    const Shape& shape = tile.shape;
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

}  // namespace

KernelSource TileKernel::kernel(const Problem& problem, const Config& config) const {
    const double executed = executed_operations(shape, *whole, static_cast<double>(nodes_padded) * inner);
    const Holes holes{{"banner", banner(problem, config, Target::cuda, executed)},
                      {"constants", constants(*this)},
                      {"operator_here", Block().line("real* const operator_here = factor + {};", factor_words())},
                      {"element_factors", element_factors(*algebra, "own")},
                      {"transform", transform_into_field(*algebra)},
                      {"own_rows", own_rows(*this)},
                      {"packed_coefficients", packed_coefficients(*this)},
                      {"load_coefficients",
                       Block().line("load(d[a][r], {} * operator_column + a * nodes_padded + node + r * (node_lanes * group));", column(*this))},
                      {"products", products(*algebra)},
                      {"name_combine_factors", name_combine_factors(*algebra)},
                      {"combine", combine(*algebra)}};
    const bool staged = operator_in == OperatorIn::staged, in_shared = operator_words_shared() != 0;
    const Flags flags{{"staged", staged},
                      {"operator_in_shared", in_shared},
                      {"operator_kept", in_shared && !staged},
                      {"in_registers", in_registers()},
                      {"packed", in_registers() || packed()}};
    KernelSource source = make_source(problem, Target::cuda, render("dg/volume/tile.cu", holes, flags), executed);
    source.tables.push_back(table(*this));
    source.step.push_back(block_launch(shape, elements_per_block, resources()));
    return source;
}

}  // namespace hone::inline v0_1::dg
