// Sweeps and V-cycles on several ranks against themselves on one: not a digit may differ.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "foundation/error.hpp"
#include "generator/families/built_in_families.hpp"
#include "runtime/cpu/cpu_backend.hpp"
#include "runtime/ranks/thread_ranks.hpp"
#include "solvers/multigrid_smoother/smoother.hpp"
#include "tests/support/places.hpp"

namespace hone::solvers::smoother_ranks_test {
namespace {

struct Answer {
    std::vector<double> swept, cycled, residuals;
    std::array<double, 8> errors{};
    double distance = 0;
    bool operator==(const Answer&) const = default;
};

class SmootherRanks : public ::testing::Test {
  protected:
    void SetUp() override {
        if (const std::string missing = backend_->compiler().missing(); !missing.empty()) GTEST_SKIP() << missing;
    }

    Answer run(int ranks, int n, const std::string& stencil, Precision precision, int least_shared) {
        Answer answer;
        run_thread_ranks(ranks, [&](Communicator& communicator) {
            Multigrid multigrid(communicator, *backend_, library_, "trilinear", n, stencil, precision,
                                {.sweeps_before = 2, .sweeps_after = 1, .least_shared = least_shared});
            SmoothedGrid& grid = multigrid.finest();
            const auto values = [&] { return gather_on_first(communicator, std::span<const double>(grid.values(grid.u()))); };
            grid.set_source();
            for (int sweep = 0; sweep < 5; ++sweep) grid.sweep();
            const auto swept = values();
            const auto errors = grid.colour_errors();
            std::vector<double> residuals;
            for (int cycle = 0; cycle < 3; ++cycle) {
                multigrid.cycle();
                residuals.push_back(multigrid.residual());
            }
            const auto cycled = values();
            const double distance = grid.distance();
            if (communicator.rank() == 0) answer = {swept, cycled, residuals, errors, distance};
        });
        return answer;
    }

    void expect_no_digit_to_know_the_ranks(int n, const std::string& stencil, Precision precision, int least_shared,
                                           const std::vector<int>& numbers) {
        SCOPED_TRACE(fmt::format("{} points, {}, {}, grids of {} points are shared", n, stencil, to_string(precision), least_shared));
        const Answer expected = run(1, n, stencil, precision, least_shared);
        EXPECT_LT(expected.residuals[2], 0.05 * expected.residuals[0]);
        for (const int ranks : numbers) {
            const Answer found = run(ranks, n, stencil, precision, least_shared);
            EXPECT_TRUE(found.swept == expected.swept) << ranks << " ranks";
            EXPECT_TRUE(found.cycled == expected.cycled) << ranks << " ranks";
            EXPECT_EQ(found.residuals, expected.residuals) << ranks << " ranks";
            EXPECT_EQ(found.errors, expected.errors) << ranks << " ranks";
            EXPECT_EQ(found.distance, expected.distance) << ranks << " ranks";
        }
    }

    DiskCache cache_{test::kernel_cache_folder()};
    std::unique_ptr<Backend> backend_ = make_cpu_backend(0, cache_);
    KernelLibrary library_{*backend_, Database(built_in_families()), built_in_families(), [](const std::string&) {}};
};

TEST_F(SmootherRanks, NoDigitKnowsHowManyTheyAre) {
    expect_no_digit_to_know_the_ranks(23, "constant", Precision::f64, 2, {2, 3, 8});
    expect_no_digit_to_know_the_ranks(15, "symmetric", Precision::f32, 8, {4, 7});
}

using SlowSmootherRanks = SmootherRanks;

TEST_F(SlowSmootherRanks, NoDigitKnowsHowManyTheyAre) {
    for (const char* stencil : {"constant", "semi_constant", "variable", "symmetric"})
        for (const int n : {16, 23, 31, 47, 63})
            for (const int least_shared : {2, 16}) expect_no_digit_to_know_the_ranks(n, stencil, Precision::f64, least_shared, {1, 2, 3, 4, 5, 8});
}

TEST(PlaneCuts, EveryPlaneOfEveryGridHasOneRank) {
    for (int points = 4; points < 70; ++points)
        for (int ranks = 1; ranks <= points / 2; ++ranks) {
            const PlaneCuts cuts = cut_planes(points, ranks, 4);
            EXPECT_EQ(cuts.shared > 0, ranks > 1);
            for (int level = 0; level < cuts.shared; ++level) {
                std::int64_t last = 0;
                for (int rank = 0; rank < ranks; ++rank) {
                    const Slab slab = cuts.slab(level, rank);
                    EXPECT_EQ(slab.own.first, last);
                    EXPECT_EQ(slab.own.first % 2, 0);
                    EXPECT_GE(slab.layers(), 2) << points << " points, " << ranks << " ranks, level " << level;
                    EXPECT_EQ(slab.own.first, cuts.slab(0, rank).own.first >> level);
                    EXPECT_EQ(cuts.planes(level).block(rank)[2].first, slab.own.first);
                    EXPECT_EQ(2 * cuts.odd_planes(level).block(rank)[2].first, slab.own.first);
                    last = slab.own.last;
                }
                EXPECT_EQ(last, points >> level);
            }
        }
    // As many grids as are not too coarse, and as ranks have planes of.
    EXPECT_EQ(cut_planes(255, 4, 16).shared, 4);
    EXPECT_EQ(cut_planes(63, 8, 2).shared, 2);
}

TEST_F(SmootherRanks, MoreThanPairsOfPlanesAreRefused) {
    try {
        run(8, 15, "constant", Precision::f64, 16);
        FAIL();
    } catch (const Error& error) {
        EXPECT_THAT(error.what(), ::testing::HasSubstr("it cannot be cut for 8 ranks; start at most 7"));
    }
}

}  // namespace
}  // namespace hone::solvers::smoother_ranks_test
