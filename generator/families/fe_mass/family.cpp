#include "generator/families/fe_mass/family.hpp"

#include <fmt/format.h>

#include "foundation/error.hpp"
#include "generator/families/fe_mass/forms.hpp"

namespace hone::inline v0_1 {
namespace fe {

Shape::Shape(const Problem& problem)
    : dotted(problem.word("kernel") == "apply_dot"),
      summed(problem.word("kernel") != "apply"),
      stored(problem.word("data") == "stored"),
      dimension(static_cast<int>(problem.integer("dimension"))),
      order(static_cast<int>(problem.integer("order"))),
      components(static_cast<int>(problem.integer("components"))),
      nodes_along(order + 1),
      points_along(problem.integer("points") == 0 ? order + 2 : static_cast<int>(problem.integer("points"))),
      precision(problem.precision()),
      elements(problem.integer("elements")),
      nodes(problem.integer("nodes")) {
    const std::string where = fmt::format("problem \"{}\"", problem.key());
    if (points_along < nodes_along)
        throw Error(where, fmt::format("{} points along an axis", points_along),
                    fmt::format("elements of order {} take {} or more, or M may be singular", order, nodes_along));
    constexpr std::int64_t most_places = std::int64_t{1} << 31;
    if (elements > (most_places - 1) / element_nodes())
        throw Error(where, fmt::format("{} elements", elements),
                    fmt::format("places are 32-bit integers: use at most {}", (most_places - 1) / element_nodes()));
}

Axis::Axis(const Shape& shape) : rule(gauss_rule(shape.points_along)), basis(shape.points_along, shape.nodes_along) {
    const TensorElement& element = tensor_element(shape.order);
    for (int q = 0; q < shape.points_along; ++q) {
        const std::vector<double> values = nodal_values(element, rule.points[static_cast<std::size_t>(q)]);
        for (int i = 0; i < shape.nodes_along; ++i) basis(q, i) = values[static_cast<std::size_t>(i)];
    }
}

NodeCorners node_corners(std::span<const std::int32_t> element_nodes, std::int64_t nodes) {
    NodeCorners result{std::vector<std::int32_t>(static_cast<std::size_t>(nodes) + 1, 0), std::vector<std::int32_t>(element_nodes.size())};
    for (std::size_t place = 0; place < element_nodes.size(); ++place) {
        const std::int32_t node = element_nodes[place];
        if (node < 0 || node >= nodes)
            throw Error("nodes of elements", fmt::format("number {} at place {}", node, place), fmt::format("there are nodes 0 to {}", nodes - 1));
        ++result.starts[static_cast<std::size_t>(node) + 1];
    }
    for (std::size_t node = 0; node + 1 < result.starts.size(); ++node) result.starts[node + 1] += result.starts[node];
    std::vector<std::int32_t> next(result.starts.begin(), result.starts.end() - 1);
    for (std::size_t place = 0; place < element_nodes.size(); ++place) {
        std::int32_t& to = next[static_cast<std::size_t>(element_nodes[place])];
        result.places[static_cast<std::size_t>(to++)] = static_cast<std::int32_t>(place);
    }
    return result;
}

std::vector<ArraySpec> arrays(const Problem& problem) {
    const Shape shape(problem);
    const std::int64_t n = shape.element_nodes();
    const std::int64_t points = shape.element_points();
    const char* const vectors = "[components][nodes]";
    std::vector<ArraySpec> result;
    if (shape.stored) {
        result.push_back(
            laid_out({"weights", Access::in, shape.elements * points, "[elements][points^d]", "density |J| times the quadrature's weight"},
                     {shape.elements, points}));
    } else {
        const std::int64_t d = shape.dimension;
        result.push_back(laid_out({"vertices", Access::in, shape.elements * d * shape.corners(), "[elements][d][2^d]", "corners of elements"},
                                  {shape.elements, d, shape.corners()}));
        result.push_back(laid_out({"density", Access::in, shape.elements, "[elements]", "of each element"}, {shape.elements}));
    }
    result.push_back(laid_out({"element_nodes", Access::in, shape.index_words(shape.places()), "[elements][(order+1)^d] int32", "nodes of elements"},
                              {shape.elements, n}));
    result.push_back(laid_out({"corner_starts", Access::in, shape.index_words(shape.nodes + 1), "[nodes+1] int32", "where each node's places begin"},
                              {shape.nodes + 1}));
    result.push_back(laid_out(
        {"corners", Access::in, shape.index_words(shape.places()), "[elements*(order+1)^d] int32", "places among element_nodes, sorted by node"},
        {shape.places()}));
    result.push_back(
        laid_out({"x", Access::in, shape.components * shape.nodes, vectors, "what M is multiplied with"}, {shape.components, shape.nodes}));
    result.push_back(laid_out({"y", Access::out, shape.components * shape.nodes, vectors, "M x"}, {shape.components, shape.nodes}));
    if (shape.dotted) result.push_back({"dot", Access::out, shape.components, "[components]", "x . y / nodes", {}, {1}});
    if (shape.summed && !shape.dotted)
        result.push_back(laid_out({"chunk_sums", Access::out, shape.components * shape.chunks(), "[components][chunks]", "x . y of 32 nodes each"},
                                  {shape.components, shape.chunks()}));
    return result;
}

// The weights or what they are made of, the nodes of elements and both vectors once; sums axis by
// axis.
Counts counts(const Problem& problem) {
    const Shape shape(problem);
    const double n = shape.nodes_along;
    const double p = shape.points_along;
    double multiply_adds = 0;
    for (int axis = 0; axis < shape.dimension; ++axis) {
        double lines = 1;
        for (int other = 1; other < shape.dimension; ++other) lines *= other <= axis ? p : n;
        multiply_adds += 2 * lines * n * p;
    }
    const auto elements = static_cast<double>(shape.elements);
    const auto nodes = static_cast<double>(shape.nodes);
    const double of_element = shape.components * (2 * multiply_adds + shape.element_points());
    const double data = shape.stored ? shape.element_points() : shape.dimension * shape.corners() + 1;
    return {shape.components * nodes, "unknowns", elements * of_element + (shape.summed ? 2 * shape.components * nodes : 0),
            elements * (data * shape.bytes() + 4.0 * shape.element_nodes()) + 2 * shape.components * nodes * shape.bytes()};
}

}  // namespace fe

Family fe_mass() {
    constexpr std::int64_t most = std::int64_t{1} << 30;
    Family family;
    family.name = "fe_mass";
    family.summary = "product of the mass matrix of high-order elements with one to three vectors, without the matrix";
    family.source = "P. Fischer and others, Scalability of High-Performance PDE Solvers, Int. J. High Perform. Comput. Appl. 34, 2020 (BP1, BP2)";
    family.example = "fe_mass kernel=apply_dot dimension=3 order=2 points=4 components=3 precision=f64 elements=4096 nodes=35937";
    family.parameters = {
        {"kernel",
         "apply: y = M x; apply_dot: with x . y; apply_sums: with x . y of chunks of nodes",
         {"apply", "apply_dot", "apply_sums"},
         0,
         0,
         false,
         "apply"},
        {"data", "stored: a weight for each point; vertices: weights from corners and density", {"stored", "vertices"}, 0, 0, false, "stored"},
        {"dimension", "of space", {}, 2, 3, false, ""},
        {"order", "of the elements", {}, 1, 8, false, ""},
        {"points",
         "Gauss points along an axis; 0: order + 2",
         {},
         0,
         16,
         false,
         "0",
         [](const Problem& problem) { return problem.integer("order") + 2; }},
        {"components", "vectors that M is multiplied with", {}, 1, 3, false, "1"},
        {"precision", "of all numbers", {"f32", "f64"}, 0, 0, false, "f64"},
        {"elements", "number of elements", {}, 1, most, true, ""},
        {"nodes", "number of nodes", {}, 1, most, true, ""}};
    family.scale = [](const Problem& problem) {
        const auto elements = static_cast<double>(problem.integer("elements"));
        return Scale{sizes_of(problem, {"elements"}), {{"nodes an element", static_cast<double>(problem.integer("nodes")) / elements}}};
    };
    family.range_unit = "elements";
    family.range = [](const Problem& problem) { return problem.integer("elements"); };
    family.arrays = fe::arrays;
    set_forms(family, {{Target::cpu, fe::cpu_forms}, {Target::cuda, fe::cuda_forms}});
    family.reference = fe::reference;
    family.workload = fe::workload;
    family.counts = fe::counts;
    return family;
}

}  // namespace hone::inline v0_1
