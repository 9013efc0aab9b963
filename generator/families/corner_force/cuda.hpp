#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "generator/families/corner_force/forms.hpp"
#include "generator/families/corner_force/text.hpp"

// What the forms on CUDA have in common.

namespace hone::inline v0_1::corner {

constexpr int warp = 32;

/// A kernel in which every zone of a block has a team of threads.
struct TeamKernel : ZoneKernel {
    TeamKernel(const Shape& of_zones, const Config& config, std::vector<Pass> its_passes);

    int zones_per_block, min_blocks;

    /// Those of all kernels, with the threads of a block. `team_of_columns`: of the team, beside
    /// its columns and splits, such as " / 2".
    Block constants(const char* team_of_columns = "") const;
    /// The threads of a team wait for each other: alone where teams do not cross warps.
    Block barrier() const;
    Launch launch(const Pass& pass, std::int64_t shared_bytes) const;
};

/// A kernel of passes over whole zones: one thread or several for each column of points along the
/// last axis, half-way results in shared memory.
struct CudaPasses : TeamKernel {
    CudaPasses(const Shape& of_zones, const Config& config, const PassForm& form);

    BlockResources resources() const;
    /// Words of shared memory from one zone of a block to the next in a pass over whole zones.
    int zone_stride(const Pass& pass) const;
    /// The launch of a pass over whole zones.
    Launch zone_launch(const Pass& pass) const;
    /// The kernel without launches. `own` constants are the form's.
    KernelSource source(const Problem& problem, const Config& config, const Block& own = {}) const;

    /// The form's tunables, the last of which is min_blocks.
    static FormSpace space(const PassForm& form, const Shape& shape);
    /// The only ones that resources depend on.
    static std::vector<std::string> resources_read(const PassForm& form);
};
/// A form of passes over whole zones alone.
Form cuda_passes(const PassForm& form, const Problem& problem, const Limits& limits);

/// Whether a configuration that no form has as it is has this form.
std::function<bool(const Config&)> formerly(const std::string& form);

/// A form whose kernels are of a type that is made of the shape and a configuration, once, and
/// knows `resources()` and `kernel(problem, config)`.
template <typename Kernel>
Form cuda_form(const Problem& problem, FormSpace space, std::vector<std::string> resources_read) {
    Form form;
    form.space = std::move(space);
    form.space.former = formerly(form.space.name);
    form.resources = [shape = Shape(problem)](const Config& config) { return Kernel(shape, config).resources(); };
    form.resources_read = std::move(resources_read);
    form.kernel = [problem](const Config& config) { return Kernel(Shape(problem), config).kernel(problem, config); };
    return form;
}

/// What a block of a form's safe configuration takes.
BlockResources safe_needs(const Form& form);
/// Pieces of `size` that `value` things are, the last of which may be smaller.
int pieces(int value, int size);
/// The smallest number from `words` on that is `step` more than a multiple of the banks.
int padded(int words, int step, int banks);
/// What all CUDA texts have: the shape's, and the smallest and largest numbers.
Block numeric_constants(const ZoneKernel& kernel);
/// The distance from 1 to the next number.
const char* epsilon(const Shape& shape);

/// Tunables that several forms have.
Tunable zones_per_block_tunable();
Tunable min_blocks_tunable(std::vector<std::int64_t> values);
Tunable layers_tunable(const Shape& shape);
Tunable point_data_tunable();
Tunable fetch_ahead_tunable();
/// Zones of a block that have some dozen columns of points.
std::int64_t safe_zones(const Shape& shape);
/// The numbers that divide `number`, from 1 to `most`.
std::vector<Value> divisors(int number, int most);

}  // namespace hone::inline v0_1::corner
