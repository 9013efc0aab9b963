#include <fmt/format.h>

#include <algorithm>

#include "generator/families/corner_force/data.hpp"
#include "generator/families/corner_force/plan.hpp"

namespace hone::corner {
namespace {

using Kind = Pass::Kind;

Block line_of(std::string_view text) {
    return Block().text(text);
}

Block inline_word(Target target) {
    return line_of(target == Target::cuda ? "__device__ __forceinline__" : "static inline");
}

Block unroll(Target target) {
    return line_of(target == Target::cuda ? "#pragma unroll" : "#pragma GCC unroll 32");
}

// Of loops over the points of a line: unrolled as a whole, long ones take more registers than there are.
Block unroll_points(const Shape& shape, Target target) {
    constexpr int longest = 8;
    if (shape.points_along <= longest) return unroll(target);
    return line_of(target == Target::cuda ? "#pragma unroll 4" : "#pragma GCC unroll 4");
}

// A loop that stays one: what stands in it would be too much text.
Block once(Target target) {
    return line_of(target == Target::cuda ? "#pragma unroll 1" : "#pragma GCC unroll 1");
}

// The sums of a column, which the derivatives at all its points take, are more than a thread has registers for: without this, compilers hold them
// all.
Block forget(Target target) {
    Block block;
    if (target == Target::cuda) block.text("asm volatile(\"\" ::: \"memory\");  // sums of the column are read again");
    return block;
}

void add_table(Block& block, Target target, const char* name, const Matrix& matrix) {
    const char* const storage = target == Target::cuda ? "__constant__" : "static constexpr";
    block.line("{} real {}[{}][{}] = {{", storage, name, matrix.rows, matrix.columns);
    for (int row = 0; row < matrix.rows; ++row) {
        std::string text = "    {";
        for (int column = 0; column < matrix.columns; ++column) text += fmt::format("{}real({:.17g})", column == 0 ? "" : ", ", matrix(row, column));
        block.text(text + "},");
    }
    block.text("};");
}

void add_weights(Block& block, Target target, const char* name, const std::vector<double>& weights, bool inverse) {
    std::string text;
    for (const double weight : weights) text += fmt::format("{}real({:.17g})", text.empty() ? "" : ", ", inverse ? 1 / weight : weight);
    block.line("{} real {}[{}] = {{{}}};", target == Target::cuda ? "__constant__" : "static constexpr", name, weights.size(), text);
}

Block adjugate(int dimension, Target target) {
    Block block = inline_word(target);
    block.open(fmt::format("value adjugate_of(const value (&m)[{0}][{0}], value (&adjugate)[{0}][{0}])", dimension));
    for (int axis = 0; axis < dimension; ++axis)
        for (int component = 0; component < dimension; ++component) {
            if (dimension == 2) {
                block.line("adjugate[{}][{}] = {}m[{}][{}];", axis, component, axis == component ? "" : "-", 1 - component, 1 - axis);
                continue;
            }
            const int r = (component + 1) % 3;
            const int s = (component + 2) % 3;
            const int c = (axis + 1) % 3;
            const int d = (axis + 2) % 3;
            block.line("adjugate[{}][{}] = m[{}][{}] * m[{}][{}] - m[{}][{}] * m[{}][{}];", axis, component, r, c, s, d, r, d, s, c);
        }
    block.line("return m[0][0] * adjugate[0][0] + m[0][1] * adjugate[1][0]{};", dimension == 2 ? "" : " + m[0][2] * adjugate[2][0]");
    return block.close();
}

// Lines of gather_planes: half-way results of the first axis lie in `lines`: values, then slopes.
Block gather_planes(int dimension) {
    Block block;
    if (dimension == 2) {
        block.text("to_points<Table::basis, Table::slope, 1, fields * nodes_along>(lane, from, [&](int i, value held, value slope) {");
        block.text("    planes[plane(i, 1)] = held;");
        block.text("    planes[plane(i, 0)] = slope;");
        block.text("});");
        return block.text("barrier();");
    }
    block.text("constexpr int half = fields * nodes_along * nodes_along * points_along;");
    block.text("to_points<Table::basis, Table::slope, 1, fields * nodes_along * nodes_along>(lane, from, [&](int i, value held, value slope) {");
    block.text("    lines[i] = held;");
    block.text("    lines[half + i] = slope;");
    block.text("});");
    block.text("barrier();");
    block.text("to_points<Table::basis, Table::slope, points_along, fields * nodes_along>(");
    block.text("    lane, [&](int i) { return lines[i]; },");
    block.text("    [&](int i, value held, value slope) {");
    block.text("        planes[plane(i, 2)] = held;");
    block.text("        planes[plane(i, 1)] = slope;");
    block.text("    });");
    block.text("to_points<Table::basis, Table::basis, points_along, fields * nodes_along>(");
    block.text("    lane, [&](int i) { return lines[half + i]; }, [&](int i, value held, value) { planes[plane(i, 0)] = held; });");
    return block.text("barrier();");
}

Block gather_energy(int dimension) {
    Block block;
    if (dimension == 2) {
        block.text("to_points<Table::bernstein, Table::bernstein, 1, energies_along>(");
        block.text("    lane, from, [&](int i, value held, value) { energy_plane[i] = held; });");
    } else {
        block.text("to_points<Table::bernstein, Table::bernstein, 1, energies_along * energies_along>(");
        block.text("    lane, from, [&](int i, value held, value) { lines[i] = held; });");
        block.text("barrier();");
        block.text("to_points<Table::bernstein, Table::bernstein, points_along, energies_along>(");
        block.text("    lane, [&](int i) { return lines[i]; }, [&](int i, value held, value) { energy_plane[i] = held; });");
    }
    return block.text("barrier();");
}

// The gradients of `fields` fields at the points of a pass: fetched where an earlier launch left them, else from the planes in shared memory.
Block derivatives(const Plan& plan, const char* fields) {
    Block block;
    if (!plan.stored()) return block.line("derivatives<{}, points_per_pass>(planes, column, q, fields);", fields);
    block.append(unroll(plan.target));
    block.line("for (int i = 0; i < points_per_pass * {} * dimension; ++i) {{", fields);
    block.line("    constexpr int per_point = {} * dimension;", fields);
    block.text("    fields[i / per_point][i % per_point / dimension][i % dimension] =");
    block.text("        fetch<gradient_words>(gradients, at, i % per_point * points + (q + i / per_point) * columns + column);");
    return block.text("}");
}

Block points_part(const Plan& plan, const Pass& pass) {
    const Shape& shape = plan.shape;
    Block gather;
    if (!plan.stored()) {
        gather.text("gather_planes<dimension>(lane, [&](int i) { return fetch<vector_words>(x, at, i); }, lines, planes);");
        gather.text("gather_planes<dimension>(lane, [&](int i) { return fetch<vector_words>(v, at, i); }, lines,");
        gather.text("                         planes + dimension * dimension * nodes_along * columns);");
    }
    gather.line("gather_energy(lane, [&](int i) {{ return fetch<energies>(e, at, i); }}, {}, energy_plane);",
                shape.dimension == 2 ? "nullptr" : "energy_lines");
    Block across;
    if (shape.dimension == 2) {
        across.text("const real weight_across = weight_table[column], inverse_across = inverse_weight_table[column];");
    } else {
        across.text("const real weight_across = weight_table[column % points_along] * weight_table[column / points_along];");
        across.text("const real inverse_across = inverse_weight_table[column % points_along] * inverse_weight_table[column / points_along];");
    }
    Block keep;
    if (plan.stress_in_memory()) keep.text("put<stress_words>(stress, at, i * points + point, made[i / dimension][i % dimension]);");
    if (pass.momentum || pass.work) keep.text("kept[i * points + point] = made[i / dimension][i % dimension];");
    Block block;
    return block.lines_of(render("corner_force/points.cpp", {{"gather", gather},
                                                             {"across", across},
                                                             {"once", once(plan.target)},
                                                             {"forget", forget(plan.target)},
                                                             {"unroll", unroll(plan.target)},
                                                             {"derivatives", derivatives(plan, "2 * dimension")},
                                                             {"keep", keep}}));
}

Block work_part(const Plan& plan) {
    const Shape& shape = plan.shape;
    Block gather;
    if (!plan.stored()) gather.text("gather_planes<dimension>(lane, [&](int i) { return fetch<vector_words>(w, at, i); }, lines, planes);");
    Block rest;
    if (shape.dimension == 2) {
        rest.text("from_points<Table::bernstein, 1, energies_along>(");
        rest.text("    lane, [&](int i) { return energy_plane[i]; }, [&](int i, value sum) { put<energies>(work, at, i, sum); });");
    } else {
        rest.text("from_points<Table::bernstein, points_along, energies_along>(");
        rest.text("    lane, [&](int i) { return energy_plane[i]; }, [&](int i, value sum) { energy_lines[i] = sum; });");
        rest.text("barrier();");
        rest.text("from_points<Table::bernstein, 1, energies_along * energies_along>(");
        rest.text("    lane, [&](int i) { return energy_lines[i]; }, [&](int i, value sum) { put<energies>(work, at, i, sum); });");
    }
    Block block;
    return block.lines_of(render("corner_force/work.cpp", {{"gather", gather},
                                                           {"once", once(plan.target)},
                                                           {"forget", forget(plan.target)},
                                                           {"unroll", unroll(plan.target)},
                                                           {"derivatives", derivatives(plan, "dimension")},
                                                           {"rest", rest}}));
}

TableSpec scratch(const char* name, std::int64_t words) {
    return {name, words, {}, true};
}

// Gradients of the nodal functions at the points, and values of the Bernstein functions, as products of those of the axes.
double gradient_of(const Shape& shape, int axis, int node, int point) {
    double value = 1;
    for (int a = 0; a < shape.dimension; ++a) {
        const Matrix& table = a == axis ? shape.element().slope : shape.element().basis;
        value *= table(point % shape.points_along, node % shape.nodes_along);
        point /= shape.points_along;
        node /= shape.nodes_along;
    }
    return value;
}

double bernstein_of(const Shape& shape, int coefficient, int point) {
    double value = 1;
    for (int a = 0; a < shape.dimension; ++a) {
        value *= shape.element().bernstein(point % shape.points_along, coefficient % shape.energies_along);
        point /= shape.points_along;
        coefficient /= shape.energies_along;
    }
    return value;
}

// [axis][node][point], or [axis][point][node].
TableSpec gradient_table(const char* name, const Shape& shape, bool points_inside) {
    TableSpec table{name, std::int64_t{1} * shape.dimension * shape.nodes() * shape.points(), {}};
    table.contents.reserve(static_cast<std::size_t>(table.words));
    const int outer = points_inside ? shape.nodes() : shape.points();
    const int inner = points_inside ? shape.points() : shape.nodes();
    for (int axis = 0; axis < shape.dimension; ++axis)
        for (int i = 0; i < outer; ++i)
            for (int j = 0; j < inner; ++j) table.contents.push_back(gradient_of(shape, axis, points_inside ? i : j, points_inside ? j : i));
    return table;
}

// With empty tables where these are only to be named.
std::vector<TableSpec> tables(const Plan& plan, bool contents) {
    const Shape& shape = plan.shape;
    std::vector<TableSpec> result;
    if (plan.stored()) result.push_back(scratch("gradients", shape.zones * shape.stress_words() * (shape.physics() ? 2 : 1)));
    if (plan.stress_in_memory() && shape.physics() && !shape.keeps_stress()) result.push_back(scratch("stress", shape.zones * shape.stress_words()));
    if (plan.columns_in_memory()) result.push_back(scratch("column_of_a", shape.zones * shape.points() * shape.vector_words()));
    if (plan.has(Kind::corner) && !shape.keeps_corner()) result.push_back(scratch("corner", shape.zones * shape.corner_words()));
    if (plan.has(Kind::dense_gradients)) result.push_back(contents ? gradient_table("node_slopes", shape, true) : TableSpec{"node_slopes", 0, {}});
    if (plan.has(Kind::corner)) {
        result.push_back(contents ? gradient_table("point_slopes", shape, false) : TableSpec{"point_slopes", 0, {}});
        TableSpec bernstein{"bernstein_rows", std::int64_t{1} * shape.points() * shape.energies(), {}};
        for (int q = 0; contents && q < shape.points(); ++q)
            for (int j = 0; j < shape.energies(); ++j) bernstein.contents.push_back(bernstein_of(shape, j, q));
        result.push_back(std::move(bernstein));
    }
    return result;
}

double executed_operations(const Plan& plan) {
    const Shape& shape = plan.shape;
    const double dense = 2.0 * shape.points() * shape.vector_words();
    double operations = 0;
    for (const Pass& pass : plan.passes) {
        if (pass.kind == Kind::dense_gradients) operations += 2 * dense * shape.dimension;
        if (pass.kind == Kind::gradients) operations += gradient_operations(shape, pass.of_w ? shape.dimension : 2 * shape.dimension);
        if (pass.kind == Kind::columns || (pass.kind == Kind::corner && !plan.columns_in_memory())) operations += dense * shape.dimension;
        if (pass.kind == Kind::corner) operations += dense * shape.energies();
        if (pass.kind == Kind::sums || pass.kind == Kind::products) operations += 2.0 * shape.corner_words();
        if (pass.points) operations += physics_operations(shape) + (plan.stored() ? 0 : gradient_operations(shape, 2 * shape.dimension));
        if (pass.assembly) operations += assembly_operations(shape);
        if (pass.momentum) operations += force_operations(shape);
        if (pass.work) operations += work_operations(shape) - (plan.stored() ? gradient_operations(shape, shape.dimension) : 0);
    }
    return operations * static_cast<double>(shape.zones);
}

}  // namespace

Block banner(const Plan& plan, double executed_operations_of_all) {
    const Problem& problem = plan.problem;
    const Counts work = counts(problem);
    std::int64_t shared = 0;  // words that all zones read: their part in a zone would depend on the number of zones
    for (const ArraySpec& array : arrays(problem))
        if (array.name == "settings") shared += array.words;
    const auto shared_bytes = static_cast<double>(shared * plan.shape.bytes());
    Block block;
    block.line("// corner_force: {}, Q{}-Q{} in {}D, {}", problem.word("result"), plan.shape.order, plan.shape.order - 1, plan.shape.dimension,
               problem.word("precision"));
    block.line("// hone emit {} zones=10000 --target {} --config {}", problem.class_key(), to_string(plan.target), plan.config.key());
    block.text("// The same text serves any number of zones.");
    block.line("// per zone: {:.0f} operations sum-factorised, {:.0f} bytes (compulsory); this form executes {:.0f} operations",
               work.operations / work.updates, (work.bytes - shared_bytes) / work.updates, executed_operations_of_all / work.updates);
    return block;
}

Block shape_constants(const Plan& plan) {
    const Shape& shape = plan.shape;
    const bool f32 = shape.precision == Precision::f32;
    Block block;
    block.line("using real = {};", f32 ? "float" : "double");
    if (f32)
        block.text("using word = int;  // of the same size: a number's sign, exponent and digits");
    else
        block.text("using word = long long;  // of the same size: a number's sign, exponent and digits");
    block.line("constexpr word exponent_bits = {}, exponent_sum = {};", f32 ? "0x7f800000" : "0x7ff0000000000000ll",
               f32 ? "0x7f000000" : "0x7fe0000000000000ll");
    block.line("constexpr int dimension = {}, order = {};", shape.dimension, shape.order);
    block.line("constexpr int nodes_along = {}, energies_along = {}, points_along = {};  // of an axis", shape.nodes_along, shape.energies_along,
               shape.points_along);
    block.line("constexpr int nodes = {}, energies = {}, points = {}, columns = {};  // columns: of points along the last axis", shape.nodes(),
               shape.energies(), shape.points(), shape.columns());
    block.text("constexpr int vector_words = dimension * nodes, stress_words = dimension * dimension * points;  // of a zone");
    if (plan.stored()) block.line("constexpr int gradient_words = {} * stress_words;", shape.physics() ? 2 : 1);
    if (plan.makes_corner()) block.text("constexpr int corner_words = energies * vector_words;");
    block.line("constexpr int points_per_pass = {};  // of a column, whose derivatives a thread sums up together", plan.number("points_per_pass"));
    block.line("constexpr int splits = {};  // threads that share a column of points", plan.splits());
    block.line("constexpr int together = {};  // components whose sums a zone makes at a time", plan.together());
    return block;
}

Block eigen_functions(int dimension, std::string_view decomposition, Target target) {
    Block block;
    const Holes holes{{"inline", inline_word(target)}};
    if (dimension == 2) return block.lines_of(render("corner_force/eigen_2d.cpp", holes));
    Holes with_loops = holes;
    with_loops.emplace_back("unroll", unroll(target));
    if (decomposition == "closed") return block.lines_of(render("corner_force/eigen_3d_closed.cpp", with_loops));
    with_loops.emplace_back("once", once(target));
    return block.lines_of(render("corner_force/eigen_3d_jacobi.cpp", with_loops));
}

Block point_functions(int dimension, Target target) {
    Block block;
    return block.lines_of(
        render("corner_force/point.cpp", {{"inline", inline_word(target)}, {"unroll", unroll(target)}, {"adjugate", adjugate(dimension, target)}}));
}

Block axis_tables(const Shape& shape, Target target) {
    const TensorElement& element = shape.element();
    Block all_tables;
    add_table(all_tables, target, "basis_table", element.basis);
    add_table(all_tables, target, "slope_table", element.slope);
    add_table(all_tables, target, "bernstein_table", element.bernstein);
    add_weights(all_tables, target, "weight_table", element.weights, false);
    add_weights(all_tables, target, "inverse_weight_table", element.weights, true);
    return all_tables;
}

Block line_functions(const Shape& shape, Target target) {
    Block block;
    return block.lines_of(render("corner_force/lines.cpp", {{"tables", axis_tables(shape, target)},
                                                            {"inline", inline_word(target)},
                                                            {"unroll", unroll(target)},
                                                            {"unroll_points", unroll_points(shape, target)},
                                                            {"gather_planes", gather_planes(shape.dimension)},
                                                            {"gather_energy", gather_energy(shape.dimension)}}));
}

Block buffer_pointers(const Buffers& buffers) {
    Block block;
    int start = 0;
    const auto add = [&](const char* name, int words) {
        if (words > 0) block.line("value* const {} = buffer{};", name, start == 0 ? "" : fmt::format(" + {}", start));
        start += words;
    };
    add("planes", buffers.planes);
    add("lines", buffers.lines);
    add("energy_plane", buffers.energy_plane);
    add("energy_lines", buffers.energy_lines);
    add("powers", buffers.powers);
    add("kept", buffers.kept);
    add("across", buffers.across);
    add("along", buffers.along);
    add("rates", buffers.rates);
    if (buffers.lines == 0 && buffers.planes > 0) block.text("value* const lines = nullptr;");
    return block;
}

Block zone_parts(const Plan& plan, const Pass& pass) {
    const Shape& shape = plan.shape;
    Block block;
    if (pass.kind == Kind::gradients) {
        const bool w = pass.of_w || !shape.physics();
        block.line("const real* const source = {};", w ? "w" : "field < dimension ? x : v");
        block.line("const int component = {};", w ? "field" : "field % dimension");
        return block.lines_of(render("corner_force/gradients.cpp", {{"unroll", unroll(plan.target)}}));
    }
    if (pass.points) block.append(points_part(plan, pass));
    if (pass.momentum || pass.work || pass.assembly)
        block.line("const auto stress_at = [&](int i) {{ return {}; }};", pass.points ? "kept[i]" : "fetch<stress_words>(stress, at, i)");
    if (pass.points && pass.momentum) block.text("barrier();");
    if (pass.momentum) block.lines_of(render(shape.dimension == 2 ? "corner_force/momentum_2d.cpp" : "corner_force/momentum_3d.cpp", {}));
    if (pass.momentum && pass.work) block.text("barrier();");
    if (pass.work) block.append(work_part(plan));
    if (pass.assembly) {
        if (shape.dimension == 3)
            block.line("constexpr int slab_energies = {}, line_words = 2 * points_along + 1;  // an odd distance: different banks",
                       slab_energies(shape));
        block.lines_of(render(shape.dimension == 2 ? "corner_force/assembly_2d.cpp" : "corner_force/assembly_3d.cpp",
                              {{"once", once(plan.target)}, {"unroll", unroll(plan.target)}, {"unroll_points", unroll_points(shape, plan.target)}}));
    }
    return block;
}

Block signature(const Plan& plan, const Pass& pass) {
    const char* const restrict_word = plan.target == Target::cuda ? "__restrict__" : "__restrict";
    std::string text = pass.entry + "(";
    for (const ArraySpec& array : arrays(plan.problem))
        text += fmt::format("{}real* {} {}, ", array.access == Access::in ? "const " : "", restrict_word, array.name);
    for (const TableSpec& table : tables(plan, false))
        text += fmt::format("{}real* {} {}, ", table.scratch ? "" : "const ", restrict_word, table.name);
    return line_of(text + "int first, int last) {");
}

KernelSource make_source(const Plan& plan) {
    KernelSource source;
    source.target = plan.target;
    source.precision = plan.shape.precision;
    source.arrays = arrays(plan.problem);
    source.tables = tables(plan, true);
    source.executed_operations = executed_operations(plan);
    for (const Pass& pass : plan.passes) source.entries.push_back(pass.entry);
    return source;
}

std::string pass_comment(const Pass& pass) {
    if (pass.kind == Kind::gradients) return "// Derivatives along the reference axes at all points, one field at a time.";
    std::string text;
    const auto add = [&](bool there, const char* what) {
        if (there) text += (text.empty() ? "// " : "; ") + std::string(what);
    };
    add(pass.points, "the physics at the points");
    add(pass.momentum, "F.1, axis by axis");
    add(pass.work, "F^T w, axis by axis");
    add(pass.assembly, "F, axis by axis");
    text += ".";
    text[3] = text[3] == 't' ? 'T' : text[3];
    return text;
}

}  // namespace hone::corner
