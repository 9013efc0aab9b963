// The team of a CPU kernel: what its space offers, and what its threads really do.
#include "generator/families/device/cpu_team.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <omp.h>
#include <sched.h>

#include <algorithm>
#include <array>
#include <memory>
#include <set>
#include <vector>

#include "runtime/cpu/cpu_backend.hpp"
#include "tests/support/places.hpp"

namespace hone::cpu_team_test {
namespace {

SearchSpace space_of(int processors, int threads_per_core) {
    Limits limits = cpu_limits();
    limits.multiprocessors = processors;
    limits.threads_per_core = threads_per_core;
    return {team_tunables(limits), {team_constraint()}, safe_team()};
}

std::set<std::string> members_of(const SearchSpace& space) {
    std::set<std::string> keys;
    for (const auto index : space.members()) keys.insert(space.at(index).key());
    return keys;
}

TEST(CpuTeam, OffersOnlyWhatCanDiffer) {
    using Keys = std::set<std::string>;
    EXPECT_EQ(members_of(space_of(1, 1)), (Keys{"threads=all,binding=none"}));
    EXPECT_EQ(members_of(space_of(2, 1)), (Keys{"threads=all,binding=none"}));
    EXPECT_EQ(members_of(space_of(2, 2)), (Keys{"threads=all,binding=none", "threads=half,binding=none"}));
    EXPECT_EQ(members_of(space_of(16, 2)),
              (Keys{"threads=all,binding=none", "threads=all,binding=close", "threads=all_but_one,binding=none", "threads=all_but_one,binding=close",
                    "threads=half,binding=none", "threads=half,binding=close", "threads=half,binding=spread"}));
}

TEST(CpuTeam, ARecordFromBeforeMeansAllThreadsUnbound) {
    EXPECT_EQ(space_of(16, 2).completed(Config(std::vector<Assignment>{})).key(), "threads=all,binding=none");
}

TEST(CpuTeam, TheSafeTeamAddsNothingToTheText) {
    const Config safe(safe_team());
    EXPECT_TRUE(team(safe).empty());
    EXPECT_TRUE(team_seat(safe).empty());
    EXPECT_EQ(team_parallel(safe).lines(), std::vector<std::string>{"#pragma omp parallel"});
}

// An entry whose threads each write how many processors they may use, which one they run on, and
// the size of the team.
KernelSource probe(const Config& config) {
    Block text;
    text.append(team(config));
    text.text("#include <omp.h>").text("#include <sched.h>");
    text.open("extern \"C\" void probe(double* seen, int, int)");
    text.append(team_parallel(config));
    text.text("{").append(team_seat(config));
    text.line("cpu_set_t own;").line("CPU_ZERO(&own);").line("sched_getaffinity(0, sizeof own, &own);");
    text.line("double* const mine = seen + 3 * omp_get_thread_num();");
    text.line("mine[0] = CPU_COUNT(&own);").line("mine[1] = sched_getcpu();").line("mine[2] = omp_get_num_threads();");
    text.text("}").close();
    KernelSource source;
    for (const auto& line : text.lines()) source.text += line + "\n";
    source.precision = Precision::f64;
    source.entries = {"probe"};
    source.arrays = {{"seen", Access::out, 0, "", ""}};
    source.step.push_back({"probe", {1, 1, 1}, {1, 1, 1}, -1, 1, 0, {}});
    return source;
}

cpu_set_t own_processors() {
    cpu_set_t own;
    CPU_ZERO(&own);
    EXPECT_EQ(sched_getaffinity(0, sizeof own, &own), 0);
    return own;
}

class CpuTeamThreads : public ::testing::Test {
  protected:
    void SetUp() override {
        if (const std::string missing = backend_->compiler().missing(); !missing.empty()) GTEST_SKIP() << missing;
        if (omp_get_proc_bind() != omp_proc_bind_false) GTEST_SKIP() << "OMP_PROC_BIND or OMP_PLACES is set: OpenMP binds threads itself";
    }
    void TearDown() override { omp_set_num_threads(usual_); }

    // [thread][processors it may use, processor it runs on, size of the team]
    std::vector<std::array<double, 3>> seen_by(const char* threads, const char* binding) {
        const CompileOutcome outcome = backend_->compiler().compile(probe(Config({{"threads", threads}, {"binding", binding}})));
        EXPECT_TRUE(outcome.ok) << outcome.failure << "\n" << outcome.code.log;
        if (!outcome.ok) return {};
        const auto module = backend_->load(outcome.code);
        std::vector<std::array<double, 3>> seen(256);
        void* pointer = seen.data();
        int range = 0;
        std::array<void*, 3> arguments{&pointer, &range, &range};
        module->launch(module->entry("probe"), {1, 1, 1}, {1, 1, 1}, 0, {}, arguments.data());
        seen.resize(static_cast<std::size_t>(seen[0][2]));
        return seen;
    }

    // Nobody is left where a kernel put it: neither the application's thread nor those of its own
    // parallel regions.
    void expect_untouched(const cpu_set_t& before) {
        const cpu_set_t after = own_processors();
        EXPECT_TRUE(CPU_EQUAL(&before, &after));
        int bound = 0;
#pragma omp parallel reduction(+ : bound)
        {
            const cpu_set_t own = own_processors();
            bound += CPU_EQUAL(&before, &own) ? 0 : 1;
        }
        EXPECT_EQ(bound, 0);
    }

    DiskCache cache_{test::kernel_cache_folder()};
    std::unique_ptr<Backend> backend_ = make_cpu_backend(0, cache_);
    int usual_ = omp_get_max_threads();
};

TEST_F(CpuTeamThreads, BoundThreadsHaveAProcessorEachAndGiveItBack) {
    const cpu_set_t before = own_processors();
    omp_set_num_threads(CPU_COUNT(&before));
    for (const char* binding : {"close", "spread"})
        for (const char* threads : {"all", "half"}) {
            const auto seen = seen_by(threads, binding);
            const int wanted = threads == std::string("all") ? CPU_COUNT(&before) : std::max(1, CPU_COUNT(&before) / 2);
            EXPECT_EQ(std::ssize(seen), wanted) << threads << ' ' << binding;
            std::set<double> processors;
            for (const auto& [allowed, processor, size] : seen) {
                EXPECT_EQ(allowed, 1) << threads << ' ' << binding;
                EXPECT_TRUE(processors.insert(processor).second) << "two threads on processor " << processor;
            }
            expect_untouched(before);
        }
}

TEST_F(CpuTeamThreads, UnboundThreadsKeepTheirProcessors) {
    const cpu_set_t before = own_processors();
    for (const auto& seen : seen_by("all_but_one", "none")) EXPECT_EQ(seen[0], CPU_COUNT(&before));
    expect_untouched(before);
}

TEST_F(CpuTeamThreads, MoreThreadsThanProcessorsAreNotBound) {
    const cpu_set_t before = own_processors();
    omp_set_num_threads(CPU_COUNT(&before) + 1);
    const auto seen = seen_by("all", "close");
    EXPECT_EQ(std::ssize(seen), CPU_COUNT(&before) + 1);
    for (const auto& thread : seen) EXPECT_EQ(thread[0], CPU_COUNT(&before));
    expect_untouched(before);
}

TEST_F(CpuTeamThreads, TheSizeFollowsFromOpenMpAtRunTime) {
    for (const int threads : {1, 2, 5}) {
        omp_set_num_threads(threads);
        EXPECT_EQ(std::ssize(seen_by("all", "none")), threads);
        EXPECT_EQ(std::ssize(seen_by("all_but_one", "none")), std::max(1, threads - 1));
        EXPECT_EQ(std::ssize(seen_by("half", "none")), std::max(1, threads / 2));
    }
}

}  // namespace
}  // namespace hone::cpu_team_test
