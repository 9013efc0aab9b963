#pragma once

#include <cstdint>
#include <vector>

#include "generator/families/dg/shape.hpp"

namespace hone::inline v0_1::dg {

/// Arguments that a surface kernel reads, in host memory.
template <typename Real>
struct SurfaceData {
    const Real* q;
    const Real* faces;
    const int* neighbour;   ///< vmapP
    const Real* materials;  ///< null where all elements have the unit material
};

/// LIFT(Fscale flux) of element k, [fields][nodes], in double precision, before materials scale it.
/// Upwind flux from the state between two half-spaces (Hesthaven & Warburton 2008, chapters 6 and
/// 10): with impedances Z = 1/Y, tangential e = E - n (n.E) and h = n x H, e* = (Y- e- + Y+ e+ + h+
/// - h-) / (Y- + Y+) and h* = (Z- h- + Z+ h+ + e+ - e-) / (Z- + Z+); with normal velocity u and
/// pressure p, p* = (Y- p- + Y+ p+ - u+ + u-) / (Y- + Y+) and u* = (Z- u- + Z+ u+ - p+ + p-) / (Z-
/// + Z+).
template <typename Real>
std::vector<double> surface_of_element(const Shape& shape, const SurfaceData<Real>& data, std::int64_t k);

/// The largest sum of absolute values that passes through a value of it: its rounding errors are in
/// proportion.
template <typename Real>
double surface_magnitude(const Shape& shape, const SurfaceData<Real>& data, std::int64_t k);

/// The factor by which an element's material multiplies the whole right-hand side of a field.
template <typename Real>
double material_scale(const Shape& shape, const SurfaceData<Real>& data, std::int64_t k, int field) {
    return data.materials == nullptr ? 1 : static_cast<double>(data.materials[3 * k + (field < shape.what->second_group ? 0 : 1)]);
}

}  // namespace hone::inline v0_1::dg
