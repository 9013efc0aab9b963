#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "foundation/random_words.hpp"
#include "foundation/repeated_words.hpp"
#include "generator/families/fe_mass/shape.hpp"

// The textbook's loops over elements, points and nodes, with functions of the whole element, in a
// precision in which their own roundings do not show; and random meshes for them. Shares the
// layout, the nodes and the points with the generator, and nothing else.

namespace hone::inline v0_1::fe {
namespace {

using Wide = long double;

template <typename Real>
struct Data {
    Data(const Shape& shape, std::span<void* const> arrays)
        : weights(static_cast<const Real*>(arrays[0])),
          density(shape.stored ? nullptr : static_cast<const Real*>(arrays[1])),
          element_nodes(static_cast<const std::int32_t*>(arrays[static_cast<std::size_t>(shape.element_nodes_number())])),
          x(static_cast<const Real*>(arrays[static_cast<std::size_t>(shape.x_number())])),
          y(static_cast<Real*>(arrays[static_cast<std::size_t>(shape.x_number()) + 1])) {}

    const Real* weights;  ///< or vertices
    const Real* density;
    const std::int32_t* element_nodes;
    const Real* x;
    Real* y;
};

// Functions of an element at its points, and what makes weights.
struct Element {
    explicit Element(const Shape& of) : shape(of), axis(of) {
        const int n = shape.nodes_along;
        const int p = shape.points_along;
        functions.resize(static_cast<std::size_t>(shape.element_points()) * static_cast<std::size_t>(shape.element_nodes()));
        for (int q = 0; q < shape.element_points(); ++q)
            for (int i = 0; i < shape.element_nodes(); ++i) {
                Wide value = 1;
                for (int along = 0, point = q, node = i; along < shape.dimension; ++along, point /= p, node /= n)
                    value *= static_cast<Wide>(axis.basis(point % p, node % n));
                functions[static_cast<std::size_t>(q * shape.element_nodes() + i)] = value;
            }
    }

    // Density |J| times the quadrature's weight; of `magnitudes`, the same with all terms of the
    // determinant and all edges positive.
    template <typename Real>
    Wide weight(const Data<Real>& data, std::int64_t element, int point, bool magnitudes) const {
        if (shape.stored) return static_cast<Wide>(data.weights[element * shape.element_points() + point]);
        std::array<Wide, 3> at{};
        Wide result = static_cast<Wide>(data.density[element]);
        for (int along = 0, rest = point; along < shape.dimension; ++along, rest /= shape.points_along) {
            const auto number = static_cast<std::size_t>(rest % shape.points_along);
            at.at(static_cast<std::size_t>(along)) = static_cast<Wide>(axis.rule.points[number]);
            result *= static_cast<Wide>(axis.rule.weights[number]);
        }
        return result * determinant(data, element, at, magnitudes);
    }

    Shape shape;
    Axis axis;
    std::vector<Wide> functions;  ///< [point][node]

  private:
    template <typename Real>
    Wide determinant(const Data<Real>& data, std::int64_t element, const std::array<Wide, 3>& at, bool magnitudes) const {
        const int d = shape.dimension;
        std::array<std::array<Wide, 3>, 3> j{};  // [component][axis]
        for (int component = 0; component < d; ++component)
            for (int axis_of = 0; axis_of < d; ++axis_of)
                for (int corner = 0; corner < shape.corners(); ++corner) {
                    if ((corner >> axis_of & 1) != 0) continue;  // an edge by its lower end
                    Wide share = 1;
                    for (int other = 0; other < d; ++other)
                        if (other != axis_of)
                            share *= (corner >> other & 1) != 0 ? at.at(static_cast<std::size_t>(other)) : 1 - at.at(static_cast<std::size_t>(other));
                    const Real* const places = data.weights + (element * d + component) * shape.corners();
                    const Wide edge = static_cast<Wide>(places[corner | 1 << axis_of]) - static_cast<Wide>(places[corner]);
                    j.at(static_cast<std::size_t>(component)).at(static_cast<std::size_t>(axis_of)) += share * (magnitudes ? std::abs(edge) : edge);
                }
        const Wide sign = magnitudes ? 1 : -1;
        const auto minor = [&](std::size_t r, std::size_t s, std::size_t a, std::size_t b) { return j[r][a] * j[s][b] + sign * j[r][b] * j[s][a]; };
        if (d == 2) return minor(0, 1, 0, 1);
        return j[0][0] * minor(1, 2, 1, 2) + sign * j[0][1] * minor(1, 2, 0, 2) + j[0][2] * minor(1, 2, 0, 1);
    }
};

// M x for one component into `sums`, element by element in order. Of `magnitudes`: all numbers
// positive, and 1 in place of x.
template <typename Real>
std::vector<Wide> multiply(const Element& element, const Data<Real>& data, int component, std::int64_t first, std::int64_t last, bool magnitudes) {
    constexpr std::int64_t batch = 1024;
    const Shape& shape = element.shape;
    const auto n = static_cast<std::size_t>(shape.element_nodes());
    std::vector<Wide> sums(static_cast<std::size_t>(shape.nodes), 0);
    std::vector<Wide> of_batch(static_cast<std::size_t>(std::min(batch, last - first)) * n);
    for (std::int64_t begin = first; begin < last; begin += batch) {
        const std::int64_t end = std::min(begin + batch, last);
#pragma omp parallel for schedule(static)
        for (std::int64_t e = begin; e < end; ++e) {
            Wide* const to = of_batch.data() + static_cast<std::size_t>(e - begin) * n;
            std::fill(to, to + n, Wide{0});
            const std::int32_t* const nodes = data.element_nodes + e * static_cast<std::int64_t>(n);
            for (int point = 0; point < shape.element_points(); ++point) {
                const Wide* const function = element.functions.data() + static_cast<std::size_t>(point) * n;
                Wide value = 0;
                for (std::size_t i = 0; i < n; ++i)
                    value += magnitudes ? std::abs(function[i]) : function[i] * static_cast<Wide>(data.x[component * shape.nodes + nodes[i]]);
                value *= element.weight(data, e, point, magnitudes);
                for (std::size_t i = 0; i < n; ++i) to[i] += (magnitudes ? std::abs(function[i]) : function[i]) * value;
            }
        }
        for (std::int64_t place = 0; place < (end - begin) * static_cast<std::int64_t>(n); ++place)
            sums[static_cast<std::size_t>(data.element_nodes[begin * static_cast<std::int64_t>(n) + place])] +=
                of_batch[static_cast<std::size_t>(place)];
    }
    return sums;
}

template <typename Real>
void step(const Problem& problem, std::span<void* const> arrays, std::int64_t first, std::int64_t last) {
    const Shape shape(problem);
    const Element element(shape);
    const Data<Real> data(shape, arrays);
    for (int component = 0; component < shape.components; ++component) {
        const std::vector<Wide> product = multiply(element, data, component, first, last, false);
        Wide dot = 0;
        std::vector<Wide> of_chunks(static_cast<std::size_t>(shape.chunks()), 0);
        for (std::int64_t node = 0; node < shape.nodes; ++node) {
            const std::int64_t at = component * shape.nodes + node;
            data.y[at] = static_cast<Real>(product[static_cast<std::size_t>(node)]);
            const Wide of_node = product[static_cast<std::size_t>(node)] * static_cast<Wide>(data.x[at]);
            dot += of_node;
            of_chunks[static_cast<std::size_t>(node / chunk_rows)] += of_node;
        }
        if (!shape.summed) continue;
        Real* const sums = static_cast<Real*>(arrays[static_cast<std::size_t>(shape.x_number()) + 2]);
        if (shape.dotted)
            sums[component] = static_cast<Real>(dot / static_cast<Wide>(shape.nodes));
        else
            std::transform(of_chunks.begin(), of_chunks.end(), sums + component * shape.chunks(), [](Wide sum) { return static_cast<Real>(sum); });
    }
}

// Elements of a box, x fastest, whose sides fit the numbers of elements and nodes where any do; a
// lattice that has more nodes than the problem begins anew with the first one.
struct Box {
    explicit Box(const Shape& of) : shape(of) {
        const auto near_root = [](std::int64_t number, int root) {
            return std::max<std::int64_t>(1, std::llround(std::pow(static_cast<double>(number), 1.0 / root)));
        };
        std::int64_t best = std::numeric_limits<std::int64_t>::max();
        // Longer sides first meet boxes that are nearly cubes.
        for (std::int64_t x = near_root(shape.elements, shape.dimension); x > 0; --x) {
            if (shape.elements % x != 0) continue;
            const std::int64_t rest = shape.elements / x;
            for (std::int64_t y = shape.dimension == 2 ? rest : near_root(rest, 2); y > 0; --y) {
                if (rest % y != 0) continue;
                const std::array<std::int64_t, 3> found{x, y, rest / y};
                std::int64_t nodes = 1;
                for (int axis = 0; axis < shape.dimension; ++axis) nodes *= found.at(static_cast<std::size_t>(axis)) * shape.order + 1;
                if (std::abs(nodes - shape.nodes) < best) best = std::abs(nodes - shape.nodes), sides = found;
            }
        }
    }

    std::int32_t node(std::int64_t element, int local) const {
        std::int64_t number = 0, stride = 1;
        for (int axis = 0; axis < shape.dimension; ++axis) {
            const std::int64_t side = sides.at(static_cast<std::size_t>(axis));
            number += (element % side * shape.order + local % shape.nodes_along) * stride;
            stride *= side * shape.order + 1;
            element /= side, local /= shape.nodes_along;
        }
        return static_cast<std::int32_t>(number % shape.nodes);
    }

    Shape shape;
    std::array<std::int64_t, 3> sides{1, 1, 1};
};

template <typename Real, typename Make>
void fill(HostArray& array, const Make& make) {
    const RepeatedWords<Real> words(array.words(), make);
    words.copy(0, array.words(), array.values<Real>().data());
}

// Corners of unit cubes, moved by less than an eighth along each axis: no element is flat.
template <typename Real>
void fill_vertices(const Shape& shape, HostArray& array, std::uint64_t seed) {
    const auto values = array.values<Real>();
#pragma omp parallel for schedule(static)
    for (std::size_t i = 0; i < values.size(); ++i) {
        const auto corner = static_cast<int>(i % static_cast<std::size_t>(shape.corners()));
        const auto component = static_cast<int>(i / static_cast<std::size_t>(shape.corners()) % static_cast<std::size_t>(shape.dimension));
        values[i] = static_cast<Real>((corner >> component & 1) + random_word(seed, static_cast<std::int64_t>(i)) / 8);
    }
}

template <typename Real>
Workload workload_of(const Problem& problem, std::uint64_t seed) {
    const Shape shape(problem);
    const std::vector<ArraySpec> specs = arrays(problem);
    Workload result;
    for (const ArraySpec& spec : specs) result.arrays.emplace_back(shape.precision, spec.words);
    const auto number = static_cast<std::size_t>(shape.element_nodes_number());
    std::vector<std::int32_t> nodes(static_cast<std::size_t>(shape.places()));
    const Box box(shape);
#pragma omp parallel for schedule(static)
    for (std::int64_t element = 0; element < shape.elements; ++element)
        for (int i = 0; i < shape.element_nodes(); ++i) nodes[static_cast<std::size_t>(element * shape.element_nodes() + i)] = box.node(element, i);
    const NodeCorners corners = node_corners(nodes, shape.nodes);
    const auto put = [&](std::size_t to, const std::vector<std::int32_t>& numbers) {
        std::memset(result.arrays[to].data(), 0, static_cast<std::size_t>(result.arrays[to].bytes()));
        std::memcpy(result.arrays[to].data(), numbers.data(), numbers.size() * sizeof(std::int32_t));
    };
    put(number, nodes), put(number + 1, corners.starts), put(number + 2, corners.places);
    const auto positive = [seed](std::int64_t word) { return 1 + random_word(mixed(seed), word) / 2; };
    if (shape.stored) {
        fill<Real>(result.arrays[0], positive);
    } else {
        fill_vertices<Real>(shape, result.arrays[0], mixed(seed + 1));
        fill<Real>(result.arrays[1], positive);
    }
    fill<Real>(result.arrays[static_cast<std::size_t>(shape.x_number())], [seed](std::int64_t word) { return random_word(mixed(seed + 2), word); });
    result.expected.resize(specs.size());
    std::vector<void*> pointers;
    for (std::size_t n = 0; n < specs.size(); ++n) {
        const bool out = specs[n].access == Access::out;
        if (out) {
            result.arrays[n].poison();
            result.expected[n] = result.arrays[n].copy();
        }
        pointers.push_back(out ? result.expected[n].data() : result.arrays[n].data());
    }
    step<Real>(problem, pointers, 0, shape.elements);
    // |x| is at most 1: M with positive numbers times 1 is a bound S of all sums of magnitudes, of
    // y and of the mean of rows' products with x.
    const std::vector<Wide> magnitudes = multiply(Element(shape), Data<Real>(shape, pointers), 0, 0, shape.elements, true);
    // Of chunks' sums the rows' products are not divided.
    const double rows = shape.summed && !shape.dotted ? chunk_rows : 1;
    const auto largest = rows * static_cast<double>(*std::max_element(magnitudes.begin(), magnitudes.end()));
    int most_corners = 0;
    for (std::size_t node = 0; node + 1 < corners.starts.size(); ++node)
        most_corners = std::max(most_corners, corners.starts[node + 1] - corners.starts[node]);
    // Along each axis as many as its sums have terms, and that of the table, both ways; the weight;
    // the node's corners; the product with x, pairs of a chunk, lanes, the last rounding and the
    // reference's own.
    constexpr int of_determinant = 20, of_dot = 10;
    const int roundings =
        shape.dimension * (shape.nodes_along + shape.points_along + 2) + 1 + (shape.stored ? 0 : of_determinant) + most_corners + of_dot;
    const double unit = static_cast<double>(std::numeric_limits<Real>::epsilon()) / 2;
    result.tolerance = roundings * unit * largest;
    result.tolerance_reason = fmt::format("{} roundings of u = {:.3g} each, of sums up to S = {:.4g}", roundings, unit, largest);
    return result;
}

}  // namespace

void reference(const Problem& problem, std::span<void* const> arrays, std::int64_t first, std::int64_t last) {
    problem.precision() == Precision::f32 ? step<float>(problem, arrays, first, last) : step<double>(problem, arrays, first, last);
}

Workload workload(const Problem& problem, std::uint64_t seed) {
    return problem.precision() == Precision::f32 ? workload_of<float>(problem, seed) : workload_of<double>(problem, seed);
}

}  // namespace hone::inline v0_1::fe
