#pragma once

#include "generator/family.hpp"

namespace hone::inline v0_1 {

/// Volume right-hand side of nodal discontinuous Galerkin on affine simplices: maxwell_3d and
/// acoustics_3d on tetrahedra, maxwell_2d_tm on triangles, orders 1..10, f32 and f64.
///
///     dg_volume equation=maxwell_3d order=5 precision=f32 elements=100000
///
/// Arrays of the application: `q` [elements][fields][nodes] and `geometry` [elements][9] (rx, ry,
/// rz, sx, ..., tz; on triangles [elements][4]: rx, ry, sx, sy) are read, `rhs` (as q) is written.
/// All three start at a multiple of 16 bytes. Node order, operators and right-hand sides: Hesthaven
/// & Warburton, Nodal Discontinuous Galerkin Methods, Springer 2008, chapters 6 and 10; unit
/// material, strong form, no surface terms.
Family dg_volume();

}  // namespace hone::inline v0_1
