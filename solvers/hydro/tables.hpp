#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace hone::inline v0_1::solvers::hydro {

/// Points and weights of a quadrature on [0, 1], points ascending.
struct Quadrature {
    std::vector<double> points, weights;
};
/// Gauss and Legendre's: exact up to degree 2 count - 1.
Quadrature gauss_legendre(int count);

/// Functions of one variable and their derivatives at some points, [point][function].
struct Table {
    std::size_t functions = 0;
    std::vector<double> values, derivatives;

    double value(std::size_t point, std::size_t function) const { return values[point * functions + function]; }
    double derivative(std::size_t point, std::size_t function) const { return derivatives[point * functions + function]; }
};

/// Polynomials that are 1 at one of the nodes and 0 at the others.
Table lagrange_table(std::span<const double> nodes, std::span<const double> points);
/// Bernstein's polynomials of that degree on [0, 1], which sum to one.
Table bernstein_table(int degree, std::span<const double> points);

/// Gauss and Lobatto's nodes of [0, 1], symmetric to the last bit: order + 1 of them.
std::vector<double> lobatto_nodes(int order);

}  // namespace hone::inline v0_1::solvers::hydro
