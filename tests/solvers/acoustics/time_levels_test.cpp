#include "solvers/acoustics/time_levels.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "foundation/error.hpp"
#include "generator/families/built_in_families.hpp"
#include "runtime/cpu/cpu_backend.hpp"
#include "runtime/ranks/thread_ranks.hpp"
#include "solvers/acoustics/wave_grid.hpp"
#include "tests/support/places.hpp"

namespace hone::solvers::seismic::time_levels_test {
namespace {

TEST(TimeLevels, RowsBesideAPassReachWhatTheSourceAndReceiversNeed) {
    // Two steps whose reach is 3: what the source adds after the first one goes 3 rows far in the
    // second.
    EXPECT_EQ(rows_beside(2, 3, 100, 50, {}), (std::vector<Rows>{{44, 57}, {47, 54}}));
    // Receivers listen after the first step; after the second one the pass has all rows.
    EXPECT_EQ(rows_beside(2, 3, 100, 50, {20, 60}), (std::vector<Rows>{{20, 61}, {47, 54}}));
    // Nothing lies beyond the grid.
    EXPECT_EQ(rows_beside(3, 3, 20, 2, {4}), (std::vector<Rows>{{0, 15}, {0, 12}, {0, 9}}));
    EXPECT_EQ(rows_beside(1, 3, 20, 2, {7}), (std::vector<Rows>{{2, 3}}));
}

Model small_model(int dimension = 2) {
    return homogeneous_model(dimension, {60, 50, dimension == 3 ? 40 : 1}, 10, 2000, 1000);
}

TEST(TimeLevels, OrderAndSizeBoundThem) {
    EXPECT_EQ(most_levels(small_model(), {.order = 4}), 4);
    EXPECT_EQ(most_levels(small_model(), {.order = 8}), 4);
    EXPECT_EQ(most_levels(small_model(), {.order = 16}), 2);
    EXPECT_EQ(most_levels(small_model(), {.order = 8, .kernels = "sweeps"}), 1);
    EXPECT_EQ(most_levels(homogeneous_model(3, {60, 60, 16}, 10, 2000, 1000), {.order = 8}), 2);
    EXPECT_EQ(most_levels(homogeneous_model(2, {60, 16, 1}, 10, 2000, 1000), {.order = 8}), 2);
    EXPECT_THROW(WaveGrid::problem(small_model(), {.order = 16, .levels = 3}, "step"), Error);
}

class TimeLevelsOnCpu : public ::testing::Test {
  protected:
    void SetUp() override {
        if (const std::string missing = backend_->compiler().missing(); !missing.empty()) GTEST_SKIP() << missing;
    }

    // A problem takes so many nanoseconds for each of a thousand points.
    void add(Database& database, const Problem& problem, double nanoseconds) const {
        const Family& family = built_in_families().of(problem);
        Record record{problem, family.space(problem, backend_->device().limits).safe(), backend_->device().fingerprint};
        record.counts = family.counts(problem);
        record.step.median = record.step.low = record.step.high = record.step.minimum = nanoseconds * 1e-12 * record.counts.updates;
        record.step.samples = 3;
        record.verification_error = 0;
        record.date = "2026-11-21T00:00:00Z";
        database.add(record);
    }

    // A database with time steps of so many levels.
    Database measured(const Model& model, const WaveSettings& settings, const std::vector<std::pair<int, double>>& nanoseconds) const {
        Database database(built_in_families());
        for (const auto& [levels, cost] : nanoseconds) {
            WaveSettings with = settings;
            with.levels = levels;
            add(database, WaveGrid::problem(model, with, "step"), cost);
        }
        return database;
    }

    DiskCache cache_{test::kernel_cache_folder()};
    std::unique_ptr<Backend> backend_ = make_cpu_backend(0, cache_);
    std::uint64_t seed_ = std::random_device{}();
    std::mt19937_64 random_{seed_};
};

TEST_F(TimeLevelsOnCpu, TheFastestAreTakenFromTheRecords) {
    const Model model = homogeneous_model(2, {60, 4000, 1}, 10, 2000, 1000);
    const WaveSettings settings{.order = 4};
    const Survey survey{{10}, {30, 5, 0}, {{3, 8, 0}}};
    const auto fastest = [&](const std::vector<std::pair<int, double>>& known) {
        return fastest_levels(measured(model, settings, known), *backend_, model, settings, survey);
    };
    EXPECT_EQ(fastest({}), 1);
    EXPECT_EQ(fastest({{2, 10}}), 1) << "what a single step takes is not known";
    EXPECT_EQ(fastest({{1, 30}, {2, 20}, {3, 18}, {4, 19}}), 3);
    EXPECT_EQ(fastest({{1, 30}, {2, 31}}), 1);
    // Receivers everywhere: all rows of all steps but the last are computed beside.
    const Survey deep{{10}, {30, 5, 0}, {{3, 8, 0}, {3, 3990, 0}}};
    EXPECT_EQ(fastest_levels(measured(model, settings, {{1, 30}, {2, 20}}), *backend_, model, settings, deep), 1);
}

TEST_F(TimeLevelsOnCpu, SweepsAreTakenWhereTheRecordsKnowThatBothTogetherAreFaster) {
    const Model model = small_model(3);
    const WaveSettings settings{.order = 16};
    const auto fastest = [&](const std::vector<std::pair<std::string, double>>& known) {
        Database database(built_in_families());
        for (const auto& [kernel, cost] : known) add(database, WaveGrid::problem(model, settings, kernel), cost);
        return fastest_kernels(database, *backend_, model, settings);
    };
    EXPECT_EQ(fastest({}), "step");
    EXPECT_EQ(fastest({{"velocity", 10}, {"pressure", 6}}), "step") << "what a step in one pass takes is not known";
    EXPECT_EQ(fastest({{"step", 20}, {"velocity", 10}}), "step") << "what a sweep takes is not known";
    EXPECT_EQ(fastest({{"step", 20}, {"velocity", 10}, {"pressure", 6}}), "sweeps");
    EXPECT_EQ(fastest({{"step", 15}, {"velocity", 10}, {"pressure", 6}}), "step");
}

// What the first rank's records say counts on all, and never more levels than ranks have layers
// for.
TEST_F(TimeLevelsOnCpu, AllRanksTakeWhatTheFirstOnesRecordsSay) {
    const Model model = homogeneous_model(2, {60, 4000, 1}, 10, 2000, 1000);
    const WaveSettings settings{.order = 4};
    const Survey survey{{10}, {30, 5, 0}, {{3, 8, 0}}};
    const Database known = measured(model, settings, {{1, 30}, {2, 20}, {3, 18}, {4, 19}}), nothing(built_in_families());
    Database of_sweeps(built_in_families());
    const Model solid = small_model(3);
    for (const auto& [kernel, cost] : {std::pair("step", 20.0), std::pair("velocity", 10.0), std::pair("pressure", 6.0)})
        add(of_sweeps, WaveGrid::problem(solid, {.order = 16}, kernel), cost);
    run_thread_ranks(3, [&](Communicator& ranks) {
        const bool first = ranks.rank() == 0;
        EXPECT_EQ(fastest_levels(ranks, first ? known : nothing, *backend_, model, settings, survey), 3);
        EXPECT_EQ(fastest_levels(ranks, first ? nothing : known, *backend_, model, settings, survey), 1);
        WaveSettings seldom = settings;
        seldom.exchange_every = 2;
        EXPECT_EQ(fastest_levels(ranks, known, *backend_, model, seldom, survey), 1);
        EXPECT_EQ(fastest_kernels(ranks, first ? of_sweeps : nothing, *backend_, solid, {.order = 16}), "sweeps");
        EXPECT_EQ(fastest_kernels(ranks, first ? nothing : of_sweeps, *backend_, solid, {.order = 16}), "step");
    });
    const Model flat = homogeneous_model(2, {60, 120, 1}, 10, 2000, 1000);
    WaveSettings two = settings;
    two.layer = 1;
    const Database of_flat = measured(flat, two, {{1, 30}, {4, 1}});
    const Survey shallow{{10}, {30, 5, 0}, {{3, 5, 0}}};
    const int alone = fastest_levels(of_flat, *backend_, flat, two, shallow);
    ASSERT_GT(alone, 1);
    WaveSettings with = two;
    with.levels = alone;
    const int most = WaveSolver::most_ranks(flat, with);
    run_thread_ranks(most + 1, [&](Communicator& ranks) {
        const int levels = fastest_levels(ranks, of_flat, *backend_, flat, two, shallow);
        EXPECT_LT(levels, alone);
        WaveSettings fewer = two;
        fewer.levels = levels;
        EXPECT_GE(WaveSolver::most_ranks(flat, fewer), ranks.size());
    });
}

TEST_F(TimeLevelsOnCpu, WhatIsTunedIsWhatMayBeChosen) {
    const Model model = small_model();
    const auto names = [&](const WaveSettings& settings, bool any_kernels, bool any_levels) {
        std::vector<std::string> result;
        for (const Problem& problem : problems_to_choose_from(*backend_, model, settings, any_kernels, any_levels))
            result.push_back(fmt::format("{} {}", problem.word("kernel"), problem.integer("levels")));
        return result;
    };
    EXPECT_EQ(names({.order = 8}, false, false), (std::vector<std::string>{"step 1"}));
    EXPECT_EQ(names({.order = 8, .kernels = "sweeps"}, false, true), (std::vector<std::string>{"velocity 1", "pressure 1"}));
    EXPECT_EQ(names({.order = 8, .kernels = "auto"}, true, true),
              (std::vector<std::string>{"velocity 1", "pressure 1", "step 1", "step 2", "step 3", "step 4"}));
}

// Whatever walls there are, and with steps left over.
TEST_F(TimeLevelsOnCpu, PassesAgreeWithSingleSteps) {
    KernelLibrary library(*backend_, Database(built_in_families()), built_in_families(), [](const std::string&) {});
    std::uniform_real_distribution<float> speed(1500, 2300), density(1000, 1500);
    for (const auto& [dimension, order] : {std::pair{2, 4}, std::pair{2, random_() % 2 == 0 ? 8 : 16}, std::pair{3, 4}}) {
        Model model = homogeneous_model(dimension, {47, 43, dimension == 3 ? 21 : 1}, 10, 1, 1);
        for (float& value : model.speed) value = speed(random_);
        for (float& value : model.density) value = density(random_);
        WaveSettings settings{.order = order, .precision = "f64", .layer = 6};
        const auto any_wall = [&] { return random_() % 2 == 0 ? Wall::absorbing : Wall::rigid; };
        for (auto& axis : settings.walls) axis = {any_wall(), any_wall()};
        if (random_() % 2 == 0) settings.walls[static_cast<std::size_t>(model.depth_axis())][0] = Wall::free_surface;
        const int deep = dimension == 3 ? 1 : 0;
        const Survey survey{{40}, {20, static_cast<int>(random_() % 43), 9 * deep}, {{3, 4, 2 * deep}, {40, 30, 20 * deep}, {20, 5, 2 * deep}}};
        const int steps = dimension == 3 ? 63 : 203;
        const auto run = [&](int levels) {
            WaveSettings with = settings;
            with.levels = levels;
            WaveSolver solver(*backend_, library, model, with, survey, steps);
            solver.advance(steps / 2);
            const double energy = solver.advance_measuring_energy();
            solver.advance(steps - steps / 2 - 1);
            EXPECT_EQ(solver.steps_done(), steps);
            return std::tuple{solver.recording(), solver.pressure(), energy};
        };
        const auto [traces, pressure, energy] = run(1);
        const int levels = std::min(2 + static_cast<int>(random_() % 3), most_levels(model, settings));
        const auto [passed_traces, passed_pressure, passed_energy] = run(levels);
        const std::string what =
            fmt::format("{}D, order {}, {} levels, walls {} {} {} {}, seed {}", dimension, order, levels, to_string(settings.walls[0][0]),
                        to_string(settings.walls[0][1]), to_string(settings.walls[1][0]), to_string(settings.walls[1][1]), seed_);
        // What is recorded is rounded to single precision.
        const auto expect_near = [&](const std::vector<float>& a, const std::vector<float>& b) {
            float peak = 0, difference = 0;
            for (std::size_t i = 0; i < a.size(); ++i) {
                peak = std::max(peak, std::abs(a[i]));
                difference = std::max(difference, std::abs(a[i] - b[i]));
            }
            EXPECT_GT(peak, 0) << what;
            EXPECT_LE(difference, 1e-6F * peak) << what;
        };
        for (std::size_t r = 0; r < traces.size(); ++r) expect_near(traces[r], passed_traces[r]);
        expect_near(pressure, passed_pressure);
        EXPECT_NEAR(passed_energy / energy, 1, 1e-9) << what;
    }
}

}  // namespace
}  // namespace hone::solvers::seismic::time_levels_test
