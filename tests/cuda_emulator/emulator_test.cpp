#include "tests/support/emulator.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <numeric>
#include <vector>

#include "runtime/cpu/cpu_backend.hpp"
#include "tests/support/places.hpp"

namespace hone::test::emulator_test {
namespace {

// A CUDA source of one entry `kernel(real* data, [table,] int n, int first, int last, int
// constant)`, launched once.
KernelSource source(const std::string& body, Dim3 grid, Dim3 block) {
    KernelSource cuda;
    cuda.target = Target::cuda;
    cuda.precision = Precision::f32;
    cuda.text = "extern \"C\" __global__ void kernel(float* data, int n, int first, int last, int constant)\n{\n" + body + "}\n";
    cuda.arrays = {{"data", Access::inout, 0, "[n]", ""}};
    cuda.scalars = {{"n", 0}};
    Launch launch;
    launch.entry = "kernel";
    launch.grid = grid;
    launch.block = block;
    launch.shared_bytes = 4096;
    launch.constants = {0};
    cuda.entries = {"kernel"};
    cuda.step = {launch};
    return cuda;
}

class Emulator : public ::testing::Test {
  protected:
    void SetUp() override {
        if (const std::string missing = backend_->compiler().missing(); !missing.empty()) GTEST_SKIP() << missing;
    }

    // The data after one launch over [first, last), from 0, 1, 2, ...
    std::vector<float> run(const KernelSource& cuda, int n, int first = 0, int last = 1, int constant = 0) {
        return run_emulated(emulated(cuda), n, first, last, constant);
    }

    std::vector<float> run_emulated(const KernelSource& cpu, int n, int first = 0, int last = 1, int constant = 0) {
        const CompileOutcome outcome = backend_->compiler().compile(cpu);
        EXPECT_TRUE(outcome.ok) << outcome.failure << "\n" << outcome.code.log;
        std::vector<float> data(static_cast<std::size_t>(n));
        std::iota(data.begin(), data.end(), 0.0F);
        const auto module = backend_->load(outcome.code);
        float* pointer = data.data();
        std::array<void*, 5> arguments{&pointer, &n, &first, &last, &constant};
        const Launch& launch = cpu.step.front();
        module->launch(module->entry(launch.entry), launch.grid, launch.block, launch.shared_bytes, {}, arguments.data());
        return data;
    }

    DiskCache cache_{test::kernel_cache_folder()};
    std::unique_ptr<Backend> backend_ = make_cpu_backend(0, cache_);
};

TEST_F(Emulator, EveryThreadOfEveryBlockRunsOnce) {
    const auto data = run(source("    data[threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * (blockIdx.x + gridDim.x * blockIdx.z))] *= 2;\n",
                                 {3, 1, 2}, {5, 4, 1}),
                          120);
    for (std::size_t i = 0; i < data.size(); ++i) EXPECT_EQ(data[i], 2.0F * static_cast<float>(i));
}

// GCC makes one variable of all libraries' variables of a template or an inline function.
TEST_F(Emulator, AKernelSharesNoVariableWithOneThatWasLoadedBefore) {
    std::vector<std::unique_ptr<Module>> loaded;
    for (const int words : {2, 64}) {
        KernelSource cuda = source(fmt::format("    data[threadIdx.x] = counted<{0}>() + shared<{0}>(threadIdx.x);\n", words), {1, 1, 1}, {32, 1, 1});
        cuda.text = fmt::format(R"(template <int> __device__ inline int counted()
{{
    static int count = 0;
    return ++count;
}}
template <int> __device__ __forceinline__ float shared(int i)
{{
    __shared__ float words[{0}];
    __shared__ float behind[{0}];
    behind[i % {0}] = 1;
    __syncthreads();
    words[i % {0}] = 2;
    __syncthreads();
    return behind[i % {0}];
}}
)",
                                words) +
                    cuda.text;
        // The same names, whatever the sizes.
        for (std::size_t at; (at = cuda.text.find(fmt::format("<{}>", words))) != std::string::npos;)
            cuda.text.replace(at, fmt::format("<{}>", words).size(), "<0>");
        std::vector<float> data(32, 0.0F), expected(32);
        const KernelSource cpu = emulated(cuda);
        const CompileOutcome outcome = backend_->compiler().compile(cpu);
        ASSERT_TRUE(outcome.ok) << outcome.failure << "\n" << outcome.code.log;
        loaded.push_back(backend_->load(outcome.code));
        float* pointer = data.data();
        int n = 32, first = 0, last = 1, constant = 0;
        std::array<void*, 5> arguments{&pointer, &n, &first, &last, &constant};
        const Launch& launch = cpu.step.front();
        loaded.back()->launch(loaded.back()->entry(launch.entry), launch.grid, launch.block, launch.shared_bytes, {}, arguments.data());
        std::sort(data.begin(), data.end());
        std::iota(expected.begin(), expected.end(), 2.0F);
        EXPECT_EQ(data, expected) << words;
    }
}

TEST_F(Emulator, ABarrierSeparatesWritesFromReads) {
    const auto data = run(source(R"(    __shared__ float tile[96];
    extern __shared__ float more[];
    const int i = threadIdx.x;
    tile[i] = data[i];
    __syncthreads();
    more[i] = tile[95 - i];
    __syncthreads();
    data[i] = more[(i + 1) % 96];
)",
                                 {1, 1, 1}, {96, 1, 1}),
                          96);
    for (int i = 0; i < 96; ++i) EXPECT_EQ(data[static_cast<std::size_t>(i)], static_cast<float>(95 - (i + 1) % 96));
}

// Ubuntu's GCC defines it by itself.
constexpr const char* checks_jumps = "#undef _FORTIFY_SOURCE\n#define _FORTIFY_SOURCE 2\n";

TEST_F(Emulator, FibersSwitchWhereTheCompilerChecksJumps) {
    KernelSource kernel = emulated(source("    __syncthreads();\n    data[threadIdx.x] = 7;\n", {1, 1, 1}, {64, 1, 1}));
    put_in_front(kernel, "#include <sched.h>\n#include <unistd.h>\nstatic int started = sched_yield();\n");
    kernel.text.insert(0, checks_jumps);
    EXPECT_EQ(run_emulated(kernel, 64).back(), 7);
}

TEST_F(Emulator, AHeaderThatWouldCheckJumpsIsRefused) {
    KernelSource kernel = emulated(source("    __syncthreads();\n", {1, 1, 1}, {64, 1, 1}));
    kernel.text.insert(0, std::string(checks_jumps) + "#include <unistd.h>\n");
    const CompileOutcome outcome = backend_->compiler().compile(kernel);
    EXPECT_FALSE(outcome.ok);
    EXPECT_NE(outcome.code.log.find("put_in_front"), std::string::npos) << outcome.code.log;
}

TEST_F(Emulator, AMissingBarrierShows) {
    const auto data = run(source(R"(    __shared__ float tile[96];
    const int i = threadIdx.x;
    tile[i] = data[i] + 1;
    data[i] = tile[95 - i] - 1;
)",
                                 {1, 1, 1}, {96, 1, 1}),
                          96);
    int wrong = 0;
    for (int i = 0; i < 96; ++i) wrong += data[static_cast<std::size_t>(i)] != static_cast<float>(95 - i);
    EXPECT_GT(wrong, 0);
}

TEST_F(Emulator, ShufflesMoveValuesWithinAWarp) {
    const auto data = run(source(R"(    const int i = threadIdx.x;
    const float own = data[i];
    float sum = 10000 * __shfl_sync(0xffffffff, own, (i + 1) % 32) + 100 * __shfl_xor_sync(0xffffffff, own, 1);
    sum += __shfl_up_sync(0xffffffff, own, 3) - __shfl_down_sync(0xffffffff, own, 5);
    data[i] = sum;
)",
                                 {1, 1, 1}, {64, 1, 1}),
                          64);
    for (int i = 0; i < 64; ++i) {
        const int warp = i / 32 * 32;
        const int lane = i % 32;
        const int expected = 10000 * (warp + (lane + 1) % 32) + 100 * (i ^ 1) + (lane < 3 ? i : i - 3) - (lane > 26 ? i : i + 5);
        EXPECT_EQ(data[static_cast<std::size_t>(i)], static_cast<float>(expected)) << i;
    }
}

TEST_F(Emulator, ALaunchCoversTheRangeItIsGiven) {
    KernelSource cuda =
        source("    const int i = first + blockIdx.y * 3 + threadIdx.x;\n    if (i < last) data[i] = constant;\n", {1, 99, 1}, {3, 1, 1});
    cuda.step.front().range_axis = 1;
    cuda.step.front().range_per_block = 3;
    const auto data = run(cuda, 20, 5, 13, -7);
    for (int i = 0; i < 20; ++i) EXPECT_EQ(data[static_cast<std::size_t>(i)], i >= 5 && i < 13 ? -7.0F : static_cast<float>(i));
}

using EmulatorDeathTest = Emulator;

TEST_F(EmulatorDeathTest, ABarrierThatSomeWarpLanesNeverReachIsAnError) {
    const auto divergent = source("    if (threadIdx.x < 7) data[0] = __shfl_sync(0xffffffff, data[threadIdx.x], 3);\n    else __syncthreads();\n",
                                  {1, 1, 1}, {32, 1, 1});
    EXPECT_DEATH(run(divergent, 32), "wait for others that never come");
}

TEST_F(EmulatorDeathTest, AWordThatNobodyWroteIsAnErrorWhenItIsCopied) {
    const auto fills = source("#if !defined(__clang__) && __GNUC__ >= 12\n    data[0] = 1;\n#endif\n", {1, 1, 1}, {1, 1, 1});
    if (run(fills, 1)[0] == 0) GTEST_SKIP() << "the host's compiler, which is not GCC 12 or newer, does not fill variables";
    const std::string window =
        "    struct {{ real word[2]; }} window{};\n    window.word[0] = data[0];\n    window.word[1] = window.word[{}];\n"
        "    data[1] = fma(window.word[0], 2, window.word[1]);\n";
    const auto checked = [&](const char* begin, int copied) {
        KernelSource cuda = source(fmt::format(fmt::runtime(window), begin, copied), {1, 1, 1}, {1, 1, 1});
        cuda.text = "using real = float;\n" + cuda.text;
        return with_checked_words(emulated(cuda));
    };
    EXPECT_EQ(run_emulated(checked("", 0), 2)[1], 0.0F);
    EXPECT_EQ(run_emulated(checked(" = {}", 1), 2)[1], 0.0F);
    EXPECT_DEATH(run_emulated(checked("", 1), 2), "before anything was written");
}

}  // namespace
}  // namespace hone::test::emulator_test
