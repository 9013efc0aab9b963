#pragma once

#include "generator/family.hpp"

namespace hone::inline v0_1 {

/// Eight-colour Gauss-Seidel sweeps over a 3D grid with 27-point stencils, in place.
///
/// Interior points (x, y, z) count from 1 to nx, ny, nz; a layer of boundary points around them
/// holds Dirichlet values and is never written. The colour of a point is ((x-1) & 1) + 2 ((y-1) &
/// 1) + 4 ((z-1) & 1). One time step is one sweep: colours 0 to 7 in turn, each point set to u = (f
/// - sum over the 26 neighbours of s_k u_k) * s_13, where s_13 is the *reciprocal* of the centre
/// coefficient. The number k = 9 (dz+1) + 3 (dy+1) + (dx+1) is that of the neighbour (x+dx, y+dy,
/// z+dz): x runs fastest, as in memory, so that 12 and 14 are the neighbours along x, 10 and 16
/// those along y, and 4 and 22 those along z. A step over planes [first, last) (counted from 0)
/// updates only those planes.
///
/// Arrays: u and f are [nz+2][ny+2][pitch], x fastest; the stencil is [27] (constant), [nz][ny][32]
/// (semi_constant: one per row, 27 words used), [27][nz][ny][pitch] (variable: x counted as in u,
/// so that words 0 and beyond nx are padding) or [14][nz+2][ny+2][pitch] (symmetric). All three
/// start at a multiple of 16 bytes.
///
/// A symmetric stencil says that the operator is: coefficient k of a point p equals coefficient 26
/// - k of its neighbour number k. Each is stored once, with the point that has the other one after
/// itself: word [k - 13] of p, counted as in u, is coefficient k for k = 14 to 26, and word [0] is
/// the reciprocal of the centre's. Boundary points have the coefficients that couple them to
/// interior points; other words are never used.
///
/// Source: S. Strobl, Efficient Implementation of Finite Element Operators on GPUs, Studienarbeit,
/// FAU Erlangen-Nuernberg 2008.
Family gauss_seidel_27();

}  // namespace hone::inline v0_1
