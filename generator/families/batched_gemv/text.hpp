#pragma once

#include <string>
#include <vector>

#include "generator/families/batched_gemm/text.hpp"
#include "generator/families/batched_gemv/shape.hpp"
#include "generator/family.hpp"
#include "generator/render.hpp"

// Pieces that all kernels share.

namespace hone::inline v0_1::gemv {

std::vector<ArraySpec> arrays(const Problem& problem);
/// The opening comment, the constants of the shape, the line that opens the entry, and the source
/// without launches.
Block banner(const Problem& problem, const Config& config, Target target);
Block shape_constants(const Shape& shape);
Block entry(const Shape& shape, Target target);
KernelSource make_source(const Problem& problem, Target target, std::string text);

}  // namespace hone::inline v0_1::gemv
