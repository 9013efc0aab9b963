#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

#include "generator/families/dg/algebra.hpp"
#include "generator/families/dg/matrix_units.hpp"
#include "generator/families/dg/volume/cuda.hpp"

// Products on the matrix units (matrix_units.hpp), of which mma and tf32 have different ones.

namespace hone::inline v0_1::dg {
namespace {

constexpr int registers_per_multiprocessor = 65536;  // of every architecture that has the instruction

struct MatrixUnits {
    MatrixUnits(const Shape& of, const Config& config)
        : shape(of),
          whole(&whole_algebra(shape, config)),
          algebra(&pass_algebra(shape, config)),
          elements_per_block(number(config, "elements_per_block")),
          groups_per_warp(number(config, "groups_per_warp")),
          unroll(static_cast<int>(integer_or(config, "unroll", 1))),
          min_blocks(static_cast<int>(integer_or(config, "min_blocks", 1))),
          nonzero(config.has("operator", "nonzero")),
          node_tiles(round_up(shape.nodes, mma_nodes) / mma_nodes),
          steps(round_up(shape.nodes, mma_columns) / mma_columns),
          column_groups(std::max(1, elements_per_block / (groups_per_warp * mma_elements))) {
        // A stride of 8 modulo 16 words keeps the loads of two words of 8 neighbouring elements in
        // different banks.
        row = (config.has("padding", 1) && steps % 2 == 0 ? steps + 1 : steps) * mma_columns;
        batch = 4;
        // This step's and the next step's operator, this step's fields; a negative, addresses,
        // indices and loop counters.
        const int held = matrix_registers(shape, algebra->accumulators, groups_per_warp, shape.dimension, 2, algebra->field_count());
        registers = std::max(held, shape.bytes() / 4 * batch * algebra->field_count()) + 30;
        warps = best_warps();
    }

    Shape shape;
    const Algebra* whole;
    const Algebra* algebra;  // of a pass
    int elements_per_block, groups_per_warp, unroll, min_blocks;
    bool nonzero;  // nodes are sorted by face, and tiles of zeros left out
    int node_tiles, steps, column_groups;
    int row;    // stride between elements in shared memory
    int batch;  // nodes that a thread loads at a time
    int registers;
    int warps;

    int tasks() const { return node_tiles * column_groups; }
    int threads() const { return warps * mma_lanes; }
    Reason layout_violation() const;
    BlockResources resources() const;
    KernelSource kernel(const Problem& problem, const Config& config) const;

  private:
    // A multiple of four, one per scheduler; as many as registers allow, and among them the count
    // that leaves fewest warps idle in the last round.
    int best_warps() const {
        int best = 4;
        const auto slots = [this](int count) { return round_up(tasks(), count); };
        for (int count = 8; count <= 16; count += 4)
            if (count * mma_lanes * min_blocks * registers <= registers_per_multiprocessor && slots(count) <= slots(best)) best = count;
        return best;
    }
};

Reason MatrixUnits::layout_violation() const {
    const int most = shape.precision == Precision::f32 || algebra->field_count() == 3 ? 4 : 2;
    if (auto violation = too_many(groups_per_warp, most, "groups of 8 elements")) return violation;
    if (elements_per_block % (mma_elements * groups_per_warp) == 0) return std::nullopt;
    return fmt::format("the matrix units need a multiple of {} elements per block", mma_elements * groups_per_warp);
}

BlockResources MatrixUnits::resources() const {
    return {.threads = threads(),
            .shared_bytes = static_cast<std::int64_t>(shape.bytes()) * elements_per_block * (algebra->field_count() * row + algebra->factor_count()),
            .registers = registers,
            .code = static_cast<std::int64_t>(algebra->products.size()) * groups_per_warp * unroll * product_terms(shape)};
}

Block constants(const MatrixUnits& tiling) {
    const Shape& shape = tiling.shape;
    const Algebra& form = *tiling.algebra;
    Block block;
    block.line("using real = {};", shape.precision == Precision::f32 ? "float" : "double");
    block.line("constexpr int nodes = {}, fields = {}, factors = {}, accumulators = {};", shape.nodes, shape.fields, form.factor_count(),
               form.accumulators);
    block.line("constexpr int dimension = {}, geometry_words = dimension * dimension;", shape.dimension);
    block.line("constexpr int fields_per_pass = {}, passes = fields / fields_per_pass;", form.field_count());
    block.line("constexpr int elements_per_block = {}, warps = {}, threads_per_block = {}, blocks_per_multiprocessor = {};",
               tiling.elements_per_block, tiling.warps, tiling.threads(), tiling.min_blocks);
    block.line("constexpr int columns = {};  // groups of 8 elements per warp", tiling.groups_per_warp);
    block.line("constexpr int node_tiles = {}, column_groups = {};", tiling.node_tiles, tiling.column_groups);
    block.line("constexpr int steps = {};    // of 8 columns of the operator", tiling.steps);
    block.line("constexpr int row = {};      // nodes of one field of one element in shared memory, padded", tiling.row);
    block.line("constexpr int batch = {};    // nodes that a thread loads at a time", tiling.batch);
    return block;
}

// Nodes by the first face that they are on, those within last: a node's derivative along a face
// sees no node beyond that face, so that zeros of the operator come together.
std::vector<int> face_sorted(const Shape& shape) {
    std::vector<int> order;
    std::vector<bool> placed(static_cast<std::size_t>(shape.nodes), false);
    const auto place = [&](int node) {
        if (placed[static_cast<std::size_t>(node)]) return;
        placed[static_cast<std::size_t>(node)] = true;
        order.push_back(node);
    };
    for (const auto& mask : shape.reference().face_mask)
        for (const int node : mask) place(node);
    for (int node = 0; node < shape.nodes; ++node) place(node);
    return order;
}

// Where a kernel has the nodes in another order, and which tiles of the operator it works on.
struct Sparsity {
    std::vector<int> order;                          // node at each place; empty: as they are
    std::vector<std::array<std::uint64_t, 3>> used;  // [tile of nodes][along r, s, t]: a bit per step
    double part = 1;                                 // of all tiles

    int node(int place) const { return order.empty() ? place : order[static_cast<std::size_t>(place)]; }
};

Sparsity sparsity(const MatrixUnits& tiling) {
    const Shape& shape = tiling.shape;
    constexpr double zero = 1e-10;  // rounding of the operator's own making is below
    Sparsity result;
    if (!tiling.nonzero) return result;
    result.order = face_sorted(shape);
    result.used.resize(static_cast<std::size_t>(tiling.node_tiles));
    for (std::size_t a = 0; a < shape.reference().derivative.size(); ++a)
        for (int n = 0; n < shape.nodes; ++n)
            for (int m = 0; m < shape.nodes; ++m)
                if (std::abs(shape.reference().derivative[a](result.node(n), result.node(m))) > zero)
                    result.used[static_cast<std::size_t>(n / mma_nodes)][a] |= std::uint64_t{1} << (m / mma_columns);
    int count = 0;
    for (const auto& tile : result.used)
        for (const std::uint64_t steps : tile) count += std::popcount(steps);
    result.part = static_cast<double>(count) / (shape.dimension * tiling.node_tiles * tiling.steps);
    return result;
}

// What the device has to know of it.
Block sparsity_tables(const MatrixUnits& tiling, const Sparsity& sparse) {
    const Shape& shape = tiling.shape;
    Block block;
    if (sparse.order.empty()) return block;
    std::vector<int> places(static_cast<std::size_t>(tiling.row));
    for (int place = 0; place < tiling.row; ++place) places[static_cast<std::size_t>(place < shape.nodes ? sparse.node(place) : place)] = place;
    block.text("// Nodes lie sorted by face in shared memory: the place of each there, and the node of each place.");
    block.line("__device__ const unsigned short place_of[row] = {{{}}};", fmt::join(places, ", "));
    block.line("__device__ const unsigned short node_of[nodes] = {{{}}};", fmt::join(sparse.order, ", "));
    std::vector<std::string> tiles;
    for (const auto& tile : sparse.used) tiles.push_back(fmt::format("{{{:#x}, {:#x}, {:#x}}}", tile[0], tile[1], tile[2]));
    block.text("// Along r, s, t: a bit per step in which the operator's tile is not all zeros.");
    block.line("__device__ const unsigned long long used[node_tiles][3] = {{{}}};", fmt::join(tiles, ", "));
    return block;
}

Block used_steps(const Shape& shape, const Sparsity& sparse) {
    Block block;
    for (int a = 0; a < shape.dimension && !sparse.order.empty(); ++a) block.line("const unsigned long long used_{0} = used[tile][{0}];", a);
    return block;
}

Block products(const Shape& shape, const Algebra& form, const Sparsity& sparse) {
    Block block;
    const auto add = [&block](const Product& product) {
        const std::string field = fmt::format("u[{}]", product.field);
        block.line("multiply_add(sum[{}][c], d[{}], {});", product.accumulator, product.derivative,
                   product.sign > 0 ? field : "negated(" + field + ")");
    };
    if (sparse.order.empty()) {
        for (const Product& product : form.products) add(product);
        return block;
    }
    for (int a = 0; a < shape.dimension; ++a) {
        block.open(fmt::format("if (used_{} >> step & 1)", a));
        for (const Product& product : form.products)
            if (product.derivative == a) add(product);
        block.close();
    }
    return block;
}

Block combine(const Algebra& form) {
    Block block;
    for (std::size_t f = 0; f < form.combine.size(); ++f)
        block.line("target[{} * nodes] = {};", f,
                   expression(form.combine[f], form.combine_scale, [](int i) { return fmt::format("sum[{}][c][i]", i); }));
    return block;
}

KernelSource MatrixUnits::kernel(const Problem& problem, const Config& config) const {
    const Sparsity sparse = sparsity(*this);
    const double pairs = sparse.part * node_tiles * mma_nodes * steps * mma_columns * product_terms(shape);
    const double executed = executed_operations(shape, *whole, pairs);
    Block unroll_line;
    unroll_line.line("#pragma unroll {}", unroll);
    const Holes holes{{"banner", banner(problem, config, Target::cuda, executed)},
                      {"constants", constants(*this).append(sparsity_tables(*this, sparse))},
                      {"element_factors", element_factors(*algebra, "own")},
                      {"transform", transform_into_field(*algebra)},
                      {"unroll", unroll_line},
                      {"products", products(shape, *algebra, sparse)},
                      {"used", used_steps(shape, sparse)},
                      {"name_combine_factors", name_combine_factors(*algebra)},
                      {"combine", combine(*algebra)}};
    KernelSource source = make_source(
        problem, Target::cuda, render("dg/volume/mma.cu", holes, {{"f64", shape.precision == Precision::f64}, {"nonzero", nonzero}}), executed);
    source.tables.push_back(fragment_table("D", shape, shape.dimension, shape.nodes, shape.nodes, [&](int a, int n, int c) {
        return shape.reference().derivative[static_cast<std::size_t>(a)](sparse.node(n), sparse.node(c));
    }));
    source.step.push_back(block_launch(shape, elements_per_block, resources()));
    return source;
}

Form form_of(const Problem& problem, const std::string& units) {
    const Shape shape(problem);
    const bool low = shape.low_order();
    FormSpace space{.name = units,
                    .help = units == "mma"
                                ? "a warp accumulates 16 nodes x 8 elements on the matrix units"
                                : "a warp accumulates 16 nodes x 8 elements on the matrix units, by three products of TF32 numbers for one",
                    .tunables = {algebra_tunable(),
                                 fields_per_pass(shape),
                                 low ? elements_per_block({8, 16, 32, 64, 128}) : elements_per_block({8, 16, 32}),
                                 {.name = "groups_per_warp",
                                  .help = "groups of 8 elements whose right-hand sides a warp accumulates at a time",
                                  .values = numbers({1, 2, 4}),
                                  .former_name = "elements_per_thread"}},
                    .constraints = {{"layout",
                                     [shape](const Config& config) { return MatrixUnits(shape, config).layout_violation(); },
                                     {"algebra", "fields_per_pass", "elements_per_block", "groups_per_warp"}}},
                    .safe = {{"algebra", "covariant"},
                             {"fields_per_pass", std::int64_t{shape.fields}},
                             {"elements_per_block", std::int64_t{8}},
                             {"groups_per_warp", std::int64_t{1}}},
                    .former = [units](const Config& config) { return config.has("mapping", units); }};
    if (!low) {
        space.tunables.push_back(where_operator_is(words({"global", "nonzero"})));
        space.safe.push_back({"operator", "global"});
    }
    for (Tunable& tunable : std::vector<Tunable>{unrolled_columns(), padded_rows(), min_blocks()}) space.tunables.push_back(std::move(tunable));
    for (const auto& [name, value] :
         std::vector<Assignment>{{"unroll", std::int64_t{1}}, {"padding", std::int64_t{1}}, {"min_blocks", std::int64_t{1}}})
        space.safe.push_back({name, value});
    // The number of warps depends on `min_blocks`, so that the needs depend on everything.
    return counted_form<MatrixUnits>(problem, std::move(space), {});
}

}  // namespace

Form mma_form(const Problem& problem, const Limits&) {
    return form_of(problem, "mma");
}

Form tf32_form(const Problem& problem, const Limits&) {
    return form_of(problem, "tf32");
}

}  // namespace hone::inline v0_1::dg
