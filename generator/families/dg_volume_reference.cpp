#include "generator/families/dg_volume_reference.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "generator/families/dg_volume_shape.hpp"

namespace hone::dg {
namespace {

using Gradients = std::array<std::array<double, 3>, 3>;    // [along r, s, t][x, y, z]
using Derivatives = std::array<std::array<double, 6>, 3>;  // [along r, s, t][field]

// d(field)/d(x, y, z) from the derivatives along r, s, t.
double along(const Derivatives& derivatives, const Gradients& g, std::size_t x, std::size_t field) {
    return g[0][x] * derivatives[0][field] + g[1][x] * derivatives[1][field] + g[2][x] * derivatives[2][field];
}

std::array<double, 6> right_hand_side(bool maxwell, const Derivatives& d, const Gradients& g) {
    std::array<double, 6> rhs{};
    for (std::size_t i = 0; i < 3; ++i) {
        const std::size_t j = (i + 1) % 3;
        const std::size_t k = (i + 2) % 3;
        if (maxwell) {
            rhs[3 + i] = along(d, g, j, k) - along(d, g, k, j);         // dE/dt = curl H
            rhs[i] = -(along(d, g, j, 3 + k) - along(d, g, k, 3 + j));  // dH/dt = -curl E
        } else {
            rhs[0] -= along(d, g, i, 1 + i);
            rhs[1 + i] = -along(d, g, i, 0);
        }
    }
    return rhs;
}

template <typename Real>
Gradients gradients_of(const Real* geometry) {
    Gradients g;
    for (std::size_t a = 0; a < 3; ++a)
        for (std::size_t x = 0; x < 3; ++x) g[a][x] = static_cast<double>(geometry[3 * a + x]);
    return g;
}

// Derivatives along r, s, t of all fields at node n; with `weigh` = |.| the sums of absolute values that bound rounding errors.
template <typename Real, typename Weigh>
Derivatives derivatives_at(const Shape& shape, const ReferenceElement& element, const Real* q, int n, Weigh weigh) {
    Derivatives derivatives{};
    for (std::size_t a = 0; a < 3; ++a)
        for (int f = 0; f < shape.fields; ++f) {
            double sum = 0;
            for (int m = 0; m < shape.nodes; ++m) sum += weigh(element.derivative[a](n, m) * static_cast<double>(q[f * shape.nodes + m]));
            derivatives[a][static_cast<std::size_t>(f)] = sum;
        }
    return derivatives;
}

template <typename Real>
void run(const Shape& shape, std::span<void* const> arrays, std::int64_t first, std::int64_t last) {
    const ReferenceElement& element = shape.reference();
    const auto* const q = static_cast<const Real*>(arrays[0]);
    const auto* const geometry = static_cast<const Real*>(arrays[1]);
    auto* const rhs = static_cast<Real*>(arrays[2]);
#pragma omp parallel for schedule(static)
    for (std::int64_t k = first; k < last; ++k) {
        const Gradients g = gradients_of(geometry + 9 * k);
        for (int n = 0; n < shape.nodes; ++n) {
            const Derivatives derivatives = derivatives_at(shape, element, q + k * shape.words(), n, [](double value) { return value; });
            const auto values = right_hand_side(shape.maxwell(), derivatives, g);
            for (int f = 0; f < shape.fields; ++f)
                rhs[k * shape.words() + f * shape.nodes + n] = static_cast<Real>(values[static_cast<std::size_t>(f)]);
        }
    }
}

double cross(const Gradients& g, std::size_t a, std::size_t i, int sign) {
    const auto& b = g[(a + 1) % 3];
    const auto& c = g[(a + 2) % 3];
    return b[(i + 1) % 3] * c[(i + 2) % 3] + sign * b[(i + 2) % 3] * c[(i + 1) % 3];
}

// Gradients of r, s, t on a tetrahedron whose edges are a rotated, scaled and sheared (by up to a fifth) frame.
Gradients random_tetrahedron(std::mt19937_64& random) {
    std::uniform_real_distribution<double> uniform(-1, 1);
    std::normal_distribution<double> normal;
    std::array<double, 4> w{normal(random), normal(random), normal(random), normal(random)};
    const double norm = std::sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2] + w[3] * w[3]);
    for (double& part : w) part /= norm;
    const double scale = std::exp2(uniform(random));
    Gradients edges;  // [along r, s, t][x, y, z]: d(x,y,z)/dr and so on, the columns of a rotation from a quaternion
    edges[0] = {1 - 2 * (w[2] * w[2] + w[3] * w[3]), 2 * (w[1] * w[2] + w[0] * w[3]), 2 * (w[1] * w[3] - w[0] * w[2])};
    edges[1] = {2 * (w[1] * w[2] - w[0] * w[3]), 1 - 2 * (w[1] * w[1] + w[3] * w[3]), 2 * (w[2] * w[3] + w[0] * w[1])};
    edges[2] = {2 * (w[1] * w[3] + w[0] * w[2]), 2 * (w[2] * w[3] - w[0] * w[1]), 1 - 2 * (w[1] * w[1] + w[2] * w[2])};
    for (auto& edge : edges)
        for (double& part : edge) part = scale * (part + 0.2 * uniform(random));
    const double jacobian = edges[0][0] * cross(edges, 0, 0, -1) + edges[0][1] * cross(edges, 0, 1, -1) + edges[0][2] * cross(edges, 0, 2, -1);
    Gradients g;
    for (std::size_t a = 0; a < 3; ++a)
        for (std::size_t x = 0; x < 3; ++x) g[a][x] = cross(edges, a, x, -1) / jacobian;
    return g;
}

// Sums of absolute values that pass through one right-hand side, whichever form computes it, in units of its rounding errors.
double magnitude(bool maxwell, const Derivatives& sums, const Gradients& g) {
    Gradients size = g;
    for (auto& row : size)
        for (double& part : row) part = std::abs(part);
    double largest = 0;
    if (!maxwell) {
        double divergence = 0;
        for (std::size_t i = 0; i < 3; ++i) {
            divergence += along(sums, size, i, 1 + i);
            largest = std::max(largest, along(sums, size, i, 0));
        }
        return std::max(largest, divergence);
    }
    // Covariant: tangents x_a / J are cross products whose terms may cancel, and J their division by a determinant of condition `kappa`.
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
void repeat(HostArray& array, std::int64_t words, std::int64_t period, std::int64_t elements) {
    Real* const data = array.values<Real>().data();
#pragma omp parallel for schedule(static)
    for (std::int64_t k = period; k < elements; ++k)
        std::memcpy(data + k * words, data + (k % period) * words, static_cast<std::size_t>(words) * sizeof(Real));
}

// Largest magnitude over the first `period` elements.
template <typename Real>
double largest_magnitude(const Shape& shape, const Real* q, const Real* geometry, std::int64_t period) {
    const ReferenceElement& element = shape.reference();
    double largest = 0;
#pragma omp parallel for schedule(static) reduction(max : largest)
    for (std::int64_t k = 0; k < period; ++k)
        for (int n = 0; n < shape.nodes; ++n) {
            const Derivatives sums = derivatives_at(shape, element, q + k * shape.words(), n, [](double value) { return std::abs(value); });
            largest = std::max(largest, magnitude(shape.maxwell(), sums, gradients_of(geometry + 9 * k)));
        }
    return largest;
}

// A prime such that the reference answer of that many elements takes a few hundredths of a second.
std::int64_t data_sets(int nodes, std::int64_t elements) {
    const std::int64_t wanted = nodes <= 56 ? 509 : nodes <= 120 ? 127 : 61;
    return std::min(wanted, elements);
}

template <typename Real>
Workload make(const Problem& problem, std::uint64_t seed) {
    const Shape shape(problem);
    const std::int64_t elements = problem.integer("elements");
    const std::int64_t period = data_sets(shape.nodes, elements);
    const Precision precision = problem.precision();
    Workload result;
    result.arrays.emplace_back(precision, elements * shape.words());
    result.arrays.emplace_back(precision, elements * 9);
    result.arrays.emplace_back(precision, elements * shape.words());
    std::mt19937_64 random(seed);
    std::uniform_real_distribution<double> uniform(-1, 1);
    Real* const q = result.arrays[0].values<Real>().data();
    Real* const geometry = result.arrays[1].values<Real>().data();
    for (std::int64_t i = 0; i < period * shape.words(); ++i) q[i] = static_cast<Real>(uniform(random));
    for (std::int64_t k = 0; k < period; ++k) {
        const Gradients g = random_tetrahedron(random);
        for (std::size_t a = 0; a < 3; ++a)
            for (std::size_t x = 0; x < 3; ++x) geometry[9 * k + static_cast<std::int64_t>(3 * a + x)] = static_cast<Real>(g[a][x]);
    }
    result.expected.resize(3);
    result.expected[2] = HostArray(precision, elements * shape.words());
    const std::array<void*, 3> arrays{q, geometry, result.expected[2].data()};
    run<Real>(shape, arrays, 0, period);
    const double largest = largest_magnitude(shape, q, geometry, period);
    repeat<Real>(result.arrays[0], shape.words(), period, elements);
    repeat<Real>(result.arrays[1], 9, period, elements);
    repeat<Real>(result.expected[2], shape.words(), period, elements);
    const auto out = result.arrays[2].values<Real>();
    std::fill(out.begin(), out.end(), std::numeric_limits<Real>::quiet_NaN());
    // Rounding errors of a sum of n products grow like 8 sqrt(n) u at most, but for a probability of 2 exp(-32) (Higham & Mary, SIAM J. Sci.
    // Comput. 41, 2019), and like n u at worst; n counts the products, the metric's dozen roundings before and after, and the operator's own.
    const double n = 2.0 * shape.nodes + 24;
    const double roundoff = static_cast<double>(std::numeric_limits<Real>::epsilon()) / 2;
    result.tolerance = std::min(n, 8 * std::sqrt(n)) * roundoff * largest;
    result.tolerance_reason =
        fmt::format("min(n, 8 sqrt n) u S with n = {} roundings, u = {:.3g}, S = {:.4g} the largest sum of |metric| |D| |q|", n, roundoff, largest);
    return result;
}

}  // namespace

void reference(const Problem& problem, std::span<void* const> arrays, std::int64_t first, std::int64_t last) {
    const Shape shape(problem);
    problem.precision() == Precision::f32 ? run<float>(shape, arrays, first, last) : run<double>(shape, arrays, first, last);
}

Workload workload(const Problem& problem, std::uint64_t seed) {
    return problem.precision() == Precision::f32 ? make<float>(problem, seed) : make<double>(problem, seed);
}

}  // namespace hone::dg
