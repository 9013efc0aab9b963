// A flow on several ranks against itself on one: not a digit may differ.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "foundation/error.hpp"
#include "generator/families/built_in_families.hpp"
#include "runtime/cpu/cpu_backend.hpp"
#include "runtime/ranks/thread_ranks.hpp"
#include "solvers/taylor_green/flow.hpp"
#include "solvers/taylor_green/vortex.hpp"
#include "tests/support/places.hpp"

namespace hone::flow_ranks_test {
namespace {

using namespace solvers;

struct Answer {
    std::array<std::vector<double>, 3> velocity;
    std::vector<double> sums;
    std::int64_t iterations = 0;
    bool operator==(const Answer&) const = default;
};

class FlowRanks : public ::testing::Test {
  protected:
    void SetUp() override {
        if (const std::string missing = backend_->compiler().missing(); !missing.empty()) GTEST_SKIP() << missing;
    }

    // From a velocity in which no two planes are alike.
    Answer run(int ranks, const FlowSettings& settings, int steps) {
        Answer answer;
        run_thread_ranks(ranks, [&](Communicator& communicator) {
            Flow flow(communicator, *backend_, library_, settings);
            const FlowKernels::Mesh& mesh = flow.mesh();
            Velocity start = taylor_green(mesh, 0, 0);
            const int beside = mesh.is_cut() ? 1 : 0;
            const auto plane = static_cast<std::size_t>(mesh.nx * mesh.ny);
            for (std::size_t c = 0; c < 3; ++c)
                for (int k = -beside; k < mesh.nz + beside; ++k) {
                    std::mt19937_64 random(seed_ + 3U * static_cast<unsigned>((mesh.first + k + mesh.all_planes) % mesh.all_planes) + c);
                    const auto first = start.component[c].begin() + static_cast<std::ptrdiff_t>(plane) * (k + beside);
                    std::for_each_n(first, plane, [&](double& word) { word += std::uniform_real_distribution<>(-0.1, 0.1)(random); });
                }
            flow.set(start);
            for (int step = 0; step < steps; ++step) flow.step(0.02);
            const Velocity end = flow.velocity();
            const FlowSums sums = sums_of(end, 0.1, communicator);
            for (std::size_t c = 0; c < 3; ++c) {
                const auto own = std::span(end.component[c]).subspan(beside > 0 ? plane : 0, end.cells());
                const std::vector<double> all = gather_on_first(communicator, std::span<const double>(own));
                if (communicator.rank() == 0) answer.velocity[c] = all;
            }
            if (communicator.rank() > 0) return;
            answer.sums = {sums.energy, sums.dissipation, sums.divergence, sums.momentum[0], sums.momentum[1], sums.momentum[2]};
            answer.iterations = flow.iterations();
        });
        return answer;
    }

    void expect_no_digit_to_know_the_ranks(const FlowSettings& settings, const std::vector<int>& numbers) {
        SCOPED_TRACE(fmt::format("{} cells, {}, seed {}", settings.cells, settings.precision, seed_));
        const Answer expected = run(1, settings, 2);
        EXPECT_LT(expected.sums[2], 10 * settings.divergence);
        EXPECT_GT(expected.sums[0], 0.1);
        for (const int ranks : numbers) {
            const Answer found = run(ranks, settings, 2);
            EXPECT_TRUE(found.velocity == expected.velocity) << ranks << " ranks";
            EXPECT_EQ(found.sums, expected.sums) << ranks << " ranks";
            EXPECT_EQ(found.iterations, expected.iterations) << ranks << " ranks";
        }
    }

    unsigned seed_ = std::random_device{}();
    DiskCache cache_{test::kernel_cache_folder()};
    std::unique_ptr<Backend> backend_ = make_cpu_backend(0, cache_);
    KernelLibrary library_{*backend_, Database(built_in_families()), built_in_families(), [](const std::string&) {}};
};

// The last of the three chunks of planes is a single plane.
TEST_F(FlowRanks, NoDigitKnowsHowManyTheyAre) {
    expect_no_digit_to_know_the_ranks({.cells = 17, .viscosity = 0.1}, {2, 3});
}

using SlowFlowRanks = FlowRanks;

TEST_F(SlowFlowRanks, NoDigitKnowsHowManyTheyAre) {
    expect_no_digit_to_know_the_ranks({.cells = 64, .viscosity = 0.1}, {1, 2, 3, 4, 8});
    expect_no_digit_to_know_the_ranks({.cells = 33, .viscosity = 0.1, .precision = "f32", .divergence = 1e-5}, {1, 2, 3, 4, 5});
}

TEST_F(FlowRanks, WhatCannotBeCutIsRefused) {
    for (const FlowSettings& settings : {FlowSettings{.dimension = 2, .cells = 32}, FlowSettings{.cells = 8}}) try {
            run(2, settings, 1);
            FAIL();
        } catch (const Error& error) {
            EXPECT_THAT(error.what(), ::testing::HasSubstr("it cannot be cut for 2 ranks; start at most 1"));
        }
}

}  // namespace
}  // namespace hone::flow_ranks_test
