#include "generator/families/dg/passes/passes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "generator/families/dg/data.hpp"
#include "generator/families/dg/passes/flux.hpp"
#include "generator/families/dg/tiling.hpp"

namespace hone::inline v0_1::dg {

Plan::Plan(const Step& step, const Fusion& fusion, Config chosen)
    : problem(step.problem), config(std::move(chosen)), counts(step.counts), passes(fusion.passes), shape(step.shape) {
    source.precision = problem.precision();
    source.arrays = step.arrays;
    if (passes.size() > 1) source.tables.push_back({"rhs", shape.elements * shape.words(), {}, true});
}

bool Plan::any(bool Pass::*part) const {
    return std::any_of(passes.begin(), passes.end(), [part](const Pass& pass) { return pass.*part; });
}

bool has_volume(const std::vector<Pass>& passes) {
    return std::any_of(passes.begin(), passes.end(), [](const Pass& pass) { return pass.volume; });
}

const Algebra& algebra_of(const Shape& shape, const Config& config) {
    return algebra(shape.equation, config.has("algebra", "cartesian") ? "cartesian" : "covariant");
}

std::string form_name(const std::string& way, const Fusion& fusion) {
    return fusion.name.empty() ? way : way + "_" + fusion.name;
}

std::string form_help(const std::string& way, const Fusion& fusion) {
    return fusion.help.empty() ? way : fmt::format("{} ({})", way, fusion.help);
}

Constraint fitting_copies(const Shape& shape, bool of_blocks) {
    Constraint fitting{"copies",
                       [shape, of_blocks](const Config& config) -> std::optional<std::string> {
                           const int width = number(config, "copy_width");
                           const bool whole = of_blocks && !config.has("basis", "nodal");
                           const int words = whole ? number(config, "elements_per_block") * shape.words() : shape.words();
                           if (width * shape.bytes() <= 16 && words % width == 0) return std::nullopt;
                           return fmt::format("copies of {} values do not divide the {} of {} or exceed 16 bytes", width, words,
                                              whole ? "a block" : "an element");
                       },
                       {"copy_width"}};
    if (of_blocks) fitting.reads.insert(fitting.reads.end(), {"basis", "elements_per_block"});
    return fitting;
}

int widest_copies(const Shape& shape) {
    int width = shape.vector_width();
    while (shape.words() % width != 0) width /= 2;
    return width;
}

Block shape_constants(const Shape& shape) {
    Block block;
    block.line("using real = {};", shape.precision == Precision::f32 ? "float" : "double");
    return block.line("constexpr int nodes = {}, fields = {}, words = fields * nodes;", shape.nodes, shape.fields);
}

Block face_constants(const Shape& shape) {
    return Block().line("constexpr int dimension = {}, face_count = {}, face_nodes = {}, face_points = face_count * face_nodes;", shape.dimension,
                        shape.faces, shape.face_nodes);
}

Block pass_banner(const Plan& plan, Target target) {
    const Problem& problem = plan.problem;
    const Counts& work = plan.counts;
    Block block;
    block.line("// {}: {}, order {}, {}", problem.family(), problem.word("equation"), problem.integer("order"), problem.word("precision"));
    block.line("// hone emit {} elements=100000 --target {} --config {}", problem.class_key(), to_string(target), plan.config.key());
    block.text("// The same text serves any number of elements.");
    block.line("// per element: {:.0f} operations, {:.0f} bytes (compulsory); this form executes {:.0f} operations", work.operations / work.updates,
               work.bytes / work.updates, plan.source.executed_operations / work.updates);
    return block;
}

Block pass_signature(const Plan& plan, const std::string& entry, const std::string& restrict) {
    std::string text = entry + "(";
    for (const ArraySpec& array : plan.source.arrays) {
        const char* const type = array.name == "vmapP" ? "const int" : array.access == Access::in ? "const real" : "real";
        text += fmt::format("{}* {} {}, ", type, restrict, array.name);
    }
    for (const TableSpec& table : plan.source.tables) text += fmt::format("{}real* {} {}, ", table.scratch ? "" : "const ", restrict, table.name);
    Block block;
    block.text(text + "int first, int last) {");
    return block;
}

Block face_node_table(const Shape& shape, const std::string& qualifiers) {
    constexpr std::size_t longest_line = 120;
    Block block;
    block.text("// Node of the element at each point of its faces: vmapM without the element's offset.");
    block.line("{} unsigned short face_node[face_points] = {{", qualifiers);
    std::string line = "   ";
    for (const auto& mask : shape.reference().face_mask)
        for (const int node : mask) {
            line += fmt::format(" {},", node);
            if (line.size() < longest_line) continue;
            block.text(line);
            line = "   ";
        }
    if (line.size() > 3) block.text(line);
    block.text("};");
    return block;
}

Block finish_lines(const Plan& plan, const Pass& pass, const std::string& total, const std::string& at) {
    std::string sum = pass.sums() ? total : "";
    if (pass.from_rhs) sum = (sum.empty() ? "" : sum + " + ") + fmt::format("rhs[{}]", at);
    if (pass.surface && plan.shape.materials) sum = (pass.from_rhs ? "(" + sum + ")" : sum) + " * scale";
    Block block;
    if (!pass.update) {
        block.line("rhs[{}] = {};", at, sum);
        return block;
    }
    block.line("const real residual = a * res[{}] + dt * {};", at, pass.from_rhs && pass.sums() && !plan.shape.materials ? "(" + sum + ")" : sum);
    block.line("res[{}] = residual;", at);
    if (plan.into == "q")
        block.line("q[{}] += b * residual;", at);
    else
        block.line("{}[{}] = q[{}] + b * residual;", plan.into, at, at);
    return block;
}

double pass_operations(const Plan& plan, double volume_pairs, double surface_pairs) {
    const Shape& shape = plan.shape;
    double operations = 0;
    for (const Pass& pass : plan.passes) {
        if (pass.volume)
            operations +=
                2.0 * static_cast<double>(plan.own_algebra().products.size()) * volume_pairs + plan.own_algebra().operations_per_node() * shape.nodes;
        if (pass.surface) {
            operations += 2.0 * shape.fields * surface_pairs + static_cast<double>(flux_operations(shape)) * shape.face_points();
            if (shape.materials) operations += shape.words();
        }
        if (pass.sums() && pass.from_rhs) operations += shape.words();
        if (pass.update) operations += update_operations(shape);
    }
    return operations * static_cast<double>(shape.elements);
}

}  // namespace hone::inline v0_1::dg
