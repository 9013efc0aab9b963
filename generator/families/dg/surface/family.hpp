#pragma once

#include "generator/family.hpp"

namespace hone::inline v0_1 {

/// Surface terms of nodal discontinuous Galerkin on affine simplices: maxwell_3d and acoustics_3d
/// on tetrahedra, maxwell_2d_tm on triangles, orders 1..10, f32 and f64; the strong form with
/// upwind flux of Hesthaven & Warburton, Nodal Discontinuous Galerkin Methods, Springer 2008.
///
///     dg_surface equation=maxwell_3d order=5 precision=f32 materials=per_element elements=100000
///
/// rhs becomes (rhs + LIFT(Fscale flux)) times the element's material factor, so that after
/// dg_volume (which knows no material) it is complete. Arrays of the application, K elements of
/// dimension d with d + 1 faces, Np nodes, Nfp nodes per face:
///  - `q` [K][fields][Np], read; `rhs` likewise, read and written. Fields: Hx Hy Hz Ex Ey Ez; p u v w; Hx Hy Ez.
///  - `faces` [K][d+1][d+1]: outward unit normal, then Fscale = face Jacobian over element Jacobian.
///  - `vmapP` [K][d+1][Nfp], 32-bit integers: Np k' + n' of the node of neighbour k' that each face node (in the order of
///    ReferenceElement::face_mask) meets; -1 on a reflecting wall (perfect conductor, rigid wall), -2 where nothing comes in (absorbing). A
///    periodic boundary has the node of the other side. Its length is rounded up to whole words of the problem's precision.
///  - `materials` [K][3], with materials=per_element: 1/mu, 1/eps, sqrt(mu/eps), or rho c^2, 1/rho, rho c. Without, all are one.
/// All start at a multiple of 16 bytes.
Family dg_surface();

}  // namespace hone::inline v0_1
