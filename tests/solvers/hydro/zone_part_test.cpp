// Hydrodynamics on several ranks against itself on one: not a digit may differ.
#include "solvers/hydro/zone_part.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <random>
#include <sstream>

#include "foundation/error.hpp"
#include "generator/families/built_in_families.hpp"
#include "runtime/cpu/cpu_backend.hpp"
#include "runtime/ranks/thread_ranks.hpp"
#include "solvers/hydro/balanced_run.hpp"
#include "solvers/hydro/frames.hpp"
#include "solvers/hydro/kernel_operator.hpp"
#include "solvers/hydro/run.hpp"
#include "tests/support/places.hpp"
#include "tests/support/rank_error.hpp"
#include "tests/support/temporary_folder.hpp"

namespace hone::solvers::hydro::zone_part_test {
namespace {

struct Case {
    HydroProblem problem;
    int order;
    QuadMesh mesh;
    TimeScheme scheme = TimeScheme::rk2_average;
    Assembly assembly = Assembly::partial;
    MassForm mass = MassForm::rows;
};

Case box(const std::string& name, int dimension, int order, std::array<int, 3> zones) {
    HydroProblem problem = hydro_problem(name, dimension);
    problem.box.zones = zones;
    return {problem, order, quad_box(problem.box)};
}

class ZoneRanks : public ::testing::Test {
  protected:
    void SetUp() override {
        if (const std::string missing = backend_->compiler().missing(); !missing.empty()) GTEST_SKIP() << missing;
    }

    RunSettings settings(const Case& c, RunSettings more) const {
        more.time = 0.05;
        more.scheme = c.scheme;
        more.energy_every = 1;
        more.checkpoint = folder_.path() / "checkpoint";
        return more;
    }

    // Checkpoint of a run, as it is written: time step, energies and all of the state.
    std::string alone(const Case& c, const RunSettings& more) {
        const Discretisation of(c.problem, c.order, c.mesh);
        KernelOperator on(*backend_, library_, of, c.scheme, {.assembly = c.assembly, .mass = c.mass});
        const RunSettings how = settings(c, more);
        run_hydro(on, of, how);
        return contents(how.checkpoint);
    }

    std::string on_ranks(int ranks, const Case& c, const RunSettings& more, Cutter cutter = Cutter::best) {
        std::vector<double> speeds(static_cast<std::size_t>(ranks));
        for (double& speed : speeds) speed = std::uniform_real_distribution<>(1, 2)(random_);
        run_thread_ranks(ranks, [&](Communicator& communicator) {
            const ZonePart part(communicator, c.problem, c.order, c.mesh, "box", speeds[static_cast<std::size_t>(communicator.rank())], cutter);
            KernelOperator on(*backend_, library_, part.here(), c.scheme, {.assembly = c.assembly, .mass = c.mass, .part = &part});
            const RunResult result = run_hydro(on, part, settings(c, more));
            const double first = result.energies.front().total();
            for (const EnergySample& sample : result.energies) EXPECT_NEAR(sample.total() / first, 1, c.scheme == TimeScheme::rk4 ? 1e-2 : 1e-12);
        });
        return contents(folder_.path() / "checkpoint");
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

using SlowZoneRanks = ZoneRanks;

TEST_F(ZoneRanks, AStepIsThatOfOneRank) {
    SCOPED_TRACE(seed_);
    const Case c = box("sedov", 2, 2, {8, 8, 1});
    EXPECT_TRUE(on_ranks(2, c, {.stop_after = 1}) == alone(c, {.stop_after = 1}));
}

TEST_F(SlowZoneRanks, NoDigitKnowsTheRanks) {
    SCOPED_TRACE(seed_);
    Case rows = box("sedov", 2, 2, {16, 16, 1});
    Case elements = rows;
    elements.mass = MassForm::elements;
    Case space = box("sedov", 3, 2, {5, 4, 4});
    space.mass = MassForm::elements;
    space.scheme = TimeScheme::rk4;
    Case full = box("triple-point", 2, 3, {14, 6, 1});
    full.assembly = Assembly::full;
    for (const Case& c : {rows, elements, space, full}) {
        const std::string expected = alone(c, {.stop_after = 3});
        for (const int ranks : {2, 3})
            EXPECT_TRUE(on_ranks(ranks, c, {.stop_after = 3}, ranks == 2 ? Cutter::bisection : Cutter::best) == expected)
                << c.problem.name << " in " << c.problem.dimension << " dimensions, " << to_string(c.mass) << ", ranks " << ranks;
    }
    EXPECT_TRUE(on_ranks(5, rows, {.stop_after = 3}) == alone(rows, {.stop_after = 3}));
}

TEST_F(SlowZoneRanks, GoesOnOnAnotherNumberOfRanks) {
    SCOPED_TRACE(seed_);
    const Case c = box("sedov", 2, 2, {12, 12, 1});
    const std::string whole = alone(c, {.stop_after = 4});
    const std::filesystem::path half = folder_.path() / "half";
    on_ranks(2, c, {.stop_after = 2});
    std::filesystem::rename(folder_.path() / "checkpoint", half);
    EXPECT_TRUE(on_ranks(3, c, {.restart = half, .stop_after = 4}) == whole);
    EXPECT_TRUE(alone(c, {.restart = half, .stop_after = 4}) == whole);
    alone(c, {.stop_after = 2});
    std::filesystem::rename(folder_.path() / "checkpoint", half);
    EXPECT_TRUE(on_ranks(2, c, {.restart = half, .stop_after = 4}) == whole);
}

// Rank 0 is said to become three times as slow: it gives nodes away in the middle of the run, and
// no digit tells.
TEST_F(SlowZoneRanks, PartsThatMoveLeaveNoTrace) {
    SCOPED_TRACE(seed_);
    Case c = box("sedov", 2, 2, {16, 16, 1});
    c.mass = MassForm::elements;
    const RunSettings how = settings(c, {.stop_after = 5});
    const Discretisation of(c.problem, c.order, c.mesh);
    KernelOperator whole(*backend_, library_, of, c.scheme, {.assembly = c.assembly, .mass = c.mass});
    const RunResult expected = run_hydro(whole, of, how);
    run_thread_ranks(2, [&](Communicator& ranks) {
        const auto share = [&](double speed) {
            auto part = std::make_unique<const ZonePart>(ranks, c.problem, c.order, c.mesh, "box", speed);
            auto on = std::make_unique<KernelOperator>(*backend_, library_, part->here(), c.scheme,
                                                       KernelOperator::Settings{.assembly = c.assembly, .mass = c.mass, .part = part.get()});
            return ZoneShare{std::move(part), std::move(on)};
        };
        const Balancing balancing{.every = 2, .least_gain = 0.2, .seconds = [&](double measured) {
                                      EXPECT_GT(measured, 0);
                                      return ranks.rank() == 0 ? 3.0 : 1.0;
                                  }};
        const BalancedRun moved = run_balanced(ranks, 1, share, how, balancing);
        EXPECT_EQ(moved.result.clock.steps, 5);
        EXPECT_EQ(moved.result.clock.time, expected.clock.time);
        EXPECT_EQ(moved.result.clock.dt, expected.clock.dt);
        EXPECT_TRUE(moved.result.energies == expected.energies);
        EXPECT_GT(moved.moves, 0);
        const State found = moved.share.part->whole_of(moved.result.state);
        if (ranks.rank() > 0) return;
        EXPECT_TRUE(found.positions == expected.state.positions && found.velocities == expected.state.velocities &&
                    found.energies == expected.state.energies);
        EXPECT_LT(moved.share.part->own_nodes(), 0.45 * static_cast<double>(moved.share.part->whole_nodes()));
    });
    EXPECT_THAT(test::error_of_ranks(2,
                                     [&](Communicator& ranks) {
                                         run_balanced(ranks, 1, [](double) { return ZoneShare{}; }, {.frames_folder = folder_.path() / "frames"},
                                                      {.every = 2});
                                     }),
                ::testing::HasSubstr("pictures belong to parts"));
}

TEST_F(ZoneRanks, PicturesHaveEachZoneOnce) {
    const Case c = box("sedov", 2, 2, {12, 12, 1});
    run_thread_ranks(3, [&](Communicator& communicator) {
        const ZonePart part(communicator, c.problem, c.order, c.mesh);
        EXPECT_EQ(all_reduce(communicator, Reduction::sum, static_cast<double>(part.own_zones().size())), 144);
        EXPECT_EQ(all_reduce(communicator, Reduction::sum, static_cast<double>(part.own_nodes())), 625);
        Frames frames(part, folder_.path());
        frames.add(0, part.here().first);
        communicator.barrier();
        const std::string own = contents(folder_.path() / ("gas_0000_" + std::to_string(communicator.rank()) + ".vtu"));
        EXPECT_THAT(own, ::testing::HasSubstr("NumberOfCells=\"" + std::to_string(part.own_zones().size()) + "\""));
    });
    EXPECT_THAT(contents(folder_.path() / "gas_0000.pvtu"), ::testing::HasSubstr("gas_0000_2.vtu"));
    EXPECT_THAT(contents(folder_.path() / "gas.pvd"), ::testing::HasSubstr("gas_0000.pvtu"));
}

// Of this mesh the middle one of three ranks, with two cuts beside it, would have 515 zones and the
// first one 400, if chunks were shared by their work alone.
TEST_F(ZoneRanks, HaveAboutAsManyZones) {
    const Case c = box("sedov", 3, 2, {10, 10, 10});
    for (const double of_last : {1.0, 2.0})
        run_thread_ranks(3, [&](Communicator& ranks) {
            const double speed = ranks.rank() == 2 ? of_last : 1;
            const ZonePart part(ranks, c.problem, c.order, c.mesh, "box", speed, Cutter::bisection);
            const auto zones = static_cast<double>(part.here().zones());
            const double all = all_reduce(ranks, Reduction::sum, zones), longest = all_reduce(ranks, Reduction::largest, zones / speed);
            EXPECT_GT(all, 1000) << "those at the cuts twice";
            EXPECT_LT(longest, 1.05 * all / (2 + of_last)) << of_last;
        });
}

TEST_F(ZoneRanks, RefuseWhatDoesNotFit) {
    const Case c = box("sedov", 2, 2, {12, 12, 1});
    EXPECT_THAT(test::error_of_ranks(4, [&](Communicator& ranks) { ZonePart(ranks, c.problem, 2, c.mesh); }),
                ::testing::HasSubstr("start at most 3"));
    EXPECT_THAT(test::error_of_ranks(2,
                                     [&](Communicator& ranks) {
                                         const Case other = box("sedov", 2, 2, {12, 12 + ranks.rank(), 1});
                                         ZonePart(ranks, other.problem, 2, other.mesh);
                                     }),
                ::testing::HasSubstr("rank 1: its problem"));
    EXPECT_THAT(test::error_of_ranks(2,
                                     [&](Communicator& ranks) {
                                         const ZonePart part(ranks, c.problem, 2, c.mesh);
                                         KernelOperator(*backend_, library_, part.here(), c.scheme,
                                                        {.partner = Partner{.backend = backend_.get(), .library = &library_}, .part = &part});
                                     }),
                ::testing::HasSubstr("several ranks"));
}

}  // namespace
}  // namespace hone::solvers::hydro::zone_part_test
