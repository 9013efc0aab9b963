#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace hone::inline v0_1::solvers {

using Point = std::array<double, 3>;

/// What happens at a face without a neighbour.
enum class Boundary : std::uint8_t {
    reflecting,  ///< perfect conductor of electromagnetic waves, rigid wall of sound
    absorbing,   ///< waves leave: the incoming characteristic is zero
    periodic     ///< another face of the boundary is the neighbour; see Mesh::links
};

/// "reflecting", "absorbing" or "periodic"; throws Error for anything else, saying `where` it was
/// given.
Boundary parse_boundary(const std::string& word, const std::string& where = "boundary");

/// Straight-sided triangles or tetrahedra that meet in whole faces.
///
/// A tetrahedron has its vertices where the reference element has (-1,-1,-1), (1,-1,-1), (-1,1,-1),
/// (-1,-1,1), a triangle likewise in two dimensions (Hesthaven & Warburton, Nodal Discontinuous
/// Galerkin Methods, Springer 2008, chapters 6 and 10), and its Jacobian is positive.
struct Mesh {
    /// A face (edge of a triangle) of the boundary by its vertices, in any order; on triangles the
    /// third is `none`.
    struct BoundaryFace {
        std::array<int, 3> vertices;
        Boundary kind = Boundary::reflecting;
        std::int64_t place = 0;  ///< where it stands in the file, see `places`
    };
    /// A translation that makes one part of the boundary the other: pairs of vertices, one from
    /// either part.
    using Link = std::vector<std::pair<int, int>>;

    static constexpr int none = -1;

    int dimension = 3;  ///< 2: triangles in the plane z = 0; 3: tetrahedra
    std::vector<Point> vertices;
    std::vector<std::array<int, 4>> elements;  ///< vertices of each; on triangles the fourth is `none`
    std::vector<int> material;                 ///< of each element: an index of `materials`
    std::vector<std::string> materials;        ///< names
    std::vector<std::int64_t> numbers;         ///< what each element is called in messages: its number in the file
    std::vector<std::int64_t> places;          ///< where each stands in the file; empty for meshes that come from none
    std::string place_unit;                    ///< "line" or "byte": what places count
    std::vector<BoundaryFace> boundary;        ///< all of it
    std::vector<Link> links;                   ///< between the periodic parts of the boundary

    int size() const { return static_cast<int>(elements.size()); }
    int corners() const { return dimension + 1; }  ///< vertices, and faces, of an element
};

/// Vertices of an element's faces, by their places in the element, in the order in which the
/// reference element's face nodes run (the first vertex to the second fastest): tetrahedra t = -1,
/// s = -1, r + s + t = -1, r = -1; triangles s = -1, r + s = 0, r = -1.
constexpr std::array<std::array<int, 3>, 4> tetrahedron_faces{{{0, 1, 2}, {0, 1, 3}, {1, 2, 3}, {0, 2, 3}}};
constexpr std::array<std::array<int, 3>, 4> triangle_faces{{{0, 1, Mesh::none}, {1, 2, Mesh::none}, {0, 2, Mesh::none}, {}}};

/// The vertices of face `face` of element `element`, in that order.
std::array<int, 3> face_vertices(const Mesh& mesh, int element, int face);

/// Twice the area, or six times the volume, of an element; negative when its vertices run the wrong
/// way.
double signed_measure(const Mesh& mesh, int element);

/// "element 17 (line 203)", for messages.
std::string element_name(const Mesh& mesh, int element);

/// Throws Error, naming the element, unless every element has vertices that exist, no two of them
/// the same, and is neither flat nor inverted. An element is flat when its measure is below 1e-10
/// of what its longest edge would allow. `where` says where the mesh comes from.
void check_elements(const Mesh& mesh, const std::string& where);

/// SHA-256 over coordinates, elements, materials and boundary: tells whether two meshes are the
/// same.
std::string fingerprint(const Mesh& mesh);

}  // namespace hone::inline v0_1::solvers
