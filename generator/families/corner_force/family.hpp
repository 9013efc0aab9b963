#pragma once

#include "generator/family.hpp"

namespace hone::inline v0_1 {

/// Corner forces of high-order Lagrangian hydrodynamics: from positions, velocities and energies of
/// every zone to the force on its nodes, the work on its energies and its bound on the time step.
///
/// A zone's corner force is the matrix F = A B^T with A[(c, i)][q] = sum over g of S[c][g](q) d
/// phi_i / d xi_g (q), S = w |J| sigma J^-T at the points q and B[j][q] the energies' basis.
/// `result` says what is wanted of it:
///
///     products  F.1 and F^T w in one step                         x v e initial_inverse mass gamma settings w -> force work dt
///     points    F.1, and S at the points for later products       x v e initial_inverse mass gamma settings   -> stress force dt
///     corner    F.1, and F itself (its columns one by one)        x v e initial_inverse mass gamma settings   -> corner force dt
///     energy    F^T w from S                                      w stress                                    -> work
///
/// Words of a zone, x innermost: x, v, w, force [d][nodes]; e, work [energies]; initial_inverse
/// [axis g][component c][points], the inverse of the Jacobian at the start; stress [c][g][points];
/// mass [points], density times |J| times weight at the start; corner [energies][d][nodes]; gamma
/// [1]; dt [1], which includes cfl, is 0 where |J| is not positive somewhere in the zone, and the
/// largest finite number where nothing bounds it. settings = {h0, cfl, quadratic, linear}: a zone's
/// initial size over the order, and the coefficients of the viscosity (2 and 0.5, or 0 for none).
/// F^T w of a stored F is a product of batched_gemv (form=t).
///
/// Source: V. Dobrev, T. Kolev, R. Rieben, SIAM J. Sci. Comput. 34 (2012); T. Dong and others, A
/// Step towards Energy Efficient Computing, IPDPS 2014; the smooth switch of the viscosity, the
/// length of which it is, and what counts as dt are those of the public mini-application Laghos.
Family corner_force();

}  // namespace hone::inline v0_1
