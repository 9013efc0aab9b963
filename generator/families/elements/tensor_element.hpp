#pragma once

#include <vector>

#include "generator/families/elements/reference_element.hpp"

namespace hone::inline v0_1 {

/// One direction of the Qk-Qk-1 spaces of high-order Lagrangian hydrodynamics on the reference zone
/// [0, 1]^d: what tensor products of it need.
///
/// Source: V. Dobrev, T. Kolev, R. Rieben, High-order curvilinear finite element methods for
/// Lagrangian hydrodynamics, SIAM J. Sci. Comput. 34 (2012). Positions and velocities are
/// polynomials of degree k in every direction, given by their values at Gauss-Lobatto nodes;
/// specific internal energies are of degree k - 1, given by Bernstein coefficients; integrals take
/// 2k Gauss-Legendre points.
///
///     const TensorElement& element = tensor_element(2);
///     double slope = 0;  // at point q, of a function with the nodal values f
///     for (int i = 0; i < element.order + 1; ++i) slope += element.slope(q, i) * f[i];
struct TensorElement {
    int order = 0;                ///< k
    std::vector<double> nodes;    ///< k + 1, ascending in [0, 1]
    std::vector<double> points;   ///< 2k, ascending in (0, 1)
    std::vector<double> weights;  ///< of the points; their sum is 1
    Matrix basis;                 ///< (point, node): the function that is 1 at the node and 0 at the others
    Matrix slope;                 ///< (point, node): its derivative
    Matrix bernstein;             ///< (point, coefficient): k of them; each row's sum is 1
};

/// The element of `order` 1..8, computed at the first call and kept. Thread-safe. Throws Error for
/// any other order.
const TensorElement& tensor_element(int order);

/// Points, ascending in (0, 1), and weights, whose sum is 1, of Gauss and Legendre's quadrature;
/// `count` is 1 or more.
struct GaussRule {
    std::vector<double> points, weights;
};
GaussRule gauss_rule(int count);

/// Values of the k + 1 nodal functions, or of the k Bernstein functions, at any x.
std::vector<double> nodal_values(const TensorElement& element, double x);
std::vector<double> nodal_slopes(const TensorElement& element, double x);
std::vector<double> bernstein_values(const TensorElement& element, double x);

}  // namespace hone::inline v0_1
