#include "runtime/ceilings.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "generator/error.hpp"
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
