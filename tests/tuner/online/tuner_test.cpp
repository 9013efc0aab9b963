#include "tuner/online/tuner.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <optional>
#include <stdexcept>
#include <thread>

#include "foundation/error.hpp"
#include "runtime/disk_cache.hpp"
#include "runtime/kernel_hash.hpp"
#include "tests/support/axpy_family.hpp"
#include "tests/support/backend_or_skip.hpp"
#include "tests/support/descendants.hpp"
#include "tests/support/environment.hpp"
#include "tests/support/fresh_random.hpp"
#include "tests/support/running_time.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tuner/worker/worker_program.hpp"
#include "tuning_db/database.hpp"

namespace hone::online_tuner_test {
namespace {

using testing::HasSubstr;

/// An application that adds 3 x to y in every step. Every configuration's arithmetic is the same,
/// so the result is, too: to the last bit.
class SlowOnlineTuner : public testing::Test {
  protected:
    SlowOnlineTuner() : cache(folder.path() / "cache"), backend(make_backend("cpu", cache)) {
        settings.worker = {"/proc/self/exe", "worker"};
        settings.cache = cache.folder();
        settings.warn = [this](const std::string& text) { warnings.push_back(text); };
        settings.rules.bound = 20;  // a test is in a hurry
        settings.rules.evaluations = 12;
        settings.rules.first_job = 0;
    }

    struct Data {
        test::FreshRandom random;
        std::vector<double> x, y;
        explicit Data(std::int64_t n) : x(static_cast<std::size_t>(n)), y(static_cast<std::size_t>(n), 0.0) {
            // Small whole numbers: sums stay exact, whatever is contracted.
            for (double& value : x) value = static_cast<double>(random() % 1000);
        }
        std::array<void*, 2> pointers() { return {x.data(), y.data()}; }
        bool is_right(std::int64_t steps) const {
            for (std::size_t i = 0; i < x.size(); ++i)
                if (y[i] != 3 * x[i] * static_cast<double>(steps)) return false;
            return true;
        }
    };

    OnlineTuner tuner(Data& data) { return OnlineTuner(*backend, families, folder.path() / "db", problem, data.pointers(), settings); }

    /// Steps until `enough`, or for a minute.
    template <typename Enough>
    static std::int64_t run(OnlineTuner& tuner, const Enough& enough) {
        return run_until([&] { return enough(tuner.report()); }, tuner);
    }
    template <typename Enough>
    static std::int64_t run_until(const Enough& enough, OnlineTuner& tuner) {
        const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
        std::int64_t steps = 0;
        while (std::chrono::steady_clock::now() < end && !enough()) {
            for (int i = 0; i < 50; ++i, ++steps) tuner.step();
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
        return steps;
    }
    static std::int64_t run_for(OnlineTuner& tuner, std::chrono::milliseconds time) {
        const auto end = std::chrono::steady_clock::now() + time;
        return run_until([&] { return std::chrono::steady_clock::now() >= end; }, tuner);
    }

    static constexpr double bar = 1;  // seconds to end in, in every state

    test::TemporaryFolder folder;
    DiskCache cache;
    std::unique_ptr<Backend> backend;
    Families families = test::axpy_families({"none", "wrong", "crash", "compile_failure"});
    Problem problem = families.parse_problem("axpy precision=f64 n=20011");
    OnlineSettings settings;
    std::vector<std::string> warnings;
};

TEST_F(SlowOnlineTuner, EveryStepIsRightWhileCandidatesThatAreWrongCrashOrDoNotCompileAreDropped) {
    Data data(20011);
    settings.strategy = "exhaustive";  // begins with the faults
    OnlineTuner tuned = tuner(data);
    const std::int64_t steps = run(tuned, [](const OnlineReport& report) { return report.progress.settled; });
    tuned.finish();
    EXPECT_TRUE(data.is_right(steps));
    const OnlineReport report = tuned.report();
    EXPECT_EQ(report.progress.steps, steps);
    EXPECT_TRUE(report.progress.settled) << to_string(report) << testing::PrintToString(warnings);
    EXPECT_EQ(report.progress.evaluations, 12);
    std::string reasons;
    for (const OnlineRejection& rejection : report.progress.rejections) reasons += rejection.config + ": " + rejection.reason + "\n";
    EXPECT_THAT(reasons,
                AllOf(HasSubstr("fault=wrong: wrong"), HasSubstr("fault=crash: crashed"), HasSubstr("fault=compile_failure: compile_failed")));
    EXPECT_THAT(to_string(report), HasSubstr("12 evaluated"));
    EXPECT_THAT(report.config, HasSubstr("fault=none"));
    EXPECT_LE(report.progress.explored_cost, report.progress.allowed());
    tuned.step();  // goes on with the best
    EXPECT_TRUE(data.is_right(steps + 1));
}

/// Candidates are verified on some thousand values first. One that is wrong at the application's
/// own size alone is three times as fast there.
class SlowOnlineTunerOfLargeArrays : public SlowOnlineTuner {
  protected:
    SlowOnlineTunerOfLargeArrays() {
        settings.vetting_words = 1 << 13;
        settings.strategy = "exhaustive";  // begins with the faults
        settings.rules.evaluations = 4;
    }
    void use(const std::vector<std::string>& faults) { families = test::axpy_families(faults); }
    static bool settled(const OnlineReport& report) { return report.progress.settled; }
    Database kept() const { return Database::load(folder.path() / "db", families); }
    Match look_up() const { return kept().best(problem, backend->device().fingerprint, backend->device().limits); }

    static constexpr std::int64_t n = 500'009;
};

TEST_F(SlowOnlineTunerOfLargeArrays, NoStepRunsWhatIsWrongAtItsOwnSizeAlone) {
    use({"none", "large"});
    problem = families.parse_problem("axpy precision=f64 n=500009");
    Data data(n);
    OnlineTuner tuned = tuner(data);
    const std::int64_t steps = run(tuned, settled);
    tuned.finish();
    const OnlineReport report = tuned.report();
    EXPECT_TRUE(data.is_right(steps)) << to_string(report);
    EXPECT_TRUE(report.progress.settled) << to_string(report) << testing::PrintToString(warnings);
    EXPECT_THAT(report.config, HasSubstr("fault=none"));
    std::string reasons;
    for (const OnlineRejection& rejection : report.progress.rejections) reasons += rejection.config + ": " + rejection.reason + "\n";
    EXPECT_THAT(reasons, HasSubstr("fault=large: wrong: at the application's own size: "));
    const Database database = kept();
    for (const Record& record : database.records()) {
        EXPECT_EQ(record.verified_on, "");
        EXPECT_EQ(record.config.word("fault"), "none");
    }
}

TEST_F(SlowOnlineTunerOfLargeArrays, WhereSmallerOnesHaveToDoTheRecordSaysSoAndIsNotExact) {
    use({"none"});
    problem = families.parse_problem("axpy precision=f64 n=500009");
    settings.verify_reduced = true;
    Data data(n);
    OnlineTuner tuned = tuner(data);
    const std::int64_t steps = run(tuned, settled);
    tuned.finish();
    EXPECT_TRUE(data.is_right(steps));
    EXPECT_THAT(to_string(tuned.report()), HasSubstr("verified   on axpy precision=f64 n="));
    ASSERT_EQ(kept().records().size(), 1U) << to_string(tuned.report()) << testing::PrintToString(warnings);
    EXPECT_THAT(kept().records().front().verified_on, testing::StartsWith("axpy precision=f64 n="));
    EXPECT_EQ(look_up().grade, Grade::nearest_size);
    EXPECT_THAT(look_up().note, HasSubstr("verified on axpy precision=f64 n="));
    EXPECT_TRUE(warnings.empty()) << "it was chosen";
}

TEST_F(SlowOnlineTunerOfLargeArrays, ARecordThatIsWrongAtItsSizeIsMarkedAndNeverRunsAgain) {
    use({"none", "large"});
    problem = families.parse_problem("axpy precision=f64 n=500009");
    // As hone before 0.1.0 kept it: verified on smaller arrays, and said to be exact.
    const Config wrong = families.of(problem).space(problem, backend->device().limits).parse("fault=large");
    Record record = test::axpy_record(problem.key(), "unroll=1", backend->device().fingerprint);
    record.config = wrong;
    record.step = {1e-5, 1e-5, 1e-5, 1e-5, 9};
    record.versions.source_hash = kernel_hash(families.of(problem).kernel(problem, wrong, backend->device().limits).text);
    Database before(families);
    before.add(record);
    before.merge_into(folder.path() / "db");
    ASSERT_EQ(look_up().grade, Grade::exact);
    Data data(n);
    {
        OnlineTuner tuned = tuner(data);
        EXPECT_EQ(tuned.report().first_config, wrong.key());
        run(tuned, settled);
        tuned.finish();
        EXPECT_THAT(tuned.report().config, HasSubstr("fault=none")) << to_string(tuned.report());
    }
    EXPECT_NE(look_up().config, wrong);
    ASSERT_EQ(kept().marks().size(), 1U);
    EXPECT_THAT(kept().marks().front().wrong, HasSubstr("found by online tuning"));
    before.merge_into(folder.path() / "db");
    EXPECT_NE(look_up().config, wrong) << "a merge does not bring it back";
    Data fresh(n);
    OnlineTuner again = tuner(fresh);
    EXPECT_TRUE(fresh.is_right(run_for(again, std::chrono::milliseconds(300))));
}

TEST_F(SlowOnlineTuner, KeepsWhatItFoundAndGoesOnWithItAtTheNextStart) {
    constexpr int members = 12;
    Data data(20011);
    settings.strategy = "random";
    std::int64_t steps = 0;
    int evaluations = 0;
    {
        OnlineTuner tuned = tuner(data);
        steps = run(tuned, [](const OnlineReport& report) { return report.progress.evaluations >= 4; });
        tuned.finish();
        evaluations = tuned.report().progress.evaluations;
        ASSERT_GE(evaluations, 4) << to_string(tuned.report()) << testing::PrintToString(warnings);
    }
    const Database database = Database::load(folder.path() / "db", families);
    ASSERT_EQ(database.records().size(), 1U);
    const Record& record = database.records().front();
    EXPECT_EQ(record.found, "online");
    EXPECT_TRUE(record.verified());
    EXPECT_GT(record.step.median, 0);
    OnlineTuner again = tuner(data);
    EXPECT_EQ(again.report().first_config, record.config.key());
    // On a busy machine the first start may have come to the end of the space.
    const int goal = std::min(evaluations + 1, members);
    steps += run(again, [&](const OnlineReport& report) { return report.progress.evaluations >= goal; });
    again.finish();
    EXPECT_TRUE(data.is_right(steps));
    EXPECT_GE(again.report().progress.evaluations, goal) << to_string(again.report());
}

TEST_F(SlowOnlineTuner, TellsOnceWhenThereIsNoWorkerAndRunsWhatIsKnown) {
    Data data(20011);
    settings.worker = {"/nowhere/hone", "worker"};
    OnlineTuner tuned = tuner(data);
    const std::int64_t steps = run(tuned, [](const OnlineReport& report) { return report.state.find("not tuned") == 0; });
    tuned.finish();
    EXPECT_TRUE(data.is_right(steps));
    ASSERT_EQ(warnings.size(), 1U);
    EXPECT_THAT(warnings[0], AllOf(HasSubstr("is not tuned online"), HasSubstr("/nowhere/hone")));
}

TEST_F(SlowOnlineTuner, OnlyOneOfTwoTunersOfAProblemTriesCandidates) {
    Data first(20011);
    Data second(20011);
    OnlineTuner one = tuner(first);
    std::int64_t steps = run(one, [](const OnlineReport& report) { return report.state != "starting"; });
    OnlineTuner two = tuner(second);
    const std::int64_t others = run(two, [](const OnlineReport& report) { return report.state != "starting"; });
    EXPECT_THAT(two.report().state, HasSubstr("another process is tuning this problem"));
    EXPECT_EQ(one.report().state, "trying candidates");
    one.finish();
    EXPECT_TRUE(first.is_right(steps));
    EXPECT_TRUE(second.is_right(others));
}

TEST_F(SlowOnlineTuner, AnotherProblemAndOtherArraysComeBetweenTwoSteps) {
    Data data(20011);
    Data other(20011);
    Data larger(50021);
    OnlineTuner tuned = tuner(data);
    std::int64_t steps = run(tuned, [](const OnlineReport& report) { return report.progress.evaluations >= 2; });
    tuned.set_arrays(other.pointers());
    for (int i = 0; i < 30; ++i) tuned.step();
    tuned.set_problem(families.parse_problem("axpy precision=f64 n=50021"), larger.pointers());
    for (int i = 0; i < 40; ++i) tuned.step();
    tuned.finish();
    EXPECT_TRUE(data.is_right(steps));
    EXPECT_TRUE(other.is_right(30));
    EXPECT_TRUE(larger.is_right(40));
    ASSERT_EQ(tuned.reports().size(), 2U);
    EXPECT_THAT(tuned.reports()[0].problem, HasSubstr("n=20011"));
    EXPECT_EQ(tuned.report().progress.steps, 40);
}

/// The state that hung: the job in the background disturbs the application's steps, which may lose
/// nothing, so it stands still for ever.
TEST_F(SlowOnlineTuner, EndsAtOnceWhenItsJobStandsStill) {
    settings.rules.bound = 1e-12;
    for (const bool by_destructor : {false, true}) {
        Data data(20011);
        auto tuned = std::make_unique<OnlineTuner>(tuner(data));
        const std::int64_t steps = run_for(*tuned, std::chrono::seconds(3));
        test::RunningTime ending;
        by_destructor ? tuned.reset() : tuned->finish();
        EXPECT_LT(ending.seconds(), bar);
        EXPECT_TRUE(data.is_right(steps));
    }
}

TEST_F(SlowOnlineTuner, EndsAtOnceWhenItsCompilerIsStoppedByHand) {
    const std::string compiler = (folder.path() / "compiler").string();
    const std::string told = (folder.path() / "told").string();
    std::ofstream(compiler) << "#!/bin/sh\n[ \"$1\" = --version ] && echo sleepy && exit\necho > " << told << "\nkill -STOP $$\n";
    std::filesystem::permissions(compiler, std::filesystem::perms::owner_all);
    Data data(20011);
    OnlineTuner tuned = tuner(data);  // its own first kernel is compiled by another compiler than its workers' kernels
    const test::EnvironmentVariable named("HONE_CXX", compiler);
    const std::int64_t steps = run_until([&] { return std::filesystem::exists(told); }, tuned);
    ASSERT_TRUE(std::filesystem::exists(told)) << to_string(tuned.report());
    test::RunningTime ending;
    tuned.finish();
    EXPECT_LT(ending.seconds(), bar);
    EXPECT_TRUE(data.is_right(steps));
    EXPECT_EQ(tuned.report().progress.evaluations, 0) << "what was not finished is dropped";
}

TEST_F(SlowOnlineTuner, EndsAtOnceAfterLoopsOfAnyLength) {
    test::FreshRandom random;
    for (int i = 0; i < 200; ++i) {
        settings.rules.bound = i % 2 == 0 ? 20 : 0.01;
        settings.seed = random();
        Data data(20011);
        std::int64_t steps = 0;
        std::optional<test::RunningTime> ending;
        {
            OnlineTuner tuned = tuner(data);
            steps = run_for(tuned, std::chrono::milliseconds(random() % 150));
            ending.emplace();
        }
        ASSERT_LT(ending->seconds(), bar) << i;
        ASSERT_TRUE(data.is_right(steps)) << i;
    }
}

TEST_F(SlowOnlineTuner, AnExceptionInTheLoopEndsIt) {
    Data data(20011);
    const auto loop = [&] {
        OnlineTuner tuned = tuner(data);
        run_for(tuned, std::chrono::milliseconds(500));
        throw std::runtime_error("diverged");
    };
    EXPECT_THROW(loop(), std::runtime_error);
}

TEST_F(SlowOnlineTuner, TheProgramMayExitFromTheLoop) {
    testing::FLAGS_gtest_death_test_style = "threadsafe";
    const auto leave = [&](bool is_static) {
        auto* const data = new Data(20011);
        settings.rules.bound = 1e-12;
        if (is_static) {
            static OnlineTuner tuned = tuner(*data);
            run_for(tuned, std::chrono::seconds(1));
            std::exit(7);
        }
        OnlineTuner tuned = tuner(*data);
        run_for(tuned, std::chrono::seconds(1));
        std::exit(7);
    };
    test::Descendants descendants;
    EXPECT_EXIT(leave(false), testing::ExitedWithCode(7), "");
    EXPECT_EXIT(leave(true), testing::ExitedWithCode(7), "");
    EXPECT_TRUE(descendants.gone()) << "a worker outlived the program";
}

TEST_F(SlowOnlineTuner, SwitchedOffItRunsWhatIsKnown) {
    Data data(20011);
    settings.enabled = false;
    OnlineTuner tuned = tuner(data);
    for (int i = 0; i < 10; ++i) tuned.step();
    EXPECT_TRUE(data.is_right(10));
    EXPECT_THAT(tuned.report().state, HasSubstr("switched off"));
    EXPECT_TRUE(warnings.empty());
}

TEST(GpuOnlineTuner, EveryStepIsRightWhileCandidatesComeAndGo) {
    const test::TemporaryFolder folder;
    DiskCache cache(folder.path() / "cache");
    const std::unique_ptr<Backend> backend = test::backend_or_skip("cuda", cache);
    if (!backend) return;
    const Families families = test::axpy_families({"none", "wrong", "launch_failure", "compile_failure"});
    const std::int64_t n = 4'000'037;
    const Problem problem = families.parse_problem("axpy precision=f64 n=" + std::to_string(n));
    std::vector<double> x(static_cast<std::size_t>(n));
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<double>(i * 7919 % 1000);
    std::array<DeviceArray, 2> arrays{DeviceArray(*backend, n * 8), DeviceArray(*backend, n * 8)};
    backend->copy(arrays[0].data(), x.data(), n * 8);
    backend->fill(arrays[1].data(), 0, n * 8);
    OnlineSettings settings;
    settings.worker = {"/proc/self/exe", "worker"};
    settings.cache = cache.folder();
    settings.strategy = "exhaustive";
    settings.rules.bound = 1;
    settings.rules.evaluations = 20;
    OnlineTuner tuner(*backend, families, folder.path() / "db", problem, std::array{arrays[0].data(), arrays[1].data()}, settings);
    std::int64_t steps = 0;
    const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    for (; std::chrono::steady_clock::now() < end && !tuner.report().progress.settled; ++steps) tuner.step();
    tuner.finish();
    std::vector<double> y(x.size());
    backend->copy(y.data(), arrays[1].data(), n * 8);
    backend->synchronise();
    for (std::size_t i = 0; i < y.size(); ++i) ASSERT_EQ(y[i], 3 * x[i] * static_cast<double>(steps)) << i;
    const OnlineReport report = tuner.report();
    EXPECT_TRUE(report.progress.settled) << to_string(report);
    EXPECT_EQ(report.progress.evaluations, 20);
    EXPECT_GT(report.progress.explored_steps, 0);
    std::cout << to_string(report);
}

TEST(GpuOnlineTuner, VerifiesBeforeTheFirstStepWhatIsTriedInTheFirstOnes) {
    const test::TemporaryFolder folder;
    DiskCache cache(folder.path() / "cache");
    const std::unique_ptr<Backend> backend = test::backend_or_skip("cuda", cache);
    if (!backend) return;
    const Families families = test::axpy_families({"none"});
    const std::int64_t n = 4'000'037;
    const Problem problem = families.parse_problem("axpy precision=f64 n=" + std::to_string(n));
    const std::array<DeviceArray, 2> arrays{DeviceArray(*backend, n * 8), DeviceArray(*backend, n * 8)};
    for (const DeviceArray& array : arrays) backend->fill(array.data(), 0, n * 8);
    OnlineSettings settings;
    settings.worker = {"/proc/self/exe", "worker"};
    settings.cache = cache.folder();
    settings.rules.bound = 1;  // no step is withheld: it is their order in time that is tested
    OnlineTuner tuner(*backend, families, folder.path() / "db", problem, std::array{arrays[0].data(), arrays[1].data()}, settings);
    std::this_thread::sleep_for(std::chrono::seconds(10));  // what an application sets up
    for (int step = 0; step < 200; ++step) tuner.step();
    backend->synchronise();
    tuner.finish();
    EXPECT_GT(tuner.report().progress.tried, 0) << to_string(tuner.report());
}

TEST(WorkerProgram, IsTheOneThatTheEnvironmentNamesOrNone) {
    const test::TemporaryFolder folder;
    const std::string program = (folder.path() / "hone").string();
    std::ofstream(program) << "#!/bin/sh\n";
    std::filesystem::permissions(program, std::filesystem::perms::owner_all);
    const test::EnvironmentVariable named("HONE_WORKER", program);
    EXPECT_EQ(find_worker_command(), (std::vector<std::string>{program, "worker"}));
    const test::EnvironmentVariable missing("HONE_WORKER", program + "-missing");
    EXPECT_TRUE(find_worker_command().empty());
}

}  // namespace
}  // namespace hone::online_tuner_test
