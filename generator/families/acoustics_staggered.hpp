#pragma once

#include "generator/family.hpp"

namespace hone {

/// Acoustic waves on a staggered grid, 2D or 3D: second order in time (leapfrog), order 4, 8 or 16 in space.
///
///     p_t = -kappa (u_x + v_y [+ w_z]),   u_t = -b p_x,   v_t = -b p_y,   [w_t = -b p_z]
///
/// Cells count from 0 to nx - 1, ny - 1, nz - 1. p lies at their centres; u, v and w at their left faces in x, y and z. With M = order / 2 and
/// weights c_1 ... c_M, one step of size dt on a mesh of width h is
///
///     velocity   u_i -= b_i     * sum over m of c_m (p_(i+m-1) - p_(i-m))       v, w alike along y, z
///     pressure   p_i -= kappa_i * sum over m of c_m (u_(i+m) - u_(i+1-m)) + the same of v along y, of w along z
///
/// where **kappa and b already hold the factor dt / h**. kernel=velocity and kernel=pressure are these two, in place. kernel=step is both in one
/// pass, from p, u, v, w to p_next, u_next, v_next, w_next, which an application exchanges after every step.
///
/// Arrays are [ny + 2 ghost][pitch] or [nz + 2 ghost][ny + 2 ghost][pitch] with ghost = order, x fastest; cell 0 lies `ghost` rows (and planes) and
/// 128 bytes into them, and a row ends 128 bytes or more behind its last cell. Only cells are written, never what lies around them; what is read
/// there (p up to M cells for the velocity and 2 M - 1 for the step, u, v, w and b from face 1 - M to face n - 1 + M along their own axis) makes the
/// boundary condition: mirrored values for a rigid wall or a free surface. Scalar media are arrays of one word, kappa and b.
///
/// The range counts rows in 2D and planes in 3D.
///
/// Source: I. Terentyev, Explicit Finite Difference Simulations with Graphics Processing Units, TRIP annual meeting, Rice University 2009.
Family acoustics_staggered();

}  // namespace hone
