#pragma once

#include "generator/families/batched_gemv/shape.hpp"
#include "generator/family.hpp"
#include "generator/render.hpp"

namespace hone::gemv {

std::vector<ArraySpec> arrays(const Problem& problem);

SearchSpace cuda_space(const Problem& problem, const Limits& limits);
SearchSpace cpu_space(const Problem& problem, const Limits& limits);
KernelSource cuda_kernel(const Problem& problem, const Config& config, const Limits& limits);
KernelSource cpu_kernel(const Problem& problem, const Config& config, const Limits& limits);

/// Pieces that all kernels share: the opening comment, the constants of the shape, the line that opens the entry, and the source without launches.
Block banner(const Problem& problem, const Config& config, Target target);
Block shape_constants(const Shape& shape);
Block entry(const Shape& shape, Target target);
KernelSource make_source(const Problem& problem, Target target, std::string text);

}  // namespace hone::gemv
