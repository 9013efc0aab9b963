#include "solvers/multigrid_smoother/transfer_kernels.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "foundation/error.hpp"
#include "runtime/cpu/cpu_backend.hpp"
#include "tests/support/places.hpp"

namespace hone::solvers::transfer_kernels_test {
namespace {

// A field of n^3 points with zeros around them.
struct Field {
    TransferKernels::Grid grid;
    std::vector<double> words = std::vector<double>(static_cast<std::size_t>((grid.n + 2) * (grid.n + 2) * grid.pitch));

    double& at(int x, int y, int z) { return words[static_cast<std::size_t>((z * (grid.n + 2) + y) * grid.pitch + x)]; }
    template <typename Visit>
    void visit(const Visit& function) {
        for (int z = 1; z <= grid.n; ++z)
            for (int y = 1; y <= grid.n; ++y)
                for (int x = 1; x <= grid.n; ++x) function(at(x, y, z), x, y, z);
    }
};

double product(Field& a, Field& b) {
    double sum = 0;
    a.visit([&](double value, int x, int y, int z) { sum += value * b.at(x, y, z); });
    return sum;
}

class MultigridTransfer : public ::testing::Test {
  protected:
    void SetUp() override {
        if (const std::string missing = backend_->compiler().missing(); !missing.empty()) GTEST_SKIP() << missing;
    }

    Field random_field(int n, int pitch) {
        Field field{{n, pitch}};
        field.visit([&](double& value, int, int, int) { value = std::uniform_real_distribution<>(-1, 1)(random_); });
        return field;
    }

    std::random_device::result_type seed_ = std::random_device{}();
    std::mt19937_64 random_{seed_};
    DiskCache cache_{test::kernel_cache_folder()};
    std::unique_ptr<Backend> backend_ = make_cpu_backend(0, cache_);
};

TEST_F(MultigridTransfer, InterpolationIsLinearBetweenCoarsePoints) {
    const TransferKernels kernels(*backend_, Precision::f64);
    Field coarse{{3, 6}}, fine = random_field(7, 9);
    const Field before = fine;
    coarse.at(2, 1, 3) = 8;
    kernels.add_interpolated(fine.words.data(), coarse.words.data(), fine.grid, coarse.grid);
    const auto hat = [](int distance) { return std::max(0.0, 1 - std::abs(distance) / 2.0); };
    std::size_t word = 0;
    for (int z = 0; z < 9; ++z)
        for (int y = 0; y < 9; ++y)
            for (int x = 0; x < 9; ++x, ++word)
                EXPECT_NEAR(fine.words[word] - before.words[word], 8 * hat(x - 4) * hat(y - 2) * hat(z - 6), 1e-14) << x << ' ' << y << ' ' << z;
}

TEST_F(MultigridTransfer, RestrictionIsTheTransposeOfInterpolation) {
    const TransferKernels kernels(*backend_, Precision::f64);
    Field coarse = random_field(5, 8), fine = random_field(11, 13), restricted{{5, 8}}, interpolated{{11, 13}};
    kernels.restrict_to(restricted.words.data(), fine.words.data(), coarse.grid, fine.grid, false);
    kernels.add_interpolated(interpolated.words.data(), coarse.words.data(), fine.grid, coarse.grid);
    EXPECT_NEAR(product(restricted, coarse), product(fine, interpolated), 1e-11) << "seed " << seed_;
    // 125 squares with a mean of 1.1: that nothing was restricted cannot be mistaken for chance.
    EXPECT_GT(product(restricted, restricted), 1) << "seed " << seed_;
    Field mean{{5, 8}};
    kernels.restrict_to(mean.words.data(), fine.words.data(), coarse.grid, fine.grid, true);
    EXPECT_NEAR(mean.at(3, 1, 5), restricted.at(3, 1, 5) / 8, 1e-14);
}

TEST_F(MultigridTransfer, TheResidualIsTheRightHandSideLessTheOperator) {
    const TransferKernels kernels(*backend_, Precision::f64);
    Field u = random_field(4, 7), f = random_field(4, 7), residual{{4, 7}};
    u.at(0, 2, 3) = 5;  // a boundary value counts
    std::vector<double> s(27);
    for (double& value : s) value = std::uniform_real_distribution<>(-1, 1)(random_);
    kernels.residual(residual.words.data(), u.words.data(), f.words.data(), s.data(), u.grid);
    residual.visit([&](double value, int x, int y, int z) {
        double expected = f.at(x, y, z);
        for (int k = 0; k < 27; ++k) expected -= s[static_cast<std::size_t>(k)] * u.at(x + k % 3 - 1, y + k / 3 % 3 - 1, z + k / 9 - 1);
        EXPECT_NEAR(value, expected, 1e-13) << "seed " << seed_;
    });
}

TEST_F(MultigridTransfer, TheSameTextCompilesForGpus) {
    std::unique_ptr<Compiler> compiler;
    try {
        compiler = make_nvrtc_compiler("sm_90", cache_);
    } catch (const Error& error) {
        GTEST_SKIP() << error.what();
    }
    for (const Precision precision : {Precision::f32, Precision::f64}) {
        const CompileOutcome outcome = compiler->compile(TransferKernels::source(Target::cuda, precision));
        EXPECT_TRUE(outcome.ok) << outcome.failure << "\n" << outcome.code.log;
    }
}

}  // namespace
}  // namespace hone::solvers::transfer_kernels_test
