#include "generator/families/dg/parity.hpp"

#include <gtest/gtest.h>

#include <algorithm>
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

// The same under two reflections, by kinds.
TEST_P(DgParityOrders, DerivativesOfPartsOfFourKindsAreThoseOfNodes) {
    const auto seed = std::random_device{}();
    std::mt19937_64 random(seed);
    const ReferenceElement& element = reference_tetrahedron(GetParam());
    const dg::DoubleParity parity(element);
    ASSERT_EQ(parity.count(0) + parity.count(1) + parity.count(2) + parity.count(3), element.nodes());
    const std::vector<double> u = random_values(element.nodes(), random);
    const auto sign = [](int kind, int image) { return (kind & image) == 1 || (kind & image) == 2 ? -1 : 1; };
    std::vector<double> parts[4];
    for (int kind = 0; kind < 4; ++kind)
        for (int i = 0; i < parity.count(kind); ++i) {
            double part = 0;
            for (int image = 0; image < 4; ++image)
                part += sign(kind, image) * u[static_cast<std::size_t>(parity.orbit(kind, i)[static_cast<std::size_t>(image)])];
            parts[kind].push_back(part);
        }
    const double allowed = 1e-13 * GetParam() * GetParam() * element.nodes();
    for (int along = 0; along < 3; ++along) {
        std::vector<double> made(u.size());
        for (int kind = 0; kind < 4; ++kind)
            for (int row = 0; row < parity.count(kind); ++row) {
                double sum = 0;
                for (int c = 0; c < parity.count(kind ^ along); ++c)
                    sum += parity.derivative(element, along, kind, row, c) * parts[kind ^ along][static_cast<std::size_t>(c)];
                const auto& images = parity.orbit(kind, row);
                std::vector<int> seen;
                for (int image = 0; image < 4; ++image) {
                    const int node = images[static_cast<std::size_t>(image)];
                    if (std::find(seen.begin(), seen.end(), node) != seen.end()) continue;
                    seen.push_back(node);
                    made[static_cast<std::size_t>(node)] += sign(kind, image) * sum;
                }
            }
        for (int n = 0; n < element.nodes(); ++n) {
            double sum = 0;
            for (int m = 0; m < element.nodes(); ++m) {
                const double r = element.derivative[0](n, m), s = element.derivative[1](n, m), t = element.derivative[2](n, m);
                sum += (along == 0 ? 0.5 * (r + s - t) : along == 1 ? 0.5 * (r - s) : t) * u[static_cast<std::size_t>(m)];
            }
            EXPECT_NEAR(made[static_cast<std::size_t>(n)], sum, allowed) << "seed " << seed << ", along " << along << ", node " << n;
        }
    }
}

// Two faces are each other's image, and a reflection that keeps a face takes its points to its
// points.
TEST_P(DgParityOrders, PointsOfFacesHaveImages) {
    const ReferenceElement& element = reference_tetrahedron(GetParam());
    const dg::DoubleFaceParity faces(element);
    const dg::DoubleParity parity(element);
    const auto image = [&](int node, int of) {
        for (const auto& images : parity.orbits)
            for (int i = 0; i < 4; ++i)
                if (images[static_cast<std::size_t>(i)] == node) return images[static_cast<std::size_t>(i ^ of)];
        return -1;
    };
    ASSERT_EQ(faces.even() + faces.odd(), element.face_nodes());
    for (std::size_t face = 0; face < 4; ++face) {
        const auto node = [&](std::size_t of, int point) { return element.face_mask[of][static_cast<std::size_t>(point)]; };
        const int keeps = face % 2 == 0 ? 1 : 2;
        ASSERT_EQ(static_cast<int>(faces.first[face].size()), faces.even());
        ASSERT_EQ(static_cast<int>(faces.second[face].size()), faces.odd());
        for (std::size_t i = 0; i < faces.first[face].size(); ++i) {
            const int here = node(face, faces.first[face][i]);
            EXPECT_EQ(image(here, keeps), i < faces.second[face].size() ? node(face, faces.second[face][i]) : here);
            EXPECT_EQ(image(here, 3 - keeps), node((face + 2) % 4, faces.first[(face + 2) % 4][i]));
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
