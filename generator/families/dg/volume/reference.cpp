#include "generator/families/dg/volume/reference.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "foundation/caught.hpp"
#include "generator/families/dg/data.hpp"
#include "generator/families/dg/shape.hpp"

namespace hone::inline v0_1::dg {
namespace {

using Gradients = std::array<std::array<double, 3>, 3>;    // [along r, s, t][x, y, z]
using Derivatives = std::array<std::array<double, 6>, 3>;  // [along r, s, t][field]

// d(field)/d(x, y, z) from the derivatives along r, s, t.
double along(const Derivatives& derivatives, const Gradients& g, std::size_t x, std::size_t field) {
    return g[0][x] * derivatives[0][field] + g[1][x] * derivatives[1][field] + g[2][x] * derivatives[2][field];
}

std::array<double, 6> right_hand_side(const Shape& shape, const Derivatives& d, const Gradients& g) {
    std::array<double, 6> rhs{};
    if (shape.dimension == 2) {
        rhs[0] = -along(d, g, 1, 2);
        rhs[1] = along(d, g, 0, 2);
        rhs[2] = along(d, g, 0, 1) - along(d, g, 1, 0);
        return rhs;
    }
    for (std::size_t i = 0; i < 3; ++i) {
        const std::size_t j = (i + 1) % 3;
        const std::size_t k = (i + 2) % 3;
        if (shape.maxwell()) {
            rhs[3 + i] = along(d, g, j, k) - along(d, g, k, j);         // dE/dt = curl H
            rhs[i] = -(along(d, g, j, 3 + k) - along(d, g, k, 3 + j));  // dH/dt = -curl E
        } else {
            rhs[0] -= along(d, g, i, 1 + i);
            rhs[1 + i] = -along(d, g, i, 0);
        }
    }
    return rhs;
}

// On triangles what belongs to t or z is zero.
template <typename Real>
Gradients gradients_of(const Shape& shape, const Real* geometry) {
    Gradients g{};
    const auto dimension = static_cast<std::size_t>(shape.dimension);
    for (std::size_t a = 0; a < dimension; ++a)
        for (std::size_t x = 0; x < dimension; ++x) g[a][x] = static_cast<double>(geometry[dimension * a + x]);
    return g;
}

// Derivatives along r, s, t of all fields at node n; with `weigh` = |.| the sums of absolute values
// that bound rounding errors.
template <typename Real, typename Weigh>
Derivatives derivatives_at(const Shape& shape, const ReferenceElement& element, const Real* q, int n, Weigh weigh) {
    Derivatives derivatives{};
    for (std::size_t a = 0; a < element.derivative.size(); ++a)
        for (int f = 0; f < shape.fields; ++f) {
            double sum = 0;
            for (int m = 0; m < shape.nodes; ++m) sum += weigh(element.derivative[a](n, m) * static_cast<double>(q[f * shape.nodes + m]));
            derivatives[a][static_cast<std::size_t>(f)] = sum;
        }
    return derivatives;
}

template <typename Real>
void run(const Shape& shape, std::span<void* const> arrays, std::int64_t first, std::int64_t last) {
    const auto* const q = static_cast<const Real*>(arrays[0]);
    const auto* const geometry = static_cast<const Real*>(arrays[1]);
    auto* const rhs = static_cast<Real*>(arrays[2]);
    Caught caught;
#pragma omp parallel for schedule(static)
    for (std::int64_t k = first; k < last; ++k) {
        caught.from([&] {
            const std::vector<double> values = volume_of_element(shape, q + k * shape.words(), geometry + k * shape.geometry_words());
            for (int i = 0; i < shape.words(); ++i) rhs[k * shape.words() + i] = static_cast<Real>(values[static_cast<std::size_t>(i)]);
        });
    }
    caught.rethrow();
}

double cross(const Gradients& g, std::size_t a, std::size_t i, int sign) {
    const auto& b = g[(a + 1) % 3];
    const auto& c = g[(a + 2) % 3];
    return b[(i + 1) % 3] * c[(i + 2) % 3] + sign * b[(i + 2) % 3] * c[(i + 1) % 3];
}

// Sums of absolute values that pass through one right-hand side, whichever form computes it, in
// units of its rounding errors.
double magnitude(const Shape& shape, const Derivatives& sums, const Gradients& g) {
    Gradients size = g;
    for (auto& row : size)
        for (double& part : row) part = std::abs(part);
    double largest = 0;
    if (shape.dimension == 2) return std::max({along(sums, size, 0, 2), along(sums, size, 1, 2), along(sums, size, 0, 1) + along(sums, size, 1, 0)});
    if (!shape.maxwell()) {
        double divergence = 0;
        for (std::size_t i = 0; i < 3; ++i) {
            divergence += along(sums, size, i, 1 + i);
            largest = std::max(largest, along(sums, size, i, 0));
        }
        return std::max(largest, divergence);
    }
    // Covariant: tangents x_a / J are cross products whose terms may cancel, and J their division
    // by a determinant of condition `kappa`.
    Gradients tangent;
    double inverse_j = 0;
    double determinant_terms = 0;
    for (std::size_t a = 0; a < 3; ++a)
        for (std::size_t x = 0; x < 3; ++x) {
            tangent[a][x] = cross(size, a, x, 1);
            if (a == 0) {
                inverse_j += g[0][x] * cross(g, 0, x, -1);
                determinant_terms += size[0][x] * tangent[0][x];
            }
        }
    const double kappa = determinant_terms / std::abs(inverse_j);
    for (std::size_t from = 0; from < 6; from += 3)
        for (std::size_t i = 0; i < 3; ++i) {
            largest = std::max(largest, along(sums, size, (i + 1) % 3, from + (i + 2) % 3) + along(sums, size, (i + 2) % 3, from + (i + 1) % 3));
            double covariant = 0;
            for (std::size_t a = 0; a < 3; ++a)
                for (std::size_t x = 0; x < 3; ++x)
                    covariant += tangent[a][i] *
                                 (tangent[(a + 2) % 3][x] * sums[(a + 1) % 3][from + x] + tangent[(a + 1) % 3][x] * sums[(a + 2) % 3][from + x]);
            largest = std::max(largest, kappa * covariant / std::abs(inverse_j));
        }
    return largest;
}

template <typename Real>
Workload make(const Problem& problem, std::uint64_t seed) {
    const Shape shape(problem);
    const std::int64_t elements = problem.integer("elements");
    const std::int64_t period = data_sets(shape);
    const Precision precision = problem.precision();
    Workload result;
    result.arrays.emplace_back(precision, elements * shape.words());
    result.arrays.emplace_back(precision, elements * shape.geometry_words());
    result.arrays.emplace_back(precision, elements * shape.words());
    std::mt19937_64 random(seed);
    std::uniform_real_distribution<double> uniform(-1, 1);
    Real* const q = result.arrays[0].values<Real>().data();
    Real* const geometry = result.arrays[1].values<Real>().data();
    for (std::int64_t i = 0; i < period * shape.words(); ++i) q[i] = static_cast<Real>(uniform(random));
    for (std::int64_t k = 0; k < period; ++k) {
        const std::vector<double> gradients = random_geometry(shape, random);
        std::transform(gradients.begin(), gradients.end(), geometry + k * shape.geometry_words(),
                       [](double part) { return static_cast<Real>(part); });
    }
    result.expected.resize(3);
    result.expected[2] = HostArray(precision, elements * shape.words());
    const std::array<void*, 3> arrays{q, geometry, result.expected[2].data()};
    run<Real>(shape, arrays, 0, period);
    double largest = 0;
    Caught caught;
#pragma omp parallel for schedule(static) reduction(max : largest)
    for (std::int64_t k = 0; k < period; ++k)
        caught.from([&] { largest = std::max(largest, volume_magnitude(shape, q + k * shape.words(), geometry + k * shape.geometry_words())); });
    caught.rethrow();
    repeat(result.arrays[0], shape.words(), period);
    repeat(result.arrays[1], shape.geometry_words(), period);
    repeat(result.expected[2], shape.words(), period);
    result.arrays[2].poison();
    // n counts the products, the metric's dozen roundings before and after, and the operator's own.
    const double n = 2.0 * shape.nodes + 24;
    const double roundoff = static_cast<double>(std::numeric_limits<Real>::epsilon()) / 2;
    result.tolerance = rounding_steps(n) * roundoff * largest;
    result.tolerance_reason =
        fmt::format("min(n, 8 sqrt n) u S with n = {} roundings, u = {:.3g}, S = {:.4g} the largest sum of |metric| |D| |q|", n, roundoff, largest);
    return result;
}

}  // namespace

template <typename Real>
std::vector<double> volume_of_element(const Shape& shape, const Real* q, const Real* geometry) {
    const ReferenceElement& element = shape.reference();
    const Gradients g = gradients_of(shape, geometry);
    std::vector<double> rhs(static_cast<std::size_t>(shape.words()));
    for (int n = 0; n < shape.nodes; ++n) {
        const auto values = right_hand_side(shape, derivatives_at(shape, element, q, n, [](double value) { return value; }), g);
        for (int f = 0; f < shape.fields; ++f) rhs[static_cast<std::size_t>(f * shape.nodes + n)] = values[static_cast<std::size_t>(f)];
    }
    return rhs;
}

template <typename Real>
double volume_magnitude(const Shape& shape, const Real* q, const Real* geometry) {
    const ReferenceElement& element = shape.reference();
    double largest = 0;
    for (int n = 0; n < shape.nodes; ++n) {
        const Derivatives sums = derivatives_at(shape, element, q, n, [](double value) { return std::abs(value); });
        largest = std::max(largest, magnitude(shape, sums, gradients_of(shape, geometry)));
    }
    return largest;
}

template std::vector<double> volume_of_element(const Shape&, const float*, const float*);
template std::vector<double> volume_of_element(const Shape&, const double*, const double*);
template double volume_magnitude(const Shape&, const float*, const float*);
template double volume_magnitude(const Shape&, const double*, const double*);

void reference(const Problem& problem, std::span<void* const> arrays, std::int64_t first, std::int64_t last) {
    const Shape shape(problem);
    problem.precision() == Precision::f32 ? run<float>(shape, arrays, first, last) : run<double>(shape, arrays, first, last);
}

Workload workload(const Problem& problem, std::uint64_t seed) {
    return problem.precision() == Precision::f32 ? make<float>(problem, seed) : make<double>(problem, seed);
}

}  // namespace hone::inline v0_1::dg
