#include "generator/families/elements/reference_element.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "foundation/error.hpp"
#include "generator/families/elements/simplex_nodes.hpp"

namespace hone::reference_element_test {
namespace {

constexpr int highest_order = 10;

class ReferenceTetrahedron : public ::testing::TestWithParam<int> {
  protected:
    const ReferenceElement& element_ = reference_tetrahedron(GetParam());
};

INSTANTIATE_TEST_SUITE_P(Orders, ReferenceTetrahedron, ::testing::Range(1, highest_order + 1));

double power(double x, int exponent) {
    return exponent == 0 ? 1 : std::pow(x, exponent);
}

double monomial(const std::array<double, 3>& point, const std::array<int, 3>& exponents) {
    return power(point[0], exponents[0]) * power(point[1], exponents[1]) * power(point[2], exponents[2]);
}

double monomial_derivative(const std::array<double, 3>& point, std::array<int, 3> exponents, std::size_t along) {
    if (exponents[along] == 0) return 0;
    const int factor = exponents[along]--;
    return factor * monomial(point, exponents);
}

double frobenius(const SquareMatrix& matrix) {
    double sum = 0;
    for (const double value : matrix.values) sum += value * value;
    return std::sqrt(sum);
}

TEST_P(ReferenceTetrahedron, HasTheNodesOfItsOrderInsideInNodeOrder) {
    constexpr std::array<int, highest_order> counts{4, 10, 20, 35, 56, 84, 120, 165, 220, 286};
    const int order = GetParam();
    ASSERT_EQ(element_.nodes(), counts[static_cast<std::size_t>(order - 1)]);
    EXPECT_EQ(element_.nodes(), tetrahedron_nodes(order));
    for (const auto& [r, s, t] : element_.points) {
        EXPECT_GE(std::min({r, s, t}), -1 - 1e-12);
        EXPECT_LE(r + s + t, -1 + 1e-12);
    }
    // t outermost, then s, r innermost: each row of nodes begins at r = -1 and ends at r + s + t =
    // -1.
    std::size_t node = 0;
    for (int k = 0; k <= order; ++k)
        for (int j = 0; j <= order - k; ++j) {
            EXPECT_NEAR(element_.points[node][0], -1, 1e-12);
            for (int i = 1; i <= order - k - j; ++i) EXPECT_GT(element_.points[node + static_cast<std::size_t>(i)][0], element_.points[node][0]);
            node += static_cast<std::size_t>(order - k - j);
            EXPECT_NEAR(element_.points[node][0] + element_.points[node][1] + element_.points[node][2], -1, 1e-12);
            ++node;
        }
}

// Warp & blend puts one-dimensional Gauss-Lobatto points on every edge, so that neighbours' nodes
// meet.
TEST_P(ReferenceTetrahedron, HasLobattoPointsOnItsEdges) {
    const std::vector<double> lobatto = lobatto_points(GetParam());
    for (std::size_t i = 0; i < lobatto.size(); ++i) {
        EXPECT_NEAR(element_.points[i][0], lobatto[i], 1e-12);
        EXPECT_NEAR(element_.points[i][1], -1, 1e-12);
        EXPECT_NEAR(element_.points[i][2], -1, 1e-12);
    }
}

TEST_P(ReferenceTetrahedron, DifferentiatesMonomialsUpToItsOrderExactly) {
    const int order = GetParam();
    const auto nodes = static_cast<std::size_t>(element_.nodes());
    std::vector<double> values(nodes);
    for (int i = 0; i <= order; ++i)
        for (int j = 0; j <= order - i; ++j)
            for (int k = 0; k <= order - i - j; ++k) {
                for (std::size_t m = 0; m < nodes; ++m) values[m] = monomial(element_.points[m], {i, j, k});
                for (std::size_t along = 0; along < 3; ++along)
                    for (std::size_t n = 0; n < nodes; ++n) {
                        double sum = 0;
                        for (std::size_t m = 0; m < nodes; ++m) sum += element_.transposed[along].values[m * nodes + n] * values[m];
                        // The derivative of a monomial grows with its degree, and rounding with it.
                        const double exact = monomial_derivative(element_.points[n], {i, j, k}, along);
                        ASSERT_NEAR(sum, exact, 1e-12 * order) << i << ' ' << j << ' ' << k << " along " << along;
                    }
            }
}

TEST_P(ReferenceTetrahedron, HasDerivativesThatArePermutationsOfOneAnother) {
    auto sorted = [](const SquareMatrix& matrix) {
        std::vector<double> values = matrix.values;
        std::sort(values.begin(), values.end());
        return values;
    };
    EXPECT_EQ(sorted(element_.derivative[0]), sorted(element_.derivative[1]));
    EXPECT_EQ(sorted(element_.derivative[0]), sorted(element_.derivative[2]));
    for (std::size_t a = 0; a < 3; ++a)
        for (int n = 0; n < element_.nodes(); n += 3)
            for (int m = 0; m < element_.nodes(); m += 3) EXPECT_EQ(element_.transposed[a](m, n), element_.derivative[a](n, m));
}

// A face node's tangential derivative sees that face only, whatever the order: those zeros are
// exact, and kernels skip them.
TEST_P(ReferenceTetrahedron, HasZerosOffTheFaceForTangentialDerivatives) {
    const int order = GetParam();
    const int face_nodes = (order + 1) * (order + 2) / 2;  // on t = -1, numbered first
    for (int n = 0; n < face_nodes; ++n)
        for (int m = face_nodes; m < element_.nodes(); ++m) {
            EXPECT_EQ(element_.derivative[0](n, m), 0);
            EXPECT_EQ(element_.derivative[1](n, m), 0);
        }
    const auto zeros = std::count(element_.derivative[0].values.begin(), element_.derivative[0].values.end(), 0.0);
    const double density = 1 - static_cast<double>(zeros) / static_cast<double>(element_.derivative[0].values.size());
    EXPECT_GE(density, 0.42 - 1e-12);
    EXPECT_LE(density, 0.64);
}

// The modes are orthonormal: the mass matrix (V V^T)^-1 integrates 1 to the volume 4/3, that is
// |V^-1 1|^2 = 4/3, and only mode 0 is not 0 there.
TEST_P(ReferenceTetrahedron, HasOrthonormalModes) {
    const double constant = element_.vandermonde(0, 0);
    EXPECT_NEAR(constant * constant * 4 / 3, 1, 1e-13);
    for (int n = 0; n < element_.nodes(); ++n) EXPECT_NEAR(element_.vandermonde(n, 0), constant, 1e-13);
}

TEST(ReferenceTetrahedronNorms, AreThePublishedOnes) {
    EXPECT_NEAR(frobenius(reference_tetrahedron(1).derivative[0]), 1.414213562, 5e-10);
    EXPECT_NEAR(frobenius(reference_tetrahedron(2).derivative[0]), 7, 1e-12);
    EXPECT_NEAR(frobenius(reference_tetrahedron(3).derivative[0]), 18.8497503, 5e-8);
}

// What holds for both simplices.
class ReferenceSimplex : public ::testing::TestWithParam<std::tuple<Simplex, int>> {
  protected:
    const ReferenceElement& element_ = reference_element(std::get<0>(GetParam()), std::get<1>(GetParam()));

    std::size_t dimension() const { return static_cast<std::size_t>(element_.dimension()); }

    // Barycentric coordinate v of node n: affine, 1 at vertex v and 0 at the others.
    double barycentric(std::size_t v, int n) const {
        const auto& point = element_.points[static_cast<std::size_t>(n)];
        if (v > 0) return (1 + point[v - 1]) / 2;
        double rest = 1;
        for (std::size_t i = 0; i < dimension(); ++i) rest -= (1 + point[i]) / 2;
        return rest;
    }
};
INSTANTIATE_TEST_SUITE_P(Orders, ReferenceSimplex,
                         ::testing::Combine(::testing::Values(Simplex::triangle, Simplex::tetrahedron), ::testing::Range(1, highest_order + 1)));

// Integral of a product of powers of barycentric coordinates over a simplex of a volume: d! volume
// times the factorials over (sum + d)!.
double integral(const std::vector<int>& exponents, double volume) {
    int sum = static_cast<int>(exponents.size()) - 1;
    double result = volume * std::tgamma(sum + 1);
    for (const int e : exponents) {
        result *= std::tgamma(e + 1);
        sum += e;
    }
    return result / std::tgamma(sum + 1);
}

TEST_P(ReferenceSimplex, HasNodesWithinAndLobattoPointsOnItsEdges) {
    EXPECT_EQ(element_.nodes(), dimension() == 2 ? triangle_nodes(element_.order) : tetrahedron_nodes(element_.order));
    const std::vector<double> lobatto = lobatto_points(element_.order);
    int on_edges = 0;
    for (int n = 0; n < element_.nodes(); ++n) {
        std::vector<double> inside;
        for (std::size_t v = 0; v <= dimension(); ++v) {
            const double l = barycentric(v, n);
            EXPECT_GE(l, -1e-12);
            if (l > 1e-10) inside.push_back(l);
        }
        if (inside.size() > 2) continue;
        ++on_edges;
        const double x = inside.size() == 1 ? 1 : inside[0] - inside[1];
        EXPECT_TRUE(std::any_of(lobatto.begin(), lobatto.end(), [x](double point) { return std::abs(x - point) < 1e-12; })) << n;
    }
    const int edges = dimension() == 2 ? 3 : 6;
    EXPECT_EQ(on_edges, element_.dimension() + 1 + edges * (element_.order - 1));
}

TEST_P(ReferenceSimplex, DifferentiatesMonomialsExactly) {
    const int order = element_.order;
    ASSERT_EQ(element_.derivative.size(), dimension());
    for (int i = 0; i <= order; ++i)
        for (int j = 0; j <= order - i; ++j)
            for (std::size_t along = 0; along < 2; ++along)
                for (int n = 0; n < element_.nodes(); n += 1 + n / 20) {
                    double sum = 0;
                    for (int m = 0; m < element_.nodes(); ++m)
                        sum += element_.derivative[along](n, m) * monomial(element_.points[static_cast<std::size_t>(m)], {i, j, 0});
                    EXPECT_NEAR(sum, monomial_derivative(element_.points[static_cast<std::size_t>(n)], {i, j, 0}, along), 1e-12 * (1 + order));
                }
}

TEST_P(ReferenceSimplex, ListsTheNodesOfEachFaceInNodeOrder) {
    // The vertices of each face, as the specification orders the faces.
    const std::vector<std::vector<int>> expected = dimension() == 2 ? std::vector<std::vector<int>>{{0, 1}, {1, 2}, {0, 2}}
                                                                    : std::vector<std::vector<int>>{{0, 1, 2}, {0, 1, 3}, {1, 2, 3}, {0, 2, 3}};
    EXPECT_EQ(element_.face_vertices, expected);
    ASSERT_EQ(element_.faces(), std::ssize(expected));
    for (std::size_t f = 0; f < expected.size(); ++f) {
        const std::vector<int>& mask = element_.face_mask[f];
        EXPECT_EQ(std::ssize(mask), element_.face_nodes());
        EXPECT_TRUE(std::is_sorted(mask.begin(), mask.end()));
        for (const int n : mask)
            for (std::size_t v = 0; v <= dimension(); ++v)
                if (std::find(expected[f].begin(), expected[f].end(), static_cast<int>(v)) == expected[f].end()) {
                    EXPECT_NEAR(barycentric(v, n), 0, 1e-12);
                }
    }
}

// a M b is the integral of a b, for products of powers of barycentric coordinates of degree up to
// the order each.
TEST_P(ReferenceSimplex, HasAMassMatrixThatIntegratesProducts) {
    const double volume = dimension() == 2 ? 2 : 4.0 / 3;
    for (int i = 0; i <= element_.order; ++i)
        for (int j = 0; j <= element_.order; j += 1 + j / 3) {
            std::vector<int> exponents(dimension() + 1, 0);
            exponents[0] = i;
            exponents[dimension()] = element_.order - i;
            exponents[1] += j;
            double sum = 0;
            for (int n = 0; n < element_.nodes(); ++n)
                for (int m = 0; m < element_.nodes(); ++m)
                    sum += power(barycentric(0, n), i) * power(barycentric(dimension(), n), element_.order - i) * element_.mass(n, m) *
                           power(barycentric(1, m), j);
            EXPECT_NEAR(sum, integral(exponents, volume), 1e-13);
        }
}

// LIFT is the inverse mass matrix times the integrals over faces: a M LIFT b is the integral of a b
// over the face that b lives on.
TEST_P(ReferenceSimplex, LiftsIntegralsOverItsFaces) {
    const int face_nodes = element_.face_nodes();
    ASSERT_EQ(element_.lift.rows, element_.nodes());
    ASSERT_EQ(element_.lift.columns, element_.faces() * face_nodes);
    for (int i = 0; i <= element_.order; i += 1 + i / 3)
        for (int f = 0; f < element_.faces(); ++f) {
            const std::vector<int>& corner = element_.face_vertices[static_cast<std::size_t>(f)];
            const std::vector<int>& mask = element_.face_mask[static_cast<std::size_t>(f)];
            std::vector<double> lifted;
            for (int n = 0; n < element_.nodes(); ++n) {
                double value = 0;
                for (int j = 0; j < face_nodes; ++j)
                    value += element_.lift(n, f * face_nodes + j) *
                             power(barycentric(static_cast<std::size_t>(corner[1]), mask[static_cast<std::size_t>(j)]), element_.order);
                lifted.push_back(value);
            }
            double sum = 0;
            for (int n = 0; n < element_.nodes(); ++n)
                for (int m = 0; m < element_.nodes(); ++m)
                    sum += power(barycentric(static_cast<std::size_t>(corner[0]), n), i) * element_.mass(n, m) * lifted[static_cast<std::size_t>(m)];
            std::vector<int> exponents(corner.size(), 0);
            exponents[0] = i;
            exponents[1] = element_.order;
            EXPECT_NEAR(sum, integral(exponents, 2), 1e-11) << "face " << f;
        }
}

TEST_P(ReferenceTetrahedron, HasALiftOfFewZeros) {
    const auto zeros = std::count_if(element_.lift.values.begin(), element_.lift.values.end(), [](double value) { return std::abs(value) < 1e-12; });
    EXPECT_LE(static_cast<double>(zeros) / static_cast<double>(element_.lift.values.size()), 0.1);
}

// A polynomial of the element's order is given by its nodal values, anywhere.
TEST_P(ReferenceSimplex, BasisInterpolatesPolynomials) {
    const std::array<double, 3> point{-0.3, -0.55, dimension() == 3 ? -0.7 : 0};
    const auto polynomial = [&](const std::array<double, 3>& at) { return std::pow(0.4 * at[0] - 0.3 * at[1] + 0.2 * at[2] + 0.1, element_.order); };
    const std::vector<double> basis = basis_at(element_, point);
    double sum = 0;
    for (std::size_t n = 0; n < basis.size(); ++n) sum += basis[n] * polynomial(element_.points[n]);
    EXPECT_NEAR(sum, polynomial(point), 1e-12);
    // At corners the modes grow like N^3, and with them what rounding leaves of the mass matrix.
    const std::vector<double> own = basis_at(element_, element_.points.back());
    for (std::size_t n = 0; n < own.size(); ++n) EXPECT_NEAR(own[n], n + 1 == own.size() ? 1 : 0, 1e-10);
}

TEST(ReferenceElementOrders, OutsideOneToTenAreRefused) {
    for (const Simplex simplex : {Simplex::triangle, Simplex::tetrahedron}) {
        EXPECT_THROW(reference_element(simplex, 0), Error);
        EXPECT_THROW(reference_element(simplex, 11), Error);
    }
}

}  // namespace
}  // namespace hone::reference_element_test
