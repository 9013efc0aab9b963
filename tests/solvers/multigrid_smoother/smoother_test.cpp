#include "solvers/multigrid_smoother/smoother.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "foundation/error.hpp"
#include "generator/families/built_in_families.hpp"
#include "runtime/cpu/cpu_backend.hpp"
#include "tests/support/backend_or_skip.hpp"
#include "tests/support/places.hpp"

namespace hone::solvers::smoother_test {
namespace {

class MultigridSmoother : public ::testing::Test {
  protected:
    void SetUp() override {
        if (const std::string missing = backend_->compiler().missing(); !missing.empty()) GTEST_SKIP() << missing;
    }

    DiskCache cache_{test::kernel_cache_folder()};
    std::unique_ptr<Backend> backend_ = make_cpu_backend(0, cache_);
    KernelLibrary library_{*backend_, Database(built_in_families()), built_in_families(), [](const std::string&) {}};
};

TEST_F(MultigridSmoother, SweepsFollowTheTheoryHoweverTheStencilIsWrittenDown) {
    for (const char* stencil : {"constant", "semi_constant", "variable", "symmetric"}) {
        const ModelProblem problem("trilinear", 9);
        SmoothedGrid grid(*backend_, library_, problem, stencil, Precision::f64);
        grid.set_source();
        ColourErrors theory(problem);
        for (int sweep = 0; sweep < 5; ++sweep) {
            grid.sweep();
            theory.sweep();
        }
        EXPECT_LT(grid.distance(&theory), 1e-13) << stencil;
        EXPECT_GT(grid.distance(), 0.1) << stencil;
        const auto errors = grid.colour_errors();
        for (unsigned colour = 0; colour < 8; ++colour) EXPECT_NEAR(errors[colour], theory.of(colour), 1e-13) << stencil;
    }
}

TEST_F(MultigridSmoother, VCyclesConvergeAsFastOnManyPointsAsOnFew) {
    for (const char* name : {"trilinear", "seven_point"})
        for (const int n : {7, 31}) {
            Multigrid multigrid(*backend_, library_, name, n, "constant", Precision::f64, {});
            EXPECT_EQ(multigrid.grids(), n == 7 ? 3U : 5U);
            multigrid.finest().set_source();
            // The first cycles are not like the later ones.
            for (int i = 0; i < 4; ++i) multigrid.cycle();
            const double before = multigrid.residual();
            for (int i = 0; i < 4; ++i) multigrid.cycle();
            const double factor = std::pow(multigrid.residual() / before, 1.0 / 4);
            EXPECT_LT(factor, name == std::string("trilinear") ? 0.1 : 0.3) << name << ", " << n;
            EXPECT_GT(factor, 0) << name << ", " << n;
        }
}

TEST_F(MultigridSmoother, SizesWithoutACoarseGridAreRefused) {
    EXPECT_THROW(Multigrid(*backend_, library_, "trilinear", 100, "constant", Precision::f64, {}), Error);
}

TEST(GpuMultigridSmoother, SweepsFollowTheTheoryAndVCyclesConverge) {
    DiskCache cache(test::kernel_cache_folder());
    const std::unique_ptr<Backend> backend = test::backend_or_skip("cuda", cache);
    if (!backend) return;
    KernelLibrary library(*backend, Database(built_in_families()), built_in_families(), [](const std::string&) {});
    for (const char* stencil : {"constant", "symmetric"}) {
        Multigrid multigrid(*backend, library, "trilinear", 31, stencil, Precision::f64, {});
        multigrid.finest().set_source();
        ColourErrors theory(multigrid.finest().problem());
        multigrid.finest().sweep();
        theory.sweep();
        EXPECT_LT(multigrid.finest().distance(&theory), 1e-13) << stencil;
        const double first = multigrid.residual();
        for (int i = 0; i < 6; ++i) multigrid.cycle();
        EXPECT_LT(multigrid.residual(), first * std::pow(0.1, 6)) << stencil;
    }
}

}  // namespace
}  // namespace hone::solvers::smoother_test
