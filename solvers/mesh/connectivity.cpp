#include "solvers/mesh/connectivity.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "foundation/error.hpp"
#include "generator/families/elements/reference_element.hpp"

namespace hone::inline v0_1::solvers {
namespace {

using Vertices = std::array<int, 3>;

Vertices sorted(Vertices vertices) {
    std::sort(vertices.begin(), vertices.end());
    return vertices;
}

// A face of an element, by its vertices in ascending order.
struct Side {
    Vertices key;
    int element;
    int face;
};

bool before(const Side& a, const Side& b) {
    return a.key != b.key ? a.key < b.key : a.element != b.element ? a.element < b.element : a.face < b.face;
}

class Matcher {
  public:
    Matcher(const Mesh& mesh, const std::string& where) : mesh_(mesh), where_(where), neighbours_(faces()) {
        for (int k = 0; k < mesh.size(); ++k)
            for (int f = 0; f < mesh.corners(); ++f) sides_.push_back({sorted(face_vertices(mesh, k, f)), k, f});
        std::sort(sides_.begin(), sides_.end(), before);
    }

    std::vector<Neighbour> match() {
        for (std::size_t i = 0; i < sides_.size();) {
            std::size_t end = i + 1;
            while (end < sides_.size() && sides_[end].key == sides_[i].key) ++end;
            if (end - i > 2) refuse(sides_[i + 2], fmt::format("is one that {} elements have", end - i), "take out elements that are there twice");
            if (end - i == 2)
                join(sides_[i], face_vertices(mesh_, sides_[i].element, sides_[i].face), sides_[i + 1]);
            else
                open_.push_back(sides_[i]);
            i = end;
        }
        close_boundary();
        for (const auto& link : mesh_.links) follow(link);
        for (std::size_t i = 0; i < open_.size(); ++i)
            if (kinds_[i] == Boundary::periodic && !neighbour(open_[i]).exists())
                refuse(open_[i], "is periodic, and nothing lies on the other side",
                       "make the mesh periodic there, so that both sides have the same faces, and save the links");
        return std::move(neighbours_);
    }

  private:
    std::size_t faces() const { return static_cast<std::size_t>(mesh_.size()) * static_cast<std::size_t>(mesh_.corners()); }

    Neighbour& neighbour(const Side& side) {
        return neighbours_[static_cast<std::size_t>(side.element) * static_cast<std::size_t>(mesh_.corners()) + static_cast<std::size_t>(side.face)];
    }

    [[noreturn]] void refuse(const Side& side, const std::string& wrong, const std::string& remedy) const {
        Point middle{};
        for (int i = 0; i < mesh_.dimension; ++i)
            for (std::size_t x = 0; x < 3; ++x)
                middle[x] +=
                    mesh_.vertices[static_cast<std::size_t>(side.key[static_cast<std::size_t>(3 - mesh_.dimension + i)])][x] / mesh_.dimension;
        throw Error(where_,
                    fmt::format("face {} of {}, around ({:.6g}, {:.6g}, {:.6g}), {}", side.face + 1, element_name(mesh_, side.element), middle[0],
                                middle[1], middle[2], wrong),
                    remedy);
    }

    // `vertices` are those of the one side as they are called on the other.
    void join(const Side& one, const Vertices& vertices, const Side& other) {
        const Vertices behind = face_vertices(mesh_, other.element, other.face);
        std::array<std::uint8_t, 3> there{0, 1, 2};
        std::array<std::uint8_t, 3> back{0, 1, 2};
        for (std::uint8_t i = 0; i < mesh_.dimension; ++i)
            for (std::uint8_t j = 0; j < mesh_.dimension; ++j)
                if (vertices[i] == behind[j]) there[i] = j, back[j] = i;
        if (folded(one.face, other.face, orientation(there)))
            refuse(one, "has its neighbour, " + element_name(mesh_, other.element) + ", on the same side", "make the mesh again, without overlaps");
        neighbour(one) = {other.element, static_cast<std::uint8_t>(other.face), orientation(there), {}};
        neighbour(other) = {one.element, static_cast<std::uint8_t>(one.face), orientation(back), {}};
    }

    // Whether two elements that share a face lie on the same side of it: seen from inside, the
    // vertices of some faces run clockwise, of others not.
    bool folded(int face, int other, std::uint8_t turned) const {
        constexpr std::array<int, 4> in_space{1, -1, -1, 1};
        constexpr std::array<int, 4> in_plane{1, 1, -1, 0};
        constexpr std::array<int, 6> sign{1, -1, -1, 1, 1, -1};
        const auto& turn = mesh_.dimension == 3 ? in_space : in_plane;
        return turn[static_cast<std::size_t>(face)] * turn[static_cast<std::size_t>(other)] * sign[turned] > 0;
    }

    static std::uint8_t orientation(const std::array<std::uint8_t, 3>& permutation) {
        return static_cast<std::uint8_t>(std::find(orientations.begin(), orientations.end(), permutation) - orientations.begin());
    }

    const Side* open_side(const Vertices& key) const {
        const auto found = std::lower_bound(open_.begin(), open_.end(), key, [](const Side& side, const Vertices& k) { return side.key < k; });
        return found != open_.end() && found->key == key ? &*found : nullptr;
    }

    // Every open face must belong to the boundary, once; and the boundary must consist of open
    // faces.
    void close_boundary() {
        kinds_.resize(open_.size());
        std::vector<bool> given(open_.size());
        for (const auto& face : mesh_.boundary) {
            const Side* const side = open_side(sorted(face.vertices));
            if (side == nullptr) refuse_boundary(face);
            const auto i = static_cast<std::size_t>(side - open_.data());
            if (given[i]) refuse(*side, "is in the boundary twice", "give each face of the boundary one group");
            given[i] = true;
            kinds_[i] = face.kind;
            neighbour(*side).kind = face.kind;
        }
        for (std::size_t i = 0; i < open_.size(); ++i)
            if (!given[i])
                refuse(open_[i], "has neither a neighbour nor a group of the boundary",
                       "give all of the boundary groups, and let elements meet in whole faces");
    }

    [[noreturn]] void refuse_boundary(const Mesh::BoundaryFace& face) const {
        const Vertices key = sorted(face.vertices);
        const auto inner = std::lower_bound(sides_.begin(), sides_.end(), key, [](const Side& side, const Vertices& k) { return side.key < k; });
        if (inner != sides_.end() && inner->key == key)
            refuse(*inner, "is in the boundary, and has a neighbour", "take inner faces out of the groups");
        const std::string place = mesh_.place_unit.empty() ? "" : fmt::format(" ({} {})", mesh_.place_unit, face.place);
        throw Error(where_, fmt::format("a face of the boundary{} is not one of any element", place),
                    "save the elements on both sides of it, or take it out of the groups");
    }

    // Pairs the faces all of whose vertices a link moves with those to which it moves them.
    void follow(const Mesh::Link& link) {
        Mesh::Link moves = link;
        std::sort(moves.begin(), moves.end());
        const auto moved = [&](int vertex) {
            const auto found = std::lower_bound(moves.begin(), moves.end(), std::pair(vertex, Mesh::none));
            return found != moves.end() && found->first == vertex ? found->second : Mesh::none;
        };
        for (std::size_t i = 0; i < open_.size(); ++i) {
            if (kinds_[i] != Boundary::periodic || neighbour(open_[i]).exists()) continue;
            Vertices vertices = face_vertices(mesh_, open_[i].element, open_[i].face);
            bool all = true;
            for (std::size_t v = 0; v < static_cast<std::size_t>(mesh_.dimension); ++v) {
                vertices[v] = moved(vertices[v]);
                all = all && vertices[v] != Mesh::none;
            }
            const Side* const other = all ? open_side(sorted(vertices)) : nullptr;
            if (other == nullptr || other == &open_[i]) continue;
            const auto j = static_cast<std::size_t>(other - open_.data());
            if (kinds_[j] == Boundary::periodic && !neighbour(*other).exists()) join(open_[i], vertices, *other);
        }
    }

    const Mesh& mesh_;
    const std::string& where_;
    std::vector<Neighbour> neighbours_;
    std::vector<Side> sides_;
    std::vector<Side> open_;       // without a neighbour in the mesh, in the order of their keys
    std::vector<Boundary> kinds_;  // of those
};

// Steps of each face node towards the face's second and third vertex, in node order.
std::vector<std::array<int, 2>> face_steps(int dimension, int order) {
    std::vector<std::array<int, 2>> steps;
    for (int outer = 0; outer <= (dimension == 3 ? order : 0); ++outer)
        for (int inner = 0; inner <= order - outer; ++inner) steps.push_back({inner, outer});
    return steps;
}

// places[orientation][i]: the node of the face behind that coincides with node i.
std::vector<std::vector<int>> coinciding_nodes(int dimension, int order) {
    const auto steps = face_steps(dimension, order);
    std::vector<std::vector<int>> places;
    for (const auto& orientation : orientations) {
        auto& row = places.emplace_back();
        for (const auto& [inner, outer] : steps) {
            const std::array<int, 3> own{order - inner - outer, inner, outer};
            std::array<int, 3> behind{};
            for (std::size_t i = 0; i < 3; ++i) behind[orientation[i]] = own[i];
            const std::array<int, 2> wanted{behind[1], behind[2]};
            row.push_back(static_cast<int>(std::find(steps.begin(), steps.end(), wanted) - steps.begin()));
        }
    }
    return places;
}

}  // namespace

std::vector<Neighbour> match_faces(const Mesh& mesh, const std::string& where) {
    return Matcher(mesh, where).match();
}

NodeMaps node_maps(const Mesh& mesh, const std::vector<Neighbour>& neighbours, int order) {
    const ReferenceElement& reference = reference_element(mesh.dimension == 3 ? Simplex::tetrahedron : Simplex::triangle, order);
    const auto& faces = reference.face_mask;
    const auto behind = coinciding_nodes(mesh.dimension, order);
    const std::int64_t nodes = reference.nodes();
    NodeMaps maps;
    maps.face_nodes = reference.face_nodes();
    for (std::size_t side = 0; side < neighbours.size(); ++side) {
        const std::size_t face = side % faces.size();
        const auto element = static_cast<std::int64_t>(side / faces.size());
        const Neighbour& neighbour = neighbours[side];
        for (std::size_t i = 0; i < faces[face].size(); ++i) {
            maps.own.push_back(element * nodes + faces[face][i]);
            maps.other.push_back(!neighbour.exists()
                                     ? maps.own.back()
                                     : neighbour.element * nodes + faces[neighbour.face][static_cast<std::size_t>(behind[neighbour.orientation][i])]);
        }
    }
    return maps;
}

}  // namespace hone::inline v0_1::solvers
