#include "generator/families/elements/tensor_element.hpp"
#include "generator/families/fe_mass/family.hpp"
#include "tests/generator/families/logical_step.hpp"

namespace hone::fe_mass_test::by_index {
namespace {

using test::PublishedArray;
using test::PublishedArrays;

struct Element {
    explicit Element(const Problem& problem)
        : dimension(problem.integer("dimension")),
          nodes_along(problem.integer("order") + 1),
          points_along(problem.integer("points") == 0 ? problem.integer("order") + 2 : problem.integer("points")),
          rule(gauss_rule(static_cast<int>(points_along))) {
        const TensorElement& element = tensor_element(static_cast<int>(nodes_along) - 1);
        for (const double point : rule.points) values.push_back(nodal_values(element, point));
    }
    std::int64_t power(std::int64_t n) const { return dimension == 2 ? n * n : n * n * n; }
    double function(std::int64_t point, std::int64_t node) const {
        double value = 1;
        for (std::int64_t axis = 0; axis < dimension; ++axis, point /= points_along, node /= nodes_along)
            value *= values[static_cast<std::size_t>(point % points_along)][static_cast<std::size_t>(node % nodes_along)];
        return value;
    }
    // Density |J| times the quadrature's weight.
    double weight(PublishedArrays& a, std::int64_t e, std::int64_t point) const {
        if (a.has("weights")) return a["weights"](e, point);
        std::array<double, 3> at{};
        double result = a["density"](e);
        for (std::size_t axis = 0; axis < static_cast<std::size_t>(dimension); ++axis, point /= points_along) {
            at.at(axis) = rule.points[static_cast<std::size_t>(point % points_along)];
            result *= rule.weights[static_cast<std::size_t>(point % points_along)];
        }
        std::array<std::array<double, 3>, 3> j{{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};  // [component][axis]
        for (std::size_t c = 0; c < static_cast<std::size_t>(dimension); ++c)
            for (std::size_t g = 0; g < static_cast<std::size_t>(dimension); ++g) {
                j.at(c).at(g) = 0;
                for (std::size_t corner = 0; corner < std::size_t{1} << dimension; ++corner) {
                    double slope = 1;
                    for (std::size_t axis = 0; axis < static_cast<std::size_t>(dimension); ++axis) {
                        const bool upper = (corner >> axis & 1) != 0;
                        slope *= axis == g ? (upper ? 1 : -1) : (upper ? at.at(axis) : 1 - at.at(axis));
                    }
                    j.at(c).at(g) += slope * a["vertices"](e, c, corner);
                }
            }
        const auto minor = [&](std::size_t p, std::size_t q) { return j[1][p] * j[2][q] - j[1][q] * j[2][p]; };
        return result * (j[0][0] * minor(1, 2) - j[0][1] * minor(0, 2) + j[0][2] * minor(0, 1));
    }

    std::int64_t dimension, nodes_along, points_along;
    GaussRule rule;
    std::vector<std::vector<double>> values;
};

void fill(const Problem& problem, PublishedArrays& a, test::Draw draw) {
    const Element element(problem);
    const std::int64_t elements = problem.integer("elements"), nodes = problem.integer("nodes"), n = element.power(element.nodes_along);
    std::vector<std::int32_t> element_nodes;
    for (std::int64_t e = 0; e < elements; ++e) {
        for (std::int64_t i = 0; i < n; ++i) {
            element_nodes.push_back(static_cast<std::int32_t>(draw.below(nodes)));
            a["element_nodes"](e, i) = element_nodes.back();
        }
        for (std::int64_t point = 0; point < element.power(element.points_along) && a.has("weights"); ++point) a["weights"](e, point) = draw(0.5, 1);
        if (a.has("weights")) continue;
        a["density"](e) = draw(0.5, 1);
        for (std::int64_t c = 0; c < element.dimension; ++c)
            for (std::int64_t corner = 0; corner < 1 << element.dimension; ++corner)
                a["vertices"](e, c, corner) = static_cast<double>(corner >> c & 1) + draw() / 8;
    }
    const fe::NodeCorners corners = fe::node_corners(element_nodes, nodes);
    for (std::size_t i = 0; i < corners.starts.size(); ++i) a["corner_starts"](i) = corners.starts[i];
    for (std::size_t i = 0; i < corners.places.size(); ++i) a["corners"](i) = corners.places[i];
    for (std::int64_t c = 0; c < problem.integer("components"); ++c)
        for (std::int64_t node = 0; node < nodes; ++node) a["x"](c, node) = draw();
}

void step(const Problem& problem, PublishedArrays& a) {
    const Element element(problem);
    const std::int64_t nodes = problem.integer("nodes"), n = element.power(element.nodes_along);
    for (std::int64_t c = 0; c < problem.integer("components"); ++c) {
        for (std::int64_t node = 0; node < nodes; ++node) a["y"](c, node) = 0;
        for (std::int64_t e = 0; e < problem.integer("elements"); ++e)
            for (std::int64_t point = 0; point < element.power(element.points_along); ++point) {
                const auto node = [&](std::int64_t i) { return static_cast<std::int64_t>(a["element_nodes"](e, i)); };
                double value = 0;
                for (std::int64_t i = 0; i < n; ++i) value += element.function(point, i) * a["x"](c, node(i));
                value *= element.weight(a, e, point);
                for (std::int64_t i = 0; i < n; ++i) a["y"](c, node(i)) += element.function(point, i) * value;
            }
        double dot = 0;
        for (std::int64_t node = 0; node < nodes; ++node) {
            const double term = a["x"](c, node) * a["y"](c, node);
            dot += term;
            if (!a.has("chunk_sums")) continue;
            double& chunk = a["chunk_sums"](c, node / 32);
            chunk = (node % 32 == 0 ? 0 : chunk) + term;
        }
        if (a.has("dot")) a["dot"](c) = dot / static_cast<double>(nodes);
    }
}

}  // namespace
}  // namespace hone::fe_mass_test::by_index

namespace hone::test {

LogicalStep fe_mass_by_index() {
    using namespace fe_mass_test::by_index;
    return {"fe_mass",
            {"kernel=apply,apply_dot,apply_sums data=stored,vertices dimension=2,3 order=2 points=3 components=2 elements=5 nodes=71"},
            fill,
            step};
}

}  // namespace hone::test
