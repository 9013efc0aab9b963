#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "generator/family.hpp"

namespace hone::inline v0_1 {

namespace fe {

/// For each node the places among the elements' nodes that are it: what the kernels add up its sums
/// from. Places ascend.
struct NodeCorners {
    std::vector<std::int32_t> starts;  ///< [nodes + 1]
    std::vector<std::int32_t> places;  ///< [elements][nodes of an element], sorted by node
};
/// Throws Error for a number that is no node.
NodeCorners node_corners(std::span<const std::int32_t> element_nodes, std::int64_t nodes);

}  // namespace fe

/// Product with the mass matrix of continuous finite elements Qk on quadrilaterals and hexahedra,
/// y_c = M x_c, without the matrix, alone or with the dot products x_c . y_c that conjugate
/// gradients need:
///
///     M = sum over elements e of  G_e^T B^T D_e B G_e
///
/// with G_e the nodes of e, B the tensor product of the nodal functions (Gauss-Lobatto nodes) at
/// Gauss points, and D_e the weights of the points: density times |J| times the quadrature's
/// weight.
///
///     fe_mass kernel=apply_dot dimension=3 order=2 points=4 components=3 precision=f64 elements=32768 nodes=274625
///
/// Arrays of the application; x counts fastest among the nodes (order + 1)^d and the points of an
/// element:
///  - data=stored: `weights` [elements][points^d], D_e.
///  - data=vertices: `vertices` [elements][d][2^d], where the corners of straight-edged elements lie, and `density` [elements]; D_e is computed at
///    each product.
///  - `element_nodes` [elements][(order + 1)^d], 32-bit integers from 0; `corner_starts` [nodes + 1] and `corners` [elements (order + 1)^d], 32-bit
///    integers: node_corners of them. Arrays of integers are rounded up to whole words of the problem's precision.
///  - `x`, read, and `y`, written: [components][nodes]. Nodes without an element have y = 0.
///  - `dot` [components], with kernel=apply_dot: x_c . y_c / nodes. The division keeps it of the order of the words (as in csr_spmv).
///  - `chunk_sums` [components][chunks], with kernel=apply_sums: x_c . y_c of 32 nodes each, for devices that share a matrix: what dot is summed up
///    from.
///
/// A step over elements [first, last) gives y and dot of the matrix that these alone make: such
/// steps over parts add up to the whole.
///
/// The first launch of a step leaves what elements have for their nodes in the table
/// `element_sums`. A CUDA text that goes on behind the kernel's own finds them there by
/// `in_sums(element, node, component, elements)`, as solvers/hydro/fused_mass_kernels does.
///
/// The order of all sums is fixed: along each axis from the lowest number on, elements of a node in
/// order, and dot products as in csr_spmv. No configuration changes a digit.
///
/// Source: P. Fischer and others, Scalability of High-Performance PDE Solvers (CEED's bake-off
/// problems BP1 and BP2), Int. J. High Perform. Comput. Appl. 34 (2020); S. Orszag, Spectral
/// Methods for Problems in Complex Geometries, J. Comput. Phys. 37 (1980), for sums axis by axis.
Family fe_mass();

}  // namespace hone::inline v0_1
