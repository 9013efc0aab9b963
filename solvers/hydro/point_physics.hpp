#pragma once

#include <array>
#include <cstddef>

namespace hone::inline v0_1::solvers::hydro {

template <std::size_t d>
using Matrix = std::array<std::array<double, d>, d>;  ///< [row][column]

/// Smallest eigenvalue of a symmetric matrix, and a vector of it of length 1. Jacobi's rotations:
/// Golub & Van Loan, Matrix Computations, 8.5.
template <std::size_t d>
struct Smallest {
    double value;
    std::array<double, d> vector;
};
template <std::size_t d>
Smallest<d> smallest_eigenpair(Matrix<d> matrix);

/// By rotations of the columns, which keep small ones to full relative accuracy: Golub & Van Loan,
/// 8.6.3.
template <std::size_t d>
double smallest_singular_value(Matrix<d> matrix);

/// What holds at a point of a zone.
template <std::size_t d>
struct PointState {
    Matrix<d> jacobian;        ///< d x_row / d xi_column
    Matrix<d> first_jacobian;  ///< at time 0
    Matrix<d> velocity;        ///< d v_row / d xi_column
    double energy;             ///< specific internal; negative counts as 0
    double mass;               ///< density times volume
    double weight;             ///< of the quadrature
    double gamma;
};

/// The same for all points.
struct PointRules {
    bool viscosity = true;
    double first_length = 1;  ///< of a zone at time 0, over the order
    int order = 2;
    double cfl = 0.5;
};

template <std::size_t d>
struct PointStress {
    Matrix<d> force;  ///< w |J| sigma J^-T: [component of the force][direction of the unit cube]
    double step;      ///< the longest stable time step, 0 where the zone is tangled, infinite where nothing happens
};

/// Ideal gas with the tensor viscosity of Dobrev, Kolev, Rieben, SIAM J. Sci. Comput. 34 (2012), as
/// the mini-application Laghos has it: along the direction of strongest compression, in which the
/// zone's length is measured.
template <std::size_t d>
PointStress<d> stress_at(const PointState<d>& point, const PointRules& rules);

}  // namespace hone::inline v0_1::solvers::hydro
