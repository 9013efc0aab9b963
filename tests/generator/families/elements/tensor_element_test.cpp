#include "generator/families/elements/tensor_element.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "foundation/error.hpp"

namespace hone::tensor_element_test {
namespace {

class TensorElements : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Orders, TensorElements, ::testing::Range(1, 9));

TEST_P(TensorElements, IntegratePolynomialsExactly) {
    const TensorElement& element = tensor_element(GetParam());
    ASSERT_EQ(element.points.size(), static_cast<std::size_t>(2 * GetParam()));
    for (int degree = 0; degree < 4 * GetParam(); ++degree) {  // 2k points are exact to degree 4k - 1
        double sum = 0;
        for (std::size_t q = 0; q < element.points.size(); ++q) sum += element.weights[q] * std::pow(element.points[q], degree);
        EXPECT_NEAR(sum, 1.0 / (degree + 1), 1e-14) << degree;
    }
}

TEST_P(TensorElements, ReproducePolynomialsAndTheirSlopes) {
    const TensorElement& element = tensor_element(GetParam());
    EXPECT_EQ(element.nodes.front(), 0);
    EXPECT_EQ(element.nodes.back(), 1);
    for (int degree = 0; degree <= GetParam(); ++degree)
        for (int q = 0; q < 2 * GetParam(); ++q) {
            double value = 0;
            double slope = 0;
            for (int i = 0; i <= GetParam(); ++i) {
                const double at_node = std::pow(element.nodes[static_cast<std::size_t>(i)], degree);
                value += element.basis(q, i) * at_node;
                slope += element.slope(q, i) * at_node;
            }
            const double x = element.points[static_cast<std::size_t>(q)];
            EXPECT_NEAR(value, std::pow(x, degree), 1e-13);
            EXPECT_NEAR(slope, degree == 0 ? 0 : degree * std::pow(x, degree - 1), 1e-11);
        }
}

double binomial(int n, int k) {
    return k == 0 ? 1 : binomial(n, k - 1) * (n - k + 1) / k;
}

TEST_P(TensorElements, HaveBernsteinsPolynomials) {
    const TensorElement& element = tensor_element(GetParam());
    const int degree = GetParam() - 1;
    for (int q = 0; q < 2 * GetParam(); ++q) {
        const double x = element.points[static_cast<std::size_t>(q)];
        double sum = 0;
        for (int j = 0; j <= degree; ++j) {
            EXPECT_NEAR(element.bernstein(q, j), binomial(degree, j) * std::pow(x, j) * std::pow(1 - x, degree - j), 1e-14);
            sum += element.bernstein(q, j);
        }
        EXPECT_NEAR(sum, 1, 1e-14);
    }
}

TEST(TensorElement, OtherOrdersAreRefused) {
    EXPECT_THROW(tensor_element(0), Error);
    EXPECT_THROW(tensor_element(9), Error);
}

}  // namespace
}  // namespace hone::tensor_element_test
