#pragma once

#include <algorithm>
#include <array>
#include <numeric>
#include <random>

#include "solvers/mesh/boxes.hpp"
#include "solvers/mesh/renumber.hpp"

namespace hone::solvers {

/// The same mesh under a random affine map that keeps orientations.
inline Mesh mapped(Mesh mesh, std::mt19937_64& random) {
    std::uniform_real_distribution<> uniform(-0.3, 0.3);
    std::array<Point, 4> map{Point{1, 0, 0}, Point{0, 1, 0}, Point{0, 0, 1}, Point{}};
    for (Point& row : map)
        for (double& value : row) value += uniform(random);
    for (Point& vertex : mesh.vertices) {
        Point moved = map[3];
        for (std::size_t x = 0; x < 3; ++x)
            for (std::size_t y = 0; y < 3; ++y) moved[x] += map[x][y] * vertex[y];
        if (mesh.dimension == 2) moved[2] = 0;
        vertex = moved;
    }
    return mesh;
}

/// The same mesh with elements in a random order and the vertices of each in a random order of the
/// right orientation.
inline Mesh shuffled(Mesh mesh, std::mt19937_64& random) {
    std::vector<int> order(mesh.elements.size());
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), random);
    mesh = reordered(mesh, order);
    for (int k = 0; k < mesh.size(); ++k) {
        auto& element = mesh.elements[static_cast<std::size_t>(k)];
        std::shuffle(element.begin(), element.begin() + mesh.corners(), random);
        if (signed_measure(mesh, k) < 0) std::swap(element[0], element[1]);
    }
    return mesh;
}

/// All kinds of faces, elements in random orientations, two media.
inline Mesh everything(int dimension, std::mt19937_64& random) {
    Box box{{3, 2, 2}};
    box.boundary = {Boundary::periodic, Boundary::reflecting, Boundary::absorbing};
    if (dimension == 2) box.boundary[1] = random() % 2 == 0 ? Boundary::reflecting : Boundary::absorbing;
    Mesh mesh = dimension == 3 ? kuhn_box(box) : triangle_box(box);
    mesh.materials = {"default", "other"};
    for (int& material : mesh.material) material = static_cast<int>(random() % 2);
    return shuffled(mesh, random);
}

}  // namespace hone::solvers
