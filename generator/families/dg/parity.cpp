#include "generator/families/dg/parity.hpp"

#include <cmath>

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

}  // namespace

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
