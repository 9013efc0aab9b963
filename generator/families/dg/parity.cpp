#include "generator/families/dg/parity.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <mutex>
#include <utility>

namespace hone::inline v0_1::dg {
namespace {

// Reflection 0 swaps r and s; 1 the other two vertices of a tetrahedron.
int image(const ReferenceElement& element, int node, int reflection = 0) {
    auto at = element.points[static_cast<std::size_t>(node)];
    if (reflection == 0)
        std::swap(at[0], at[1]);
    else
        at[2] = -2 - at[0] - at[1] - at[2];
    int nearest = 0;
    double least = INFINITY;
    for (int n = 0; n < element.nodes(); ++n) {
        const auto& other = element.points[static_cast<std::size_t>(n)];
        const double distance = std::hypot(other[0] - at[0], other[1] - at[1], other[2] - at[2]);
        if (distance < least) {
            least = distance;
            nearest = n;
        }
    }
    return nearest;
}

// One of each simplex and order, made where it is asked for first. Never destroyed: a thread of
// online tuning may ask while the program exits.
template <typename Made>
const Made& kept(const ReferenceElement& element) {
    struct Place {
        std::once_flag once;
        std::unique_ptr<Made> made;
    };
    constexpr std::size_t orders = 11;
    static auto& places = *new std::array<std::array<Place, orders>, 2>;
    Place& place = places[element.simplex == Simplex::triangle ? 0 : 1].at(static_cast<std::size_t>(element.order));
    std::call_once(place.once, [&] { place.made = std::make_unique<Made>(element); });
    return *place.made;
}

}  // namespace

const Parity& Parity::of(const ReferenceElement& element) {
    return kept<Parity>(element);
}

const FaceParity& FaceParity::of(const ReferenceElement& element) {
    return kept<FaceParity>(element);
}

const DoubleParity& DoubleParity::of(const ReferenceElement& element) {
    return kept<DoubleParity>(element);
}

const DoubleFaceParity& DoubleFaceParity::of(const ReferenceElement& element) {
    return kept<DoubleFaceParity>(element);
}

Parity::Parity(const ReferenceElement& element) {
    std::vector<int> alone;
    for (int n = 0; n < element.nodes(); ++n) {
        const int other = image(element, n);
        if (other == n) alone.push_back(n);
        if (other <= n) continue;
        first.push_back(n);
        second.push_back(other);
    }
    first.insert(first.end(), alone.begin(), alone.end());
}

FaceParity::FaceParity(const ReferenceElement& element) {
    for (const auto& mask : element.face_mask) {
        std::vector<int> reflected;  // the nodes that its points are taken to
        reflected.reserve(mask.size());
        for (const int node : mask) reflected.push_back(image(element, node));
        std::vector<int> sorted = reflected;
        std::sort(sorted.begin(), sorted.end());
        const auto other = std::find(element.face_mask.begin(), element.face_mask.end(), sorted);
        images.push_back(static_cast<int>(other - element.face_mask.begin()));
        const auto face = static_cast<int>(first.size());
        first.emplace_back();
        second.emplace_back();
        const auto point_of = [&](int node) { return static_cast<int>(std::find(other->begin(), other->end(), node) - other->begin()); };
        if (images.back() == face) {
            std::vector<int> unmoved;
            for (int point = 0; point < static_cast<int>(mask.size()); ++point) {
                const int moved = point_of(reflected[static_cast<std::size_t>(point)]);
                if (moved == point) unmoved.push_back(point);
                if (moved <= point) continue;
                first.back().push_back(point);
                second.back().push_back(moved);
            }
            first.back().insert(first.back().end(), unmoved.begin(), unmoved.end());
            continue;
        }
        // Of two that are swapped, the first's order is its own, and the second's that of the first
        // one's images.
        for (int point = 0; point < static_cast<int>(mask.size()); ++point) {
            if (images.back() > face) {
                first.back().push_back(point);
                continue;
            }
            const int node = (*other)[static_cast<std::size_t>(point)];
            const int moved = image(element, node);
            first.back().push_back(static_cast<int>(std::find(mask.begin(), mask.end(), moved) - mask.begin()));
        }
    }
}

double Parity::derivative(const ReferenceElement& element, int along, int row, bool row_is_odd, int column, bool column_is_odd) const {
    const auto nodal = [&](int n, int m) {
        const double r = element.derivative[0](n, m), s = element.derivative[1](n, m);
        return along == 0 ? 0.5 * (r + s) : along == 1 ? 0.5 * (r - s) : element.derivative[2](n, m);
    };
    if (column >= (column_is_odd ? odd() : even())) return 0;
    const auto i = static_cast<std::size_t>(column);
    const auto of_column = [&](int n) {
        if (column >= odd()) return nodal(n, first[i]);
        return 0.5 * (nodal(n, first[i]) + (column_is_odd ? -1 : 1) * nodal(n, second[i]));
    };
    return part(of_column, row, row_is_odd);
}

DoubleParity::DoubleParity(const ReferenceElement& element) {
    std::array<std::vector<std::array<int, 4>>, 4> kept_by;  // bit b: by reflection b
    for (int n = 0; n < element.nodes(); ++n) {
        const std::array images{n, image(element, n, 0), image(element, n, 1), image(element, image(element, n, 0), 1)};
        if (n != *std::min_element(images.begin(), images.end())) continue;
        kept_by[(images[1] == n ? 1U : 0U) + (images[2] == n ? 2U : 0U)].push_back(images);
    }
    fours_ = static_cast<int>(kept_by[0].size());
    pairs_ = static_cast<int>(kept_by[1].size());
    for (const auto& some : kept_by) orbits.insert(orbits.end(), some.begin(), some.end());
}

double DoubleParity::derivative(const ReferenceElement& element, int along, int kind, int row, int column) const {
    const auto nodal = [&](int n, int m) {
        const double r = element.derivative[0](n, m), s = element.derivative[1](n, m), t = element.derivative[2](n, m);
        return along == 0 ? 0.5 * (r + s - t) : along == 1 ? 0.5 * (r - s) : t;
    };
    const int from = kind ^ along;
    if (column >= count(from)) return 0;
    const std::array<int, 4>& images = orbit(from, column);
    // A node that is its own image counted twice in the part.
    const double times = (images[1] == images[0] ? 0.5 : 1) * (images[2] == images[0] ? 0.5 : 1);
    return part([&](int n) { return times / 4 * signed_sum([&](int m) { return nodal(n, m); }, images, from); }, row, kind);
}

DoubleFaceParity::DoubleFaceParity(const ReferenceElement& element) {
    const auto point_of = [&](std::size_t face, int node) {
        const std::vector<int>& mask = element.face_mask[face];
        return static_cast<int>(std::find(mask.begin(), mask.end(), node) - mask.begin());
    };
    for (const std::size_t face : {0U, 1U}) {
        const int keeps = static_cast<int>(face), swaps = 1 - keeps;
        const std::vector<int>& mask = element.face_mask[face];
        std::vector<int> unmoved;
        for (const int node : mask) {
            const int moved = image(element, node, keeps);
            if (moved == node) unmoved.push_back(point_of(face, node));
            if (moved <= node) continue;
            first[face].push_back(point_of(face, node));
            second[face].push_back(point_of(face, moved));
        }
        first[face].insert(first[face].end(), unmoved.begin(), unmoved.end());
        for (auto* const points : {&first, &second})
            for (const int point : (*points)[face])
                (*points)[face + 2].push_back(point_of(face + 2, image(element, mask[static_cast<std::size_t>(point)], swaps)));
    }
}

}  // namespace hone::inline v0_1::dg
