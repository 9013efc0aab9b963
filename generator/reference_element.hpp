#pragma once

#include <array>
#include <vector>

namespace hone {

/// A square matrix of doubles, row by row.
struct SquareMatrix {
    int size = 0;
    std::vector<double> values;

    explicit SquareMatrix(int rows = 0) : size(rows), values(static_cast<std::size_t>(rows) * static_cast<std::size_t>(rows)) {}
    double& operator()(int row, int column) {
        return values[static_cast<std::size_t>(row) * static_cast<std::size_t>(size) + static_cast<std::size_t>(column)];
    }
    double operator()(int row, int column) const {
        return values[static_cast<std::size_t>(row) * static_cast<std::size_t>(size) + static_cast<std::size_t>(column)];
    }
};

/// Nodes and differentiation matrices of nodal discontinuous Galerkin on one reference simplex.
///
/// Source: Hesthaven & Warburton, Nodal Discontinuous Galerkin Methods, Springer 2008 (warp & blend nodes: 6.1 and 10.1). The reference
/// tetrahedron has the vertices (-1,-1,-1), (1,-1,-1), (-1,1,-1), (-1,-1,1). Nodes are numbered with t outermost, then s, r innermost.
///
///     const ReferenceElement& element = reference_tetrahedron(3);
///     double df_dr = 0;  // of a function with the nodal values f, at node 7
///     for (int m = 0; m < element.nodes(); ++m) df_dr += element.derivative[0](7, m) * f[m];
struct ReferenceElement {
    int order = 0;
    std::vector<std::array<double, 3>> points;  ///< (r, s, t) of each node
    std::vector<SquareMatrix> derivative;       ///< Dr, Ds, Dt: exact for polynomials up to `order`
    std::vector<SquareMatrix> transposed;       ///< their transposes: the columns of an operator, each in one piece
    SquareMatrix vandermonde;                   ///< [node][mode], orthonormal modes

    int nodes() const { return static_cast<int>(points.size()); }
};

/// Nodes of a tetrahedron: (order+1)(order+2)(order+3)/6.
constexpr int tetrahedron_nodes(int order) {
    return (order + 1) * (order + 2) * (order + 3) / 6;
}

/// The tetrahedron of `order` 1..10, computed at the first call (a fraction of a second at order 10) and kept. Thread-safe.
/// Throws Error for any other order.
const ReferenceElement& reference_tetrahedron(int order);

/// Legendre-Gauss-Lobatto points of the interval [-1, 1], ascending: order + 1 of them, order at least 1.
std::vector<double> lobatto_points(int order);

}  // namespace hone
