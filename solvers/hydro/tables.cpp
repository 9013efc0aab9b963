#include "solvers/hydro/tables.hpp"

#include <cmath>
#include <numbers>

#include "generator/families/elements/simplex_nodes.hpp"

namespace hone::inline v0_1::solvers::hydro {

Quadrature gauss_legendre(int count) {
    Quadrature rule{std::vector<double>(static_cast<std::size_t>(count)), std::vector<double>(static_cast<std::size_t>(count))};
    for (int i = 0; i < (count + 1) / 2; ++i) {
        double x = std::cos(std::numbers::pi * (i + 0.75) / (count + 0.5));
        double slope = 1;
        // Newton on P_count; from there a dozen steps reach rounding.
        for (int step = 0; step < 12; ++step) {
            double previous = 1;
            double current = x;
            for (int n = 1; n < count; ++n) {
                const double next = ((2 * n + 1) * x * current - n * previous) / (n + 1);
                previous = current;
                current = next;
            }
            slope = count * (x * current - previous) / (x * x - 1);
            x -= current / slope;
        }
        if (2 * i + 1 == count) x = 0;
        const auto low = static_cast<std::size_t>(i);
        const auto high = static_cast<std::size_t>(count - 1 - i);
        rule.points[low] = (1 - x) / 2;
        rule.points[high] = (1 + x) / 2;
        rule.weights[low] = rule.weights[high] = 1 / ((1 - x * x) * slope * slope);
    }
    return rule;
}

Table lagrange_table(std::span<const double> nodes, std::span<const double> points) {
    Table table{nodes.size(), {}, {}};
    for (const double x : points)
        for (std::size_t i = 0; i < nodes.size(); ++i) {
            double value = 1;
            double derivative = 0;
            for (std::size_t j = 0; j < nodes.size(); ++j) {
                if (j == i) continue;
                const double slope = 1 / (nodes[i] - nodes[j]);
                derivative = (derivative * (x - nodes[j]) + value) * slope;
                value *= (x - nodes[j]) * slope;
            }
            table.values.push_back(value);
            table.derivatives.push_back(derivative);
        }
    return table;
}

Table bernstein_table(int degree, std::span<const double> points) {
    const auto functions = static_cast<std::size_t>(degree) + 1;
    Table table{functions, {}, {}};
    for (const double x : points) {
        // Triangle of de Casteljau: degree by degree from the constant.
        std::vector<double> row{1};
        std::vector<double> below;
        for (int d = 1; d <= degree; ++d) {
            below = row;
            row.assign(static_cast<std::size_t>(d) + 1, 0);
            for (std::size_t i = 0; i < below.size(); ++i) {
                row[i] += (1 - x) * below[i];
                row[i + 1] += x * below[i];
            }
        }
        table.values.insert(table.values.end(), row.begin(), row.end());
        for (std::size_t i = 0; i < functions; ++i)
            table.derivatives.push_back(degree * ((i > 0 && degree > 0 ? below[i - 1] : 0) - (i < below.size() ? below[i] : 0)));
    }
    return table;
}

std::vector<double> lobatto_nodes(int order) {
    const std::vector<double> points = lobatto_points(order);
    std::vector<double> nodes(points.size());
    for (std::size_t i = 0; i < points.size(); ++i) nodes[i] = 0.5 + (points[i] - points[points.size() - 1 - i]) / 4;
    return nodes;
}

}  // namespace hone::inline v0_1::solvers::hydro
