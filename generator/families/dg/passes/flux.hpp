#pragma once

#include "generator/block.hpp"
#include "generator/families/dg/shape.hpp"
#include "generator/render.hpp"

// The upwind flux of all fields at one point of a face, times Fscale: the piece
// dg/passes/flux.cu/upwind. `difference` are the neighbour's fields less the own ones.
//
// With the neighbour's impedance Z+ and the own Z-: for Maxwell, flux of H = Z- (Z+ [H]_t - n x
// [E]) / (Z- + Z+) and of E = ([E]_t + Z+ n x [H]) / (Z- + Z+), t: tangential; for acoustics, flux
// of p = ([p] - Z+ n.[u]) / (Z- + Z+) and of u = n Z- (Z+ n.[u] - [p]) / (Z- + Z+). With unit
// materials these are Hesthaven & Warburton's, divided by two. With w = [E] + Z+ n x [H], the flux
// of E is w's tangential part and that of H is -n x w: -n x (n x a) is the tangential part of a.

namespace hone::inline v0_1::dg {

/// The flags of the templates with fluxes: `acoustics`, `maxwell_3d`, `maxwell_2d`,
/// `three_dimensions` and `materials`.
void add_flux_flags(Flags& flags, const Shape& shape);

/// Names `wall`: of each field, a reflecting wall's neighbour less the own value, in units of the
/// own.
Block wall_line(const Shape& shape);

/// Names `mirrored`: whether what lies behind a reflecting wall is the own value with the other
/// sign.
Block mirrored_line(const Shape& shape);

/// An affine element's faces are flat, and so the flux through one has the same direction at all of
/// its points, or two tangents for Maxwell in 3D: this many. LIFT may take amplitudes along these,
/// face by face, in place of the flux of each field. The templates dg/passes/amplitude.cu and
/// directions.cu.
int amplitudes_of(const Shape& shape);

/// Floating-point operations of the flux per point.
int flux_operations(const Shape& shape);

}  // namespace hone::inline v0_1::dg
