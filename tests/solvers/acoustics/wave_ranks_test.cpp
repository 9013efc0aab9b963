// The wave solver on several ranks against itself on one: not a digit may differ.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "foundation/error.hpp"
#include "generator/families/built_in_families.hpp"
#include "runtime/cpu/cpu_backend.hpp"
#include "runtime/ranks/thread_ranks.hpp"
#include "solvers/acoustics/time_levels.hpp"
#include "solvers/acoustics/wave_solver.hpp"
#include "tests/support/drawn.hpp"
#include "tests/support/places.hpp"

namespace hone::solvers::seismic::wave_ranks_test {
namespace {

struct Answer {
    std::vector<float> pressure;
    std::vector<std::vector<float>> recording;
    std::vector<double> energies;
    std::vector<std::byte> fields;
    bool operator==(const Answer&) const = default;
};

// Part of a run.
struct Stretch {
    int ranks = 1, steps = 0;
};

class WaveRanks : public ::testing::Test {
  protected:
    void SetUp() override {
        if (const std::string missing = backend_->compiler().missing(); !missing.empty()) GTEST_SKIP() << missing;
    }

    int draw(int low, int high) { return std::uniform_int_distribution<>(low, high)(random_); }

    // Speeds and densities that differ by half from cell to cell.
    Model random_model(int dimension, std::array<int, 3> cells) {
        Model model = homogeneous_model(dimension, cells, 10, 1, 1);
        std::uniform_real_distribution<float> speed(1500, 2300), density(1000, 1500);
        for (float& value : model.speed) value = speed(random_);
        for (float& value : model.density) value = density(random_);
        return model;
    }

    // A wall of each kind, a source and receivers anywhere, so that they lie beside cuts, too.
    Survey random_survey(const Model& model) {
        const auto cell = [&] { return Cell{draw(0, model.cells[0] - 1), draw(0, model.cells[1] - 1), draw(0, model.cells[2] - 1)}; };
        Survey survey{{40}, cell(), {}};
        for (int receiver = 0; receiver < 9; ++receiver) survey.receivers.push_back(cell());
        return survey;
    }
    WaveSettings walls_of(const Model& model, WaveSettings settings) {
        const auto down = static_cast<std::size_t>(model.depth_axis());
        settings.walls = {};
        settings.walls[down][0] = draw(0, 1) == 0 ? Wall::free_surface : Wall::rigid;
        settings.walls[down][1] = draw(0, 1) == 0 ? Wall::absorbing : Wall::rigid;
        settings.walls[0][1] = Wall::rigid;
        settings.layer = 5;
        return settings;
    }

    // What one run gives whose parts may have different numbers of ranks: then the state goes from
    // one to the next.
    Answer run(const Model& model, const WaveSettings& settings, const Survey& survey, const std::vector<Stretch>& stretches) {
        int steps = 0;
        for (const Stretch& stretch : stretches) steps += stretch.steps;
        Answer answer;
        WaveState state;
        for (const Stretch& stretch : stretches) {
            const WaveState before = state;
            run_thread_ranks(stretch.ranks, [&](Communicator& ranks) {
                WaveSolver solver(ranks, *backend_, library_, model, settings, survey, steps);
                if (before.done > 0) solver.set_state(before);
                solver.advance(stretch.steps - 1);
                const double energy = solver.advance_measuring_energy();
                std::vector<float> pressure = solver.pressure();
                WaveState after = solver.state();
                if (ranks.rank() > 0) return;
                answer.energies.push_back(energy);
                answer.pressure = std::move(pressure);
                answer.recording = after.recording;
                answer.fields = after.fields;
                state = std::move(after);
            });
        }
        return answer;
    }

    void expect_no_digit_to_know_the_ranks(int dimension, std::array<int, 3> cells, const WaveSettings& with, const std::vector<int>& numbers) {
        const Model model = random_model(dimension, cells);
        const WaveSettings settings = walls_of(model, with);
        const Survey survey = random_survey(model);
        SCOPED_TRACE(fmt::format("{}D, {}, order {}, {} levels, exchange every {}, seed {}", dimension, settings.kernels, settings.order,
                                 settings.levels, settings.exchange_every, seed_));
        const Answer expected = run(model, settings, survey, {{1, 11}, {1, 6}});
        EXPECT_GT(expected.energies.back(), 0);
        for (const int ranks : numbers) {
            const Answer found = run(model, settings, survey, {{ranks, 11}, {ranks, 6}});
            EXPECT_EQ(found.energies, expected.energies) << ranks << " ranks";
            EXPECT_TRUE(found.recording == expected.recording) << ranks << " ranks";
            EXPECT_TRUE(found.pressure == expected.pressure) << ranks << " ranks";
            EXPECT_TRUE(found.fields == expected.fields) << ranks << " ranks";
        }
        // A state goes on on any number of ranks.
        EXPECT_TRUE(run(model, settings, survey, {{numbers.back(), 11}, {numbers.front(), 6}}) == expected);
    }

    unsigned seed_ = std::random_device{}();
    std::mt19937_64 random_{seed_};
    DiskCache cache_{test::kernel_cache_folder()};
    std::unique_ptr<Backend> backend_ = make_cpu_backend(0, cache_);
    KernelLibrary library_{*backend_, Database(built_in_families()), built_in_families(), [](const std::string&) {}};
};

TEST_F(WaveRanks, NoDigitKnowsHowManyTheyAre) {
    expect_no_digit_to_know_the_ranks(2, {29, 43, 1}, {.order = 4}, {2, 8});
    expect_no_digit_to_know_the_ranks(2, {29, 43, 1}, {.order = 4, .kernels = "sweeps", .exchange_every = 2}, {3});
    expect_no_digit_to_know_the_ranks(2, {29, 61, 1}, {.order = 4, .precision = "f64", .levels = 2}, {8});
    expect_no_digit_to_know_the_ranks(3, {11, 9, 26}, {.order = 4}, {3});
    expect_no_digit_to_know_the_ranks(3, {11, 9, 26}, {.order = 4, .levels = 2}, {3});
    expect_no_digit_to_know_the_ranks(3, {11, 9, 26}, {.order = 4, .kernels = "in_place", .exchange_every = 2}, {3});
}

using SlowWaveRanks = WaveRanks;

TEST_F(SlowWaveRanks, NoDigitKnowsHowManyTheyAre) {
    std::vector<std::pair<int, WaveSettings>> runs;
    for (const int dimension : {2, 3})
        for (const int order : {4, 8, 16})
            for (const char* kernels : {"step", "sweeps"})
                for (const int together : {1, 2, 3})
                    runs.push_back(
                        {dimension, {.order = order, .precision = draw(0, 1) == 0 ? "f32" : "f64", .kernels = kernels, .exchange_every = together}});
    for (const auto& [dimension, settings] : test::drawn(runs, 12, random_)) {
        const int order = settings.order;
        const int layers = 8 * settings.exchange_every * (order - 1) + draw(0, 5);
        const std::array cells = dimension == 2 ? std::array{2 * order + 13, layers, 1} : std::array{2 * order + 3, 2 * order, layers};
        expect_no_digit_to_know_the_ranks(dimension, cells, settings, {1, 2, 3, 4, 8});
    }
    for (const int order : {4, 8, 16})
        for (int levels = 2; levels <= std::min(4, 32 / order); ++levels) {
            const WaveSettings settings{.order = order, .levels = levels};
            expect_no_digit_to_know_the_ranks(2, {61, std::max(61, 8 * levels * (order - 1) + draw(0, 9)), 1}, settings, {1, 2, 3, 4, 8});
        }
}

std::string reason(const std::function<void()>& call) {
    try {
        call();
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

TEST_F(WaveRanks, WhatDoesNotFitIsRefused) {
    const Model model = homogeneous_model(2, {40, 40, 1}, 10, 2000, 1000);
    const Survey survey{{40}, {5, 5, 0}, {{6, 6, 0}}};
    const auto attempt = [&](int number, const WaveSettings& settings, const WaveState& state) {
        return reason([&] {
            run_thread_ranks(number, [&](Communicator& ranks) {
                WaveSolver solver(ranks, *backend_, library_, model, settings, survey, 4);
                if (state.done > 0) solver.set_state(state);
            });
        });
    };
    EXPECT_THAT(attempt(11, {.layer = 0}, {}), ::testing::HasSubstr("40 rows, of which neighbours read 7; start at most 5"));
    EXPECT_THAT(attempt(3, {.layer = 0, .exchange_every = 3}, {}), ::testing::HasSubstr("start at most 1"));
    EXPECT_THAT(attempt(1, {.levels = 2, .layer = 0, .exchange_every = 2}, {}), ::testing::HasSubstr("use 1 or more with single steps"));
    EXPECT_THAT(attempt(2, {.layer = 0}, {3, std::vector<std::byte>(100), {}}), ::testing::HasSubstr("100 bytes after 3 steps; give 19200 bytes"));
}

}  // namespace
}  // namespace hone::solvers::seismic::wave_ranks_test
