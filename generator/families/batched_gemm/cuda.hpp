#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "generator/families/batched_gemm/forms.hpp"
#include "generator/families/batched_gemm/text.hpp"
#include "generator/families/device/cuda_residency.hpp"

// What the forms on CUDA have in common.

namespace hone::inline v0_1::gemm {

/// Whether a thread may have a product for itself.
bool is_tiny(const Shape& shape);
/// m16n8k4 and its like came with sm_90; the older m8n8k4 is no faster than multiply-adds.
bool has_matrix_units(const Shape& shape, const Limits& limits);
/// Whether few rows pass by a shared B of which a warp holds columns.
bool streams(const Shape& shape, const Limits& limits);
/// Whether a shared B is so long that tiles had better be high, with rows of many products, than
/// read it for the few rows of one.
bool reads_b_again(const Shape& shape);

/// Lists of values for tunables. They depend on the shape, so that little of their product is out
/// of the question.
struct Values {
    Values(const Shape& shape, const Limits& limits);

    std::vector<Value> matrices_per_block, block_m, block_n, thread_m, thread_n, chunk, stages, depth;
};

/// Tunables that several forms have.
Tunable matrices_per_block_tunable(std::vector<Value> values);
Tunable block_n_tunable(const Values& values);
Tunable stages_tunable(const Values& values);
Tunable epilogue_tunable();
Tunable batches_per_block_tunable();
Tunable min_blocks_tunable();
/// Whether a form has `batches_per_block`: B stays in shared memory, for which it must be shared by
/// all products, and fit at once.
bool keeps_b(const Shape& shape, const Limits& limits);

/// What `tunables` have of some values, by their names or former ones, in their order.
std::vector<Assignment> assigned(const std::vector<Tunable>& tunables, const std::vector<Assignment>& values);
/// Products of a block that takes little.
std::int64_t few_matrices(const Shape& shape, const Values& values);

/// Adds the flags of device/copies.cu/past_registers: words, or zeros beyond the matrices.
void add_copy_flags(Flags& flags, const Limits& limits);
/// Adds the flags of batched_gemm/block.cu/matrix_units: a product on the FP64 matrix units takes
/// 4, 8 or 16 values along k.
void add_matrix_unit_flags(Flags& flags, int depth);

/// Adds the rules that all forms have and that the last tunable, min_blocks, does not matter to.
void add_rules(FormSpace& space, std::function<Reason(const Config&)> conflict, std::function<BlockResources(const Config&)> resources);

/// A form whose kernels are of a type that is made of the shape and a configuration, once, and
/// knows `conflict()`, `resources()` and `kernel(problem, config, limits)`.
template <typename Kernel>
Form cuda_form(const Problem& problem, const Limits& limits, FormSpace space) {
    Form form;
    form.space = std::move(space);
    form.space.former = [name = form.space.name](const Config& config) { return config.has("mapping", name); };
    form.resources = [shape = Shape(problem)](const Config& config) { return Kernel(shape, config).resources(); };
    form.kernel = [problem, limits](const Config& config) { return Kernel(Shape(problem), config).kernel(problem, config, limits); };
    add_rules(
        form.space, [shape = Shape(problem)](const Config& config) { return Kernel(shape, config).conflict(); }, form.resources);
    return form;
}

}  // namespace hone::inline v0_1::gemm
