#pragma once

#include "generator/family.hpp"

namespace hone::inline v0_1 {

/// One stage of the low-storage Runge-Kutta method of five stages and fourth order (Carpenter &
/// Kennedy, NASA TM-109112, 1994) on the fields of a discontinuous Galerkin method: res = a res +
/// dt rhs, q = q + b res.
///
///     dg_rk equation=maxwell_3d order=5 precision=f32 elements=100000
///
/// Arrays of the application: `rhs`, `res`, `q` [elements][fields][nodes] and `stage` [3]: a, b, dt
/// of this stage (one kernel is bound per stage). In memory all but `stage` start at a multiple of
/// 16 bytes.
Family dg_rk();

}  // namespace hone::inline v0_1
