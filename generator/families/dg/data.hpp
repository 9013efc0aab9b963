#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "generator/families/dg/shape.hpp"
#include "generator/kernel_source.hpp"
#include "generator/workload.hpp"

namespace hone::inline v0_1::dg {

/// Values of vmapP where a face has no neighbour.
constexpr int reflecting_wall = -1;  ///< perfect conductor, rigid wall
constexpr int absorbing = -2;        ///< nothing comes in

/// Which arithmetic f32 products may have.
ProblemParameter arithmetic_parameter();

/// Arrays that several families have.
ArraySpec geometry_array(const Shape& shape);
/// faces, vmapP and, where elements have materials of their own, materials.
std::vector<ArraySpec> face_arrays(const Shape& shape);
/// `words` values per element.
ArraySpec field_array(const Shape& shape, const char* name, Access access, const char* help);

/// a, b, dt of a stage of the low-storage Runge-Kutta method.
ArraySpec stage_array();

/// Operations per element as the literature counts them.
double volume_operations(const Shape& shape);
double surface_operations(const Shape& shape);
double update_operations(const Shape& shape);
/// Nodes of an element that lie on its faces.
int surface_nodes(const Shape& shape);

/// Elements whose data differ: a prime such that the reference's answer for that many takes a few
/// hundredths of a second, or all of them.
std::int64_t data_sets(const Shape& shape);

/// Gradients of r, s(, t) of an element whose edges are a rotated, scaled and sheared (by up to a
/// fifth) frame.
std::vector<double> random_geometry(const Shape& shape, std::mt19937_64& random);

/// Random coefficients: a from -1.2 to 0, b from 0.1 to 0.9, dt from 0.1 to 0.5.
template <typename Real>
void fill_stage(std::mt19937_64& random, Real* stage) {
    std::uniform_real_distribution<double> uniform(0, 1);
    stage[0] = static_cast<Real>(-1.2 * uniform(random));
    stage[1] = static_cast<Real>(0.1 + 0.8 * uniform(random));
    stage[2] = static_cast<Real>(0.1 + 0.4 * uniform(random));
}

}  // namespace hone::inline v0_1::dg
