#pragma once

#include "generator/families/fe_mass/shape.hpp"
#include "generator/render.hpp"

// Text that is the same for both targets.

namespace hone::inline v0_1::fe {

KernelSource common_source(const Problem& problem, Target target);
Block banner(const Problem& problem, const Config& config, Target target);
/// Arguments of every entry point.
Block parameters(const Shape& shape);
/// Declares the rows and chunks of dot products, for device/finish_dots.
Block chunk_count();
/// Names and numbers of the problem, the basis and, for data=vertices, the quadrature.
Block shape_constants(const Shape& shape, Target target);
/// `column_weights(..., element, column, weight)`: weights of the points of one line, along the
/// axis that is contracted last.
Block weights_function(const Shape& shape, Target target);
/// The arrays that it takes.
Block weights_arguments(const Shape& shape);
/// Pragma before loops along an axis, whose length is a constant.
Block unroll(Target target);
/// Pragma before loops over the points of an axis that hold a loop over its nodes.
Block unroll_points(const Shape& shape, Target target);

}  // namespace hone::inline v0_1::fe
