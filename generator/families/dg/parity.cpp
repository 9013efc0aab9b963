#include "generator/families/dg/parity.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <mutex>

namespace hone::inline v0_1::dg {
namespace {

int image(const ReferenceElement& element, int node) {
    const auto& at = element.points[static_cast<std::size_t>(node)];
    int nearest = 0;
    double least = INFINITY;
    for (int n = 0; n < element.nodes(); ++n) {
        const auto& other = element.points[static_cast<std::size_t>(n)];
        const double distance = std::hypot(other[0] - at[1], other[1] - at[0], other[2] - at[2]);
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

}  // namespace hone::inline v0_1::dg
