#pragma once

#include <array>
#include <vector>

namespace hone::inline v0_1 {

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

/// A matrix of doubles, row by row.
struct Matrix {
    int rows = 0;
    int columns = 0;
    std::vector<double> values;

    explicit Matrix(int height = 0, int width = 0)
        : rows(height), columns(width), values(static_cast<std::size_t>(height) * static_cast<std::size_t>(width)) {}
    double& operator()(int row, int column) {
        return values[static_cast<std::size_t>(row) * static_cast<std::size_t>(columns) + static_cast<std::size_t>(column)];
    }
    double operator()(int row, int column) const {
        return values[static_cast<std::size_t>(row) * static_cast<std::size_t>(columns) + static_cast<std::size_t>(column)];
    }
};

enum class Simplex { triangle, tetrahedron };

/// Nodes of a triangle, and of a tetrahedron's face: (order+1)(order+2)/2.
constexpr int triangle_nodes(int order) {
    return (order + 1) * (order + 2) / 2;
}

/// Nodes of a tetrahedron: (order+1)(order+2)(order+3)/6.
constexpr int tetrahedron_nodes(int order) {
    return (order + 1) * (order + 2) * (order + 3) / 6;
}

/// Nodes and operators of nodal discontinuous Galerkin on one reference simplex.
///
/// Source: Hesthaven & Warburton, Nodal Discontinuous Galerkin Methods, Springer 2008 (warp & blend
/// nodes: 6.1 and 10.1). The reference triangle has the vertices (-1,-1), (1,-1), (-1,1), the
/// tetrahedron (-1,-1,-1), (1,-1,-1), (-1,1,-1), (-1,-1,1). Nodes are numbered with t outermost,
/// then s, r innermost. Faces of the triangle: s = -1; r + s = 0; r = -1; of the tetrahedron: t =
/// -1; s = -1; r + s + t = -1; r = -1.
///
///     const ReferenceElement& element = reference_tetrahedron(3);
///     double df_dr = 0;  // of a function with the nodal values f, at node 7
///     for (int m = 0; m < element.nodes(); ++m) df_dr += element.derivative[0](7, m) * f[m];
struct ReferenceElement {
    Simplex simplex = Simplex::tetrahedron;
    int order = 0;
    std::vector<std::array<double, 3>> vertices;  ///< (r, s, t) of each; t is 0 on the triangle
    std::vector<std::array<double, 3>> points;    ///< of each node, likewise
    std::vector<SquareMatrix> derivative;         ///< Dr, Ds and on the tetrahedron Dt: exact for polynomials up to `order`
    std::vector<SquareMatrix> transposed;         ///< their transposes: the columns of an operator, each in one piece
    SquareMatrix vandermonde;                     ///< V[node][mode], orthonormal modes
    SquareMatrix mass;                            ///< (V V^T)^-1: a mass b is the integral of a b over the reference element
    Matrix lift;                              ///< V V^T E, nodes x (faces * face nodes): the inverse mass matrix times the integrals over the faces
    std::vector<std::vector<int>> face_mask;  ///< [face]: its nodes, ascending
    std::vector<std::vector<int>> face_vertices;  ///< [face]: its vertices, ascending

    int dimension() const { return simplex == Simplex::triangle ? 2 : 3; }
    int nodes() const { return static_cast<int>(points.size()); }
    int faces() const { return dimension() + 1; }
    int face_nodes() const { return simplex == Simplex::triangle ? order + 1 : triangle_nodes(order); }
};

/// The elements of `order` 1..10, computed at the first call (a fraction of a second at order 10)
/// and kept. Thread-safe. Throws Error for any other order.
const ReferenceElement& reference_triangle(int order);
const ReferenceElement& reference_tetrahedron(int order);
const ReferenceElement& reference_element(Simplex simplex, int order);

/// Values at a point of the functions that are 1 at one node and 0 at the others: nodal values
/// times these, summed, is the function there.
std::vector<double> basis_at(const ReferenceElement& element, const std::array<double, 3>& point);

}  // namespace hone::inline v0_1
