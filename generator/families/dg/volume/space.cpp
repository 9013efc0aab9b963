#include "generator/families/dg/matrix_units.hpp"
#include "generator/families/dg/passes/passes.hpp"
#include "generator/families/dg/volume/forms.hpp"

// The forms of a CUDA device, and the tunables that several of them have.

namespace hone::inline v0_1::dg {

Tunable fields_per_pass(const Shape& shape) {
    const std::int64_t all = shape.fields;
    return {"fields_per_pass", "fields that the loop over the operator's columns works on at a time: all, or those of one curl",
            shape.maxwell() ? numbers({all, 3}) : numbers({all}), Value(all)};
}

Tunable elements_per_block(std::vector<std::int64_t> values) {
    return {"elements_per_block", "elements that a block of threads handles", numbers(std::move(values))};
}

Tunable elements_per_thread(std::vector<std::int64_t> values) {
    return {"elements_per_thread", "elements whose right-hand sides a thread makes", numbers(std::move(values))};
}

Tunable where_operator_is(std::vector<Value> values) {
    return {"operator",
            "where Dr, Ds, Dt are held: read-only loads, shared memory, or staged through it in chunks; nonzero: read-only loads, with nodes sorted "
            "by face and the matrix units' tiles of zeros left out",
            std::move(values)};
}

Tunable unrolled_columns() {
    return {"unroll", "trips of the loop over the operator's columns that are unrolled", numbers({1, 2, 4})};
}

Tunable padded_rows() {
    return {"padding", "1: rows in shared memory are lengthened so that neighbouring elements lie in different banks", numbers({0, 1})};
}

Tunable min_blocks() {
    return {"min_blocks", "blocks per multiprocessor that the compiler must leave registers for", numbers({1, 2, 3, 4})};
}

Constraint code_size(std::function<Resources(const Config&)> resources, std::vector<std::string> reads) {
    return {
        "code_size",
        [resources = std::move(resources)](const Config& config) { return too_many(resources(config).code, largest_code, "unrolled multiply-adds"); },
        std::move(reads)};
}

std::vector<std::string> all_but_min_blocks(const FormSpace& form) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i + 1 < form.tunables.size(); ++i) names.push_back(form.tunables[i].name);
    return names;
}

Form counted_form(const Problem& problem, FormSpace space, Resources (*resources)(const Shape&, const Config&),
                  KernelSource (*kernel)(const Problem&, const Config&)) {
    std::vector<std::string> read = all_but_min_blocks(space);
    const auto needs = [shape = Shape(problem), resources](const Config& config) { return resources(shape, config); };
    space.constraints.push_back(code_size(needs, read));
    return {.space = std::move(space), .resources = needs, .resources_read = std::move(read), .kernel = [problem, kernel](const Config& config) {
                return kernel(problem, config);
            }};
}

namespace {

// Of the forms that passes have, the one that has no twin here, with this family's words.
void add_warp_tile(const Problem& problem, const Limits& limits, Forms& forms) {
    const std::vector<Tunable> named = forms.list.front().space.tunables;
    for (Form& form :
         pass_cuda_forms({problem, counts(problem), arrays(problem), {{.passes = {{.entry = "dg_volume", .volume = true}}}}}, limits).list) {
        if (form.space.name != "warp_tile") continue;
        for (Tunable& tunable : form.space.tunables)
            for (const Tunable& other : named)
                if (other.name == tunable.name) tunable.help = other.help;
        forms.list.push_back(std::move(form));
    }
}

}  // namespace

Forms cuda_forms(const Problem& problem, const Limits& limits) {
    const Shape shape(problem);
    Forms forms{{tile_form(problem, limits)}, "tile"};
    if (shape.low_order()) forms.list.insert(forms.list.end(), {rows_form(problem), element_form(problem)});
    if (element_parity_applies(shape)) forms.list.push_back(element_parity_form(problem));
    add_warp_tile(problem, limits, forms);
    if (const std::string units = matrix_units(shape, limits); !units.empty()) forms.list.push_back(matrix_units_form(problem, units));
    return forms;
}

}  // namespace hone::inline v0_1::dg
