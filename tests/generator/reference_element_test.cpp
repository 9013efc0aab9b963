#include "generator/reference_element.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "generator/error.hpp"

namespace hone {
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
    // t outermost, then s, r innermost: each row of nodes begins at r = -1 and ends at r + s + t = -1.
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

// Warp & blend puts one-dimensional Gauss-Lobatto points on every edge, so that neighbours' nodes meet.
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

// A face node's tangential derivative sees that face only, whatever the order: those zeros are exact, and kernels skip them.
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

// The modes are orthonormal: the mass matrix (V V^T)^-1 integrates 1 to the volume 4/3, that is |V^-1 1|^2 = 4/3, and only mode 0 is not 0 there.
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

TEST(ReferenceTetrahedronOrders, OutsideOneToTenAreRefused) {
    EXPECT_THROW(reference_tetrahedron(0), Error);
    EXPECT_THROW(reference_tetrahedron(11), Error);
}

TEST(LobattoPoints, AreTheKnownOnes) {
    const std::vector<double> points = lobatto_points(4);
    const std::array<double, 5> known{-1, -std::sqrt(3.0 / 7), 0, std::sqrt(3.0 / 7), 1};
    for (std::size_t i = 0; i < known.size(); ++i) EXPECT_NEAR(points[i], known[i], 1e-14);
}

}  // namespace
}  // namespace hone
