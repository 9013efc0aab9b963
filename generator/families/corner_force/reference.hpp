#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "generator/families/corner_force/shape.hpp"

namespace hone::inline v0_1::corner {

/// The arrays of a problem in host memory; null where its result has none.
template <typename Real>
struct Data {
    const Real* x = nullptr;
    const Real* v = nullptr;
    const Real* e = nullptr;
    const Real* initial_inverse = nullptr;
    const Real* mass = nullptr;
    const Real* gamma = nullptr;
    const Real* settings = nullptr;
    const Real* w = nullptr;
    const Real* stress_in = nullptr;
    Real* stress = nullptr;
    Real* corner = nullptr;
    Real* force = nullptr;
    Real* work = nullptr;
    Real* dt = nullptr;

    Data(const Shape& shape, std::span<void* const> arrays);
};

/// Smallest eigenvalue of a symmetric matrix (d x d, row by row) with a unit eigenvector, by
/// Jacobi's rotations.
struct Eigenpair {
    double value = 0;
    double vector[3] = {1, 0, 0};
    double gap = 0;  ///< to the next larger eigenvalue
};
Eigenpair smallest_eigenpair(const double* matrix, int dimension);

/// Smallest singular value of a d x d matrix, row by row, by rotations of its columns until these
/// are orthogonal (Hestenes).
double smallest_singular_value(const double* matrix, int dimension);

/// Results of the plain loops for one zone, with the sums of absolute values that their rounding
/// errors are bounded by.
struct ZoneAnswer {
    std::vector<double> stress;  ///< [d][d][points]
    std::vector<double> force;   ///< [d][nodes]
    std::vector<double> work;    ///< [energies]; empty where the result has none
    std::vector<double> corner;  ///< [energies][d][nodes]; likewise
    double dt = 0;
    double sensitivity = 1;  ///< relative change of a point's stress over relative change of the numbers that it comes from, at most
    double magnitude = 0;    ///< largest sum of absolute values that an output comes from
};

/// One zone by double loops, straight from the formulas.
template <typename Real>
ZoneAnswer zone_answer(const Shape& shape, const Data<Real>& data, std::int64_t zone);

/// One step over zones [first, last).
void reference(const Problem& problem, std::span<void* const> arrays, std::int64_t first, std::int64_t last);

}  // namespace hone::inline v0_1::corner
