#pragma once

#include "generator/families/batched_gemv/shape.hpp"
#include "generator/family.hpp"
#include "generator/form.hpp"
#include "generator/render.hpp"

namespace hone::inline v0_1::gemv {

std::vector<ArraySpec> arrays(const Problem& problem);

Forms cuda_forms(const Problem& problem, const Limits& limits);
Forms cpu_forms(const Problem& problem, const Limits& limits);

/// CUDA, for transposed matrices without gaps between them: columns come into shared memory as they
/// lie.
Form staged_form(const Problem& problem, const Limits& limits);

/// Pieces that all kernels share: the opening comment, the constants of the shape, the line that
/// opens the entry, and the source without launches.
Block banner(const Problem& problem, const Config& config, Target target);
Block shape_constants(const Shape& shape);
Block entry(const Shape& shape, Target target);
KernelSource make_source(const Problem& problem, Target target, std::string text);

}  // namespace hone::inline v0_1::gemv
