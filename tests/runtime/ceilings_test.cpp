#include "runtime/ceilings.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <set>
#include <utility>
#include <vector>

#include "foundation/error.hpp"
#include "tests/runtime/cuda/fake_machine.hpp"
#include "tests/support/backend_or_skip.hpp"
#include "tests/support/environment.hpp"

namespace hone::ceilings_test {
namespace {

using testing::HasSubstr;

Ceilings some_ceilings() {
    Ceilings ceilings;
    ceilings.copy_bytes_per_second = 4e12;
    ceilings.fma_f32 = 64e12;
    ceilings.fma_f64 = 32e12;
    return ceilings;
}

Counts work(double operations, double bytes) {
    Counts counts;
    counts.operations = operations;
    counts.bytes = bytes;
    return counts;
}

TEST(CeilingSeconds, IsTheLargerOfMemoryAndArithmetic) {
    std::string binding;
    EXPECT_DOUBLE_EQ(ceiling_seconds(work(64e9, 8e12), Precision::f32, some_ceilings(), binding), 2);
    EXPECT_EQ(binding, "memory");
    EXPECT_DOUBLE_EQ(ceiling_seconds(work(192e12, 8e12), Precision::f32, some_ceilings(), binding), 3);
    EXPECT_EQ(binding, "arithmetic");
    EXPECT_DOUBLE_EQ(ceiling_seconds(work(192e12, 8e12), Precision::f64, some_ceilings(), binding), 6);
    EXPECT_EQ(binding, "arithmetic");
}

TEST(CeilingSeconds, PassesOverWhatWasNotMeasured) {
    std::string binding;
    Ceilings ceilings = some_ceilings();
    ceilings.fma_f32 = 0;
    EXPECT_DOUBLE_EQ(ceiling_seconds(work(1e20, 4e12), Precision::f32, ceilings, binding), 1);
    EXPECT_EQ(binding, "memory");
    EXPECT_EQ(ceiling_seconds(work(1e20, 4e12), Precision::f32, {}, binding), 0);
    EXPECT_EQ(binding, "");
}

// A device whose clock rests on the idle one, then rises in steps.
struct RisingClock {
    explicit RisingClock(std::mt19937_64& random) {
        const auto between = [&](double low, double high) { return std::uniform_real_distribution<double>(low, high)(random); };
        double rate = between(0.1, 0.5);  // of the highest
        double until = between(0, 0.08);
        while (rate < 0.95 && until < 0.6) {  // no step is within what counts as steady
            steps.push_back({until, rate});
            rate *= between(1.05, 2);
            until += between(0.005, 0.06);
        }
        piece = between(1e-3, 1e-2);
    }
    double rate(double time) const {
        for (const auto& [until, rate] : steps)
            if (time < until) return rate;
        return 1;
    }
    std::vector<std::pair<double, double>> steps;
    double piece = 0;  // seconds of a piece of work at the highest rate
};

TEST(IsWarm, OnceTheClockHasRisen) {
    const std::uint64_t seed = std::random_device{}();
    std::mt19937_64 random(seed);
    std::uniform_real_distribution<double> noise(0.995, 1.005);
    for (int device = 0; device < 200; ++device) {
        const RisingClock clock(random);
        std::vector<double> seconds;
        double time = 0;
        while (!is_warm(seconds)) {
            seconds.push_back(clock.piece / clock.rate(time) * noise(random));
            time += seconds.back();
        }
        ASSERT_EQ(clock.rate(time), 1) << "seed " << seed << " device " << device;
        // The last step, the time that decides, and two pieces across its ends, at the lowest rate.
        const double risen = clock.steps.empty() ? 0 : clock.steps.back().first;
        ASSERT_LE(time, risen + 0.2 + 2 * clock.piece / 0.1) << "seed " << seed << " device " << device;
    }
}

TEST(IsWarm, AfterASecondWhateverTheClockDoes) {
    const std::uint64_t seed = std::random_device{}();
    std::mt19937_64 random(seed);
    std::uniform_real_distribution<double> unsteady(0.001, 0.02);
    std::vector<double> seconds;
    double before = 0;
    double time = 0;
    while (!is_warm(seconds)) {
        before = time;
        time += seconds.emplace_back(unsteady(random));
    }
    EXPECT_GE(time, 1) << "seed " << seed;
    EXPECT_LT(before, 1) << "seed " << seed;
}

// The bounds are far outside of what any processor does, so that only a wrong count can break them.
TEST(MeasureCeilings, MeasuresTheProcessor) {
    const test::TemporaryFolder folder;
    DiskCache cache(folder.path() / "cache");
    auto backend = make_backend("cpu", cache);
    if (!backend->compiler().missing().empty()) GTEST_SKIP() << backend->compiler().missing();
    const Ceilings ceilings = measure_ceilings(*backend);
    EXPECT_GT(ceilings.copy_bytes_per_second, 1e7);
    EXPECT_LT(ceilings.copy_bytes_per_second, 1e14);
    EXPECT_GT(ceilings.fma_f32, 1e7);
    EXPECT_LT(ceilings.fma_f32, 1e15);
    EXPECT_GT(ceilings.fma_f64, 1e7);
    EXPECT_LT(ceilings.fma_f64, 1e15);
    EXPECT_THAT(ceilings.how, HasSubstr("memcpy"));
}

TEST(MeasureCeilings, MeasuresTheCopyAloneWhereNothingCanBeCompiled) {
    const test::TemporaryFolder folder;
    DiskCache cache(folder.path() / "cache");
    const test::EnvironmentVariable compiler("HONE_CXX", "/absent/c++");
    auto backend = make_backend("cpu", cache);
    const Ceilings ceilings = measure_ceilings(*backend);
    EXPECT_GT(ceilings.copy_bytes_per_second, 0);
    EXPECT_EQ(ceilings.fma_f32, 0);
    EXPECT_EQ(ceilings.fma_f64, 0);
    EXPECT_THAT(ceilings.how, HasSubstr("arithmetic not measured"));
}

// The fake driver's clock counts a second per launch, so the rates say how much work was counted:
// per launch of the copy, and per FMA.
TEST(MeasureCeilings, CountsTheWorkOfTheGpuKernels) {
    test::FakeMachine machine;
    auto backend = machine.backend();
    const Ceilings ceilings = measure_ceilings(*backend);
    EXPECT_GT(ceilings.fma_f32, 0);
    EXPECT_EQ(ceilings.fma_f32, ceilings.fma_f64);
    std::set<std::string> entries;
    for (const auto& launch : machine.state().launches) entries.insert(launch.entry);
    EXPECT_THAT(entries, testing::ElementsAre("copy", "fma_f32", "fma_f64"));
}

// Cold for 60 launches, which take longer than the arithmetic in f32 has, and less than a second.
TEST(MeasureCeilings, AColdGpuIsWarmedUpBefore) {
    test::FakeMachine machine;
    auto backend = machine.backend();
    machine.state().launch_seconds = 0.005;
    const Ceilings warm = measure_ceilings(*backend);
    machine.state().launches.clear();
    machine.state().cold = 4;
    const Ceilings cold = measure_ceilings(*backend);
    EXPECT_NEAR(cold.fma_f32, warm.fma_f32, 1e-6 * warm.fma_f32);  // the clock counts milliseconds in float
    EXPECT_NEAR(cold.fma_f64, warm.fma_f64, 1e-6 * warm.fma_f64);
    EXPECT_EQ(cold.how, warm.how) << "the copies too";
}

TEST(GpuCeilings, AreWithinWhatGpusDo) {
    const test::TemporaryFolder folder;
    DiskCache cache(folder.path() / "cache");
    const std::unique_ptr<Backend> backend = test::backend_or_skip("cuda", cache);
    if (!backend) return;
    const Ceilings ceilings = measure_ceilings(*backend);
    // Between the slowest supported GPU and a hundred times the fastest.
    EXPECT_GT(ceilings.copy_bytes_per_second, 5e10);
    EXPECT_LT(ceilings.copy_bytes_per_second, 1e15);
    EXPECT_GT(ceilings.fma_f32, 1e12);
    EXPECT_LT(ceilings.fma_f32, 1e16);
    EXPECT_GT(ceilings.fma_f64, 1e10);
    EXPECT_LT(ceilings.fma_f64, 1e16);
}

}  // namespace
}  // namespace hone::ceilings_test
