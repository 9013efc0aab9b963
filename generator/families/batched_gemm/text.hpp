#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "generator/families/batched_gemm/shape.hpp"
#include "generator/form.hpp"
#include "generator/render.hpp"

namespace hone::inline v0_1::gemm {

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
/// A source with everything but launches filled in.
KernelSource make_source(const Problem& problem, Target target, std::string text, double executed_operations);
/// One launch over blocks of `matrices_per_block`, with `tiles` blocks for each.
Launch block_launch(const Shape& shape, std::int64_t matrices_per_block, std::int64_t tiles, const BlockResources& resources);

}  // namespace hone::inline v0_1::gemm
