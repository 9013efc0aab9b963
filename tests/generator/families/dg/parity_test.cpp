#include "generator/families/dg/parity.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <random>
#include <vector>

namespace hone::dg_parity_test {
namespace {

using dg::Parity;

std::vector<double> random_values(int count, std::mt19937_64& random) {
    std::vector<double> values;
    values.reserve(static_cast<std::size_t>(count));
    std::uniform_real_distribution<double> any(-1, 1);
    for (int i = 0; i < count; ++i) values.push_back(any(random));
    return values;
}

// Even and odd parts of nodal values.
struct Parts {
    std::vector<double> of[2];

    Parts(const Parity& parity, const std::vector<double>& nodal) {
        for (std::size_t i = 0; i < parity.first.size(); ++i) {
            const double value = nodal[static_cast<std::size_t>(parity.first[i])];
            const double image = i < parity.second.size() ? nodal[static_cast<std::size_t>(parity.second[i])] : 0;
            of[0].push_back(value + image);
            if (i < parity.second.size()) of[1].push_back(value - image);
        }
    }
};

class DgParityOrders : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Orders, DgParityOrders, ::testing::Range(1, 11));

// What parts give, put together, is what the nodal derivatives give; of the other blocks of the
// operators nothing is left.
TEST_P(DgParityOrders, DerivativesOfPartsAreThoseOfNodes) {
    const auto seed = std::random_device{}();
    std::mt19937_64 random(seed);
    for (const Simplex simplex : {Simplex::triangle, Simplex::tetrahedron}) {
        const ReferenceElement& element = reference_element(simplex, GetParam());
        const Parity parity(element);
        ASSERT_EQ(parity.even() + parity.odd(), element.nodes());
        const std::vector<double> u = random_values(element.nodes(), random);
        const Parts parts(parity, u);
        // Of derivatives of degree N with nodes in [-1, 1], entries grow like N^2; sums of up to
        // 286 of them are rounded.
        const double allowed = 1e-13 * GetParam() * GetParam() * element.nodes();
        for (int along = 0; along < element.dimension(); ++along) {
            std::vector<double> made(u.size());
            for (const bool odd : {false, true}) {
                const bool from_odd = odd != dg::changes_parity(along);
                const int rows = odd ? parity.odd() : parity.even(), columns = from_odd ? parity.odd() : parity.even();
                for (int row = 0; row < rows; ++row) {
                    double sum = 0;
                    for (int c = 0; c < columns; ++c)
                        sum += parity.derivative(element, along, row, odd, c, from_odd) * parts.of[from_odd ? 1 : 0][static_cast<std::size_t>(c)];
                    made[static_cast<std::size_t>(parity.first[static_cast<std::size_t>(row)])] += sum;
                    if (row < parity.odd()) made[static_cast<std::size_t>(parity.second[static_cast<std::size_t>(row)])] += odd ? -sum : sum;
                    for (int c = 0; c < (from_odd ? parity.even() : parity.odd()); ++c)
                        EXPECT_NEAR(parity.derivative(element, along, row, odd, c, !from_odd), 0, allowed);
                }
            }
            for (int n = 0; n < element.nodes(); ++n) {
                double sum = 0;
                for (int m = 0; m < element.nodes(); ++m) {
                    const double r = element.derivative[0](n, m), s = element.derivative[1](n, m);
                    sum += (along == 0 ? 0.5 * (r + s) : along == 1 ? 0.5 * (r - s) : element.derivative[2](n, m)) * u[static_cast<std::size_t>(m)];
                }
                EXPECT_NEAR(made[static_cast<std::size_t>(n)], sum, allowed) << "seed " << seed << ", along " << along << ", node " << n;
            }
        }
    }
}

TEST(DgParity, RowsAndColumnsBeyondThePartsAreZero) {
    const ReferenceElement& element = reference_tetrahedron(4);
    const Parity parity(element);
    const auto one = [](int) { return 1.0; };
    EXPECT_EQ(parity.part(one, parity.even() - 1, false), 1);
    EXPECT_EQ(parity.part(one, parity.even(), false), 0);
    EXPECT_EQ(parity.part(one, parity.odd(), true), 0);
    EXPECT_EQ(parity.derivative(element, 0, 0, false, parity.even(), false), 0);
    EXPECT_EQ(parity.derivative(element, 1, 0, false, parity.odd(), true), 0);
    EXPECT_NE(parity.derivative(element, 0, 0, false, 0, false), 0);
}

}  // namespace
}  // namespace hone::dg_parity_test
