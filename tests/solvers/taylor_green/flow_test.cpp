#include "solvers/taylor_green/flow.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <omp.h>

#include <cmath>
#include <random>

#include "foundation/error.hpp"
#include "generator/families/built_in_families.hpp"
#include "runtime/cpu/cpu_backend.hpp"
#include "solvers/taylor_green/checks.hpp"
#include "solvers/taylor_green/vortex.hpp"
#include "tests/support/backend_or_skip.hpp"
#include "tests/support/places.hpp"

namespace hone::flow_test {
namespace {

using namespace solvers;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class TaylorGreen : public ::testing::Test {
  protected:
    TaylorGreen() : seed_(std::random_device{}()), random_(seed_), trace_(__FILE__, __LINE__, fmt::format("seed {}", seed_)) {}
    void SetUp() override {
        if (const std::string missing = backend_->compiler().missing(); !missing.empty()) GTEST_SKIP() << missing;
    }

    double uniform() { return std::uniform_real_distribution<>(-1, 1)(random_); }

    Velocity random_velocity(const FlowKernels::Mesh& mesh) {
        Velocity velocity{mesh.nx, mesh.ny, mesh.nz, mesh.h, {}};
        for (auto& component : velocity.component) {
            component.resize(static_cast<std::size_t>(mesh.nx * mesh.ny * mesh.nz));
            for (double& value : component) value = uniform();
        }
        return velocity;
    }

    std::random_device::result_type seed_;
    std::mt19937_64 random_;
    ::testing::ScopedTrace trace_;
    DiskCache cache_{test::kernel_cache_folder()};
    std::unique_ptr<Backend> backend_ = make_cpu_backend(0, cache_);
    KernelLibrary library_{*backend_, Database(built_in_families()), built_in_families(), [](const std::string&) {}};
};

// The exact solution of the Navier-Stokes equations, carried through the mesh by a mean flow, so
// that every term counts.
TEST_F(TaylorGreen, DriftingVorticesConvergeWithOrderTwo) {
    const Convergence decay = measure_convergence(*backend_, library_, "f64", 16);
    EXPECT_NEAR(decay.order, 2, 0.2) << decay.coarse << ' ' << decay.fine;
    EXPECT_LT(decay.fine, 0.02);
}

TEST_F(TaylorGreen, WithoutViscosityOnlyTheTimeStepChangesTheEnergy) {
    const EnergyDrift drift = measure_energy_drift(*backend_, library_, 10);
    EXPECT_LT(std::abs(drift.half_step), 1e-3);
    EXPECT_NEAR(drift.order, 3, 0.6) << drift.whole_step << ' ' << drift.half_step;
    EXPECT_LT(drift.momentum, 1e-13);
}

// The mesh's own decay: the second difference of a sine is that of the differential equation times
// (sin(h/2) / (h/2))^2.
TEST_F(TaylorGreen, StandingVorticesDecayAsTheMeshSays) {
    constexpr double viscosity = 0.1;
    constexpr int steps = 20;
    Flow flow(*backend_, library_, {.dimension = 2, .cells = 12, .viscosity = viscosity});
    flow.set(taylor_green(flow.mesh(), 0, viscosity));
    for (int step = 0; step < steps; ++step) flow.step(0.01);
    const double h = flow.mesh().h, slower = std::pow(std::sin(h / 2) / (h / 2), 2);
    // Third-order Runge-Kutta at a rate of 0.2 and a step of 0.01: (0.002)^4 / 24 a step.
    EXPECT_LT(largest_difference(flow.velocity(), taylor_green(flow.mesh(), 0.2 * slower, viscosity)), 1e-9);
    EXPECT_EQ(flow.failures(), 0);
}

// From anything at all the first stage makes a velocity without divergence, in both precisions;
// momentum is kept.
TEST_F(TaylorGreen, StepsLeaveNoDivergence) {
    for (const char* precision : {"f64", "f32"}) {
        const bool single = precision == std::string("f32");
        const double allowed = single ? 1e-5 : 1e-10;
        Flow flow(*backend_, library_, {.dimension = 3, .cells = 9, .viscosity = 0.05, .precision = precision, .divergence = allowed});
        const Velocity start = random_velocity(flow.mesh());
        flow.set(start);
        flow.step(0.05);
        const FlowSums before = sums_of(start, 0), after = sums_of(flow.velocity(), 0);
        EXPECT_GT(before.divergence, 0.1);
        // A sum of six rounded velocities of order one beside what the solver leaves.
        EXPECT_LT(after.divergence, allowed + 16 * (single ? 0x1p-24 : 0x1p-53)) << precision;
        EXPECT_LT(after.energy, before.energy);
        for (const std::size_t c : {0U, 1U, 2U}) EXPECT_NEAR(after.momentum[c], before.momentum[c], single ? 1e-5 : 1e-12);
    }
}

TEST_F(TaylorGreen, NoDigitDependsOnTheNumberOfThreads) {
    const int usual = omp_get_max_threads();
    Velocity first;
    for (const int threads : {1, 2}) {
        omp_set_num_threads(threads);
        Flow flow(*backend_, library_, {.dimension = 3, .cells = 8, .viscosity = 0.05});
        flow.set(taylor_green(flow.mesh(), 0, 0.05));
        for (int step = 0; step < 3; ++step) flow.step(0.1);
        if (threads == 1) first = flow.velocity();
        EXPECT_EQ(largest_difference(first, flow.velocity()), 0) << threads;
    }
    omp_set_num_threads(usual);
}

// The flow's kernels are looked up as all others are.
TEST_F(TaylorGreen, ItsKernelsAreLookedUp) {
    Database database(built_in_families());
    const Problem problem = built_in_families().parse_problem("staggered_flow kernel=projection precision=f64 nx=16 ny=16 nz=16 pitch=16");
    const Family& family = built_in_families().of(problem);
    const Config config = family.space(problem, backend_->device().limits).parse("y_block=4,z_block=2,vector_bytes=16");
    Record record{problem, config, backend_->device().fingerprint};
    record.counts = family.counts(problem);
    record.step.median = record.step.low = record.step.high = record.step.minimum = 1e-6;
    record.step.samples = 3;
    record.verification_error = 0;
    record.date = "2026-11-29T00:00:00Z";
    database.add(record);
    KernelLibrary library(*backend_, database, built_in_families(), [](const std::string&) {});
    const Flow flow(*backend_, library, {.dimension = 3, .cells = 16});
    EXPECT_THAT(flow.kernels(), HasSubstr("projection: exact, " + config.key()));
    EXPECT_THAT(flow.kernels(), AllOf(HasSubstr("\nmomentum:   "), Not(HasSubstr("momentum:   exact"))));
}

TEST_F(TaylorGreen, BudgetsAreTrapezoids) {
    // Dissipation 1 + t from 0 to 2: 4 in all, which trapezoids give exactly.
    std::vector<double> times{0, 0.5, 1, 1.5, 2};
    std::vector<FlowSums> history(times.size());
    for (std::size_t n = 0; n < times.size(); ++n) history[n].dissipation = 1 + times[n], history[n].energy = 10 - times[n];
    const Budget budget = energy_budget(times, history);
    EXPECT_NEAR(budget.dissipated, 4, 1e-14);
    EXPECT_NEAR(budget.lost, 2, 1e-14);
    EXPECT_NEAR(budget.uncertainty, 0, 1e-14);
    EXPECT_EQ(energy_budget({0, 1}, std::vector<FlowSums>(2)).lost, 0);
}

TEST_F(TaylorGreen, TimeStepsEndOnTime) {
    const FlowKernels::Mesh mesh{10, 10, 1, 10, 0.1, Precision::f64};
    const TimeSteps steps = time_steps(mesh, 1, 2, 0, 0.5);
    EXPECT_EQ(steps.count, 40);
    EXPECT_NEAR(steps.dt, 0.025, 1e-15);
    EXPECT_GT(time_steps(mesh, 1, 2, 1, 0.5).count, 400) << "diffusion is the tighter bound";
    EXPECT_THROW(time_steps(mesh, 1e30, 2, 0, 0.5), Error) << "more steps than a whole number holds";
}

using GpuTaylorGreen = TaylorGreen;

TEST_F(GpuTaylorGreen, FlowsAsOnTheProcessor) {
    const std::unique_ptr<Backend> gpu = test::backend_or_skip("cuda", cache_);
    if (!gpu) return;
    KernelLibrary on_gpu(*gpu, Database(built_in_families()), built_in_families(), [](const std::string&) {});
    const FlowSettings settings{.dimension = 3, .cells = 20, .viscosity = 0.02};
    Flow here(*backend_, library_, settings), there(*gpu, on_gpu, settings);
    const Velocity start = random_velocity(here.mesh());
    for (auto* flow : {&here, &there}) {
        flow->set(start);
        for (int step = 0; step < 3; ++step) flow->step(0.05);
        EXPECT_EQ(flow->failures(), 0);
    }
    // Multiply-adds may be fused differently, and the pressure is known to its tolerance.
    EXPECT_LT(largest_difference(here.velocity(), there.velocity()), 1e-7);
    EXPECT_GT(largest_difference(here.velocity(), start), 0.1);
}

}  // namespace
}  // namespace hone::flow_test
