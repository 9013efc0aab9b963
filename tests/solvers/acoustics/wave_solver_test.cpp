#include "solvers/acoustics/wave_solver.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "foundation/error.hpp"
#include "generator/families/built_in_families.hpp"
#include "runtime/cpu/cpu_backend.hpp"
#include "solvers/acoustics/synthetic_model.hpp"
#include "solvers/acoustics/time_levels.hpp"
#include "tests/support/backend_or_skip.hpp"
#include "tests/support/places.hpp"

namespace hone::solvers::seismic::wave_solver_test {
namespace {

constexpr std::array<std::array<Wall, 2>, 3> all_rigid{{{Wall::rigid, Wall::rigid}, {Wall::rigid, Wall::rigid}, {Wall::rigid, Wall::rigid}}};

// Where no kernel can be compiled there is nothing to test.
class WaveSolverTest : public ::testing::Test {
  protected:
    void SetUp() override {
        if (const std::string missing = backend_->compiler().missing(); !missing.empty()) GTEST_SKIP() << missing;
    }

    std::vector<std::vector<float>> record(const Model& model, const WaveSettings& settings, const Survey& survey, int steps) {
        WaveSolver solver(*backend_, library_, model, settings, survey, steps);
        solver.advance(steps);
        return solver.recording();
    }

    // Speeds and densities that differ by half from cell to cell.
    Model random_model(int dimension, std::array<int, 3> cells) {
        Model model = homogeneous_model(dimension, cells, 10, 1, 1);
        std::uniform_real_distribution<float> speed(1500, 2300), density(1000, 1500);
        for (float& value : model.speed) value = speed(random_);
        for (float& value : model.density) value = density(random_);
        return model;
    }

    DiskCache cache_{test::kernel_cache_folder()};
    std::unique_ptr<Backend> backend_ = make_cpu_backend(0, cache_);
    KernelLibrary library_{*backend_, Database(built_in_families()), built_in_families(), [](const std::string&) {}};
    std::uint64_t seed_ = std::random_device{}();
    std::mt19937_64 random_{seed_};
};

// A unit box of n cells along each axis, sound speed 1, rigid walls; what comes back from them
// comes after the end.
struct Unit {
    Model model;
    WaveSettings settings;
    Survey survey;
    double end;

    Unit(int dimension, int n, int order, double courant, double frequency = 8)
        : model(homogeneous_model(dimension, {n, n, dimension == 3 ? n : 1}, 1.0 / n, 1, 1)) {
        settings = {.order = order, .precision = "f64", .walls = all_rigid, .courant = courant};
        const int middle = n / 2, depth = dimension == 3 ? middle : 0, away = 3 * n / 16;
        survey = {{frequency}, {middle, middle, depth}, {{middle + away, middle, depth}, {middle + away, middle + away, depth}}};
        end = 0.65;
    }
    int steps() const { return static_cast<int>(end / time_step(model, settings)); }
    double distance(std::size_t receiver) const {
        double square = 0;
        for (std::size_t axis = 0; axis < 3; ++axis) square += std::pow(survey.receivers[receiver][axis] - survey.source[axis], 2);
        return std::sqrt(square) * model.spacing;
    }
};

// Largest difference from the exact solution, as a part of its peak.
double error_of(const Unit& unit, const std::vector<std::vector<float>>& traces) {
    const double dt = time_step(unit.model, unit.settings);
    double worst = 0;
    for (std::size_t r = 0; r < traces.size(); ++r) {
        double error = 0, peak = 0;
        for (std::size_t step = 0; step < traces[r].size(); ++step) {
            const double exact = exact_pressure(unit.model.dimension, unit.survey.ricker, 1, unit.distance(r), static_cast<double>(step + 1) * dt);
            peak = std::max(peak, std::abs(exact));
            error = std::max(error, std::abs(traces[r][step] - exact));
        }
        worst = std::max(worst, error / peak);
    }
    return worst;
}

TEST_F(WaveSolverTest, ConvergesToTheExactSolution) {
    struct Case {
        int dimension, n, order;
        bool small_steps;  // dt falls as h^2, so that the order in space shows
        double expected;
    };
    for (const Case& c : {Case{2, 96, 4, true, 4}, Case{2, 96, 8, false, 2}, Case{3, 32, 8, false, 2}}) {
        const double frequency = c.dimension == 3 ? 4 : 8;
        std::vector<double> errors;
        for (const int fine : {1, 2}) {
            Unit unit(c.dimension, fine * c.n, c.order, c.small_steps ? 0.5 / fine : 0.5, frequency);
            errors.push_back(error_of(unit, record(unit.model, unit.settings, unit.survey, unit.steps())));
        }
        const double order = std::log2(errors[0] / errors[1]);
        EXPECT_NEAR(order, c.expected, 0.3) << c.dimension << "D, order " << c.order << ": " << errors[0] << ' ' << errors[1];
        EXPECT_LT(errors[1], 0.02);
    }
}

// What does not absorb keeps the energy of the discrete scheme, whatever the medium.
TEST_F(WaveSolverTest, WallsKeepTheEnergy) {
    for (const std::string kernels : {"step", "in_place", "sweeps"}) {
        const int dimension = kernels != "in_place" && random_() % 2 == 0 ? 2 : 3, order = std::array{4, 8, 16}[random_() % 3];
        const int n = 2 * order, more = static_cast<int>(random_() % 7);
        const Model model = random_model(dimension, dimension == 3 ? Cell{n + more, n, n + 1} : Cell{n + more, n + 3, 1});
        WaveSettings settings{.order = order, .precision = "f64", .kernels = kernels, .walls = all_rigid};
        settings.walls[static_cast<std::size_t>(model.depth_axis())][0] = random_() % 2 == 0 ? Wall::rigid : Wall::free_surface;
        const Survey survey{{60}, {2, 3, dimension == 3 ? 1 : 0}, {}};
        const int silent = static_cast<int>(3.0 / 60 / time_step(model, settings)) + 1;
        WaveSolver solver(*backend_, library_, model, settings, survey, silent);
        solver.advance(silent);
        const double before = solver.advance_measuring_energy();
        solver.advance(200);
        const double after = solver.advance_measuring_energy();
        EXPECT_GT(before, 0);
        EXPECT_NEAR(after / before, 1, 1e-10) << dimension << "D, order " << order << ", " << kernels << ", seed " << seed_;
    }
}

// All ways to take a step are the same scheme.
TEST_F(WaveSolverTest, SweepsAndStepsAgree) {
    struct Case {
        Cell cells, source;
        std::vector<Cell> receivers;
        const char* other;
    };
    for (const Case& c :
         {Case{{41, 37, 1}, {20, 5, 0}, {{3, 4, 0}, {39, 30, 0}}, "sweeps"}, Case{{19, 17, 21}, {9, 8, 5}, {{3, 4, 2}, {17, 12, 18}}, "in_place"}}) {
        const int dimension = c.cells[2] > 1 ? 3 : 2;
        const Model model = random_model(dimension, c.cells);
        const Survey survey{{30}, c.source, c.receivers};
        WaveSettings settings{.order = 8, .precision = "f64", .walls = all_rigid};
        settings.walls[static_cast<std::size_t>(dimension - 1)][0] = Wall::free_surface;
        const auto step = record(model, settings, survey, 400);
        settings.kernels = c.other;
        const auto others = record(model, settings, survey, 400);
        float peak = 0, difference = 0;
        for (std::size_t r = 0; r < step.size(); ++r)
            for (std::size_t i = 0; i < step[r].size(); ++i) {
                peak = std::max(peak, std::abs(step[r][i]));
                difference = std::max(difference, std::abs(step[r][i] - others[r][i]));
            }
        EXPECT_GT(peak, 0) << c.other;
        EXPECT_LE(difference, 1e-6F * peak) << c.other;  // what is recorded is rounded to single precision
    }
}

// On a free surface a wave comes back with the other sign, on a rigid wall with its own: as from a
// mirrored source.
TEST_F(WaveSolverTest, WallsMirrorTheSource) {
    for (const Wall top : {Wall::rigid, Wall::free_surface}) {
        Unit unit(2, 128, 8, 0.5);
        const int depth = 20;
        unit.settings.walls[1][0] = top;
        unit.survey.source[1] = depth;
        unit.survey.receivers = {{unit.survey.source[0] + 20, depth, 0}};
        const auto traces = record(unit.model, unit.settings, unit.survey, unit.steps());
        const double h = unit.model.spacing, dt = time_step(unit.model, unit.settings);
        const double direct = 20 * h, mirrored = std::hypot(20, 2 * depth + 1) * h, sign = top == Wall::rigid ? 1 : -1;
        double peak = 0, error = 0;
        for (std::size_t step = 0; step < traces[0].size(); ++step) {
            const double time = static_cast<double>(step + 1) * dt;
            const double echo = sign * exact_pressure(2, unit.survey.ricker, 1, mirrored, time);
            const double exact = exact_pressure(2, unit.survey.ricker, 1, direct, time) + echo;
            peak = std::max(peak, std::abs(echo));
            error = std::max(error, std::abs(traces[0][step] - exact));
        }
        EXPECT_LT(error, 0.05 * peak) << to_string(top);
    }
}

TEST_F(WaveSolverTest, SaysWhatCannotBe) {
    const Model model = homogeneous_model(2, {40, 40, 1}, 1, 1, 1);
    const auto attempt = [&](const WaveSettings& settings, const Survey& survey) { record(model, settings, survey, 1); };
    const Survey good{{1}, {5, 5, 0}, {{6, 6, 0}}};
    EXPECT_THROW(attempt({.walls = all_rigid}, {{1}, {5, 5, 1}, {}}), Error);
    EXPECT_THROW(attempt({.walls = all_rigid}, {{1}, {5, 5, 0}, {{40, 0, 0}}}), Error);
    EXPECT_THROW(attempt({.kernels = "leaps", .walls = all_rigid}, good), Error);
    WaveSettings settings{.walls = all_rigid};
    settings.walls[0][0] = Wall::free_surface;
    EXPECT_THROW(attempt(settings, good), Error);
    EXPECT_THROW(record(homogeneous_model(2, {40, 15, 1}, 1, 1, 1), {.order = 8, .walls = all_rigid}, good, 1), Error);
}

// Kernels, walls, source and receivers of a GPU do what the processor's do.
TEST(GpuWaveSolver, AgreesWithTheProcessor) {
    DiskCache cache(test::kernel_cache_folder());
    const std::unique_ptr<Backend> gpu = test::backend_or_skip("cuda", cache);
    if (!gpu) return;
    const auto cpu = make_cpu_backend(0, cache);
    for (const int dimension : {2, 3})
        for (const char* kernels : {"step", "sweeps"}) {
            const Model model = synthetic_model({.dimension = dimension, .cells = {53, 37, dimension == 3 ? 31 : 1}, .spacing = 10});
            // In 3D GPUs have passes of two steps, at order 4.
            WaveSettings settings{.order = dimension == 3 ? 4 : 8, .precision = "f64", .kernels = kernels, .layer = 10};
            settings.levels = std::min(most_levels(model, settings), dimension == 3 ? 2 : 4);
            settings.walls[static_cast<std::size_t>(model.depth_axis())][0] = Wall::free_surface;
            settings.walls[0][1] = Wall::rigid;
            const Survey survey{{20}, {20, 9, dimension == 3 ? 9 : 0}, {{1, 2, 0}, {50, 30, dimension == 3 ? 20 : 0}}};
            std::vector<std::vector<std::vector<float>>> recordings;
            for (Backend* backend : {gpu.get(), cpu.get()}) {
                KernelLibrary library(*backend, Database(built_in_families()), built_in_families());
                WaveSolver solver(*backend, library, model, settings, survey, 300);
                solver.advance(300);
                recordings.push_back(solver.recording());
            }
            for (std::size_t r = 0; r < survey.receivers.size(); ++r) {
                float peak = 0, difference = 0;
                for (std::size_t i = 0; i < 300; ++i) {
                    peak = std::max(peak, std::abs(recordings[1][r][i]));
                    difference = std::max(difference, std::abs(recordings[0][r][i] - recordings[1][r][i]));
                }
                EXPECT_GT(peak, 0);
                EXPECT_LE(difference, 1e-6F * peak) << dimension << "D, " << kernels;
            }
        }
}

}  // namespace
}  // namespace hone::solvers::seismic::wave_solver_test
