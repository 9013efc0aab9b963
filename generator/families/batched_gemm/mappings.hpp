#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "generator/families/batched_gemm/shape.hpp"
#include "generator/families/device/cuda_residency.hpp"
#include "generator/family.hpp"
#include "generator/form.hpp"
#include "generator/render.hpp"
#include "generator/residency.hpp"

namespace hone::inline v0_1::gemm {

using Resources = BlockResources;

/// A way to lay the products out over a CUDA device: what makes a form.
struct Mapping {
    std::string name;
    std::string help;
    bool (*applies)(const Shape&, const Limits&);
    /// Why the values of a configuration do not go together, or "".
    std::string (*conflict)(const Shape&, const Config&);
    Resources (*resources)(const Shape&, const Config&);
    KernelSource (*kernel)(const Problem&, const Config&, const Limits&);
    /// Clock cycles of a multiprocessor for a product, by count; null: not known.
    double (*cycles)(const Shape&, const Config&, const Limits&) = nullptr;
};

/// A thread computes whole matrices, neighbours come and go through shared memory: for 2 x 2 and 3
/// x 3.
Mapping thread_mapping();
/// A thread accumulates a tile of C in registers, chunks of A and B are staged in shared memory.
Mapping tile_mapping();
/// A warp per tile of the FP64 matrix units.
Mapping mma_mapping();
/// A warp keeps columns of a shared B in registers, as the matrix units take them, while thin
/// products pass by.
Mapping stream_mapping();

Forms cuda_forms(const Problem& problem, const Limits& limits);
Forms cpu_forms(const Problem& problem, const Limits& limits);

/// Pieces that all kernels share.
constexpr int round_up(int value, int multiple) {
    return (value + multiple - 1) / multiple * multiple;
}
constexpr int pieces(int value, int size) {
    return (value + size - 1) / size;
}
int number(const Config& config, std::string_view name);
/// The same, or `otherwise` where the configuration's form does not have it.
int number(const Config& config, std::string_view name, int otherwise);
std::vector<ArraySpec> arrays(const Problem& problem);
/// Compulsory bytes as a banner says them: a shared factor is counted apart, because its part in a
/// product depends on their number.
std::string bytes_per_product(const Shape& shape);
/// Opening comment: problem, command that emits this text, counts.
Block banner(const Problem& problem, const Config& config, Target target, double executed_operations);
/// m, n, k, strides, positions within a matrix.
Block shape_constants(const Shape& shape);
/// Arguments of the entry after c.
Block parameters(const Shape& shape, Target target);
/// Adds the flags of device/copies.cu/past_registers: words, or zeros beyond the matrices.
void add_copy_flags(Flags& flags, const Limits& limits);
/// m16n8k4 and its like came with sm_90; the older m8n8k4 is no faster than multiply-adds.
bool has_matrix_units(const Shape& shape, const Limits& limits);
/// Adds the flags of batched_gemm/block.cu/matrix_units: a product on the FP64 matrix units takes
/// 4, 8 or 16 values along k.
void add_matrix_unit_flags(Flags& flags, int depth);
/// A source with everything but launches filled in.
KernelSource make_source(const Problem& problem, Target target, std::string text, double executed_operations);
/// One launch over blocks of `matrices_per_block`, with `tiles` blocks for each.
Launch block_launch(const Shape& shape, std::int64_t matrices_per_block, std::int64_t tiles, const Resources& resources);

}  // namespace hone::inline v0_1::gemm
