#pragma once

#include <vector>

#include "solvers/mesh/mesh.hpp"

namespace hone::inline v0_1::solvers {

/// The metric of straight-sided elements, constant on each (Hesthaven & Warburton, Nodal
/// Discontinuous Galerkin Methods, Springer 2008, 6.3 and 10.4).
struct Geometry {
    std::vector<double> jacobian;   ///< [element]: det d(x,y,z)/d(r,s,t)
    std::vector<double> gradients;  ///< [element][9]: rx, ry, rz, sx, ..., tz; in two dimensions with zeros, and tz = 1
    std::vector<double> normals;    ///< [element][face][3]: outward, of length 1
    std::vector<double> scale;      ///< [element][face]: Fscale, the face's Jacobian over the element's
};

/// Requires elements as `check_elements` wants them.
Geometry geometry_of(const Mesh& mesh);

/// The largest Fscale: two thirds of one over the smallest height of a tetrahedron, and so on.
double largest_scale(const Geometry& geometry);

/// Coordinates of reference points (r, s, t) in an element, in the order given.
std::vector<Point> placed(const Mesh& mesh, int element, const std::vector<Point>& points);

}  // namespace hone::inline v0_1::solvers
