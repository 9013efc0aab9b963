#include "generator/families/corner_force/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <vector>

#include "generator/families/corner_force/data.hpp"
#include "generator/families/device/constant_tables.hpp"
#include "generator/families/device/dialect.hpp"
#include "generator/value_lists.hpp"

namespace hone::inline v0_1::corner {
namespace {

using Kind = Pass::Kind;

Block line_of(std::string_view text) {
    return Block().text(text);
}

// Of loops over the points of a line: unrolled as a whole, long ones take more registers than there
// are.
const char* unroll_points(const Shape& shape, const Dialect& dialect) {
    constexpr int longest = 8;
    return shape.points_along <= longest ? dialect.unroll : dialect.unroll_by_4;
}

TableSpec scratch(const char* name, std::int64_t words) {
    return {name, words, {}, true};
}

// Gradients of the nodal functions at the points, and values of the Bernstein functions, as
// products of those of the axes.
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
std::vector<TableSpec> tables(const ZoneKernel& kernel, bool contents) {
    const Shape& shape = kernel.shape;
    std::vector<TableSpec> result;
    if (kernel.stored()) result.push_back(scratch("gradients", shape.zones * shape.stress_words() * (shape.physics() ? 2 : 1)));
    if (kernel.stress_in_memory() && shape.physics() && !shape.keeps_stress())
        result.push_back(scratch("stress", shape.zones * shape.stress_words()));
    if (kernel.dense()) result.push_back(scratch("column_of_a", shape.zones * shape.points() * shape.vector_words()));
    if (kernel.dense() && !shape.keeps_corner()) result.push_back(scratch("corner", shape.zones * shape.corner_words()));
    if (kernel.has(Kind::dense_gradients)) result.push_back(contents ? gradient_table("node_slopes", shape, true) : TableSpec{"node_slopes", 0, {}});
    if (kernel.dense()) {
        result.push_back(contents ? gradient_table("point_slopes", shape, false) : TableSpec{"point_slopes", 0, {}});
        TableSpec bernstein{"bernstein_rows", std::int64_t{1} * shape.points() * shape.energies(), {}};
        for (int q = 0; contents && q < shape.points(); ++q)
            for (int j = 0; j < shape.energies(); ++j) bernstein.contents.push_back(bernstein_of(shape, j, q));
        result.push_back(std::move(bernstein));
    }
    return result;
}

double executed_operations(const ZoneKernel& kernel) {
    const Shape& shape = kernel.shape;
    const double dense = 2.0 * shape.points() * shape.vector_words();
    double operations = 0;
    for (const Pass& pass : kernel.passes) {
        if (pass.kind == Kind::dense_gradients) operations += 2 * dense * shape.dimension;
        if (pass.kind == Kind::gradients) operations += gradient_operations(shape, pass.of_w ? shape.dimension : 2 * shape.dimension);
        if (pass.kind == Kind::columns) operations += dense * shape.dimension;
        if (pass.kind == Kind::corner) operations += dense * shape.energies();
        if (pass.kind == Kind::sums || pass.kind == Kind::products) operations += 2.0 * shape.corner_words();
        if (pass.points) operations += physics_operations(shape) + (kernel.stored() ? 0 : gradient_operations(shape, 2 * shape.dimension));
        if (pass.assembly) operations += assembly_operations(shape);
        if (pass.momentum) operations += force_operations(shape);
        if (pass.work) operations += work_operations(shape) - (kernel.stored() ? gradient_operations(shape, shape.dimension) : 0);
    }
    return operations * static_cast<double>(shape.zones);
}

}  // namespace

Block banner(const ZoneKernel& kernel, const Problem& problem, const Config& config) {
    const Counts work = counts(problem);
    std::int64_t shared = 0;  // words that all zones read: their part in a zone would depend on the number of zones
    for (const ArraySpec& array : arrays(problem))
        if (array.name == "settings") shared += array.words;
    const auto shared_bytes = static_cast<double>(shared * kernel.shape.bytes());
    Block block;
    block.line("// corner_force: {}, Q{}-Q{} in {}D, {}", problem.word("result"), kernel.shape.order, kernel.shape.order - 1, kernel.shape.dimension,
               problem.word("precision"));
    block.line("// hone emit {} zones=10000 --target {} --config {}", problem.class_key(), to_string(kernel.target), config.key());
    block.text("// The same text serves any number of zones.");
    block.line("// per zone: {:.0f} operations sum-factorised, {:.0f} bytes (compulsory); this form executes {:.0f} operations",
               work.operations / work.updates, (work.bytes - shared_bytes) / work.updates, executed_operations(kernel) / work.updates);
    return block;
}

Block shape_constants(const ZoneKernel& kernel) {
    const Shape& shape = kernel.shape;
    const bool f32 = shape.precision == Precision::f32;
    Block block;
    block.line("using real = {};", f32 ? "float" : "double");
    if (shape.physics()) {
        block.line("using word = {};  // of the same size: a number's sign, exponent and digits", f32 ? "int" : "long long");
        block.line("constexpr word exponent_bits = {}, exponent_sum = {};", f32 ? "0x7f800000" : "0x7ff0000000000000ll",
                   f32 ? "0x7f000000" : "0x7fe0000000000000ll");
    }
    block.line("constexpr int dimension = {}, order = {};", shape.dimension, shape.order);
    block.line("constexpr int nodes_along = {}, energies_along = {}, points_along = {};  // of an axis", shape.nodes_along, shape.energies_along,
               shape.points_along);
    block.line("constexpr int nodes = {}, energies = {}, points = {}, columns = {};  // columns: of points along the last axis", shape.nodes(),
               shape.energies(), shape.points(), shape.columns());
    block.text("constexpr int vector_words = dimension * nodes, stress_words = dimension * dimension * points;  // of a zone");
    if (kernel.stored()) block.line("constexpr int gradient_words = {} * stress_words;", shape.physics() ? 2 : 1);
    if (kernel.makes_corner()) block.text("constexpr int corner_words = energies * vector_words;");
    block.line("constexpr int points_per_pass = {};  // of a column, whose derivatives a thread sums up together", kernel.points_per_pass);
    block.line("constexpr int splits = {};  // threads that share a column of points", kernel.splits);
    block.line("constexpr int together = {};  // components whose sums a zone makes at a time", kernel.together());
    return block;
}

namespace {

// Functions of an axis. At points that are mirror images of each other, functions of nodes that are
// have the same values, and slopes of the other sign.
struct AxisFunctions {
    const char* name;
    const char* length;
    int sign;
    const Matrix* matrix;
};

std::vector<AxisFunctions> axis_functions(const TensorElement& element) {
    return {{"basis_table", "nodes_along", 1, &element.basis},
            {"slope_table", "nodes_along", -1, &element.slope},
            {"bernstein_table", "energies_along", 1, &element.bernstein}};
}

Block weight_tables(const TensorElement& element, Target target) {
    std::vector<double> inverse(element.weights.size());
    std::transform(element.weights.begin(), element.weights.end(), inverse.begin(), [](double weight) { return 1 / weight; });
    return constant_list(target, "weight_table", element.weights).append(constant_list(target, "inverse_weight_table", inverse));
}

}  // namespace

Block axis_tables(const Shape& shape, Target target) {
    const TensorElement& element = shape.element();
    Block all_tables;
    for (const AxisFunctions& of : axis_functions(element))
        all_tables.append(constant_table(target, of.name, of.matrix->rows, of.matrix->columns, *of.matrix));
    return all_tables;
}

Block axis_parts(const Shape& shape, Target target) {
    const TensorElement& element = shape.element();
    Block all_tables;
    for (const AxisFunctions& of : axis_functions(element)) {
        const Matrix& whole = *of.matrix;
        const int columns = whole.columns;
        const auto mirrored = [&](int q, int i) { return whole(q, columns - 1 - i); };
        const auto even = [&](int q, int i) { return 2 * i + 1 == columns ? whole(q, i) : (whole(q, i) + mirrored(q, i)) / 2; };
        const auto odd = [&](int q, int i) { return (whole(q, i) - mirrored(q, i)) / 2; };
        all_tables.open(fmt::format("{} AxisTable<{}, {}> {} =", dialect_of(target).table, of.length, of.sign, of.name));
        for (const std::string& rows : {table_rows(whole.rows, columns, whole), table_rows(whole.rows / 2, (columns + 1) / 2, even),
                                        table_rows(whole.rows / 2, columns / 2, odd)})
            all_tables.lines_of("{\n" + rows + "},\n");
        all_tables.close(";");
    }
    return all_tables;
}

std::string kernel_text(const ZoneKernel& kernel, Block passes, Holes holes) {
    const Dialect& dialect = dialect_of(kernel.target);
    holes.insert(holes.end(), {{"inline", line_of(dialect.function)},
                               {"unroll", line_of(dialect.unroll)},
                               {"unroll_points", line_of(unroll_points(kernel.shape, dialect))},
                               {"once", line_of(dialect.keep_loop)},
                               {"tables", axis_tables(kernel.shape, kernel.target).append(weight_tables(kernel.shape.element(), kernel.target))},
                               {"entries", std::move(passes)}});
    const auto any = [&](bool Pass::*has) {
        return std::any_of(kernel.passes.begin(), kernel.passes.end(), [&](const Pass& pass) { return pass.*has; });
    };
    const bool points = any(&Pass::points), momentum = any(&Pass::momentum), work = any(&Pass::work);
    const bool differentiates = !kernel.stored() && (points || work);
    return render(std::string("corner_force/kernel") + dialect.file, holes,
                  {{"physics", kernel.shape.physics()},
                   {"points", points},
                   {"momentum", momentum},
                   {"back", momentum || work},
                   {"differentiates", differentiates},
                   {"nodal", differentiates || momentum || kernel.has(Kind::gradients)},
                   {"solid", kernel.shape.dimension == 3},
                   {"jacobi", kernel.jacobi},
                   {"dense", kernel.dense()}});
}

Block buffer_pointers(const Buffers& buffers) {
    const std::pair<const char*, int> parts[] = {{"planes", buffers.planes},
                                                 {"lines", buffers.lines},
                                                 {"energy_plane", buffers.energy_plane},
                                                 {"energy_lines", buffers.energy_lines},
                                                 {"powers", buffers.powers},
                                                 {"kept", buffers.kept},
                                                 {"across", buffers.across},
                                                 {"along", buffers.along},
                                                 {"rates", buffers.rates}};
    std::string sizes;  // of all but the last, behind which nothing lies
    Block pointers;
    const std::pair<const char*, int>* before = nullptr;
    for (const auto& part : parts) {
        if (part.second == 0) continue;
        if (before == nullptr) {
            pointers.line("value* const {} = buffer;", part.first);
        } else {
            pointers.line("value* const {0} = {1} + {1}_words;", part.first, before->first);
            sizes += fmt::format("{}{}_words = {}", sizes.empty() ? "" : ", ", before->first, before->second);
        }
        before = &part;
    }
    if (buffers.lines == 0 && buffers.planes > 0) pointers.text("value* const lines = nullptr;");
    return sizes.empty() ? pointers : Block().line("constexpr int {};  // of a zone", sizes).append(pointers);
}

Block zone_pass(const ZoneKernel& kernel, const Problem& problem, const Pass& pass, Block buffers, Holes holes) {
    const Shape& shape = kernel.shape;
    const Dialect& dialect = dialect_of(kernel.target);
    Block slab;
    slab.line("constexpr int slab_energies = {}, line_words = 2 * points_along + 1;  // an odd distance: different banks", slab_energies(shape));
    holes.insert(holes.end(), {{"comment", Block().text(pass_comment(pass))},
                               {"entry", signature(kernel, problem, pass)},
                               {"buffers", std::move(buffers)},
                               {"once", line_of(dialect.keep_loop)},
                               {"unroll", line_of(dialect.unroll)},
                               {"unroll_points", line_of(unroll_points(shape, dialect))},
                               {"slab", slab},
                               {"between_components", kernel.together() < shape.dimension ? line_of("barrier();") : Block()}});
    return Block().lines_of(render(fmt::format("corner_force/kernel{}/pass", dialect.file), holes,
                                   {{"solid", shape.dimension == 3},
                                    {"gradients_alone", pass.kind == Kind::gradients},
                                    {"of_w", pass.of_w || !shape.physics()},
                                    {"points", pass.points},
                                    {"teams", kernel.team > 1},
                                    {"momentum", pass.momentum},
                                    {"work", pass.work},
                                    {"assembly", pass.assembly},
                                    {"from_stress", pass.momentum || pass.work || pass.assembly},
                                    {"stored", kernel.stored()},
                                    {"stress_in_memory", kernel.stress_in_memory()},
                                    {"stress_at_hand", pass.points && (pass.momentum || pass.work)}}));
}

Block dense_pass(const ZoneKernel& kernel, const Problem& problem, const Pass& pass, Holes holes) {
    const char* const pieces[] = {"", "", "dense_gradients", "columns", "corner", "sums", "products"};
    holes.emplace_back("entry", signature(kernel, problem, pass));
    return Block().lines_of(
        render(fmt::format("corner_force/paper{}/{}", dialect_of(kernel.target).file, pieces[static_cast<int>(pass.kind)]), holes, {}));
}

Block signature(const ZoneKernel& kernel, const Problem& problem, const Pass& pass) {
    const char* const restrict_word = dialect_of(kernel.target).restrict_word;
    std::string text = pass.entry + "(";
    for (const ArraySpec& array : arrays(problem))
        text += fmt::format("{}real* {} {}, ", array.access == Access::in ? "const " : "", restrict_word, array.name);
    for (const TableSpec& table : tables(kernel, false))
        text += fmt::format("{}real* {} {}, ", table.scratch ? "" : "const ", restrict_word, table.name);
    return line_of(text + "int first, int last) {");
}

KernelSource common_source(const ZoneKernel& kernel, const Problem& problem) {
    KernelSource source;
    source.target = kernel.target;
    source.precision = kernel.shape.precision;
    source.arrays = arrays(problem);
    source.tables = tables(kernel, true);
    source.executed_operations = executed_operations(kernel);
    for (const Pass& pass : kernel.passes) source.entries.push_back(pass.entry);
    return source;
}

bool decomposes(const Shape& shape) {
    return shape.dimension == 3 && shape.physics();
}

Tunable decomposition_tunable() {
    return {"decomposition", "eigenvalues of 3 x 3 matrices: closed: by a root and deflation; jacobi: by rotations", words({"closed", "jacobi"})};
}

Tunable points_per_pass_tunable(std::vector<std::int64_t> values) {
    return {"points_per_pass", "points of a column whose derivatives are summed up together", numbers(std::move(values))};
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

}  // namespace hone::inline v0_1::corner
