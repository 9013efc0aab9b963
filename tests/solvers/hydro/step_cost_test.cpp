#include "solvers/hydro/step_cost.hpp"

#include <gtest/gtest.h>
#include <omp.h>

#include <cmath>

#include "generator/families/built_in_families.hpp"
#include "solvers/hydro/run.hpp"
#include "tests/support/places.hpp"

namespace hone::solvers::hydro::step_cost_test {
namespace {

// Says the same power whenever it is asked, so that no time matters.
PowerSource constant(double watts) {
    PowerSource source{.name = "test", .detail = "test", .kind = PowerSource::Kind::watts};
    source.read = [watts] { return std::optional(watts); };
    return source;
}

class HydroStepCost : public testing::Test {
  protected:
    HydroStepCost() : of_(small()) { omp_set_num_threads(1); }
    ~HydroStepCost() override { omp_set_num_threads(usual_threads_); }

    static Discretisation small() {
        HydroProblem problem = hydro_problem("sedov", 2);
        problem.box.zones = {4, 3, 1};
        return {problem, 2, quad_box(problem.box)};
    }
    StepCost cost(const std::vector<std::optional<PowerSource>>& meters, std::optional<Partner> partner = std::nullopt) {
        KernelOperator on(*one_, library_, of_, TimeScheme::rk2_average, {.partner = std::move(partner)});
        StepCostSettings settings;
        settings.warm_up = 3, settings.steps = 6, settings.most_balancing = 20, settings.power_seconds = 0.5;
        return cost_of_steps(on, of_, TimeScheme::rk2_average, meters, settings);
    }

    int usual_threads_ = omp_get_max_threads();
    DiskCache cache_{test::kernel_cache_folder()};
    std::unique_ptr<Backend> one_ = make_backend("cpu", cache_);
    std::unique_ptr<Backend> two_ = make_backend("cpu", cache_);
    KernelLibrary library_{*one_, Database(built_in_families()), built_in_families()};
    Discretisation of_;
};

TEST_F(HydroStepCost, IsThatOfTheSameStepsWhateverTakesThem) {
    const StepCost alone = cost({});
    EXPECT_EQ(alone.step.samples, 6);
    EXPECT_GT(alone.step.median, 0);
    EXPECT_GT(alone.iterations, 1);
    EXPECT_FALSE(alone.watts()) << "no device, no power";
    KernelOperator on(*one_, library_, of_, TimeScheme::rk2_average, {});
    Stepper stepper(on, TimeScheme::rk2_average, of_.first);
    for (int i = 0; i < 9; ++i) stepper.step(10);
    EXPECT_EQ(alone.norm, norm(stepper.state().energies)) << "three steps, and six";
    EXPECT_FALSE(alone.balance);
    KernelLibrary library(*two_, Database(built_in_families()), built_in_families());
    const StepCost shared = cost({}, Partner{.backend = two_.get(), .library = &library, .period = 3});
    ASSERT_TRUE(shared.balance);
    EXPECT_NEAR(shared.norm / alone.norm, 1, 1e-11);
}

TEST_F(HydroStepCost, CountsThePowerOfAllDevicesOrOfNone) {
    const StepCost both = cost({constant(30), constant(70)});
    ASSERT_TRUE(both.watts());
    EXPECT_NEAR(*both.watts(), 100, 1e-9);
    EXPECT_NEAR(both.power[1]->watts, 70, 1e-9);
    const StepCost half = cost({constant(30), std::nullopt});
    EXPECT_TRUE(half.power[0]);
    EXPECT_FALSE(half.power[1]);
    EXPECT_FALSE(half.watts()) << "that of one device says nothing about both";
}

TEST_F(HydroStepCost, ASpeedIsMeasuredOnABoxOfItsOwn) {
    for (const int dimension : {2, 3}) {
        const double speed = measured_speed(hydro_problem("sedov", dimension), 1, TimeScheme::rk2_average, {}, *one_, library_);
        EXPECT_TRUE(std::isfinite(speed) && speed > 0) << speed;
    }
}

}  // namespace
}  // namespace hone::solvers::hydro::step_cost_test
