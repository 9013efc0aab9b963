#include "generator/families/fe_mass/text.hpp"

#include <fmt/format.h>

#include "generator/families/device/constant_tables.hpp"
#include "generator/families/device/dialect.hpp"

namespace hone::inline v0_1::fe {

KernelSource common_source(const Problem& problem, Target target) {
    const Shape shape(problem);
    KernelSource source;
    source.target = target;
    source.precision = shape.precision;
    source.arrays = arrays(problem);
    source.entries = {"multiply_elements", "add_up"};
    source.tables = {{"element_sums", shape.components * shape.places(), {}, true}};
    if (shape.dotted) {
        source.entries.emplace_back("finish");
        source.tables.push_back({"chunk_sums", shape.components * shape.chunks(), {}, true});
    }
    source.scalars = {{"elements", static_cast<int>(shape.elements)}, {"nodes", static_cast<int>(shape.nodes)}};
    source.executed_operations = counts(problem).operations;
    return source;
}

Block banner(const Problem& problem, const Config& config, Target target) {
    const Shape shape(problem);
    const Counts of_all = counts(problem);
    const auto elements = static_cast<double>(shape.elements);
    Block block;
    block.line("// fe_mass: y = M x{}, Q{} in {} dimensions, {} points along an axis, {} component{}, {}",
               shape.dotted   ? " and x . y"
               : shape.summed ? " and x . y of chunks of nodes"
                              : "",
               shape.order, shape.dimension, shape.points_along, shape.components, shape.components == 1 ? "" : "s", to_string(shape.precision));
    block.line("// hone emit {} elements=1000 nodes=10000 --target {} --config {}", problem.class_key(), to_string(target), config.key());
    block.text("// The same text serves every mesh.");
    const double dots = shape.summed ? 2.0 * shape.components * static_cast<double>(shape.nodes) : 0;
    return block.line("// per element: {:.0f} operations", (of_all.operations - dots) / elements);
}

Block parameters(const Shape& shape) {
    Block block;
    block.line("const real* __restrict__ {},", shape.stored ? "weights" : "vertices, const real* __restrict__ density");
    block.line("const int* __restrict__ element_nodes, const int* __restrict__ corner_starts, const int* __restrict__ corners,");
    block.line("const real* __restrict__ x, real* __restrict__ y,{} real* __restrict__ element_sums,{}",
               shape.dotted   ? " real* __restrict__ dot,"
               : shape.summed ? " real* __restrict__ chunk_sums,"
                              : "",
               shape.dotted ? " real* __restrict__ chunk_sums," : "");
    return block.line("int elements, int nodes, int first, int last");
}

Block shape_constants(const Shape& shape, Target target) {
    const Axis axis(shape);
    Block block;
    block.line("using real = {};", shape.real());
    block.line("using wide = long long;  // a position in an array");
    block.line("constexpr int components = {}, nodes_along = {}, points_along = {};", shape.components, shape.nodes_along, shape.points_along);
    block.line("constexpr int element_nodes_count = {}, element_points = {};", shape.element_nodes(), shape.element_points());
    if (shape.summed) block.line("constexpr int chunk_rows = {}{};", chunk_rows, shape.dotted ? fmt::format(", sum_lanes = {}", sum_lanes) : "");
    block.line("// Of an axis: values of the nodal functions at the points.");
    block.append(constant_table(target, "basis", shape.points_along, shape.nodes_along, [&](int q, int i) { return axis.basis(q, i); }));
    if (shape.stored) return block;
    block.append(constant_list(target, "place_of_point", axis.rule.points));
    return block.append(constant_list(target, "weight_of_point", axis.rule.weights));
}

Block weights_function(const Shape& shape, Target target) {
    const std::string name = shape.stored           ? "fe_mass/weights.cpp/stored_weights"
                             : shape.dimension == 2 ? "fe_mass/weights.cpp/vertex_weights_2d"
                                                    : "fe_mass/weights.cpp/vertex_weights_3d";
    Holes holes{{"inline", Block().text(dialect_of(target).function)}, {"unroll", unroll(target)}};
    if (shape.stored)
        holes.emplace_back(
            "place",
            Block().line("return {};", shape.dimension == 2 ? "column * points_along + q"
                                                            : "(column / points_along * points_along + q) * points_along + column % points_along"));
    Block block;
    return block.lines_of(render(name, holes));
}

Block chunk_count() {
    return Block().line("const int rows = nodes, chunks = (nodes + chunk_rows - 1) / chunk_rows;");
}

Block weights_arguments(const Shape& shape) {
    return Block().text(shape.stored ? "weights," : "vertices, density,");
}

Block unroll(Target target) {
    return Block().text(dialect_of(target).unroll);
}

// Unrolled as a whole, long ones are more text than the cache of instructions has room for.
Block unroll_points(const Shape& shape, Target target) {
    constexpr int longest = 8;
    if (shape.points_along <= longest) return unroll(target);
    return Block().text(dialect_of(target).unroll_by_4);
}

}  // namespace hone::inline v0_1::fe
