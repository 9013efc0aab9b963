#pragma once

#include <array>
#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "generator/families/fe_mass/shape.hpp"

namespace hone::test {

/// A box of elements with edges 1, x fastest, whose inner corners are moved; density 3.
struct BoxMesh {
    BoxMesh(int of_dimension, int of_order, std::array<int, 3> of_sides, std::uint64_t seed, double moved = 0.15)
        : dimension(of_dimension), order(of_order), sides(of_sides) {
        if (dimension == 2) sides[2] = 1;
        elements = std::int64_t{sides[0]} * sides[1] * sides[2];
        nodes = 1;
        for (int axis = 0; axis < dimension; ++axis) nodes *= sides.at(static_cast<std::size_t>(axis)) * order + 1;
        std::mt19937_64 random(seed);
        std::vector<std::array<double, 3>> places(static_cast<std::size_t>((sides[0] + 1) * (sides[1] + 1) * (sides[2] + 1)));
        for (std::size_t i = 0; i < places.size(); ++i) {
            const std::array<int, 3> at = position(static_cast<int>(i), {sides[0] + 1, sides[1] + 1, sides[2] + 1});
            for (std::size_t axis = 0; axis < 3; ++axis) {
                const bool inner = at[axis] > 0 && at[axis] < sides[axis];
                places[i][axis] = at[axis] + (inner ? std::uniform_real_distribution(-moved, moved)(random) : 0);
            }
        }
        for (int element = 0; element < elements; ++element) {
            const std::array<int, 3> of_element = position(element, sides);
            std::array<int, 3> at = of_element;
            for (int c = 0; c < dimension; ++c)
                for (int corner = 0; corner < 1 << dimension; ++corner) {
                    for (int axis = 0; axis < dimension; ++axis)
                        at.at(static_cast<std::size_t>(axis)) = of_element.at(static_cast<std::size_t>(axis)) + (corner >> axis & 1);
                    vertices.push_back(places.at(static_cast<std::size_t>(at[0] + (sides[0] + 1) * (at[1] + (sides[1] + 1) * at[2])))
                                           .at(static_cast<std::size_t>(c)));
                }
            for (int node = 0, n = order + 1; node < (dimension == 2 ? n * n : n * n * n); ++node) {
                const std::array<int, 3> local = position(node, {n, n, n});
                int number = 0;
                for (int axis = dimension - 1; axis >= 0; --axis) {
                    const auto a = static_cast<std::size_t>(axis);
                    number = number * (sides.at(a) * order + 1) + of_element.at(a) * order + local.at(a);
                }
                element_nodes.push_back(number);
            }
        }
    }

    static std::array<int, 3> position(int number, const std::array<int, 3>& widths) {
        return {number % widths[0], number / widths[0] % widths[1], number / widths[0] / widths[1]};
    }

    int dimension, order;
    std::array<int, 3> sides;
    std::int64_t elements = 0, nodes = 0;
    std::vector<double> vertices;             ///< [element][d][2^d]
    std::vector<std::int32_t> element_nodes;  ///< [element][(order + 1)^d]
};

/// The arrays of an fe_mass problem with data=vertices, precision=f64 and one component on this
/// mesh, before a step.
inline std::vector<HostArray> mass_arrays(const Problem& problem, const BoxMesh& mesh, const std::vector<double>& x) {
    std::vector<HostArray> result;
    for (const ArraySpec& spec : fe::arrays(problem)) result.emplace_back(Precision::f64, spec.words);
    const fe::NodeCorners corners = fe::node_corners(mesh.element_nodes, mesh.nodes);
    const std::vector<double> density(static_cast<std::size_t>(mesh.elements), 3.0);
    const auto put = [&](std::size_t number, const auto& numbers) {
        result.at(number).poison();
        std::memcpy(result.at(number).data(), numbers.data(), numbers.size() * sizeof(numbers[0]));
    };
    put(0, mesh.vertices), put(1, density), put(2, mesh.element_nodes), put(3, corners.starts), put(4, corners.places), put(5, x);
    result[6].poison();
    return result;
}

/// M x by the reference.
inline std::vector<double> mass_product(const Problem& problem, const BoxMesh& mesh, const std::vector<double>& x) {
    std::vector<HostArray> arrays = mass_arrays(problem, mesh, x);
    std::vector<void*> pointers;
    for (HostArray& array : arrays) pointers.push_back(array.data());
    fe::reference(problem, pointers, 0, mesh.elements);
    const auto y = arrays[6].values<double>();
    return {y.begin(), y.end()};
}

}  // namespace hone::test
