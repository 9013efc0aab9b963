#include "solvers/hydro/reference.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "solvers/hydro/stepper.hpp"
#include "tests/solvers/hydro/runs.hpp"

namespace hone::solvers::hydro::reference_test {
namespace {

constexpr double tight = 1e-14;  // of conjugate gradients

TEST(HydroReference, ShortRunsGiveThePublishedNorms) {
    for (const KnownRun& known : known_runs()) {
        if (known.whole) continue;
        const Discretisation of = known_discretisation(known);
        const auto op = make_reference_operator(of, 0.5, tight);
        const RunEnd end = run_known(*op, of, known);
        // As many digits as rounding leaves after a few dozen evaluations.
        EXPECT_NEAR(end.norm / known.norm, 1, 1e-13) << known.problem << ' ' << known.dimension << "D after " << known.steps;
    }
}

// What no discretisation may change: without forces nothing moves, and the sum of all forces is
// what the walls bear.
TEST(HydroReference, UniformGasStaysAtRest) {
    for (const int dimension : {2, 3}) {
        HydroProblem problem = hydro_problem("sod", dimension);
        problem.box = {dimension, {3, 2, 2}};
        problem.density = [](const Point&) { return 2.0; };
        problem.energy = [](const Point&) { return 1.5; };
        for (const int order : {1, 2, 3}) {
            const Discretisation of(problem, order, quad_box(problem.box));
            const auto op = make_reference_operator(of, 0.5, tight);
            Stepper stepper(*op, TimeScheme::rk2_average, of.first);
            for (int i = 0; i < 3; ++i) stepper.step(1);
            const State state = stepper.state();
            for (const double v : state.velocities) EXPECT_NEAR(v, 0, 1e-12) << order;
            for (const double e : state.energies) EXPECT_NEAR(e, 1.5, 1e-12) << order;
        }
    }
}

TEST(HydroReference, AverageOfVelocitiesConservesTotalEnergy) {
    for (const auto& [name, dimension, order] : {std::tuple{"sedov", 2, 2}, {"sedov", 3, 1}, {"triple-point", 2, 1}, {"noh", 2, 3}, {"sod", 2, 4}}) {
        HydroProblem problem = hydro_problem(name, dimension);
        for (int& zones : problem.box.zones) zones = std::min(zones, 3);
        const Discretisation of(problem, order, quad_box(problem.box));
        const auto op = make_reference_operator(of, 0.5, tight);
        Stepper stepper(*op, TimeScheme::rk2_average, of.first);
        for (int i = 0; i < 20; ++i) stepper.step(1);
        EXPECT_NEAR(total_energy(of, stepper.state()) / total_energy(of, of.first), 1, 1e-12) << name << " of order " << order;
    }
}

TEST(HydroReference, MassSolveLeavesNoResidual) {
    const auto seed = std::random_device{}();
    std::mt19937_64 random(seed);
    std::uniform_real_distribution<> uniform(-1, 1);
    const Discretisation of(hydro_problem("sedov", 2), 3, quad_box({2, {5, 4, 1}}));
    const CsrMatrix& m = of.velocity_mass.matrix;
    std::vector<double> b(2 * of.nodes());
    for (double& value : b) value = uniform(random);
    std::vector<double> x(b.size(), std::nan(""));
    EXPECT_GT(reference_mass_solve(of.velocity_mass, b, x, tight), 0);
    for (std::size_t c = 0; c < 2; ++c) {
        std::vector<bool> held(of.nodes());
        for (const int node : of.velocity_mass.fixed[c]) held[static_cast<std::size_t>(node)] = true;
        for (std::size_t row = 0; row < of.nodes(); ++row) {
            double sum = 0;
            for (int i = m.row_starts[row]; i < m.row_starts[row + 1]; ++i)
                sum += m.values[static_cast<std::size_t>(i)] * x[c * of.nodes() + static_cast<std::size_t>(m.columns[static_cast<std::size_t>(i)])];
            if (held[row])
                EXPECT_EQ(x[c * of.nodes() + row], 0) << seed;
            else
                EXPECT_NEAR(sum, b[c * of.nodes() + row], 1e-11) << seed;
        }
    }
}

// The longest runs are those of kernels (kernel_operator_test.cpp), which are compared with this.
TEST(SlowHydroReference, TaylorGreenGivesThePublishedNorm) {
    const KnownRun& known = whole_run("taylor-green", 2);
    const Discretisation of = known_discretisation(known);
    const auto op = make_reference_operator(of, 0.5, 1e-8);
    const RunEnd end = run_known(*op, of, known);
    EXPECT_EQ(end.clock.steps, known.steps);
    EXPECT_NEAR(end.norm / known.norm, 1, 1e-9);
}

}  // namespace
}  // namespace hone::solvers::hydro::reference_test
