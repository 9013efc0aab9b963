#include "solvers/hydro/rank_mass_solver.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <random>

#include "foundation/error.hpp"
#include "generator/families/built_in_families.hpp"
#include "runtime/cpu/cpu_backend.hpp"
#include "runtime/cuda/nvrtc_compiler.hpp"
#include "runtime/ranks/thread_ranks.hpp"
#include "solvers/hydro/rank_mass_kernels.hpp"
#include "solvers/mesh/quad_mesh.hpp"
#include "tests/support/emulator.hpp"
#include "tests/support/places.hpp"

namespace hone::solvers::hydro::rank_mass_solver_test {
namespace {

class RankMassSolverTest : public ::testing::Test {
  protected:
    void SetUp() override {
        if (const std::string missing = backend_->compiler().missing(); !missing.empty()) GTEST_SKIP() << missing;
    }

    std::vector<double> random_words(std::size_t count) {
        std::vector<double> words(count);
        for (double& word : words) word = std::uniform_real_distribution<>(-1, 1)(random_);
        return words;
    }

    unsigned seed_ = std::random_device{}();
    std::mt19937_64 random_{seed_};
    DiskCache cache_{test::kernel_cache_folder()};
    std::unique_ptr<Backend> backend_ = make_cpu_backend(0, cache_);
    KernelLibrary library_{*backend_, Database(built_in_families()), built_in_families()};
};

// A right-hand side that vanishes, a few steps only, and tolerances that some components meet
// before others: as MassSolver, bit by bit.
TEST_F(RankMassSolverTest, SolvesAsMassSolverDoes) {
    SCOPED_TRACE(seed_);
    const HydroProblem problem = hydro_problem("sedov", 2);
    const QuadMesh mesh = quad_box({2, {16, 8, 1}});
    const Discretisation of(problem, 2, mesh);
    State b{std::vector<double>(2 * of.nodes()), random_words(2 * of.nodes()), std::vector<double>(of.zones() * of.energies_of_zone())};
    // One component is done before it begins.
    std::fill(b.velocities.begin(), b.velocities.begin() + static_cast<std::ptrdiff_t>(of.nodes()), 0.0);
    for (const auto& [form, settings] :
         {std::pair{MassForm::rows, MassSettings{.tolerance = 1e-6}}, std::pair{MassForm::elements, MassSettings{.tolerance = 1e-6}},
          std::pair{MassForm::elements, MassSettings{.tolerance = 0, .most_iterations = 3}}}) {
        State x = b;
        MassSolver alone(*backend_, library_, of.velocity_mass, form);
        const MassSolve expected = alone.solve(b.velocities, x.velocities, settings);
        run_thread_ranks(2, [&, how = form, settings = settings](Communicator& ranks) {
            const ZonePart part(ranks, problem, 2, mesh);
            RankMassSolver solver(part, *backend_, library_, how);
            const State own = part.part_of(b);
            State found = own;
            const MassSolve solve = solver.solve(own.velocities.data(), found.velocities.data(), settings);
            EXPECT_EQ(solve.ending, expected.ending);
            EXPECT_EQ(solve.iterations, expected.iterations);
            EXPECT_EQ(solve.residuals, expected.residuals);
            EXPECT_EQ(found.velocities, part.part_of(x).velocities);
        });
    }
}

// The text for GPUs, on the processor in several blocks, against that for processors.
TEST_F(RankMassSolverTest, KernelsOfBothTargetsAgree) {
    SCOPED_TRACE(seed_);
    constexpr int components = 2, own = 300, rows = 333, blocks = 2, dots = 11, all_rows = 5000, shares = 20, dots_of_share = 8,
                  words = MassKernels::words + RankMassKernels::more_scalars(1);
    std::array<KernelSource, 2> sources{RankMassKernels::source(Target::cpu, components), RankMassKernels::source(Target::cuda, components)};
    for (KernelSource& source : sources)
        for (Launch& launch : source.step) launch.grid = {blocks, 1, 1};
    const std::vector<std::string> entries = sources[0].entries;
    sources[1] = test::emulated(sources[1]);
    std::array<std::vector<std::vector<double>>, 2> results;
    std::vector<std::int32_t> border(own);
    std::iota(border.begin(), border.end(), 0);
    std::shuffle(border.begin(), border.end(), random_);
    std::vector<std::int32_t> held(rows);
    for (auto& bits : held) bits = static_cast<std::int32_t>(random_() % 4);
    std::vector<std::vector<double>> arrays;
    for (int i = 0; i < 7; ++i) arrays.push_back(random_words(components * rows));
    arrays.push_back(random_words(words * components));
    // The chunks of all ranks: shares of nodes in any order, each chunk after the other.
    const std::vector<double> all = random_words(components * shares * dots_of_share);
    std::vector<std::int32_t> places(components * shares);
    for (std::size_t n = 0; n < places.size(); ++n) places[n] = static_cast<std::int32_t>(n * dots_of_share);
    std::shuffle(places.begin(), places.end(), random_);
    for (std::size_t target = 0; target < 2; ++target) {
        const CompileOutcome outcome = backend_->compiler().compile(sources[target]);
        ASSERT_TRUE(outcome.ok) << outcome.code.log;
        const auto module = backend_->load(outcome.code);
        for (std::size_t step = 0; step < entries.size(); ++step) {
            auto found = arrays;
            std::vector<double> sums(components * dots, 7.0);
            std::array<const void*, 13> pointers{found[0].data(), found[1].data(), held.data(),    found[2].data(), found[3].data(),
                                                 all.data(),      places.data(),   border.data(),  found[4].data(), found[5].data(),
                                                 found[6].data(), sums.data(),     found[7].data()};
            const std::string& entry = entries[step];
            const bool of_all = entry.ends_with("ed"), of_copies = entry == "clear" || entry == "direction" || entry == "go_on";
            int stride = rows, own_rows = own, first = 0, last = of_all ? all_rows : of_copies ? rows : own;
            std::vector<void*> arguments;
            for (const void*& pointer : pointers) arguments.push_back(static_cast<void*>(&pointer));
            arguments.insert(arguments.end(), {&stride, &own_rows, &first, &last});
            const Launch& launch = sources[target].step[step];
            module->launch(module->entry(launch.entry), launch.grid, launch.block, 0, {}, arguments.data());
            found.push_back(sums);
            for (const auto& array : found) results[target].push_back(array);
            EXPECT_NE(found, ([&] {
                          auto before = arrays;
                          before.emplace_back(components * dots, 7.0);
                          return before;
                      }()))
                << entries[step];
        }
    }
    EXPECT_TRUE(results[0] == results[1]);
}

// The kernels that gather sums by themselves, on the processor, where the flags of all ranks are up
// before and the others' sums there: the scalars of those that find all sums.
TEST_F(RankMassSolverTest, SumsThatKernelsGatherAreTheSame) {
    SCOPED_TRACE(seed_);
    constexpr int components = 3, all_rows = 70000, shares = 274, ranks = 3, rank = 1, flags = 7, data = 16, epoch = 5, dots_of_share = 8,
                  scalars = MassKernels::words + RankMassKernels::more_scalars(1), stepped_first = 50, stepped_last = 3000, stride = 3500;
    const auto emulated = [](KernelSource source) {
        for (Launch& launch : source.step)
            if (launch.entry.ends_with("ed") && launch.grid[0] == 1) launch.grid = {components, 1, 1};
        source.text = "inline void __threadfence_system() {}\n" + source.text;
        return test::emulated(source);
    };
    const KernelSource plain = emulated(RankMassKernels::source(Target::cuda, components)),
                       sharing = emulated(RankMassKernels::sharing_source(components, components * RankMassKernels::lane_groups + 2));
    const auto loaded = [&](const KernelSource& source) {
        const CompileOutcome outcome = backend_->compiler().compile(source);
        EXPECT_TRUE(outcome.ok) << outcome.code.log;
        return outcome.ok ? backend_->load(outcome.code) : nullptr;
    };
    const auto module = loaded(plain), sharing_module = loaded(sharing);
    ASSERT_TRUE(module && sharing_module);
    // What all ranks have, of which this one the middle; in each rank's memory behind the flags.
    const std::vector<double> all = random_words(components * shares * dots_of_share);
    constexpr int begin = 100, count = 900;
    std::vector<std::int32_t> places(components * shares);
    for (std::size_t n = 0; n < places.size(); ++n) places[n] = static_cast<std::int32_t>(n * dots_of_share);
    std::shuffle(places.begin(), places.end(), random_);
    std::vector<double> first_scalars = random_words(scalars * components);
    for (double& word : first_scalars) word = std::abs(word);
    const auto run = [&](const Module& with, const Launch& launch, std::vector<const void*> pointers, std::vector<int> numbers) {
        std::vector<void*> arguments;
        for (const void*& pointer : pointers) arguments.push_back(static_cast<void*>(&pointer));
        for (int& number : numbers) arguments.push_back(&number);
        with.launch(with.entry(launch.entry), launch.grid, launch.block, 0, {}, arguments.data());
    };
    for (std::size_t step = 0; step < 3; ++step) {
        std::vector<double> expected = first_scalars, found = first_scalars;
        const double* const none = nullptr;
        run(*module, plain.step[RankMassKernels::started_step + step],
            {none, none, none, none, none, all.data(), places.data(), none, none, none, none, none, expected.data()}, {0, 0, 0, all_rows});
        std::array<std::vector<double>, ranks> memory;
        std::array<const void*, ranks> boxes{};
        const auto flag = [&](std::size_t of, int from) { return reinterpret_cast<unsigned*>(memory[of].data()) + flags + from; };
        for (std::size_t of = 0; of < ranks; ++of) {
            memory[of].assign(data / 2, 0);
            memory[of].insert(memory[of].end(), all.begin(), all.end());
            // The own words are only where the first block, which the others follow, finds them.
            if (of != rank) std::fill_n(memory[of].begin() + data / 2 + begin, count, -1e300);
            for (int other = 0; other < ranks; ++other) *flag(of, other) = other == rank && of != rank ? 0 : epoch;
            boxes[of] = memory[of].data();
        }
        const std::vector<double> own(all.begin() + begin, all.begin() + begin + count);
        std::vector<double> of_groups(components * 8, 0);
        unsigned done = 0, groups_done = 0;
        // The solution's step: behind products by the step that was taken, along the last
        // direction; behind residuals by that of now.
        const std::vector<double> last_direction = random_words(components * stride), direction = random_words(components * stride);
        std::vector<double> x = random_words(components * stride), stepped = x;
        for (int c = 0; c < components && step > 0; ++c)
            for (std::size_t row = stepped_first; row < stepped_last; ++row) {
                const std::size_t at = static_cast<std::size_t>(c) * stride + row;
                const auto word = static_cast<std::size_t>(step == 1 ? components * MassKernels::words + components + c
                                                                     : c * MassKernels::words + MassKernels::alpha);
                stepped[at] = std::fma(first_scalars[word], (step == 1 ? last_direction : direction)[at], x[at]);
            }
        run(*sharing_module, sharing.step[step],
            {none, none, none, none, last_direction.data(), memory[rank].data() + data / 2, places.data(), none, x.data(), none, direction.data(),
             own.data(), found.data(), boxes.data(), &done, of_groups.data(), &groups_done},
            {stride, 0, 0, all_rows, 2 * count, ranks, rank, data + 2 * begin, flags, epoch, stepped_first, stepped_last});
        EXPECT_EQ(found, expected) << step;
        EXPECT_EQ(x, stepped) << step;
        EXPECT_NE(found, first_scalars);
        EXPECT_EQ(done + groups_done, 0U);
        for (std::size_t of = 0; of < ranks; ++of) {
            EXPECT_EQ(*flag(of, rank), unsigned{epoch});
            EXPECT_TRUE(std::equal(all.begin(), all.end(), memory[of].begin() + data / 2));
        }
    }
}

TEST_F(RankMassSolverTest, KernelsCompileForGpus) {
    std::unique_ptr<Compiler> nvrtc;
    try {
        nvrtc = make_nvrtc_compiler("sm_90", cache_);
    } catch (const Error& error) {
        GTEST_SKIP() << error.what();
    }
    for (const KernelSource& source : {RankMassKernels::source(Target::cuda, 3), RankMassKernels::sharing_source(3, 132)}) {
        const CompileOutcome outcome = nvrtc->compile(source);
        EXPECT_TRUE(outcome.ok) << outcome.failure << outcome.code.log;
    }
}

}  // namespace
}  // namespace hone::solvers::hydro::rank_mass_solver_test
