#pragma once

#include <vector>

#include "solvers/mesh/connectivity.hpp"

namespace hone::inline v0_1::solvers {

/// An order of the elements in which neighbours lie near each other, so that what a kernel gathers
/// from them is still in the caches: reverse Cuthill-McKee over the faces (E. Cuthill, J. McKee,
/// Proc. 24th ACM National Conference, 1969; A. George, 1971). order[new] = old.
std::vector<int> cuthill_mckee(const Mesh& mesh, const std::vector<Neighbour>& neighbours);

/// The mesh with its elements in another order, or some of them, and its vertices in the order in
/// which the elements first name them. What names a vertex that none of these elements has is left
/// out of vertices, boundary and links. Each element at most once.
Mesh reordered(const Mesh& mesh, const std::vector<int>& order);

/// How far apart neighbours are numbered, on average.
double mean_distance(const Mesh& mesh, const std::vector<Neighbour>& neighbours);

}  // namespace hone::inline v0_1::solvers
