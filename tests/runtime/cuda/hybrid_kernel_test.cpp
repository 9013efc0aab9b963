// A step shared by a GPU and a processor, with a fake driver whose one kernel adds one to the words
// of its range.
#include "runtime/hybrid_kernel.hpp"

#include <gtest/gtest.h>

#include <random>

#include "tests/runtime/cuda/fake_machine.hpp"

namespace hone::hybrid_kernel_test {
namespace {

using test::FakeMachine;

constexpr std::int64_t words = 2'400'000;  // more than one piece of page-locked memory

// a[first..last) += 1; units are words, of which the parts read one beyond their border (and do
// nothing with it).
Family add_one_family() {
    Family family;
    family.name = "add_one";
    family.parameters = {{"precision", "", {"f32"}, 0, 0, false, ""}, {"n", "", {}, 1, 1 << 24, true, ""}};
    family.example = "add_one precision=f32 n=2400000";
    family.range_unit = "words";
    family.range = [](const Problem& problem) { return problem.integer("n"); };
    family.partition = [](const Problem&) { return Partition{.granularity = 4, .halo_below = 2, .halo_above = 3}; };
    family.arrays = [](const Problem& problem) { return std::vector<ArraySpec>{{"a", Access::inout, problem.integer("n"), "[n]", "values", {1}}}; };
    family.kernel = [arrays = family.arrays](const Problem& problem, const Config&, const Limits& limits) {
        KernelSource source;
        source.text = "extern \"C\" __global__ void add_one(float* a, int first, int last);";
        source.target = limits.target;
        source.entries = {"add_one"};
        source.arrays = arrays(problem);
        source.step = {{.entry = "add_one", .grid = {1, 1, 1}, .block = {32, 1, 1}, .constants = {}}};
        return source;
    };
    family.reference = [](const Problem&, std::span<void* const> arrays, std::int64_t first, std::int64_t last) {
        for (std::int64_t i = first; i < last; ++i) static_cast<float*>(arrays[0])[i] += 1;
    };
    return family;
}

TEST(CudaHybridKernel, SharesStepsBetweenAGpuAndTheProcessorWhicheverIsFirst) {
    const auto seed = std::random_device{}();
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937_64 random(seed);
    const Families families({add_one_family()});
    const Problem problem = families.parse_problem("add_one precision=f32 n=2400000");
    const Family& family = families.of(problem);
    for (const bool gpu_first : {true, false}) {
        FakeMachine machine;
        const auto gpu = machine.backend();
        const auto cpu = make_backend("cpu", machine.cache());
        const HybridSide on_gpu{gpu.get(), std::make_shared<const Kernel>(*gpu, family, problem, Match{}, gpu->device().limits)};
        const HybridSide on_cpu{cpu.get(), std::make_shared<const Kernel>(Kernel::reference(*cpu, family, problem, Match{}, cpu->device().limits))};
        std::vector<float> values(words);
        for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
        const std::array<void*, 1> arrays{values.data()};
        HybridKernel hybrid(family, gpu_first ? on_gpu : on_cpu, gpu_first ? on_cpu : on_gpu, arrays, words);
        int steps = 0;
        for (int round = 0; round < 12; ++round) {
            hybrid.set_units(static_cast<std::int64_t>(random() % (words / 4 + 1)) * 4);
            for (std::uint64_t i = random() % 3; i > 0; --i, ++steps) {
                const std::size_t launched = machine.state().launches.size();
                const HybridStep times = hybrid.step();
                const bool gpu_works = gpu_first ? hybrid.units() > 0 : hybrid.units() < words;
                EXPECT_EQ(machine.state().launches.size() - launched, gpu_works ? 1U : 0U);
                // The fake device's clock counts launches as seconds.
                EXPECT_EQ(gpu_first ? times.first : times.second, gpu_works ? 1 : 0);
            }
            if (random() % 2 == 0) continue;
            hybrid.gather();
            for (std::size_t i = 0; i < values.size(); ++i)
                ASSERT_EQ(values[i], static_cast<float>(i) + static_cast<float>(steps)) << i << " in round " << round;
        }
    }
}

TEST(CudaHybridKernel, ReportsAFaultOfTheGpuAndGivesItsMemoryBack) {
    const Families families({add_one_family()});
    const Problem problem = families.parse_problem("add_one precision=f32 n=2400000");
    const Family& family = families.of(problem);
    FakeMachine machine;
    const auto gpu = machine.backend();
    const auto cpu = make_backend("cpu", machine.cache());
    std::vector<float> values(words);
    const std::array<void*, 1> arrays{values.data()};
    {
        const HybridSide on_gpu{gpu.get(), std::make_shared<const Kernel>(*gpu, family, problem, Match{}, gpu->device().limits)};
        const HybridSide on_cpu{cpu.get(), std::make_shared<const Kernel>(Kernel::reference(*cpu, family, problem, Match{}, cpu->device().limits))};
        HybridKernel hybrid(family, on_gpu, on_cpu, arrays, words / 2 / 4 * 4);
        EXPECT_FALSE(machine.state().device_memory.empty());
        EXPECT_NO_THROW(hybrid.step());
        machine.state().failures["cuLaunchKernel"] = 719;
        EXPECT_THROW(hybrid.step(), Error);
        machine.state().failures.clear();
    }
    EXPECT_TRUE(machine.state().device_memory.empty());
    EXPECT_TRUE(machine.state().pinned_memory.empty());
}

}  // namespace
}  // namespace hone::hybrid_kernel_test
