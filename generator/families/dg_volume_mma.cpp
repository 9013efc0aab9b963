#include <fmt/format.h>

#include <algorithm>

#include "generator/families/dg_volume_mappings.hpp"

// Mapping `mma`: f64 products on the matrix units of sm_90 and later, which run m16n8k8 at twice the rate of FMA. Layout of the fragments:
// PTX ISA, "Matrix fragments for mma.m16n8k8": with g = lane / 4 and t = lane % 4, a lane holds a = (g, t), (g + 8, t), (g, t + 4),
// (g + 8, t + 4), b = (t, g), (t + 4, g) and c = (g, 2t), (g, 2t + 1), (g + 8, 2t), (g + 8, 2t + 1), each (row, column).

namespace hone::dg {
namespace {

constexpr int tile_nodes = 16;
constexpr int step_columns = 8;
constexpr int tile_elements = 8;
constexpr int lanes = 32;
constexpr int derivative_words = tile_nodes * step_columns;  // of one derivative in one step
constexpr int step_words = 3 * derivative_words;
constexpr int registers_per_multiprocessor = 65536;  // of every architecture that has the instruction

struct Tiling {
    int elements_per_block, columns;
    int node_tiles, steps, column_groups;
    int row;    // stride between elements in shared memory
    int batch;  // nodes that a thread loads at a time
    int registers;
    int warps;

    Tiling(const Shape& shape, const Algebra& form, const Config& config)
        : elements_per_block(number(config, "elements_per_block")),
          columns(number(config, "elements_per_thread")),
          node_tiles(round_up(shape.nodes, tile_nodes) / tile_nodes),
          steps(round_up(shape.nodes, step_columns) / step_columns),
          column_groups(std::max(1, elements_per_block / (columns * tile_elements))) {
        // A stride of 8 modulo 16 words keeps the 16-byte loads of 8 neighbouring elements in different banks.
        row = (number(config, "padding") == 1 && steps % 2 == 0 ? steps + 1 : steps) * step_columns;
        batch = 4;
        const int accumulated = form.accumulators * columns * 4;
        const int operands = 2 * 3 * 4 + 2 * form.field_count();  // this step's and the next step's operator, this step's fields
        registers = 2 * std::max(accumulated + operands, batch * form.field_count()) + 30;  // a negative, addresses, indices and loop counters
        warps = best_warps(number(config, "min_blocks"));
    }
    int tasks() const { return node_tiles * column_groups; }
    int threads() const { return warps * lanes; }
    std::int64_t operator_words() const { return static_cast<std::int64_t>(node_tiles) * steps * 3 * tile_nodes * step_columns; }

  private:
    // A multiple of four, one per scheduler; as many as registers allow, and among them the count that leaves fewest warps idle in the last round.
    int best_warps(int blocks) const {
        int best = 4;
        const auto slots = [this](int count) { return round_up(tasks(), count); };
        for (int count = 8; count <= 16; count += 4)
            if (count * lanes * blocks * registers <= registers_per_multiprocessor && slots(count) <= slots(best)) best = count;
        return best;
    }
};

bool applies(const Shape& shape, const Limits& limits) {
    return shape.dimension == 3 && shape.precision == Precision::f64 && shape.order >= 4 && limits.architecture >= 90;
}

std::string conflict(const Shape&, const Config& config) {
    if (config.word("operator") != "global") return "mapping=mma reads the operator with operator=global";
    if (number(config, "nodes_per_thread") != 1) return "mapping=mma has tiles of 16 nodes: nodes_per_thread=1";
    const int groups = number(config, "fields_per_pass") == 3 ? 4 : 2;
    if (number(config, "elements_per_thread") > groups) return fmt::format("mapping=mma has room for {} groups of 8 elements", groups);
    if (number(config, "elements_per_block") % (tile_elements * number(config, "elements_per_thread")) != 0)
        return fmt::format("mapping=mma needs a multiple of {} elements per block", tile_elements * number(config, "elements_per_thread"));
    return "";
}

Resources resources(const Shape& shape, const Config& config) {
    const Algebra& form = pass_algebra(shape, config);
    const Tiling tiling(shape, form, config);
    Resources result;
    result.threads = tiling.threads();
    result.shared_bytes =
        static_cast<std::int64_t>(shape.bytes()) * tiling.elements_per_block * (form.field_count() * tiling.row + form.factor_count());
    result.registers = tiling.registers;
    result.code = static_cast<std::int64_t>(form.products.size()) * tiling.columns * number(config, "unroll");
    return result;
}

Block constants(const Shape& shape, const Algebra& form, const Tiling& tiling, const Config& config) {
    Block block;
    block.text("using real = double;");
    block.line("constexpr int nodes = {}, fields = {}, factors = {}, accumulators = {};", shape.nodes, shape.fields, form.factor_count(),
               form.accumulators);
    block.line("constexpr int fields_per_pass = {}, passes = fields / fields_per_pass;", form.field_count());
    block.line("constexpr int elements_per_block = {}, warps = {}, threads_per_block = {}, blocks_per_multiprocessor = {};",
               tiling.elements_per_block, tiling.warps, tiling.threads(), number(config, "min_blocks"));
    block.line("constexpr int columns = {};  // groups of 8 elements per warp", tiling.columns);
    block.line("constexpr int node_tiles = {}, column_groups = {};", tiling.node_tiles, tiling.column_groups);
    block.line("constexpr int steps = {};    // of 8 columns of the operator", tiling.steps);
    block.line("constexpr int row = {};      // nodes of one field of one element in shared memory, padded", tiling.row);
    block.line("constexpr int batch = {};    // nodes that a thread loads at a time", tiling.batch);
    return block;
}

Block products(const Algebra& form) {
    Block block;
    for (const Product& product : form.products) {
        const std::string field = fmt::format("u[{}]", product.field);
        block.line("multiply_add(sum[{}][c], d[{}], {});", product.accumulator, product.derivative,
                   product.sign > 0 ? field : "negated(" + field + ")");
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

// [tile of 16 nodes][step of 8 columns][along r, s, t][column 2t or 2t + 1][lane](node g, node g + 8): each lane's loads in the order it makes them.
TableSpec table(const Shape& shape, const Tiling& tiling) {
    TableSpec result{"D", tiling.operator_words(), {}};
    result.contents.assign(static_cast<std::size_t>(result.words), 0.0);
    for (int a = 0; a < 3; ++a) {
        const SquareMatrix& derivative = shape.reference().derivative[static_cast<std::size_t>(a)];
        for (int n = 0; n < shape.nodes; ++n) {
            const int row_place = n / tile_nodes * tiling.steps * step_words + a * derivative_words + n % 8 * 8 + n % tile_nodes / 8;
            for (int m = 0; m < shape.nodes; ++m)
                result
                    .contents[static_cast<std::size_t>(row_place + m / step_columns * step_words + m % 2 * (2 * lanes) + m % step_columns / 2 * 2)] =
                    derivative(n, m);
        }
    }
    return result;
}

KernelSource kernel(const Problem& problem, const Config& config, const Limits&) {
    const Shape shape(problem);
    const Algebra& form = pass_algebra(shape, config);
    const Tiling tiling(shape, form, config);
    const double pairs = static_cast<double>(tiling.node_tiles) * tile_nodes * tiling.steps * step_columns;
    const double executed = executed_operations(problem, config, pairs);
    Block unroll;
    unroll.line("#pragma unroll {}", number(config, "unroll"));
    const Holes holes{{"banner", banner(problem, config, Target::cuda, executed)},
                      {"constants", constants(shape, form, tiling, config)},
                      {"product", Block().lines_of(render("dg_mma_product.cu", {}))},
                      {"element_factors", element_factors(form, "own")},
                      {"transform", transform_into_field(form)},
                      {"unroll", unroll},
                      {"products", products(form)},
                      {"name_combine_factors", name_combine_factors(form)},
                      {"combine", combine(form)}};
    KernelSource source = make_source(problem, Target::cuda, render("dg_volume_mma.cu", holes), executed);
    source.tables.push_back(table(shape, tiling));
    source.step.push_back(block_launch(shape, tiling.elements_per_block, resources(shape, config)));
    return source;
}

}  // namespace

Mapping mma_mapping() {
    return {"mma", "a warp accumulates 16 nodes x 8 elements on the matrix units", applies, conflict, resources, kernel};
}

}  // namespace hone::dg
