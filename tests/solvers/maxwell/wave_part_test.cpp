// The wave solver on several ranks against itself on one: not a digit may differ.
#include "solvers/maxwell/wave_part.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <set>
#include <sstream>

#include "foundation/error.hpp"
#include "generator/families/built_in_families.hpp"
#include "runtime/cpu/cpu_backend.hpp"
#include "runtime/ranks/thread_ranks.hpp"
#include "solvers/maxwell/balanced_run.hpp"
#include "solvers/maxwell/frames.hpp"
#include "solvers/maxwell/wave_run.hpp"
#include "tests/solvers/mesh/random_mesh.hpp"
#include "tests/support/places.hpp"
#include "tests/support/rank_error.hpp"
#include "tests/support/temporary_folder.hpp"

namespace hone::solvers::maxwell::wave_part_test {
namespace {

// A mesh with media, and random fields that belong to the places of its elements, whatever rank has
// them.
struct Case {
    std::string equation;
    int order;
    Precision precision;
    Mesh mesh;
    std::map<std::string, Material> materials;
    unsigned seed;

    Discretisation::Solution fields() const {
        std::mt19937_64 random(seed);
        std::array<double, 24> words{};
        for (double& word : words) word = std::uniform_real_distribution<>(-3, 3)(random);
        return [words](const Point& x, double) {
            Discretisation::Fields result{};
            for (std::size_t f = 0; f < result.size(); ++f)
                result[f] = std::sin(words[4 * f] * x[0] + words[4 * f + 1] * x[1] + words[4 * f + 2] * x[2] + words[4 * f + 3]);
            return result;
        };
    }
};

class WaveRanks : public ::testing::Test {
  protected:
    void SetUp() override {
        if (const std::string missing = backend_->compiler().missing(); !missing.empty()) GTEST_SKIP() << missing;
    }

    Case random_case(const std::string& equation, int order, Precision precision) {
        return {equation,
                order,
                precision,
                everything(wave_equation(equation).dimension, random_),
                {{"other", {2.5, 0.8}}},
                static_cast<unsigned>(random_())};
    }

    // Checkpoint of a run on so many ranks of random speeds: time step, energies and all of the
    // fields, as they are written.
    std::string run(const Case& c, int ranks, StageForm form, Cutter cutter, WaveRunSettings settings) {
        settings.time = 0.1;
        settings.energy_samples = 3;
        settings.checkpoint = folder_.path() / "checkpoint";
        std::vector<double> speeds(static_cast<std::size_t>(ranks));
        for (double& speed : speeds) speed = std::uniform_real_distribution<>(1, 3)(random_);
        run_thread_ranks(ranks, [&](Communicator& communicator) {
            const WavePart part(communicator, c.equation, c.order, c.mesh, c.materials, "mesh", speeds[static_cast<std::size_t>(communicator.rank())],
                                cutter);
            WaveSolver solver(*backend_, library_, part, c.precision, form);
            run_waves(solver, part, c.precision, form, part.here().interpolated(c.fields(), 0), settings);
        });
        return contents(settings.checkpoint);
    }

    static std::string contents(const std::filesystem::path& file) {
        std::ostringstream text;
        text << std::ifstream(file, std::ios::binary).rdbuf();
        return text.str();
    }

    unsigned seed_ = std::random_device{}();
    std::mt19937_64 random_{seed_};
    test::TemporaryFolder folder_;
    DiskCache cache_{test::kernel_cache_folder()};
    std::unique_ptr<Backend> backend_ = make_cpu_backend(0, cache_);
    KernelLibrary library_{*backend_, Database(built_in_families()), built_in_families()};
};

TEST_F(WaveRanks, NoDigitKnowsTheRanks) {
    SCOPED_TRACE(seed_);
    for (const auto& [c, form] : {std::pair(random_case("maxwell_3d", 1, Precision::f64), StageForm::kernels),
                                  {random_case("acoustics_3d", 1, Precision::f32), StageForm::fused},
                                  {random_case("maxwell_2d_tm", 3, Precision::f64), StageForm::fused}}) {
        // What a mesh and a solver of the whole say, without ranks.
        const Discretisation of(c.equation, c.order, c.mesh, c.materials);
        WaveSolver solver(*backend_, library_, of, c.precision, form);
        WaveRunSettings settings{.time = 0.1, .energy_samples = 3, .checkpoint = folder_.path() / "alone"};
        run_waves(solver, of, c.precision, form, of.interpolated(c.fields(), 0), settings);
        const std::string alone = contents(settings.checkpoint);
        for (const int ranks : {1, 2, 3, 5}) {
            const Cutter cutter = ranks % 2 == 0 ? Cutter::bisection : Cutter::best;
            EXPECT_TRUE(run(c, ranks, form, cutter, {}) == alone) << c.equation << ", " << to_string(form) << ", ranks " << ranks;
        }
    }
}

TEST_F(WaveRanks, GoesOnOnAnotherNumberOfRanks) {
    SCOPED_TRACE(seed_);
    const Case c = random_case("maxwell_2d_tm", 2, Precision::f32);
    const std::string whole = run(c, 1, StageForm::fused, Cutter::best, {});
    for (const auto& [first, second] : {std::pair(3, 2), {1, 4}, {2, 1}}) {
        run(c, first, StageForm::fused, Cutter::best, {.stop_after = 1});
        const std::filesystem::path half = folder_.path() / "half";
        std::filesystem::rename(folder_.path() / "checkpoint", half);
        EXPECT_TRUE(run(c, second, StageForm::fused, Cutter::best, {.restart = half}) == whole) << first << " ranks, then " << second;
    }
}

// Rank 0 is said to become three times as slow: it gives elements away in the middle of the run,
// and no digit tells.
TEST_F(WaveRanks, PartsThatMoveLeaveNoTrace) {
    SCOPED_TRACE(seed_);
    const Case c = random_case("maxwell_2d_tm", 2, Precision::f64);
    for (const StageForm form : {StageForm::fused, StageForm::kernels}) {
        const Cutter cutter = form == StageForm::fused ? Cutter::best : Cutter::bisection;
        const std::string expected = run(c, 1, form, cutter, {});
        WaveRunSettings settings{.time = 0.1, .energy_samples = 3, .checkpoint = folder_.path() / "moved"};
        run_thread_ranks(2, [&](Communicator& communicator) {
            const auto share = [&](double speed) {
                auto part = std::make_unique<const WavePart>(communicator, c.equation, c.order, c.mesh, c.materials, "mesh", speed, cutter);
                auto solver = std::make_unique<WaveSolver>(*backend_, library_, *part, c.precision, form);
                return WaveShare{std::move(part), std::move(solver)};
            };
            const Balancing balancing{.every = 1, .least_gain = 0.2, .seconds = [&](double measured) {
                                          EXPECT_GT(measured, 0);
                                          return communicator.rank() == 0 ? 3.0 : 1.0;
                                      }};
            const BalancedRun moved = run_balanced(communicator, 1, share, c.precision, form, c.fields(), settings, balancing);
            EXPECT_GT(moved.result.steps, 2);
            EXPECT_EQ(moved.result.done, moved.result.steps);
            EXPECT_GT(moved.moves, 0);
            if (communicator.rank() == 0) {
                EXPECT_LT(moved.share.part->own(), 0.4 * static_cast<double>(moved.share.part->whole()));
            }
        });
        EXPECT_TRUE(contents(settings.checkpoint) == expected) << to_string(form);
    }
    EXPECT_THAT(test::error_of_ranks(2,
                                     [&](Communicator& communicator) {
                                         run_balanced(communicator, 1, [](double) { return WaveShare{}; }, c.precision, StageForm::fused, c.fields(),
                                                      {.frames_folder = folder_.path() / "frames"}, {.every = 2});
                                     }),
                ::testing::HasSubstr("pictures belong to parts"));
}

TEST_F(WaveRanks, ErrorsAndPicturesAreOfTheWhole) {
    SCOPED_TRACE(seed_);
    const Case c = random_case("maxwell_3d", 2, Precision::f64);
    const Discretisation of(c.equation, c.order, c.mesh, c.materials);
    const auto other = [](const Point& x, double t) { return Discretisation::Fields{x[0], x[1], x[2], t, 1, x[0] * x[1]}; };
    const double expected = of.error(of.interpolated(c.fields(), 0), other, 0.5);
    run_thread_ranks(3, [&](Communicator& communicator) {
        const WavePart part(communicator, c.equation, c.order, c.mesh, c.materials);
        EXPECT_EQ(part.error(part.here().interpolated(c.fields(), 0), other, 0.5), expected);
        EXPECT_EQ(part.here().stable_step(), of.stable_step());
        WaveFrames frames(part, folder_.path() / "frames");
        frames.add(0, part.here().interpolated(c.fields(), 0));
    });
    const std::string joined = contents(folder_.path() / "frames" / "fields_0000.pvtu");
    for (const char* const part : {"fields_0000_0.vtu", "fields_0000_1.vtu", "fields_0000_2.vtu"}) {
        EXPECT_THAT(joined, ::testing::HasSubstr(part));
        EXPECT_THAT(contents(folder_.path() / "frames" / part), ::testing::HasSubstr("NumberOfCells=\""));
    }
    EXPECT_THAT(contents(folder_.path() / "frames" / "fields.pvd"), ::testing::HasSubstr("fields_0000.pvtu"));
}

TEST_F(WaveRanks, RefusesWhatDoesNotFit) {
    const Mesh tiny = triangle_box({{1, 1, 1}});
    EXPECT_THAT(test::error_of_ranks(3, [&](Communicator& ranks) { WavePart(ranks, "maxwell_2d_tm", 1, tiny); }),
                ::testing::HasSubstr("start at most 2"));
    EXPECT_THAT(test::error_of_ranks(2,
                                     [&](Communicator& ranks) {
                                         const int cells = 2 + ranks.rank();
                                         WavePart(ranks, "maxwell_2d_tm", 1, triangle_box({{cells, 2, 1}}));
                                     }),
                ::testing::HasSubstr("rank 1: its mesh"));
}

}  // namespace
}  // namespace hone::solvers::maxwell::wave_part_test
