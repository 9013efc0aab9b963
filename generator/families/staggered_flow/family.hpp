#pragma once

#include "generator/family.hpp"

namespace hone::inline v0_1 {

namespace flow {

/// Words of the array `numbers`.
enum class Number { keep, share, dt, diffusion, convection, per_width };
constexpr int number_count = 6;

}  // namespace flow

/// The explicit parts of a stage of an incompressible flow's time step, by fractional steps on a
/// staggered grid of nx x ny x nz cubic cells.
///
///     staggered_flow kernel=momentum precision=f64 nx=128 ny=128 nz=128
///
/// The pressure lies at the cells' centres. Word (i, j, k) of velocity component c lies on the face
/// before cell (i, j, k) along axis c. The box is periodic along x and y; along z it is periodic,
/// or with ends=planes the neighbours' planes lie before and behind the own ones, as on a rank.
///
///     momentum      change = keep change + dt (diffusion sum_b (v_before - 2 v + v_behind) - convection sum_b (out - in))
///     divergence    cells = -per_width sum_c (d_c velocity_c + share d_c change_c)
///     projection    velocity_c = velocity_c + share change_c - per_width (cells - cells_before)
///
/// where `out` and `in` are products of two sums: of the carried component on both sides of a face
/// of its cell, and of the carrying one there, so that the scheme conserves momentum and, without
/// viscosity, energy. d_c is the difference of the faces behind and before a cell.
///
/// Arrays of the application, all [nz][ny][pitch], with ends=planes [nz + 2][ny][pitch]: u, v, w
/// (read; projection changes them), change_u, change_v, change_w (read; momentum changes them),
/// cells (of divergence, written; of projection, read), and numbers [6], read, in the order of
/// `Number`: diffusion = viscosity / h^2, convection = 1 / (4 h), per_width = 1 / h.
///
/// Source: F. H. Harlow, J. E. Welch, Numerical Calculation of Time-Dependent Viscous
/// Incompressible Flow of Fluid with Free Surface, Physics of Fluids 8, 1965.
Family staggered_flow();

}  // namespace hone::inline v0_1
