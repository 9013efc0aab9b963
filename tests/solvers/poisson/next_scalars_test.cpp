#include "solvers/poisson/next_scalars.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
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

    std::unique_ptr<Module> compiled(const KernelSource& source) {
        const CompileOutcome outcome = backend_->compiler().compile(source);
        EXPECT_TRUE(outcome.ok) << outcome.code.log;
        return outcome.ok ? backend_->load(outcome.code) : nullptr;
    }

    // One of both kernels, on these sums of blocks.
    template <typename Real>
    static void launch(Module& module, const KernelSource& source, std::size_t step, std::vector<Real>& sums, std::vector<Real>& scalars,
                       std::vector<Real>& history) {
        void *block_sums = sums.data(), *words = scalars.data(), *last_words = history.data();
        int x = nx, y = ny, z = nz, first = 0, last = blocks;
        std::array<void*, 8> arguments{
            static_cast<void*>(&block_sums), static_cast<void*>(&words), static_cast<void*>(&last_words), &x, &y, &z, &first, &last};
        module.launch(module.entry(source.step[step].entry), {1, 1, 1}, {256, 1, 1}, 0, {}, arguments.data());
    }

    // What both kernels make of these sums of blocks, one after the other: scalars, then the
    // history.
    template <typename Real>
    std::vector<Real> results(const KernelSource& source, std::vector<Real> of_direction, std::vector<Real> of_residual, std::vector<Real> scalars) {
        const auto module = compiled(source);
        if (!module) return {};
        std::vector<Real> history(history_words, Real{7});
        launch(*module, source, 0, of_direction, scalars, history);
        launch(*module, source, 1, of_residual, scalars, history);
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
        EXPECT_EQ(expected[scalar::gamma], static_cast<Real>(gamma));
        EXPECT_EQ(expected[scalar::delta], static_cast<Real>(sum_of_blocks(wide_residual, 3, 0, cells)));
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

// Conjugate gradients for a dense matrix, with alpha and beta from the kernels: if these are right,
// as many steps as there are unknowns solve it. Products of unknowns are handed over as sums of
// blocks.
TEST_F(NextScalarsTest, SolveADenseSystemInAsManyStepsAsItHasUnknowns) {
    SCOPED_TRACE(seed_);
    constexpr std::size_t n = 6;
    constexpr double cells = double{nx} * ny * nz;
    std::uniform_real_distribution<double> uniform(-1, 1);
    using Vector = std::array<double, n>;
    std::array<Vector, n> matrix{};
    Vector solution{}, inverse_diagonal{}, b{}, x{}, z{}, p{}, product{};
    for (std::size_t i = 0; i < n; ++i) {
        solution[i] = 1 + uniform(random_);
        for (std::size_t j = 0; j < i; ++j) matrix[i][j] = matrix[j][i] = uniform(random_);
        matrix[i][i] = static_cast<double>(n + i);  // above the sum of the others: positive definite
        inverse_diagonal[i] = 1 / matrix[i][i];
    }
    const auto times_matrix = [&](const Vector& v) {
        Vector result{};
        for (std::size_t i = 0; i < n; ++i)
            for (std::size_t j = 0; j < n; ++j) result[i] += matrix[i][j] * v[j];
        return result;
    };
    b = times_matrix(solution);
    Vector r = b;

    const KernelSource source = NextScalars::source(Target::cpu, Precision::f64);
    const auto module = compiled(source);
    ASSERT_TRUE(module);
    std::vector<double> scalars(scalar::words, 0.0), history(history_words, 0.0);
    scalars[scalar::mean_weight] = cells / n;
    const auto residual_half = [&] {
        std::vector<double> sums(std::size_t{3} * blocks, 0.0);
        for (std::size_t i = 0; i < n; ++i) {
            z[i] = inverse_diagonal[i] * r[i];
            const std::size_t block = 97 * i;  // each has its own
            sums[3 * block] = z[i] * r[i] / cells_per_block, sums[3 * block + 1] = r[i] * r[i] / cells_per_block,
                     sums[3 * block + 2] = r[i] / cells_per_block;
        }
        launch(*module, source, 1, sums, scalars, history);
        double square = 0, sum = 0;
        for (const double word : r) square += word * word, sum += word;
        EXPECT_NEAR(scalars[scalar::residual_square] * cells, square, 1e-13 * square);
        EXPECT_NEAR(scalars[scalar::mean] * n, sum, 1e-13 * std::sqrt(n * square));
    };
    residual_half();
    EXPECT_EQ(scalars[scalar::beta], 0) << "there is no old direction";
    for (std::size_t step = 0; step < n; ++step) {
        for (std::size_t i = 0; i < n; ++i) p[i] = z[i] + scalars[scalar::beta] * p[i];
        product = times_matrix(p);
        std::vector<double> sums(blocks, 0.0);
        for (std::size_t i = 0; i < n; ++i) sums[97 * i] = p[i] * product[i] / cells_per_block;
        launch(*module, source, 0, sums, scalars, history);
        for (std::size_t i = 0; i < n; ++i) {
            x[i] += scalars[scalar::alpha] * p[i];
            r[i] -= scalars[scalar::alpha] * product[i];
        }
        residual_half();
    }
    for (std::size_t i = 0; i < n; ++i) EXPECT_NEAR(x[i], solution[i], 1e-11) << i;
    EXPECT_EQ(scalars[scalar::iterations], n + 1);
    EXPECT_EQ(scalars[scalar::breakdown], 0);
    EXPECT_EQ(history[n], scalars[scalar::residual_square]);
    EXPECT_LT(history[n], 1e-20 * history[0]);
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
