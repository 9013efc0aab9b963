#include "generator/families/dg/random_mesh.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "generator/families/dg/data.hpp"

namespace hone::inline v0_1::dg {
namespace {

// Where the neighbour behind a face lies, and how: the same for all elements of a data set.
struct Meeting {
    std::int64_t distance = 0;  // in elements
    int boundary = 0;           // 0: none
    int face = 0;
    int orientation = 0;
};

// Element k of a box is cut number k mod 6 of its cube (k mod 2 of its square). Two faces lead to
// elements of the same cube, the others out of it, along an axis (Kuhn's cut: along the first and
// against the last of the tetrahedron's three directions).
std::int64_t distance_behind(const Shape& shape, std::int64_t k, int face, std::mt19937_64& random) {
    const std::int64_t cuts = shape.dimension == 3 ? 6 : 2;
    const double cubes = std::ceil(static_cast<double>(shape.elements) / static_cast<double>(cuts));
    const auto side = static_cast<std::int64_t>(std::ceil(std::pow(cubes, 1.0 / shape.dimension)));
    const std::int64_t within = (k + 1 + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(cuts - 1))) % cuts - k % cuts;
    if (shape.dimension == 3 ? face == 1 || face == 2 : face == 1) return within;
    std::int64_t stride = cuts;
    for (auto axis = random() % static_cast<std::uint64_t>(shape.dimension); axis > 0; --axis) stride *= side;
    return (face == 0 ? stride : -stride) + within;
}

Meeting random_meeting(const Shape& shape, std::int64_t k, int face, std::mt19937_64& random) {
    constexpr std::uint64_t one_in = 16;
    Meeting meeting;
    meeting.distance = distance_behind(shape, k, face, random);
    const auto draw = random() % (2 * one_in);
    meeting.boundary = draw == 0 ? reflecting_wall : draw == 1 ? absorbing : 0;
    meeting.face = static_cast<int>(random() % static_cast<std::uint64_t>(shape.faces));
    meeting.orientation = static_cast<int>(random() % static_cast<std::uint64_t>(orientations(shape)));
    return meeting;
}

}  // namespace

int orientations(const Shape& shape) {
    return shape.dimension == 2 ? 2 : 6;
}

std::vector<int> oriented_face(const Shape& shape, int orientation) {
    std::vector<int> result;
    result.reserve(static_cast<std::size_t>(shape.face_nodes));
    const int order = shape.order;
    if (shape.dimension == 2) {
        for (int i = 0; i <= order; ++i) result.push_back(orientation == 0 ? i : order - i);
        return result;
    }
    std::array<std::size_t, 3> corner{0, 1, 2};
    for (int i = 0; i < orientation; ++i) std::next_permutation(corner.begin(), corner.end());
    for (int j = 0; j <= order; ++j)
        for (int i = 0; i <= order - j; ++i) {
            const std::array<int, 3> place{i, j, order - i - j};
            const int across = place[corner[0]];
            const int row = place[corner[1]];
            // Rows 0 to row - 1 have order + 1, order, ... nodes.
            result.push_back(row * (order + 1) - row * (row - 1) / 2 + across);
        }
    return result;
}

void fill_neighbours(const Shape& shape, std::int64_t period, std::mt19937_64& random, HostArray& array) {
    std::vector<Meeting> meetings;
    for (std::int64_t k = 0; k < period; ++k)
        for (int face = 0; face < shape.faces; ++face) meetings.push_back(random_meeting(shape, k, face, random));
    std::vector<std::vector<int>> order;
    order.reserve(static_cast<std::size_t>(orientations(shape)));
    for (int orientation = 0; orientation < orientations(shape); ++orientation) order.push_back(oriented_face(shape, orientation));
    std::memset(array.data(), 0, static_cast<std::size_t>(array.bytes()));
    int* const neighbour = static_cast<int*>(array.data());
    const ReferenceElement& element = shape.reference();
#pragma omp parallel for schedule(static)
    for (std::int64_t k = 0; k < shape.elements; ++k)
        for (int face = 0; face < shape.faces; ++face) {
            const Meeting& meeting = meetings[static_cast<std::size_t>(k % period * shape.faces + face)];
            std::int64_t other = k + meeting.distance;
            if (other >= shape.elements) other -= (other - shape.elements + period) / period * period;
            if (other < 0) other += (period - 1 - other) / period * period;
            const std::vector<int>& mask = element.face_mask[static_cast<std::size_t>(meeting.face)];
            const std::vector<int>& met = order[static_cast<std::size_t>(meeting.orientation)];
            for (int j = 0; j < shape.face_nodes; ++j) {
                const std::int64_t node = other * shape.nodes + mask[static_cast<std::size_t>(met[static_cast<std::size_t>(j)])];
                neighbour[k * shape.face_points() + face * shape.face_nodes + j] = meeting.boundary != 0 ? meeting.boundary : static_cast<int>(node);
            }
        }
}

template <typename Real>
void fill_faces(const Shape& shape, std::int64_t period, std::mt19937_64& random, Real* faces) {
    std::normal_distribution<double> normal;
    std::uniform_real_distribution<double> scale(0.5, 2);
    for (std::int64_t i = 0; i < period * shape.faces; ++i, faces += shape.face_words()) {
        std::array<double, 3> n{normal(random), normal(random), shape.dimension == 2 ? 0 : normal(random)};
        const double norm = std::sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
        for (int x = 0; x < shape.dimension; ++x) faces[x] = static_cast<Real>(n[static_cast<std::size_t>(x)] / norm);
        faces[shape.dimension] = static_cast<Real>(scale(random));
    }
}

template <typename Real>
void fill_materials(const Shape& shape, std::int64_t period, std::mt19937_64& random, Real* materials) {
    std::uniform_real_distribution<double> power(-1, 1);
    for (std::int64_t k = 0; k < period; ++k, materials += 3) {
        const double a = std::exp2(power(random));
        const double b = std::exp2(power(random));
        // 1/mu, 1/eps and sqrt(mu/eps); rho c^2, 1/rho and rho c.
        materials[0] = static_cast<Real>(shape.what->maxwell ? 1 / a : a * b * b);
        materials[1] = static_cast<Real>(shape.what->maxwell ? 1 / b : 1 / a);
        materials[2] = static_cast<Real>(shape.what->maxwell ? std::sqrt(a / b) : a * b);
    }
}

template <typename Real>
void fill_surface(const Shape& shape, std::int64_t period, std::mt19937_64& random, std::span<HostArray> arrays) {
    fill_faces(shape, period, random, arrays[0].values<Real>().data());
    repeat(arrays[0], static_cast<std::int64_t>(shape.faces) * shape.face_words(), period);
    fill_neighbours(shape, period, random, arrays[1]);
    if (!shape.materials) return;
    fill_materials(shape, period, random, arrays[2].values<Real>().data());
    repeat(arrays[2], 3, period);
}

template void fill_surface<float>(const Shape&, std::int64_t, std::mt19937_64&, std::span<HostArray>);
template void fill_surface<double>(const Shape&, std::int64_t, std::mt19937_64&, std::span<HostArray>);
template void fill_faces(const Shape&, std::int64_t, std::mt19937_64&, float*);
template void fill_faces(const Shape&, std::int64_t, std::mt19937_64&, double*);
template void fill_materials(const Shape&, std::int64_t, std::mt19937_64&, float*);
template void fill_materials(const Shape&, std::int64_t, std::mt19937_64&, double*);

}  // namespace hone::inline v0_1::dg
