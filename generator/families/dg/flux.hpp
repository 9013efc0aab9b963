#pragma once

#include <functional>
#include <string>

#include "generator/block.hpp"
#include "generator/families/dg/shape.hpp"

namespace hone::dg {

/// "x", "y" or "z".
std::string axis(int i);

/// Lines that make the upwind flux of all fields, times Fscale, at one point of a face. `difference(f)` writes field f of the neighbour less the own
/// one, `target(f)` where the flux goes. The lines use `nx`, `ny`(, `nz`), the outward normal, and what `name_impedances` names.
///
/// With the neighbour's impedance Z+ and the own Z-: for Maxwell, flux of H = Z- (Z+ [H]_t - n x [E]) / (Z- + Z+) and of E =
/// ([E]_t + Z+ n x [H]) / (Z- + Z+), t: tangential; for acoustics, flux of p = ([p] - Z+ n.[u]) / (Z- + Z+) and of u = n Z- (Z+ n.[u] - [p]) /
/// (Z- + Z+). With unit materials these are Hesthaven & Warburton's, divided by two.
Block flux_lines(const Shape& shape, const std::function<std::string(int)>& difference, const std::function<std::string(int)>& target);

/// Names `first` and `second`, common factors of the fluxes of the first and second group of fields, from `fscale` and, with materials,
/// `own_z` and `other_z`.
Block name_impedances(const Shape& shape);

/// Names `nx`, `ny`(, `nz`) from the words of a `face`.
Block name_normal(const Shape& shape);

/// Names `wall`: of each field, a reflecting wall's neighbour less the own value, in units of the own.
Block wall_line(const Shape& shape);

/// The same where the neighbour's value `beyond` was read, on a boundary the own one again: names `mirrored`, `same` and `mirror`, so that field f of
/// what lies behind the face is `(mirrored[f] ? mirror : same) * beyond`. Uses `plus`, an entry of vmapP.
Block mirror_lines(const Shape& shape);

/// Floating-point operations of the flux per point.
int flux_operations(const Shape& shape);

}  // namespace hone::dg
