#include "solvers/poisson/solver.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <omp.h>

#include <array>
#include <cmath>
#include <numeric>
#include <random>

#include "foundation/error.hpp"
#include "generator/families/built_in_families.hpp"
#include "runtime/cpu/cpu_backend.hpp"
#include "tests/support/backend_or_skip.hpp"
#include "tests/support/digits.hpp"
#include "tests/support/drawn.hpp"
#include "tests/support/fresh_random.hpp"
#include "tests/support/places.hpp"

namespace hone::solver_test {
namespace {

using namespace solvers;

// How many iterations a preconditioner takes to 1e-8.
struct Count {
    int cells;
    const char* boundary;
    Preconditioner preconditioner;
    int iterations;
};

class PoissonSolverTest : public ::testing::Test {
  protected:
    void SetUp() override {
        if (const std::string missing = backend_->compiler().missing(); !missing.empty()) GTEST_SKIP() << missing;
    }

    std::vector<double> random_cells(const PoissonSystem& system) {
        std::uniform_real_distribution<> uniform(-1, 1);
        std::vector<double> cells(static_cast<std::size_t>(system.cells()));
        for (double& value : cells) value = uniform(random_);
        return cells;
    }

    void expect_iterations(const Count& count);

    DiskCache cache_{test::kernel_cache_folder()};
    std::unique_ptr<Backend> backend_ = make_cpu_backend(0, cache_);
    KernelLibrary library_{*backend_, Database(built_in_families()), built_in_families(), [](const std::string&) {}};
    test::FreshRandom random_;
};

// Khajeh-Saeed and Perot's polynomial halves the iterations. The numbers are those of an
// independent implementation on random right-hand sides, with the walls of the dirichlet box on the
// outer faces of its cells: the value beyond is minus the one inside.
void PoissonSolverTest::expect_iterations(const Count& count) {
    const int n = count.cells;
    PoissonSystem system = PoissonSystem::laplacian("axis", count.boundary, "f64", n, n, n, 1);
    for (std::size_t c = 0; c < system.diagonal.size() && !system.singular; ++c)
        for (std::size_t at = c, axis = 0; axis < 3; ++axis, at /= static_cast<std::size_t>(n))
            for (const int wall : {0, n - 1}) system.diagonal[c] += at % static_cast<std::size_t>(n) == static_cast<std::size_t>(wall) ? 1 : 0;
    const std::string configuration = "y_block=16,z_block=16";
    PoissonSolver solver(*backend_, library_, system, {{"direction", configuration}, {"residual", configuration}});
    // One right-hand side in twenty has next to nothing of the slowest mode and takes four
    // iterations less: so always the same one.
    random_.seed(1);
    const std::vector<double> b = random_cells(system);
    std::vector<double> x(b.size(), 0.0);
    const Solve solve = solver.solve(b, x, {.preconditioner = count.preconditioner, .check_every = 25});
    EXPECT_EQ(solve.ending, Ending::converged);
    EXPECT_NEAR(solve.iterations, count.iterations, 2) << n << ' ' << count.boundary << ' ' << static_cast<int>(count.preconditioner);
    EXPECT_EQ(solve.executed % 25, 0);
    EXPECT_LT(solver.true_residual(b, x), 1.01e-8);
}

TEST_F(PoissonSolverTest, TakesTheExpectedIterations) {
    for (const Count& count : {Count{32, "dirichlet", Preconditioner::none, 119}, Count{32, "dirichlet", Preconditioner::jacobi, 118},
                               Count{32, "dirichlet", Preconditioner::polynomial, 60}})
        expect_iterations(count);
}

using SlowPoissonSolverTest = PoissonSolverTest;

TEST_F(SlowPoissonSolverTest, TakesTheExpectedIterationsOnALargerGrid) {
    for (const Count& count : {Count{64, "dirichlet", Preconditioner::none, 231}, Count{64, "dirichlet", Preconditioner::jacobi, 230},
                               Count{64, "dirichlet", Preconditioner::polynomial, 117}, Count{64, "periodic", Preconditioner::none, 184},
                               Count{64, "periodic", Preconditioner::jacobi, 184}, Count{64, "periodic", Preconditioner::polynomial, 93}})
        expect_iterations(count);
}

// The textbook's iteration on plain vectors, nothing fused: its residuals, relative to the first.
class PlainIteration {
  public:
    PlainIteration(const PoissonSystem& system, double c) : system_(system), c_(c) {}

    std::vector<double> history(const std::vector<double>& b, int iterations) const {
        std::vector<double> r = b, x(b.size(), 0.0), p(b.size(), 0.0), norms;
        double old_delta = 0;
        for (int n = 0; n < iterations; ++n) {
            const std::vector<double> z = preconditioned(r);
            const double delta = product(z, r), beta = n > 0 ? delta / old_delta : 0;
            for (std::size_t i = 0; i < p.size(); ++i) p[i] = z[i] + beta * p[i];
            const std::vector<double> w = applied(p);
            const double alpha = delta / product(p, w);
            for (std::size_t i = 0; i < p.size(); ++i) x[i] += alpha * p[i], r[i] -= alpha * w[i];
            norms.push_back(std::sqrt(product(r, r) / product(b, b)));
            old_delta = delta;
        }
        return norms;
    }

  private:
    static double product(const std::vector<double>& a, const std::vector<double>& b) {
        long double sum = 0;
        for (std::size_t i = 0; i < a.size(); ++i) sum += static_cast<long double>(a[i]) * b[i];
        return static_cast<double>(sum);
    }

    // Constant couplings, zeros beyond the grid.
    std::vector<double> applied(const std::vector<double>& p) const {
        std::vector<double> w(p.size());
        const auto at = [&](int i, int j, int k) {
            const bool inside = i >= 0 && i < system_.nx && j >= 0 && j < system_.ny && k >= 0 && k < system_.nz;
            return inside ? p[static_cast<std::size_t>((k * system_.ny + j) * system_.nx + i)] : 0;
        };
        std::size_t cell = 0;
        for (int k = 0; k < system_.nz; ++k)
            for (int j = 0; j < system_.ny; ++j)
                for (int i = 0; i < system_.nx; ++i, ++cell)
                    w[cell] = system_.diagonal[cell] * p[cell] + system_.cx[0] * (at(i - 1, j, k) + at(i + 1, j, k)) +
                              system_.cy[0] * (at(i, j - 1, k) + at(i, j + 1, k)) + system_.cz[0] * (at(i, j, k - 1) + at(i, j, k + 1));
        return w;
    }

    // c Q r - Q M Q r, Q the inverse diagonal.
    std::vector<double> preconditioned(const std::vector<double>& r) const {
        std::vector<double> scaled(r.size());
        for (std::size_t i = 0; i < r.size(); ++i) scaled[i] = r[i] / system_.diagonal[i];
        std::vector<double> z = applied(scaled);
        for (std::size_t i = 0; i < r.size(); ++i) z[i] = c_ * scaled[i] - z[i] / system_.diagonal[i];
        return z;
    }

    const PoissonSystem& system_;
    double c_;
};

TEST_F(PoissonSolverTest, ResidualsAreThoseOfThePlainIteration) {
    PoissonSystem system = PoissonSystem::laplacian("axis", "dirichlet", "f64", 11, 14, 9, 0.5);
    // A diagonal that varies, so that the preconditioner is no mere scaling.
    std::uniform_real_distribution<> more(1, 1.5);
    for (double& value : system.diagonal) value *= more(random_);
    const std::vector<double> b = random_cells(system);
    std::vector<double> x(b.size(), 0.0);
    PoissonSolver solver(*backend_, library_, system);
    const Solve solve = solver.solve(b, x, {.tolerance = 0, .most_iterations = 15, .check_every = 4});
    const std::vector<double> plain = PlainIteration(system, 2.05).history(b, 15);
    ASSERT_EQ(solve.history.size(), plain.size());
    // Roundings grow with the iterations, about as fast as the residual falls.
    for (std::size_t n = 0; n < plain.size(); ++n) EXPECT_NEAR(solve.history[n] / plain[n], 1, 1e-10) << "iteration " << n + 1;
    EXPECT_LT(plain.back(), 1e-3);
}

// The field is then made on the device: of more words here than it is given to begin with.
TEST_F(PoissonSolverTest, OneWordForTheDiagonalIsTheSameAsOnePerCell) {
    PoissonSystem system = PoissonSystem::laplacian("axis", "dirichlet", "f64", 45, 37, 47, 1);
    const std::vector<double> b = random_cells(system);
    std::vector<double> of_field(b.size(), 0.0), of_word = of_field;
    PoissonSolver with_field(*backend_, library_, system);
    const Solve expected = with_field.solve(b, of_field, {.most_iterations = 20});
    system.diagonal = {6};
    PoissonSolver with_word(*backend_, library_, system);
    EXPECT_EQ(with_word.solve(b, of_word, {.most_iterations = 20}).history, expected.history);
    EXPECT_EQ(of_word, of_field);
    system.diagonal.assign(2, 6);
    EXPECT_THROW(PoissonSolver(*backend_, library_, system), Error);
}

// A third boundary, coefficients of another kind with walls, and single precision: the residual is
// what counts.
TEST_F(PoissonSolverTest, SolvesWithWallsInSinglePrecision) {
    PoissonSystem system = PoissonSystem::laplacian("axis", "neumann", "f32", 20, 17, 12, 0.5);
    const auto cell = [](int i, int j, int k) { return static_cast<std::size_t>((k * 17 + j) * 20 + i); };
    // A solid column from the floor to the ceiling: its neighbours' diagonals lose the coupling.
    for (int k = 0; k < 12; ++k) {
        system.diagonal[cell(9, 8, k)] = 0;
        for (const std::size_t neighbour : {cell(8, 8, k), cell(10, 8, k), cell(9, 7, k), cell(9, 9, k)}) system.diagonal[neighbour] -= 4;
    }
    PoissonSolver solver(*backend_, library_, system);
    std::vector<double> b = random_cells(system);
    std::vector<double> x(b.size(), 0.0);
    const Solve solve = solver.solve(b, x, {.tolerance = 1e-5});
    EXPECT_EQ(solve.ending, Ending::converged);
    EXPECT_LT(solver.true_residual(b, x), 3e-5);
    for (int k = 0; k < 12; ++k) EXPECT_EQ(x[cell(9, 8, k)], 0) << "inside the wall";

    // From the solution itself there is nothing to do.
    EXPECT_LE(solver.solve(b, x, {.tolerance = 0.9}).iterations, 5);
}

// The error of the solution of -Laplace u = 3 sin sin sin falls by four when cells halve.
TEST_F(PoissonSolverTest, SolutionsAreOfSecondOrder) {
    std::vector<double> errors;
    for (const int n : {12, 24}) {
        const double h = 2 * M_PI / n;
        const PoissonSystem system = PoissonSystem::laplacian("scalar", "periodic", "f64", n, n, n, h);
        PoissonSolver solver(*backend_, library_, system);
        std::vector<double> exact(static_cast<std::size_t>(system.cells()));
        for (std::size_t c = 0; c < exact.size(); ++c) {
            const auto at = [&](std::size_t stride) { return std::sin(h * static_cast<double>(c / stride % static_cast<std::size_t>(n))); };
            exact[c] = at(1) * at(static_cast<std::size_t>(n)) * at(static_cast<std::size_t>(n * n));
        }
        std::vector<double> b = exact;
        for (double& value : b) value *= 3;
        std::vector<double> x(b.size(), 0.0);
        EXPECT_EQ(solver.solve(b, x, {.tolerance = 1e-12}).ending, Ending::converged);
        errors.push_back(0);
        for (std::size_t c = 0; c < x.size(); ++c) errors.back() = std::max(errors.back(), std::abs(x[c] - exact[c]));
    }
    EXPECT_NEAR(std::log2(errors[0] / errors[1]), 2, 0.1);
}

// Ten pairs of configurations, on one and on two threads.
TEST_F(PoissonSolverTest, NoDigitDependsOnConfigurationsOrThreads) {
    const PoissonSystem system = PoissonSystem::laplacian("scalar", "dirichlet", "f32", 37, 13, 19, 1);
    const std::vector<double> b = random_cells(system);
    const int usual = omp_get_max_threads();
    const std::array configurations{"y_block=16,z_block=8", "y_block=4,z_block=16", "y_block=8,z_block=32", "y_block=32,z_block=8"};
    std::vector<double> first;
    std::vector<double> history;
    std::vector<int> pairs(10);
    std::iota(pairs.begin(), pairs.end(), 0);
    for (const int pair : test::drawn(pairs, 4, random_)) {
        const std::string direction = configurations[static_cast<std::size_t>(pair % 4)];
        const std::string residual = configurations[static_cast<std::size_t>((pair + pair / 4) % 4)];
        omp_set_num_threads(1 + pair % 2);
        PoissonSolver solver(*backend_, library_, system, {{"direction", direction}, {"residual", residual}});
        std::vector<double> x(b.size(), 0.0);
        const Solve solve = solver.solve(b, x, {.tolerance = 1e-6});
        if (first.empty()) first = x, history = solve.history;
        EXPECT_EQ(x, first) << direction << "; " << residual << ", " << 1 + pair % 2 << " threads";
        EXPECT_EQ(solve.history, history);
    }
    omp_set_num_threads(usual);
}

TEST_F(PoissonSolverTest, WhatMayHappenIsAValue) {
    PoissonSystem system = PoissonSystem::laplacian("scalar", "dirichlet", "f64", 16, 16, 16, 1);
    std::vector<double> b = random_cells(system);
    std::vector<double> x(b.size(), 0.0);
    {
        PoissonSolver solver(*backend_, library_, system);
        const Solve cut = solver.solve(b, x, {.most_iterations = 7, .check_every = 5});
        EXPECT_EQ(cut.ending, Ending::too_many_iterations);
        EXPECT_EQ(cut.executed, 7);
        EXPECT_NEAR(solver.true_residual(b, x), cut.history.back(), 1e-12) << "x is that of the last iteration";
        const std::vector<double> nothing(b.size(), 0.0);
        std::fill(x.begin(), x.end(), 0.0);
        EXPECT_EQ(solver.solve(nothing, x, {}).ending, Ending::converged);
        std::fill(x.begin(), x.end(), 0.0);
        const Solve early = solver.solve(b, x, {.small = 0.05, .check_every = 5});
        EXPECT_EQ(early.ending, Ending::converged);
        // Values between -1 and 1 have a root mean square of 0.58.
        EXPECT_LT(early.history[static_cast<std::size_t>(early.iterations - 1)], 0.05 / 0.5);
        EXPECT_GT(early.history[static_cast<std::size_t>(early.iterations - 2)], 0.05 / 0.7);
        EXPECT_THROW(solver.solve(b, x, {.check_every = 0}), Error);
        EXPECT_THROW(solver.solve(std::vector<double>(3), x, {}), Error);
    }
    system.diagonal[0] = 1;  // no longer positive
    PoissonSolver solver(*backend_, library_, system);
    EXPECT_EQ(solver.solve(b, x, {.preconditioner = Preconditioner::jacobi}).ending, Ending::breakdown);
}

using GpuPoissonSolverTest = test::OnGpu<PoissonSolverTest>;

// The whole iteration, whose sums and scalars never leave the device, in several forms of its
// kernels.
TEST_F(GpuPoissonSolverTest, SolvesToTheDigitAsTheProcessorDoes) {
    if (!test::rounds_once()) GTEST_SKIP() << "this processor rounds a multiply-add twice";
    KernelLibrary on_gpu(*gpu_, Database(built_in_families()), built_in_families(), [](const std::string&) {});
    const PoissonSystem system = PoissonSystem::laplacian("axis", "periodic", "f64", 45, 37, 29, 1);
    const std::vector<double> b = random_cells(system);
    PoissonSolver here(*backend_, library_, system);
    std::vector<double> expected(b.size(), 0.0);
    const Solve on_processor = here.solve(b, expected, {.tolerance = 1e-6});
    for (const char* form : {"form=cells", "form=march,z_block=16,load_bytes=16,prefetch=2", "form=march,block_y=8,rows_per_thread=2",
                             "form=shared,z_block=32,load_bytes=16,prefetch=2,cache_hint=streaming", "form=shared,block_y=8,rows_per_thread=2"}) {
        PoissonSolver there(*gpu_, on_gpu, system, {{"direction", form}, {"residual", form}});
        std::vector<double> x(b.size(), 0.0);
        const Solve solve = there.solve(b, x, {.tolerance = 1e-6});
        EXPECT_EQ(solve.history, on_processor.history) << form;
        EXPECT_EQ(x, expected) << form;
    }
}

}  // namespace
}  // namespace hone::solver_test
