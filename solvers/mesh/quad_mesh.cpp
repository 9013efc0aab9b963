#include "solvers/mesh/quad_mesh.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "foundation/error.hpp"

namespace hone::inline v0_1::solvers {
namespace {

// What a lattice node on the boundary of a zone is, seen from anywhere: the corners that it hangs
// on (at most four, from 1 on), each with its bilinear weight in whole numbers.
using NodeKey = std::array<std::uint64_t, 4>;

struct NodeKeyHash {
    std::size_t operator()(const NodeKey& key) const {
        std::uint64_t hash = 0;
        for (const std::uint64_t word : key) hash = (hash ^ word) * 0x9E3779B97F4A7C15U + (hash >> 29);
        return static_cast<std::size_t>(hash);
    }
};

std::array<int, 3> place_of(int node, int order) {
    return {node % (order + 1), node / (order + 1) % (order + 1), node / (order + 1) / (order + 1)};
}

// `scale`: a side's weights lack the factor of the direction across it.
NodeKey key_of(const std::int32_t* corners, int dimension, const std::array<int, 3>& place, int order, int scale) {
    NodeKey key{};
    std::size_t used = 0;
    for (int corner = 0; corner < 1 << dimension; ++corner) {
        std::uint64_t weight = static_cast<std::uint64_t>(scale);
        for (int axis = 0; axis < dimension; ++axis) {
            const int at = place[static_cast<std::size_t>(axis)];
            weight *= static_cast<std::uint64_t>((corner >> axis & 1) != 0 ? at : order - at);
        }
        if (weight > 0 && used < key.size()) key[used++] = (static_cast<std::uint64_t>(corners[corner]) + 1) << 32 | weight;
    }
    std::sort(key.begin(), key.end());
    return key;
}

bool inside(int dimension, const std::array<int, 3>& place, int order) {
    for (int axis = 0; axis < dimension; ++axis)
        if (const int at = place[static_cast<std::size_t>(axis)]; at == 0 || at == order) return false;
    return true;
}

int power(int base, int exponent) {
    int result = 1;
    for (int i = 0; i < exponent; ++i) result *= base;
    return result;
}

// Two layers of sides across each axis.
void add_sides(QuadMesh& mesh, const QuadBox& box, const std::array<int, 3>& n, const auto& vertex) {
    for (int axis = 0; axis < box.dimension; ++axis) {
        const int u = axis == 0 ? 1 : 0;
        const int v = axis == 2 ? 1 : 2;
        const auto count = [&](int along) { return along < box.dimension ? n[static_cast<std::size_t>(along)] : 1; };
        for (int high = 0; high < 2; ++high)
            for (int j = 0; j < count(v); ++j)
                for (int i = 0; i < count(u); ++i) {
                    QuadMesh::Side side{{}, box.attributes[static_cast<std::size_t>(axis)][static_cast<std::size_t>(high)]};
                    for (int corner = 0; corner < 1 << (box.dimension - 1); ++corner) {
                        std::array<int, 3> at{};
                        at[static_cast<std::size_t>(axis)] = high * n[static_cast<std::size_t>(axis)];
                        at[static_cast<std::size_t>(u)] = i + (corner & 1);
                        if (box.dimension == 3) at[static_cast<std::size_t>(v)] = j + (corner >> 1);
                        side.vertices[static_cast<std::size_t>(corner)] = vertex(at[0], at[1], at[2]);
                    }
                    mesh.sides.push_back(side);
                }
    }
}

}  // namespace

QuadMesh quad_box(const QuadBox& box) {
    QuadMesh mesh;
    mesh.dimension = box.dimension;
    std::array<int, 3> n = box.zones;
    if (box.dimension == 2) n[2] = 0;
    const auto vertex = [&](int x, int y, int z) { return x + (n[0] + 1) * (y + (n[1] + 1) * z); };
    for (int z = 0; z <= n[2]; ++z)
        for (int y = 0; y <= n[1]; ++y)
            for (int x = 0; x <= n[0]; ++x) {
                const std::array<int, 3> at{x, y, z};
                Point point{};
                for (std::size_t axis = 0; axis < static_cast<std::size_t>(box.dimension); ++axis)
                    point[axis] = box.low[axis] + (box.high[axis] - box.low[axis]) * at[axis] / n[axis];
                mesh.vertices.push_back(point);
            }
    for (int z = 0; z < std::max(n[2], 1); ++z)
        for (int y = 0; y < n[1]; ++y)
            for (int x = 0; x < n[0]; ++x) {
                std::array<std::int32_t, 8> zone{};
                for (int corner = 0; corner < mesh.corners(); ++corner)
                    zone[static_cast<std::size_t>(corner)] = vertex(x + (corner & 1), y + (corner >> 1 & 1), z + (corner >> 2));
                mesh.zones.push_back(zone);
            }
    mesh.attributes.assign(mesh.zones.size(), 1);
    add_sides(mesh, box, n, vertex);
    return mesh;
}

QuadLattice number_lattice(const QuadMesh& mesh, int order, const char* where) {
    QuadLattice lattice;
    std::unordered_map<NodeKey, std::int32_t, NodeKeyHash> numbers;
    const int per_zone = power(order + 1, mesh.dimension);
    lattice.zone_nodes.reserve(mesh.zones.size() * static_cast<std::size_t>(per_zone));
    for (const auto& zone : mesh.zones)
        for (int node = 0; node < per_zone; ++node) {
            const auto place = place_of(node, order);
            std::int32_t number = lattice.nodes;
            if (!inside(mesh.dimension, place, order))
                number = numbers.emplace(key_of(zone.data(), mesh.dimension, place, order, 1), number).first->second;
            if (number == lattice.nodes) ++lattice.nodes;
            lattice.zone_nodes.push_back(number);
        }
    for (std::size_t side = 0; side < mesh.sides.size(); ++side)
        for (int node = 0; node < power(order + 1, mesh.dimension - 1); ++node) {
            const NodeKey key = key_of(mesh.sides[side].vertices.data(), mesh.dimension - 1, place_of(node, order), order, order);
            const auto found = numbers.find(key);
            if (found == numbers.end())
                throw Error(where, fmt::format("side {} of the boundary belongs to no zone", side),
                            "let the boundary consist of whole sides of zones");
            lattice.side_nodes.push_back(found->second);
        }
    return lattice;
}

Point place_in_zone(const QuadMesh& mesh, std::size_t zone, const std::array<double, 3>& at) {
    Point place{};
    for (int corner = 0; corner < mesh.corners(); ++corner) {
        double weight = 1;
        for (int axis = 0; axis < mesh.dimension; ++axis) {
            const double u = at[static_cast<std::size_t>(axis)];
            weight *= (corner >> axis & 1) != 0 ? u : 1 - u;
        }
        const Point& from = mesh.vertices[static_cast<std::size_t>(mesh.zones[zone][static_cast<std::size_t>(corner)])];
        for (std::size_t axis = 0; axis < 3; ++axis) place[axis] += weight * from[axis];
    }
    return place;
}

QuadMesh refined(const QuadMesh& mesh) {
    const QuadLattice lattice = number_lattice(mesh, 2);
    const int per_zone = power(3, mesh.dimension);
    QuadMesh fine;
    fine.dimension = mesh.dimension;
    fine.vertices.resize(static_cast<std::size_t>(lattice.nodes));
    const auto node_at = [](int corner, int part) {
        return (corner & 1) + (part & 1) + 3 * ((corner >> 1 & 1) + (part >> 1 & 1)) + 9 * ((corner >> 2) + (part >> 2));
    };
    for (std::size_t zone = 0; zone < mesh.zones.size(); ++zone) {
        const std::int32_t* const own = &lattice.zone_nodes[zone * static_cast<std::size_t>(per_zone)];
        for (int node = 0; node < per_zone; ++node) {
            const auto place = place_of(node, 2);
            const Point point = place_in_zone(mesh, zone, {place[0] / 2.0, place[1] / 2.0, place[2] / 2.0});
            fine.vertices[static_cast<std::size_t>(own[node])] = point;
        }
        for (int part = 0; part < mesh.corners(); ++part) {
            std::array<std::int32_t, 8> corners{};
            for (int corner = 0; corner < mesh.corners(); ++corner) corners[static_cast<std::size_t>(corner)] = own[node_at(corner, part)];
            fine.zones.push_back(corners);
            fine.attributes.push_back(mesh.attributes[zone]);
        }
    }
    const int per_side = power(3, mesh.dimension - 1);
    for (std::size_t side = 0; side < mesh.sides.size(); ++side)
        for (int part = 0; part < mesh.corners() / 2; ++part) {
            QuadMesh::Side small{{}, mesh.sides[side].attribute};
            for (int corner = 0; corner < mesh.corners() / 2; ++corner)
                small.vertices[static_cast<std::size_t>(corner)] =
                    lattice.side_nodes[side * static_cast<std::size_t>(per_side) + static_cast<std::size_t>(node_at(corner, part))];
            fine.sides.push_back(small);
        }
    return fine;
}

}  // namespace hone::inline v0_1::solvers
