#pragma once

#include <algorithm>
#include <cstdint>

namespace hone::benchmarks {

/// Nodes of continuous Qk elements on a box of `zones` along each axis, x fastest.
struct QkSpace {
    int dimension, order, zones;

    int nodes_along() const { return order * zones + 1; }
    /// Nodes along an axis that share a zone with node i: from first to last.
    int first(int i) const { return i % order != 0 ? i - i % order : std::max(i - order, 0); }
    int last(int i) const { return std::min((i / order + 1) * order, order * zones); }
    int together(int i) const { return last(i) - first(i) + 1; }
    std::int64_t power(std::int64_t of) const { return dimension == 2 ? of * of : of * of * of; }
    std::int64_t elements() const { return power(zones); }
    std::int64_t rows() const { return power(nodes_along()); }
    std::int64_t entries() const {
        std::int64_t along = 0;
        for (int i = 0; i < nodes_along(); ++i) along += together(i);
        return power(along);
    }
    /// Words of a row of the mass matrix.
    std::int64_t entries_of(std::int64_t row) const {
        std::int64_t result = 1;
        for (int axis = 0; axis < dimension; ++axis, row /= nodes_along()) result *= together(static_cast<int>(row % nodes_along()));
        return result;
    }
    /// Calls visit(column) for the columns of a row, in order.
    template <typename Visit>
    void for_columns(std::int64_t row, const Visit& visit) const {
        const int n = nodes_along();
        const auto x = static_cast<int>(row % n), y = static_cast<int>(row / n % n), z = static_cast<int>(row / n / n);
        for (int k = dimension == 2 ? 0 : first(z); k <= (dimension == 2 ? 0 : last(z)); ++k)
            for (int j = first(y); j <= last(y); ++j)
                for (int i = first(x); i <= last(x); ++i) visit((k * static_cast<std::int64_t>(n) + j) * n + i);
    }
};

}  // namespace hone::benchmarks
