#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "generator/families/dg/volume/text.hpp"

// What the forms on CUDA have in common.

namespace hone::inline v0_1::dg {

/// Tunables that several forms have.
/// How many fields the loop over the operator's columns works on at a time: all, or for maxwell_3d
/// those of one curl.
Tunable fields_per_pass(const Shape& shape);
Tunable elements_per_block(std::vector<std::int64_t> values);
Tunable elements_per_thread(std::vector<std::int64_t> values);
/// `values` are those that a form has of all its explanation names.
Tunable where_operator_is(std::vector<Value> values);
Tunable padded_rows();
Tunable min_blocks();
/// Refuses texts with more multiply-adds than are worth compiling, by the counts of `resources`.
/// `reads` as in Constraint.
Constraint code_size(std::function<BlockResources(const Config&)> resources, std::vector<std::string> reads);
/// The names of a form's tunables but for `min_blocks`, which is the last.
std::vector<std::string> all_but_min_blocks(const FormSpace& form);

/// A form whose kernels are of a type that is made of the shape and a configuration, once, and
/// knows `resources()`, which depend on the tunables `read` (none: on all), and `kernel(problem,
/// config)`. It refuses what `code_size` does, too.
template <typename Kernel>
Form counted_form(const Problem& problem, FormSpace space, std::vector<std::string> read) {
    Form form;
    form.resources = [shape = Shape(problem)](const Config& config) { return Kernel(shape, config).resources(); };
    form.resources_read = read;
    form.space = std::move(space);
    form.space.constraints.push_back(code_size(form.resources, std::move(read)));
    form.kernel = [problem](const Config& config) { return Kernel(Shape(problem), config).kernel(problem, config); };
    return form;
}

}  // namespace hone::inline v0_1::dg
