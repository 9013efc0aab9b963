#pragma once

#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include "generator/families/dg/shape.hpp"
#include "generator/workload.hpp"

namespace hone::inline v0_1::dg {

/// Nodes of a face in the order in which a neighbour meets them: one of the six orientations of a
/// triangle, or two of an edge. `orientation` counts from 0, which is the face's own order.
std::vector<int> oriented_face(const Shape& shape, int orientation);
int orientations(const Shape& shape);

/// Fills vmapP (held in `array`): every face meets a random face of a neighbour in a random
/// orientation, a few meet a wall or an absorbing boundary. Neighbours lie as far apart as in a box
/// of cubes cut into tetrahedra (or of squares cut into triangles), so that a kernel's gather finds
/// what it finds in a mesh. Which neighbour element k has depends on k mod `period` alone, but for
/// multiples of `period`.
void fill_neighbours(const Shape& shape, std::int64_t period, std::mt19937_64& random, HostArray& array);

/// Fills `faces`, `vmapP` and, where elements have them, `materials`: the arrays of face_arrays(),
/// in that order at the start of `arrays`. Elements k and k + period hold the same.
template <typename Real>
void fill_surface(const Shape& shape, std::int64_t period, std::mt19937_64& random, std::span<HostArray> arrays);

/// Random unit normals with Fscale of the first `period` elements into `faces`.
template <typename Real>
void fill_faces(const Shape& shape, std::int64_t period, std::mt19937_64& random, Real* faces);

/// Random materials of the first `period` elements: each quantity from 1/2 to 2.
template <typename Real>
void fill_materials(const Shape& shape, std::int64_t period, std::mt19937_64& random, Real* materials);

}  // namespace hone::inline v0_1::dg
