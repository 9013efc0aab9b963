#include "generator/families/elements/tensor_element.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <utility>

#include "foundation/error.hpp"
#include "generator/families/elements/simplex_nodes.hpp"

namespace hone::inline v0_1 {
namespace {

constexpr int highest_order = 8;

// Value and derivative of the Legendre polynomial of degree n, by its three-term recurrence (DLMF
// 18.9.1) and 18.9.17.
std::pair<double, double> legendre(int n, double x) {
    double previous = 1;
    double current = x;
    for (int k = 1; k < n; ++k) {
        const double next = ((2 * k + 1) * x * current - k * previous) / (k + 1);
        previous = std::exchange(current, next);
    }
    return {current, n * (previous - x * current) / (1 - x * x)};
}

void put_row(Matrix& matrix, int row, const std::vector<double>& values) {
    for (int column = 0; column < matrix.columns; ++column) matrix(row, column) = values[static_cast<std::size_t>(column)];
}

TensorElement make_element(int order) {
    TensorElement element;
    element.order = order;
    for (const double x : lobatto_points(order)) element.nodes.push_back((1 + x) / 2);
    const int points = 2 * order;
    GaussRule rule = gauss_rule(points);
    element.points = std::move(rule.points), element.weights = std::move(rule.weights);
    element.basis = Matrix(points, order + 1);
    element.slope = Matrix(points, order + 1);
    element.bernstein = Matrix(points, order);
    for (int q = 0; q < points; ++q) {
        const double x = element.points[static_cast<std::size_t>(q)];
        put_row(element.basis, q, nodal_values(element, x));
        put_row(element.slope, q, nodal_slopes(element, x));
        put_row(element.bernstein, q, bernstein_values(element, x));
    }
    return element;
}

}  // namespace

// Newton's method from Tricomi's approximation.
GaussRule gauss_rule(int count) {
    GaussRule rule;
    for (int i = 0; i < count; ++i) {
        double x = -std::cos(std::numbers::pi * (i + 0.75) / (count + 0.5));
        for (int step = 0; step < 8; ++step) {
            const auto [value, slope] = legendre(count, x);
            x -= value / slope;
        }
        const double slope = legendre(count, x).second;
        rule.points.push_back((1 + x) / 2);
        rule.weights.push_back(1 / ((1 - x * x) * slope * slope));
    }
    return rule;
}

std::vector<double> nodal_values(const TensorElement& element, double x) {
    std::vector<double> values(element.nodes.size(), 1.0);
    for (std::size_t i = 0; i < values.size(); ++i)
        for (std::size_t m = 0; m < values.size(); ++m)
            if (m != i) values[i] *= (x - element.nodes[m]) / (element.nodes[i] - element.nodes[m]);
    return values;
}

std::vector<double> nodal_slopes(const TensorElement& element, double x) {
    const std::vector<double>& nodes = element.nodes;
    std::vector<double> slopes(nodes.size(), 0.0);
    for (std::size_t i = 0; i < nodes.size(); ++i)
        for (std::size_t left_out = 0; left_out < nodes.size(); ++left_out) {
            if (left_out == i) continue;
            double product = 1 / (nodes[i] - nodes[left_out]);
            for (std::size_t m = 0; m < nodes.size(); ++m)
                if (m != i && m != left_out) product *= (x - nodes[m]) / (nodes[i] - nodes[m]);
            slopes[i] += product;
        }
    return slopes;
}

std::vector<double> bernstein_values(const TensorElement& element, double x) {
    // De Casteljau's triangle: degree by degree.
    std::vector<double> values{1.0};
    while (std::ssize(values) < element.order) {
        std::vector<double> next(values.size() + 1, 0.0);
        for (std::size_t i = 0; i < values.size(); ++i) {
            next[i] += (1 - x) * values[i];
            next[i + 1] += x * values[i];
        }
        values = std::move(next);
    }
    return values;
}

const TensorElement& tensor_element(int order) {
    static const auto elements = [] {
        std::array<TensorElement, highest_order> all;
        for (int i = 0; i < highest_order; ++i) all[static_cast<std::size_t>(i)] = make_element(i + 1);
        return all;
    }();
    if (order < 1 || order > highest_order)
        throw Error("tensor element", fmt::format("order {}", order), fmt::format("use an order from 1 to {}", highest_order));
    return elements[static_cast<std::size_t>(order - 1)];
}

}  // namespace hone::inline v0_1
