// The solver on several ranks against itself on one: not a digit may differ.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <string>

#include "foundation/error.hpp"
#include "generator/families/built_in_families.hpp"
#include "runtime/cpu/cpu_backend.hpp"
#include "runtime/ranks/thread_ranks.hpp"
#include "solvers/poisson/solver.hpp"
#include "tests/support/places.hpp"

namespace hone::ranks_test {
namespace {

using namespace solvers;

// The planes of a rank of what a system knows of all.
PoissonSystem planes_of(const PoissonSystem& whole, const CellRange& planes) {
    PoissonSystem part = whole;
    part.nz = static_cast<int>(planes.cells());
    const auto in_plane = static_cast<std::size_t>(whole.nx * whole.ny);
    const auto cut = [&](std::vector<double>& words, std::size_t length) {
        const auto first = static_cast<std::size_t>(planes.first) * length, last = static_cast<std::size_t>(planes.last) * length;
        words = std::vector<double>(words.begin() + static_cast<std::ptrdiff_t>(first), words.begin() + static_cast<std::ptrdiff_t>(last));
    };
    if (whole.coefficients == "face")
        for (auto* words : {&part.cx, &part.cy}) cut(*words, in_plane);
    if (whole.coefficients != "scalar") cut(part.cz, whole.coefficients == "face" ? in_plane : 1);
    if (whole.diagonal.size() > 1) cut(part.diagonal, in_plane);
    return part;
}

struct Answer {
    std::vector<double> x, history;
    double true_residual = 0;
    bool operator==(const Answer&) const = default;
};

class PoissonRanks : public ::testing::Test {
  protected:
    void SetUp() override {
        if (const std::string missing = backend_->compiler().missing(); !missing.empty()) GTEST_SKIP() << missing;
    }

    double uniform(double low, double high) { return std::uniform_real_distribution<>(low, high)(random_); }

    // Nothing in it is alike in two planes; one cell in a hundred is solid.
    PoissonSystem random_system(const char* coefficients, const char* boundary, const char* precision, int nx, int ny, int nz) {
        PoissonSystem system = PoissonSystem::laplacian(coefficients, boundary, precision, nx, ny, nz, 1);
        for (auto* words : {&system.cx, &system.cy, &system.cz})
            for (double& word : *words) word *= uniform(0.8, 1);
        for (double& word : system.diagonal) word *= system.diagonal.size() > 1 && uniform(0, 1) < 0.01 ? 0 : uniform(1, 1.2);
        return system;
    }

    Answer alone(const PoissonSystem& system, const std::vector<double>& b, const SolverSettings& settings) {
        Answer answer{std::vector<double>(b.size(), 0.5), {}, 0};
        PoissonSolver solver(*backend_, library_, system);
        answer.history = solver.solve(b, answer.x, settings).history;
        answer.true_residual = solver.true_residual(b, answer.x);
        return answer;
    }

    Answer on_ranks(int ranks, const PoissonSystem& system, const std::vector<double>& b, const SolverSettings& settings,
                    const ExchangeSettings& exchange = {}) {
        Answer answer{std::vector<double>(b.size(), 0.5), {}, 0};
        const GridPartition partition = partition_planes(system.boundary, system.nx, system.ny, system.nz, ranks);
        run_thread_ranks(ranks, [&](Communicator& communicator) {
            const CellRange planes = partition.block(communicator.rank())[2];
            const auto in_plane = static_cast<std::size_t>(system.nx * system.ny);
            const auto first = static_cast<std::size_t>(planes.first) * in_plane, cells = static_cast<std::size_t>(planes.cells()) * in_plane;
            communicator.set_exchange_settings(exchange);
            PoissonSolver solver(communicator, partition, *backend_, library_, planes_of(system, planes));
            const std::span<const double> own_b = std::span(b).subspan(first, cells);
            const std::span<double> own_x = std::span(answer.x).subspan(first, cells);
            const Solve solve = solver.solve(own_b, own_x, settings);
            const double residual = solver.true_residual(own_b, own_x);
            if (communicator.rank() == 0) answer.history = solve.history, answer.true_residual = residual;
        });
        return answer;
    }

    void expect_no_digit_to_know_the_ranks(const char* coefficients, const char* boundary, const char* precision, int nx, int ny, int iterations) {
        SCOPED_TRACE(fmt::format("{} {} {}, seed {}", coefficients, boundary, precision, seed_));
        // The last of nine chunks of planes is thin, and a chunk has more groups than a block
        // takes.
        const PoissonSystem system = random_system(coefficients, boundary, precision, nx, ny, 65);
        std::vector<double> b(static_cast<std::size_t>(system.cells()));
        for (double& value : b) value = uniform(-1, 1);
        const SolverSettings settings{.tolerance = 0, .most_iterations = iterations, .check_every = 3};
        const Answer expected = alone(system, b, settings);
        ASSERT_EQ(std::ssize(expected.history), iterations);
        EXPECT_LT(expected.history.back(), 1);
        // With edges apart of one chunk of planes or two, of which there may be no interior left.
        const auto edges = [](EdgePlace place, int depth) { return ExchangeSettings{.edges = place, .depth = depth}; };
        for (const auto& [ranks, exchange] :
             {std::pair{1, ExchangeSettings{}}, std::pair{2, ExchangeSettings{}}, std::pair{3, ExchangeSettings{}}, std::pair{4, ExchangeSettings{}},
              std::pair{8, ExchangeSettings{}}, std::pair{2, edges(EdgePlace::ahead, 1)}, std::pair{3, edges(EdgePlace::before, 2)},
              std::pair{8, edges(EdgePlace::ahead, 2)}}) {
            SCOPED_TRACE(fmt::format("{} ranks, edges of {}: {}", ranks, exchange.depth, exchange.edges.has_value()));
            const Answer found = on_ranks(ranks, system, b, settings, exchange);
            EXPECT_EQ(found.history, expected.history);
            EXPECT_EQ(found.true_residual, expected.true_residual);
            EXPECT_TRUE(found.x == expected.x);
        }
    }

    unsigned seed_ = std::random_device{}();
    std::mt19937_64 random_{seed_};
    DiskCache cache_{test::kernel_cache_folder()};
    std::unique_ptr<Backend> backend_ = make_cpu_backend(0, cache_);
    KernelLibrary library_{*backend_, Database(built_in_families()), built_in_families(), [](const std::string&) {}};
};

TEST_F(PoissonRanks, NoDigitKnowsHowManyTheyAre) {
    expect_no_digit_to_know_the_ranks("face", "neumann", "f64", 5, 1030, 3);
    expect_no_digit_to_know_the_ranks("scalar", "periodic", "f32", 5, 1030, 3);
}

using SlowPoissonRanks = PoissonRanks;

TEST_F(SlowPoissonRanks, NoDigitKnowsHowManyTheyAre) {
    for (const char* coefficients : {"scalar", "axis", "face"})
        for (const char* boundary : {"periodic", "dirichlet", "neumann"})
            for (const char* precision : {"f32", "f64"}) expect_no_digit_to_know_the_ranks(coefficients, boundary, precision, 33, 540, 20);
}

std::string reason(const std::function<void()>& call) {
    try {
        call();
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

TEST_F(PoissonRanks, WhatDoesNotFitIsRefused) {
    EXPECT_THAT(reason([] { partition_planes("periodic", 16, 16, 64, 9); }), ::testing::HasSubstr("start at most 8"));
    const GridPartition partition = partition_planes("dirichlet", 16, 16, 64, 2);
    const PoissonSystem whole = PoissonSystem::laplacian("scalar", "dirichlet", "f64", 16, 16, 64, 1);
    EXPECT_THAT(reason([&] { run_thread_ranks(2, [&](Communicator& ranks) { PoissonSolver(ranks, partition, *backend_, library_, whole); }); }),
                ::testing::HasSubstr("its part of the grid has 16 x 16 x 32"));
    EXPECT_THAT(reason([&] { run_thread_ranks(3, [&](Communicator& ranks) { PoissonSolver(ranks, partition, *backend_, library_, whole); }); }),
                ::testing::HasSubstr("a partition for 2"));
}

}  // namespace
}  // namespace hone::ranks_test
