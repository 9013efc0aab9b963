#include "solvers/hydro/kernel_operator.hpp"

#include <gtest/gtest.h>
#include <omp.h>

#include <cmath>

#include "generator/families/built_in_families.hpp"
#include "runtime/ranks/thread_ranks.hpp"
#include "solvers/hydro/reference.hpp"
#include "tests/solvers/hydro/runs.hpp"
#include "tests/support/backend_test.hpp"
#include "tests/support/drawn.hpp"
#include "tests/support/fresh_random.hpp"
#include "tests/support/places.hpp"

namespace hone::solvers::hydro::kernel_operator_test {
namespace {

// With kernels as they are without records. One thread: steps of small meshes are shorter than what
// a barrier takes on a busy machine.
class HydroKernels : public test::BackendTest {
  protected:
    void SetUp() override {
        BackendTest::SetUp();
        omp_set_num_threads(1);
        if (!IsSkipped()) library_ = std::make_unique<KernelLibrary>(backend(), Database(built_in_families()), built_in_families());
    }
    void TearDown() override { omp_set_num_threads(usual_threads_); }

    // Multiplying by rows or by elements: one of both.
    KernelOperator make(const Discretisation& of, TimeScheme scheme, double tolerance = 1e-14) {
        const MassForm mass = test::drawn(std::vector{MassForm::elements, MassForm::rows}, 1, random_).front();
        return {backend(), *library_, of, scheme, {.tolerance = tolerance, .mass = mass}};
    }

    test::FreshRandom random_;

  private:
    int usual_threads_ = omp_get_max_threads();
    std::unique_ptr<KernelLibrary> library_;
};
class SlowHydroKernels : public HydroKernels {
  protected:
    // Steps exactly, and as many digits of the norm as are published: with conjugate gradients that
    // stop where those of the published runs did.
    void expect_published(const std::string& problem, int dimension) {
        const KnownRun& known = whole_run(problem, dimension);
        const Discretisation of = known_discretisation(known);
        KernelOperator on = make(of, TimeScheme::rk4, 1e-8);
        const RunEnd end = run_known(on, of, known);
        EXPECT_EQ(end.clock.steps, known.steps);
        EXPECT_NEAR(end.norm / known.norm, 1, 1e-9);
    }
};

TEST_P(HydroKernels, ShortRunsGiveThePublishedNorms) {
    for (const KnownRun& known : known_runs()) {
        if (known.whole) continue;
        const Discretisation of = known_discretisation(known);
        KernelOperator on = make(of, TimeScheme::rk4);
        const RunEnd end = run_known(on, of, known);
        EXPECT_NEAR(end.norm / known.norm, 1, 1e-13) << known.problem << ' ' << known.dimension << "D after " << known.steps;
    }
}

void expect_near(const std::vector<double>& found, const std::vector<double>& wanted, const std::string& what) {
    double most = 0;
    double error = 0;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        most = std::max(most, std::abs(wanted[i]));
        error = std::max(error, std::abs(found[i] - wanted[i]));
    }
    EXPECT_LE(error, 1e-11 * most) << what;
}

TEST_P(HydroKernels, StepsAreThoseOfPlainLoops) {
    const std::vector<std::pair<const char*, TimeScheme>> runs{
        {"triple-point", TimeScheme::rk2_average}, {"taylor-green", TimeScheme::rk4}, {"noh", TimeScheme::rk2_average}};
    for (const auto& [name, scheme] : test::drawn(runs, 1, random_)) {
        HydroProblem problem = hydro_problem(name, 2);
        problem.box.zones = {7, 4, 1};
        const Discretisation of(problem, 2, quad_box(problem.box));
        KernelOperator on = make(of, scheme);
        const auto reference = make_reference_operator(of, 0.5, 1e-14);
        Stepper mine(on, scheme, of.first);
        Stepper plain(*reference, scheme, of.first);
        for (int i = 0; i < 8; ++i) {
            mine.step(10);
            plain.step(10);
        }
        const State found = mine.state();
        const State wanted = plain.state();
        EXPECT_EQ(mine.clock().rejections, plain.clock().rejections) << name;
        EXPECT_NEAR(mine.clock().time, plain.clock().time, 1e-12 * plain.clock().time) << name;
        expect_near(found.positions, wanted.positions, std::string("positions of ") + name);
        expect_near(found.velocities, wanted.velocities, std::string("velocities of ") + name);
        expect_near(found.energies, wanted.energies, std::string("energies of ") + name);
    }
}

TEST_P(HydroKernels, AverageOfVelocitiesConservesTotalEnergy) {
    HydroProblem problem = hydro_problem("sedov", 2);
    problem.box.zones = {4, 4, 1};
    const Discretisation of(problem, 2, quad_box(problem.box));
    KernelOperator on = make(of, TimeScheme::rk2_average, 1e-12);
    Stepper stepper(on, TimeScheme::rk2_average, of.first);
    while (stepper.clock().time < 0.6) stepper.step(0.6);
    EXPECT_NEAR(total_energy(of, stepper.state()) / total_energy(of, of.first), 1, 1e-12);
}

INSTANTIATE_TEST_SUITE_P(Cpu, HydroKernels, testing::Values("cpu"));
INSTANTIATE_TEST_SUITE_P(Gpu, HydroKernels, testing::Values("cuda"));
INSTANTIATE_TEST_SUITE_P(Cpu, SlowHydroKernels, testing::Values("cpu"));

TEST_P(SlowHydroKernels, Sedov2D) {
    expect_published("sedov", 2);
}

TEST_P(SlowHydroKernels, Sedov3D) {
    expect_published("sedov", 3);
}

TEST_P(SlowHydroKernels, TriplePoint) {
    expect_published("triple-point", 2);
}

TEST_P(SlowHydroKernels, TaylorGreen2D) {
    expect_published("taylor-green", 2);
}

TEST_P(SlowHydroKernels, TaylorGreen3D) {
    expect_published("taylor-green", 3);
}

// What a run found, the next one of the same problem begins with; another one does not.
TEST(HydroBalance, BeginsWithWhatTheDatabaseHasForThisProblem) {
    DiskCache cache(test::kernel_cache_folder());
    const auto backend = make_backend("cpu", cache);
    const DeviceSide first{backend->device().fingerprint, backend->device().limits};
    DeviceSide second = first;
    second.fingerprint.name = "another device";
    HydroProblem problem = hydro_problem("sedov", 2);
    problem.box.zones = {4, 3, 1};
    const Discretisation of(problem, 2, quad_box(problem.box));
    const Problem shared = shared_problem(of, TimeScheme::rk4, Assembly::partial);
    const Family& family = built_in_families().of(shared);
    Record record{shared, family.space(shared, first.limits).safe(), first.fingerprint};
    record.purpose = "hybrid";
    record.hybrid = Hybrid{second.fingerprint, family.space(shared, second.limits).safe(), 0.625, 1, {}, {}, 0, 0};
    record.counts = family.counts(shared);
    record.step.median = record.step.low = record.step.high = record.step.minimum = 1e-3;
    record.step.samples = 3;
    record.verification_error = 0;
    record.date = "2026-11-21T00:00:00Z";
    Database database(built_in_families());
    database.add(record);
    KernelOperator::Settings settings;
    settings.partner = Partner{};
    begin_balanced(database, shared, first, second, settings);
    const std::string& result = shared.word("result");
    EXPECT_EQ(settings.configurations.at(result), record.config.key());
    EXPECT_EQ(settings.configurations.at("partner." + result), record.hybrid->partner_config.key());
    ASSERT_TRUE(settings.partner->known);
    EXPECT_EQ(settings.partner->known->share, 0.625);
    problem.box.zones = {4, 4, 1};
    KernelOperator::Settings others;
    others.partner = Partner{};
    begin_balanced(database, shared_problem(Discretisation(problem, 2, quad_box(problem.box)), TimeScheme::rk4, Assembly::partial), first, second,
                   others);
    EXPECT_TRUE(others.configurations.empty());
    EXPECT_FALSE(others.partner->known);
}

TEST(HydroBalance, TheSharedProblemIsThatOfTheWholeMeshOnAnyRank) {
    HydroProblem problem = hydro_problem("sedov", 2);
    problem.box.zones = {16, 16, 1};
    const QuadMesh mesh = quad_box(problem.box);
    const Problem whole = shared_problem(Discretisation(problem, 2, mesh), TimeScheme::rk2_average, Assembly::partial);
    run_thread_ranks(2, [&](Communicator& ranks) {
        const ZonePart part(ranks, problem, 2, mesh);
        EXPECT_LT(part.here().zones(), 256U);
        EXPECT_EQ(shared_problem(part, TimeScheme::rk2_average, Assembly::partial).key(), whole.key());
    });
}

}  // namespace
}  // namespace hone::solvers::hydro::kernel_operator_test
