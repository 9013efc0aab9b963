#include "solvers/mesh/renumber.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace hone::inline v0_1::solvers {
namespace {

// Breadth first over the faces.
class Walk {
  public:
    Walk(const Mesh& mesh, const std::vector<Neighbour>& neighbours)
        : faces_(mesh.corners()), neighbours_(neighbours), level_(static_cast<std::size_t>(mesh.size())) {}

    // All elements that can be reached from `start`, nearest first, those of a level in the order
    // of their forerunners and then of their number of neighbours. `mark` tells this walk from
    // others.
    std::vector<int> from(int start, int mark) {
        std::vector<int> reached{start};
        level_[static_cast<std::size_t>(start)] = mark;
        for (std::size_t next = 0; next < reached.size(); ++next) {
            const std::size_t begin = reached.size();
            for (int f = 0; f < faces_; ++f) {
                const Neighbour& n = at(reached[next], f);
                if (!n.exists() || level_[static_cast<std::size_t>(n.element)] == mark) continue;
                level_[static_cast<std::size_t>(n.element)] = mark;
                reached.push_back(n.element);
            }
            std::sort(reached.begin() + static_cast<std::ptrdiff_t>(begin), reached.end(),
                      [&](int a, int b) { return degree(a) != degree(b) ? degree(a) < degree(b) : a < b; });
        }
        return reached;
    }

    bool seen(int element, int mark) const { return level_[static_cast<std::size_t>(element)] == mark; }

  private:
    const Neighbour& at(int element, int face) const {
        return neighbours_[static_cast<std::size_t>(element) * static_cast<std::size_t>(faces_) + static_cast<std::size_t>(face)];
    }
    int degree(int element) const {
        int count = 0;
        for (int f = 0; f < faces_; ++f) count += at(element, f).exists() ? 1 : 0;
        return count;
    }

    int faces_;
    const std::vector<Neighbour>& neighbours_;
    std::vector<int> level_;
};

}  // namespace

std::vector<int> cuthill_mckee(const Mesh& mesh, const std::vector<Neighbour>& neighbours) {
    constexpr int search = 1;
    constexpr int again = 2;
    constexpr int done = 3;
    Walk walk(mesh, neighbours);
    std::vector<int> order;
    for (int k = 0; k < mesh.size(); ++k) {
        if (walk.seen(k, done)) continue;
        // The last of a walk is far away from its start, the last of a walk from there at the other
        // end of the mesh.
        const int far = walk.from(k, search).back();
        const int end = walk.from(far, again).back();
        const std::vector<int> part = walk.from(end, done);
        order.insert(order.end(), part.begin(), part.end());
    }
    std::reverse(order.begin(), order.end());
    return order;
}

Mesh reordered(const Mesh& mesh, const std::vector<int>& order) {
    Mesh result = mesh;
    result.vertices.clear();
    result.elements.resize(order.size());
    result.material.resize(order.size());
    result.numbers.resize(order.size());
    if (!mesh.places.empty()) result.places.resize(order.size());
    std::vector<int> renamed(mesh.vertices.size(), Mesh::none);
    const auto rename = [&](int& vertex) {
        if (vertex == Mesh::none) return;
        int& name = renamed[static_cast<std::size_t>(vertex)];
        if (name == Mesh::none) {
            name = static_cast<int>(result.vertices.size());
            result.vertices.push_back(mesh.vertices[static_cast<std::size_t>(vertex)]);
        }
        vertex = name;
    };
    for (std::size_t k = 0; k < order.size(); ++k) {
        const auto old = static_cast<std::size_t>(order[k]);
        result.elements[k] = mesh.elements[old];
        result.material[k] = mesh.material[old];
        result.numbers[k] = mesh.numbers[old];
        if (!mesh.places.empty()) result.places[k] = mesh.places[old];
        for (int& vertex : result.elements[k]) rename(vertex);
    }
    for (auto& face : result.boundary)
        for (int& vertex : face.vertices)
            if (vertex != Mesh::none) vertex = renamed[static_cast<std::size_t>(vertex)];
    const auto corners = static_cast<std::ptrdiff_t>(mesh.dimension);
    std::erase_if(result.boundary, [&](const Mesh::BoundaryFace& face) {
        return std::find(face.vertices.begin(), face.vertices.begin() + corners, Mesh::none) != face.vertices.begin() + corners;
    });
    for (auto& link : result.links) {
        for (auto& [from, to] : link) from = renamed[static_cast<std::size_t>(from)], to = renamed[static_cast<std::size_t>(to)];
        link.erase(std::remove_if(link.begin(), link.end(), [](const auto& pair) { return pair.first == Mesh::none || pair.second == Mesh::none; }),
                   link.end());
    }
    return result;
}

double mean_distance(const Mesh& mesh, const std::vector<Neighbour>& neighbours) {
    double sum = 0;
    double count = 0;
    for (std::size_t side = 0; side < neighbours.size(); ++side) {
        if (!neighbours[side].exists()) continue;
        const auto element = static_cast<int>(side / static_cast<std::size_t>(mesh.corners()));
        sum += std::abs(neighbours[side].element - element);
        count += 1;
    }
    return count > 0 ? sum / count : 0;
}

}  // namespace hone::inline v0_1::solvers
