#include "solvers/poisson/checks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "generator/families/built_in_families.hpp"
#include "runtime/cpu/cpu_backend.hpp"
#include "runtime/ranks/thread_ranks.hpp"
#include "tests/support/places.hpp"

namespace hone::poisson_checks_test {
namespace {

using namespace solvers;
using testing::HasSubstr;

class PoissonChecks : public ::testing::Test {
  protected:
    void SetUp() override {
        if (const std::string missing = backend_->compiler().missing(); !missing.empty()) GTEST_SKIP() << missing;
    }

    std::optional<Check> order_of(const PoissonCaseSettings& settings) {
        const PoissonCase of(settings, *alone_);
        return check_order(*backend_, library_, of, of.right_hand_side, {});
    }

    DiskCache cache_{test::kernel_cache_folder()};
    std::unique_ptr<Backend> backend_ = make_cpu_backend(0, cache_);
    KernelLibrary library_{*backend_, Database(built_in_families()), built_in_families(), [](const std::string&) {}};
    std::unique_ptr<Communicator> alone_ = self_communicator();
};

TEST_F(PoissonChecks, HoldForASolutionAndForNothingElse) {
    const PoissonCase of({.size = 32, .planes = 32}, *alone_);
    PoissonSolver solver(*backend_, library_, of.system);
    std::vector<double> u(of.right_hand_side.size(), 0.0);
    const SolverSettings settings{.tolerance = 1e-9};
    solver.solve(of.right_hand_side, u, settings);
    const Check residual = check_residual(solver, of, u, settings.tolerance);
    EXPECT_TRUE(residual.good) << residual.text;
    const auto order = check_order(*backend_, library_, of, u, settings);
    ASSERT_TRUE(order);
    EXPECT_TRUE(order->good) << order->text;
    // A thousandth more at one cell.
    u[u.size() / 2] *= 1.001;
    const Check spoiled = check_residual(solver, of, u, settings.tolerance);
    EXPECT_FALSE(spoiled.good) << spoiled.text;
    u[u.size() / 2] += 0.1;
    const auto without_order = check_order(*backend_, library_, of, u, settings);
    ASSERT_TRUE(without_order);
    EXPECT_FALSE(without_order->good) << without_order->text;
    EXPECT_THAT(without_order->text, HasSubstr("largest error 1"));
}

TEST_F(PoissonChecks, TheOrderIsLeftOutWhereItCannotBeSeen) {
    EXPECT_FALSE(order_of({.precision = "f32", .size = 32, .planes = 32}));
    EXPECT_FALSE(order_of({.size = 31, .planes = 32}));
    EXPECT_FALSE(order_of({.right_hand_side = "random", .size = 32, .planes = 32}));
    EXPECT_FALSE(order_of({.size = 32, .planes = 14})) << "half of its planes are less than a chunk";
}

}  // namespace
}  // namespace hone::poisson_checks_test
