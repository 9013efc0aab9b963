#pragma once

#include "generator/family.hpp"

namespace hone::inline v0_1 {

/// One whole stage of a discontinuous Galerkin method with a low-storage Runge-Kutta method:
/// volume, surface and update. What is done in one launch is a part of the configuration (`fused`):
/// each by itself, surface and update together, or everything.
///
///     dg_stage equation=maxwell_3d order=2 precision=f32 materials=uniform elements=100000
///
/// Arrays of the application are those of dg_volume, dg_surface and dg_rk with the same shapes:
/// `q`, `geometry`, `faces`, `vmapP`, `materials` (with materials=per_element) and `stage` are
/// read, `res` is read and written, `q_next` written. q_next is another array than q, because
/// neighbours still read the old fields: the application swaps the two after every stage. For
/// triangles geometry has four words an element: rx, ry, sx, sy.
Family dg_stage();

}  // namespace hone::inline v0_1
