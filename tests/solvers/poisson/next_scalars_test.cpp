#include "solvers/poisson/next_scalars.hpp"

#include <gtest/gtest.h>

#include <array>
#include <random>

#include "foundation/error.hpp"
#include "generator/families/poisson7/family.hpp"
#include "runtime/cpu/cpu_backend.hpp"
#include "runtime/cuda/nvrtc_compiler.hpp"
#include "tests/support/emulator.hpp"
#include "tests/support/places.hpp"

namespace hone::solvers::next_scalars_test {
namespace {

using namespace poisson;

// A grid whose blocks are dealt to all lanes several times, the last round not to all of them.
constexpr int nx = 70, ny = 40, nz = 8 * 600 - 3, blocks = 600;

class NextScalarsTest : public ::testing::Test {
  protected:
    void SetUp() override {
        if (const std::string missing = backend_->compiler().missing(); !missing.empty()) GTEST_SKIP() << missing;
    }

    // What both kernels make of these sums of blocks, one after the other: scalars, then the
    // history.
    template <typename Real>
    std::vector<Real> results(const KernelSource& source, std::vector<Real> of_direction, std::vector<Real> of_residual, std::vector<Real> scalars) {
        const CompileOutcome outcome = backend_->compiler().compile(source);
        EXPECT_TRUE(outcome.ok) << outcome.code.log;
        if (!outcome.ok) return {};
        const auto module = backend_->load(outcome.code);
        std::vector<Real> history(history_words, Real{7});
        const auto launch = [&](std::size_t step, std::vector<Real>& sums) {
            void *block_sums = sums.data(), *words = scalars.data(), *last_words = history.data();
            int x = nx, y = ny, z = nz, first = 0, last = blocks;
            std::array<void*, 8> arguments{
                static_cast<void*>(&block_sums), static_cast<void*>(&words), static_cast<void*>(&last_words), &x, &y, &z, &first, &last};
            module->launch(module->entry(source.step[step].entry), {1, 1, 1}, {256, 1, 1}, 0, {}, arguments.data());
        };
        launch(0, of_direction);
        launch(1, of_residual);
        scalars.insert(scalars.end(), history.begin(), history.end());
        return scalars;
    }

    template <typename Real>
    void check(Precision precision) {
        SCOPED_TRACE(seed_);
        ASSERT_EQ((nz + chunk_planes - 1) / chunk_planes * blocks_of_chunk(nx, ny), blocks);
        std::vector<Real> of_direction(blocks), of_residual(3 * blocks), scalars(scalar::words);
        for (auto* words : {&of_direction, &of_residual, &scalars})
            for (Real& word : *words) word = std::uniform_real_distribution<Real>(Real(0.1), 1)(random_);
        scalars[scalar::iterations] = 300;
        scalars[scalar::breakdown] = 0;
        const auto expected = results(NextScalars::source(Target::cpu, precision), of_direction, of_residual, scalars);
        EXPECT_TRUE(results(test::emulated(NextScalars::source(Target::cuda, precision)), of_direction, of_residual, scalars) == expected);
        const std::vector<double> wide_direction(of_direction.begin(), of_direction.end()), wide_residual(of_residual.begin(), of_residual.end());
        const double cells = double{nx} * ny * nz, gamma = sum_of_blocks(wide_direction, 1, 0, cells);
        const auto old_delta = static_cast<double>(scalars[scalar::delta]), delta = sum_of_blocks(wide_residual, 3, 0, cells);
        EXPECT_EQ(expected[scalar::gamma], static_cast<Real>(gamma));
        EXPECT_EQ(expected[scalar::alpha], static_cast<Real>(old_delta / gamma));
        EXPECT_EQ(expected[scalar::beta], static_cast<Real>(delta / old_delta));
        EXPECT_EQ(expected[scalar::delta], static_cast<Real>(delta));
        EXPECT_EQ(expected[scalar::mean],
                  static_cast<Real>(sum_of_blocks(wide_residual, 3, 2, cells) * static_cast<double>(scalars[scalar::mean_weight])));
        EXPECT_EQ(expected[scalar::iterations], 301);
        EXPECT_EQ(expected[scalar::words + 300 % history_words], expected[scalar::residual_square]);
        EXPECT_EQ(expected[scalar::residual_square], static_cast<Real>(sum_of_blocks(wide_residual, 3, 1, cells)));
        EXPECT_EQ(expected[scalar::breakdown], 0);
        for (Real& word : of_direction) word = -word;
        EXPECT_EQ(results(NextScalars::source(Target::cpu, precision), of_direction, of_residual, scalars).at(scalar::breakdown), 1);
    }

    unsigned seed_ = std::random_device{}();
    std::mt19937_64 random_{seed_};
    DiskCache cache_{test::kernel_cache_folder()};
    std::unique_ptr<Backend> backend_ = make_cpu_backend(0, cache_);
};

TEST_F(NextScalarsTest, AddUpBlocksAsTheFamilyDoes) {
    check<float>(Precision::f32);
    check<double>(Precision::f64);
}

TEST_F(NextScalarsTest, KernelsCompileForGpus) {
    std::unique_ptr<Compiler> nvrtc;
    try {
        nvrtc = make_nvrtc_compiler("sm_90", cache_);
    } catch (const Error& error) {
        GTEST_SKIP() << error.what();
    }
    for (const bool by_kernels : {false, true}) {
        const CompileOutcome outcome = nvrtc->compile(NextScalars::source(Target::cuda, Precision::f32, by_kernels));
        EXPECT_TRUE(outcome.ok) << outcome.failure << outcome.code.log;
    }
}

}  // namespace
}  // namespace hone::solvers::next_scalars_test
