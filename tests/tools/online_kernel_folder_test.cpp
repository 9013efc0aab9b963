// A kernel folder that is tuned while an application steps it, by the hone program as its worker.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "interfaces/kernel_folder/kernel_folder.hpp"
#include "runtime/library.hpp"
#include "tests/support/fresh_random.hpp"
#include "tests/support/places.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/tools/hasty_kernel.hpp"
#include "tests/tools/hone_process.hpp"
#include "tuner/online/tuner.hpp"
#include "tuning_db/database.hpp"

namespace hone::online_kernel_folder_test {
namespace {

/// Candidates are verified on small arrays first, where the hasty one is right.
TEST(SlowOnlineKernelFolder, NoStepRunsAMemberThatIsWrongAtTheApplicationsOwnSize) {
    const test::TemporaryFolder folder;
    const KernelFolder kernel(test::hasty_kernel(folder.path()));
    const Families families({kernel.family()});
    DiskCache cache(test::kernel_cache_folder());
    const auto backend = make_backend("cpu", cache);
    if (const std::string missing = backend->compiler().missing(); !missing.empty()) GTEST_SKIP() << missing;
    const Problem problem = families.parse_problem("doubled size=1600");
    test::FreshRandom random;
    const Workload data = kernel.family().workload(problem, random());
    HostArray u = data.arrays[0].copy(), next = data.arrays[1].copy();
    OnlineSettings settings;
    settings.worker = {test::HoneProcess::program(), "worker", kernel.path().string()};
    settings.cache = cache.folder();
    settings.rules.bound = 20;  // a test is in a hurry
    settings.rules.first_job = 0;
    settings.vetting_words = 1 << 16;
    const std::vector<void*> arrays{u.data(), next.data()};
    OnlineTuner tuner(*backend, families, folder.path() / "db", problem, arrays, settings);
    const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(2);
    int wrong = 0;
    while (!tuner.report().progress.settled && std::chrono::steady_clock::now() < end) {
        for (int i = 0; i < 5; ++i) {
            next.poison();
            tuner.step();
            wrong += largest_difference(next, data.expected[1]) > data.tolerance ? 1 : 0;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    tuner.finish();
    EXPECT_EQ(wrong, 0);
    EXPECT_TRUE(tuner.report().progress.settled) << to_string(tuner.report());
    EXPECT_EQ(tuner.report().config, "hasty=0") << to_string(tuner.report());
    const Database kept = Database::load(folder.path() / "db", families);
    for (const Record& record : kept.records()) EXPECT_EQ(record.config.key(), "hasty=0");
}

TEST(SlowOnlineKernelFolder, FindsBetterConfigurationsAndEveryStepIsRight) {
    const test::TemporaryFolder folder;
    const KernelFolder kernel(test::source_path("examples/kernels/jacobi"));
    const Families families({kernel.family()});
    DiskCache cache(test::kernel_cache_folder());
    const auto backend = make_backend("cpu", cache);
    if (const std::string missing = backend->compiler().missing(); !missing.empty()) GTEST_SKIP() << missing;
    const Problem problem = families.parse_problem("jacobi precision=f64 size=301");
    test::FreshRandom random;
    const Workload data = kernel.family().workload(problem, random());
    const std::vector<HostArray>& expected = data.expected;
    HostArray u = data.arrays[0].copy(), f = data.arrays[1].copy(), next = data.arrays[2].copy();
    std::vector<std::string> warnings;
    OnlineSettings settings;
    settings.worker = {test::HoneProcess::program(), "worker", kernel.path().string()};
    settings.cache = cache.folder();
    settings.warn = [&](const std::string& text) { warnings.push_back(text); };
    settings.rules.bound = 20;  // a test is in a hurry
    settings.rules.evaluations = 4;
    settings.rules.first_job = 0;
    const std::vector<void*> arrays{u.data(), f.data(), next.data()};
    OnlineTuner tuner(*backend, families, folder.path() / "db", problem, arrays, settings);
    const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(2);
    while (tuner.report().progress.evaluations < 3 && std::chrono::steady_clock::now() < end) {
        for (int i = 0; i < 20; ++i) {
            next.poison();
            tuner.step();
            ASSERT_LE(largest_difference(next, expected[2]), data.tolerance) << tuner.report().config;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    tuner.finish();
    EXPECT_GE(tuner.report().progress.evaluations, 3) << tuner.report().state;
    EXPECT_TRUE(warnings.empty()) << warnings.front();
    // What it found is there at the next start.
    const Database found = Database::load(folder.path() / "db", families);
    ASSERT_EQ(found.records().size(), 1);
    EXPECT_EQ(found.best(problem, backend->device().fingerprint, backend->device().limits).grade, Grade::exact);
}

}  // namespace
}  // namespace hone::online_kernel_folder_test
