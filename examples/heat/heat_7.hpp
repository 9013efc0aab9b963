#pragma once

#include <hone/generator/family.hpp>

namespace heat {

/// A kernel family of an application's own: one explicit Euler step of the heat equation with the
/// 7-point Laplacian,
///
///     u_next = u + rate (u_west + u_east + u_south + u_north + u_below + u_above - 6 u),    rate = kappa dt / h^2 <= 1/6
///
/// on nx x ny x nz interior points with a layer of boundary points around them, which is read and
/// never written. Arrays: u (in) and u_next (out), both [nz+2][ny+2][nx+2], and rate (in), one
/// word; all in the problem's precision.
///
///     heat_7 precision=f64 nx=128 ny=128 nz=128
///
/// Source: K. W. Morton, D. F. Mayers, Numerical Solution of Partial Differential Equations,
/// Cambridge 2005, chapter 3.
hone::Family heat_7();

}  // namespace heat
