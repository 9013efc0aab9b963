#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "generator/families/poisson7/forms.hpp"

// What the forms on CUDA have in common.

namespace hone::inline v0_1::poisson {

/// Why a rule refuses a configuration, or nothing.
using Reason = std::optional<std::string>;

/// A form whose kernels are of a type that is made of the grid and a configuration, once, and knows
/// `resources()` and `kernel(problem, config)`.
template <typename Kernel>
Form cuda_form(const Problem& problem, FormSpace space, std::vector<std::string> resources_read) {
    Form form;
    form.space = std::move(space);
    form.resources = [grid = Grid(problem)](const Config& config) { return Kernel(grid, config).resources(); };
    form.resources_read = std::move(resources_read);
    form.kernel = [problem](const Config& config) { return Kernel(Grid(problem), config).kernel(problem, config); };
    return form;
}

/// Tunables that they have, with values of their own, and a rule for them.
Tunable block_x_tunable(std::vector<std::int64_t> values);
Tunable block_y_tunable(std::vector<std::int64_t> values);
Constraint small_blocks();

/// What CUDA kernels with sums have in common (template poisson7/sums.cu): the constants, of which
/// `own` are the form's, such as ", group_lanes = group_columns / words"; and the launch that adds
/// up the sums of groups. Nothing for kernels without sums.
Block sum_constants(const Grid& grid, const char* own = "");
void add_sums(KernelSource& source, const Grid& grid);

}  // namespace hone::inline v0_1::poisson
