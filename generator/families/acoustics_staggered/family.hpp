#pragma once

#include "generator/family.hpp"

namespace hone::inline v0_1 {

/// Acoustic waves on a staggered grid, 2D or 3D: second order in time (leapfrog), order 4, 8 or 16
/// in space.
///
///     p_t = -kappa (u_x + v_y [+ w_z]),   u_t = -b p_x,   v_t = -b p_y,   [w_t = -b p_z]
///
/// Cells count from 0 to nx - 1, ny - 1, nz - 1. p lies at their centres; u, v and w at their left
/// faces in x, y and z. With M = order / 2 and weights c_1 ... c_M, one step of size dt on a mesh
/// of width h is
///
///     velocity   u_i -= b_i     * sum over m of c_m (p_(i+m-1) - p_(i-m))       v, w alike along y, z
///     pressure   p_i -= kappa_i * sum over m of c_m (u_(i+m) - u_(i+1-m)) + the same of v along y, of w along z
///
/// where **kappa and b already hold the factor dt / h**. kernel=velocity and kernel=pressure are
/// these two, in place. kernel=step is both in one pass, from p, u, v, w to p_next, u_next, v_next,
/// w_next, which an application exchanges after every step.
///
/// With absorbing=sponge a velocity is multiplied by the factor of its own axis at its face, and a
/// pressure by those of all axes at its centre:
///
///     u_i = fx_i (u_i - ...),   v, w alike,   p_i = cx_i cy_j [cz_k] (p_i - ...)
///
/// with factors exp(-sigma dt) that fall from 1 towards a boundary: what runs into it head on
/// decays alike in both fields, and only the scheme reflects. They are arrays of two rows, the
/// faces' factors and the centres': damping_x [2][pitch], damping_y [2][ny + 2 ghost], damping_z
/// [2][nz + 2 ghost], with cell 0 where it lies in a row, or at `ghost`.
///
/// update=in_place (kernel=step in 3D, on processors) leaves the new fields where the old ones
/// were: there are no `_next` arrays. What lies around the cells is written, too, as far as they
/// need new values there (velocities at the faces from 1 - M to n - 1 + M along their own axis;
/// with levels also everything that the first of them compute around the cells), so that an
/// application sets it before every pass. A range is computed as if its planes were all: parts of
/// it cannot follow each other.
///
/// levels=k (kernel=step; in 3D on processors, and on GPUs k = 2 at order 4) is k time steps in
/// one pass, for little more traffic than one. What lies around the cells before the pass then
/// counts for all of them, corners too: p up to k (2 M - 1) cells, everything else as far as the
/// cells need it. Fields and media that are mirrored stay so.
///
/// Arrays are [ny + 2 ghost][pitch] or [nz + 2 ghost][ny + 2 ghost][pitch] with ghost = order *
/// levels, x fastest; cell 0 lies `ghost` rows (and planes) and 128 bytes into them (with several
/// levels as many times that as hold k (2 M - 1) words), and a row ends as far or farther behind
/// its last cell. Apart, only cells are written, never what lies around them; what is read there (p
/// up to M cells for the velocity and 2 M - 1 for the step, u, v, w and b from face 1 - M to face n
/// - 1 + M along their own axis) makes the boundary condition: mirrored values for a rigid wall or
/// a free surface. Scalar media are arrays of one word, kappa and b.
///
/// The range counts rows in 2D and planes in 3D.
///
/// Source: I. Terentyev, Explicit Finite Difference Simulations with Graphics Processing Units,
/// TRIP annual meeting, Rice University 2009.
Family acoustics_staggered();

}  // namespace hone::inline v0_1
