#include "generator/families/dg/volume/family.hpp"

#include <fmt/format.h>

#include "generator/families/dg/data.hpp"
#include "generator/families/dg/volume/forms.hpp"
#include "generator/families/dg/volume/reference.hpp"
#include "generator/families/dg/volume/text.hpp"

namespace hone::inline v0_1 {
namespace dg {

const Algebra& whole_algebra(const Shape& shape, const Config& config) {
    return algebra(shape.equation, config.word("algebra"));
}

const Algebra& pass_algebra(const Shape& shape, const Config& config) {
    return number(config, "fields_per_pass") == shape.fields ? whole_algebra(shape, config) : one_curl(config.word("algebra"));
}

std::vector<ArraySpec> arrays(const Problem& problem) {
    const Shape shape(problem);
    return {field_array(shape, "q", Access::in, "fields at the nodes"), geometry_array(shape),
            field_array(shape, "rhs", Access::out, "volume right-hand side at the nodes")};
}

Counts counts(const Problem& problem) {
    const Shape shape(problem);
    const auto elements = static_cast<double>(shape.elements);
    return {elements, "elements", volume_operations(shape) * elements, (2.0 * shape.words() + shape.geometry_words()) * shape.bytes() * elements};
}

double executed_operations(const Shape& shape, const Algebra& whole, double pairs) {
    const double per_element =
        2.0 * static_cast<double>(whole.products.size()) * pairs + static_cast<double>(whole.operations_per_node()) * shape.nodes;
    return per_element * static_cast<double>(shape.elements);
}

Block transform_into_field(const Algebra& algebra) {
    Block block;
    if (algebra.transforms()) block.append(name_factors(algebra));
    for (std::size_t f = 0; f < algebra.transform.size(); ++f)
        block.line("field[({} * elements_per_block + e) * row + m] = {};", f,
                   expression(algebra.transform[f], "", [](int i) { return fmt::format("value[i][{}]", i); }));
    return block;
}

Block banner(const Problem& problem, const Config& config, Target target, double executed) {
    const Counts work = counts(problem);
    Block block;
    block.line("// dg_volume: {}, order {}, {}", problem.word("equation"), problem.integer("order"), problem.word("precision"));
    block.line("// hone emit {} elements=100000 --target {} --config {}", problem.class_key(), to_string(target), config.key());
    block.text("// The same text serves any number of elements.");
    block.line("// per element: {:.0f} operations, {:.0f} bytes (compulsory); this form executes {:.0f} operations", work.operations / work.updates,
               work.bytes / work.updates, executed / work.updates);
    return block;
}

KernelSource make_source(const Problem& problem, Target target, std::string text, double executed) {
    KernelSource source;
    source.text = std::move(text);
    source.target = target;
    source.precision = problem.precision();
    source.entries = {"dg_volume"};
    source.arrays = arrays(problem);
    source.executed_operations = executed;
    return source;
}

Launch block_launch(const Shape& shape, std::int64_t elements_per_block, const BlockResources& resources) {
    Launch launch;
    launch.entry = "dg_volume";
    launch.grid = {(shape.elements + elements_per_block - 1) / elements_per_block, 1, 1};
    launch.block = {resources.threads, 1, 1};
    launch.range_axis = 0;
    launch.range_per_block = elements_per_block;
    launch.shared_bytes = resources.shared_bytes;
    return launch;
}

Tunable unrolled_columns() {
    return {"unroll", "trips of the loop over the operator's columns that are unrolled", numbers({1, 2, 4})};
}

}  // namespace dg

Family dg_volume() {
    Family family;
    family.name = "dg_volume";
    family.summary = "volume right-hand side of nodal discontinuous Galerkin on affine tetrahedra and triangles";
    family.source = "J. S. Hesthaven, T. Warburton, Nodal Discontinuous Galerkin Methods, Springer 2008";
    family.example = "dg_volume equation=maxwell_3d order=5 precision=f32 elements=100000";
    family.parameters = {{"equation", "what is solved", dg::equation_names(), 0, 0, false, ""},
                         {"order", "polynomial order N", {}, 1, 10, false, ""},
                         {"precision", "type of fields, geometry and operator", {"f32", "f64"}, 0, 0, false, "f32"},
                         dg::arithmetic_parameter(),
                         {"elements", "number of tetrahedra or triangles", {}, 1, std::int64_t{1} << 27, true, ""}};
    family.range_unit = "elements";
    family.range = [](const Problem& problem) { return problem.integer("elements"); };
    family.partition = [](const Problem&) { return Partition{}; };  // an element's right-hand side depends on that element alone
    family.arrays = dg::arrays;
    set_forms(family, {{Target::cpu, dg::cpu_forms}, {Target::cuda, dg::cuda_forms}});
    family.reference = dg::reference;
    family.workload = dg::workload;
    family.counts = dg::counts;
    return family;
}

}  // namespace hone::inline v0_1
