#include "solvers/hydro/discretisation.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "foundation/error.hpp"

namespace hone::solvers::hydro::discretisation_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(HydroTables, QuadratureIsExactForItsDegree) {
    for (int count = 1; count <= 16; ++count) {
        const Quadrature rule = gauss_legendre(count);
        for (int degree = 0; degree < 2 * count; ++degree) {
            double sum = 0;
            for (std::size_t i = 0; i < rule.points.size(); ++i) sum += rule.weights[i] * std::pow(rule.points[i], degree);
            EXPECT_NEAR(sum, 1.0 / (degree + 1), 1e-14) << count << " points, degree " << degree;
        }
    }
}

TEST(HydroTables, BasesReproducePolynomialsAndTheirSlopes) {
    const std::vector<double> points{0, 0.1, 0.5, 0.77, 1};
    for (int order = 1; order <= 8; ++order) {
        const std::vector<double> nodes = lobatto_nodes(order);
        for (std::size_t i = 0; i < nodes.size(); ++i) EXPECT_EQ(nodes[i] + nodes[nodes.size() - 1 - i], 1);
        const Table lagrange = lagrange_table(nodes, points);
        const Table bernstein = bernstein_table(order, points);
        for (std::size_t p = 0; p < points.size(); ++p) {
            double value = 0;
            double slope = 0;
            for (std::size_t i = 0; i < nodes.size(); ++i) {
                value += std::pow(nodes[i], order) * lagrange.value(p, i);
                slope += std::pow(nodes[i], order) * lagrange.derivative(p, i);
            }
            EXPECT_NEAR(value, std::pow(points[p], order), 1e-13);
            EXPECT_NEAR(slope, order * std::pow(points[p], order - 1), 1e-11);
            // Bernstein's sum to one, and their middles i / n to x.
            double sum = 0;
            double middle = 0;
            double rise = 0;
            for (std::size_t i = 0; i < bernstein.functions; ++i) {
                EXPECT_GE(bernstein.value(p, i), 0);
                sum += bernstein.value(p, i);
                middle += static_cast<double>(i) / order * bernstein.value(p, i);
                rise += static_cast<double>(i) / order * bernstein.derivative(p, i);
            }
            EXPECT_NEAR(sum, 1, 1e-15);
            EXPECT_NEAR(middle, points[p], 1e-15);
            EXPECT_NEAR(rise, 1, 1e-13);
        }
    }
}

// Both mass matrices hold all of the gas, at every order.
TEST(HydroDiscretisation, MassIsThatOfTheGas) {
    for (const int dimension : {2, 3})
        for (int order = 1; order <= (dimension == 2 ? 5 : 3); ++order) {
            const Discretisation of(hydro_problem("triple-point", dimension), order, quad_box({dimension, {7, 2, 1}, {0, 0, 0}, {7, 3, 1.5}}));
            const double gas = (1 * 3 + 6 * 1.5 + 6 * 1.5 * 0.125) * (dimension == 2 ? 1 : 1.5);
            const auto sum = [](const std::vector<double>& words) { return std::accumulate(words.begin(), words.end(), 0.0); };
            EXPECT_NEAR(sum(of.mass), gas, 1e-12);
            EXPECT_NEAR(sum(of.velocity_mass.matrix.values), gas, 1e-12);
            EXPECT_NEAR(sum(of.energy_mass), gas, 1e-12);
            EXPECT_NEAR(of.kinetic_energy(std::vector<double>(of.first.velocities.size(), 2.0)), 2 * gas * dimension, 1e-11);
            EXPECT_NEAR(of.first_length, std::pow(21 * (dimension == 2 ? 1 : 1.5) / 14, 1.0 / dimension) / order, 1e-14);
        }
}

TEST(HydroDiscretisation, WallsHoldWhatIsAcrossThem) {
    const Discretisation of(hydro_problem("noh", 2), 3, quad_box(hydro_problem("noh", 2).box));
    for (std::size_t c = 0; c < 2; ++c) {
        EXPECT_EQ(of.velocity_mass.fixed[c].size(), 16U * 3 + 1) << "one wall of two, the other side is free";
        for (const int node : of.velocity_mass.fixed[c]) {
            EXPECT_EQ(of.first.positions[c * of.nodes() + static_cast<std::size_t>(node)], 0);
            EXPECT_EQ(of.first.velocities[c * of.nodes() + static_cast<std::size_t>(node)], 0);
        }
    }
}

// A wall holds the component along an axis, which would let gas through a slanted one.
TEST(HydroDiscretisation, SlantedWallsAreRefused) {
    for (const int dimension : {2, 3}) {
        const HydroProblem problem = hydro_problem("sedov", dimension);
        QuadMesh mesh = quad_box({dimension, {2, 2, 2}});
        mesh.vertices[0][0] = 1e-8;  // as far as files round
        EXPECT_NO_THROW(Discretisation(problem, 2, mesh));
        mesh.vertices[0][0] = 0.01;
        EXPECT_THAT([&] { Discretisation(problem, 2, mesh, "file"); },
                    ThrowsMessage<Error>(AllOf(HasSubstr("file: side 0 of the boundary from (0.01, 0"), HasSubstr("attribute 1, a wall across x"),
                                               HasSubstr("its x differs by 0.01"))));
        for (auto& side : mesh.sides) side.attribute += side.attribute == 1 ? 3 : 0;
        EXPECT_NO_THROW(Discretisation(problem, 2, mesh)) << "it moves freely";
    }
}

TEST(HydroDiscretisation, RefusesWhatDoesNotFit) {
    const QuadMesh square = quad_box({2, {2, 2, 1}});
    EXPECT_THAT([&] { Discretisation(hydro_problem("sedov", 3), 2, square); }, ThrowsMessage<Error>(HasSubstr("it has 2 dimensions, sedov has 3")));
    EXPECT_THAT([&] { Discretisation(hydro_problem("sedov", 2), 9, square); }, ThrowsMessage<Error>(HasSubstr("it is 9")));
    QuadMesh inverted = square;
    std::swap(inverted.zones[3][0], inverted.zones[3][1]);
    std::swap(inverted.zones[3][2], inverted.zones[3][3]);
    EXPECT_THAT([&] { Discretisation(hydro_problem("sedov", 2), 2, inverted, "file"); }, ThrowsMessage<Error>(HasSubstr("file: zone 3 is inverted")));
    EXPECT_THAT([] { hydro_problem("sedow", 2); }, ThrowsMessage<Error>(HasSubstr("sedov")));
}

}  // namespace
}  // namespace hone::solvers::hydro::discretisation_test
