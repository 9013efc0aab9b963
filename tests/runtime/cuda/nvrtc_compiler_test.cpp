// Compilation for real architectures with no GPU, where NVRTC is installed; and the same rules with
// a compiler that compiles nothing.
#include "runtime/cuda/nvrtc_compiler.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "foundation/error.hpp"
#include "generator/render.hpp"
#include "runtime/cuda/nvrtc.hpp"
#include "runtime/cuda/toolkit_headers.hpp"
#include "runtime/doctor.hpp"
#include "tests/runtime/cuda/fake_machine.hpp"
#include "tests/support/environment.hpp"

namespace hone::nvrtc_compiler_test {
namespace {

using test::error_of;
using test::FakeMachine;
using testing::AllOf;
using testing::HasSubstr;

KernelSource cuda_source(std::string text) {
    KernelSource source;
    source.target = Target::cuda;
    source.text = std::move(text);
    return source;
}

std::string resources_text(const CompiledCode& code) {
    std::string text;
    for (const auto& entry : code.resources)
        text += fmt::format("{} {} {} {} {} {}\n", entry.entry, entry.registers, entry.shared_bytes, entry.local_bytes, entry.spill_store_bytes,
                            entry.spill_load_bytes);
    return text;
}

EntryResources resources_of(const CompiledCode& code, const std::string& entry) {
    for (const auto& one : code.resources)
        if (one.entry == entry) return one;
    throw Error("resources", "no entry " + entry, code.log);
}

// Needs what kernels use: vectors, constexpr, shared memory, a barrier, asynchronous copies by
// inline PTX, two entries.
const char* const rich_source = R"(
constexpr int width = 4;
constexpr double weights[width] = {0.25, 0.5, 0.75, 1.0};
__device__ float4 scaled(float4 v, float s) { return make_float4(v.x * s, v.y * s, v.z * s, v.w * s); }
extern "C" __global__ void __launch_bounds__(128, 4) vectors(const float4* __restrict__ from, float4* __restrict__ to, int first, int last) {
    __shared__ float4 tile[128];
    const int i = first + blockIdx.x * 128 + threadIdx.x;
    const unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(&tile[threadIdx.x]));
    if (i < last) asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(address), "l"(from + i));
    asm volatile("cp.async.wait_all;");
    __syncthreads();
    if (i < last) to[i] = scaled(tile[threadIdx.x ^ 1], static_cast<float>(weights[i % width]));
}
extern "C" __global__ void doubles(const double2* from, double2* to, int first, int last) {
    const int i = first + blockIdx.x * blockDim.x + threadIdx.x;
    if (i < last) to[i] = make_double2(__ldg(&from[i].x), from[i].y);
}
)";

// 40 doubles per thread that must fit into 32 registers of 32 bits.
const char* const spilling_source = R"(
constexpr int values = 40;
extern "C" __global__ void __launch_bounds__(1024, 2) spills(double* a, int n) {
    double r[values];
#pragma unroll
    for (int i = 0; i < values; ++i) r[i] = a[i * n + threadIdx.x];
    for (int k = 0; k < n; ++k) {
#pragma unroll
        for (int i = 0; i < values; ++i) r[i] = r[i] * r[(i + 7) % values] + 1;
    }
#pragma unroll
    for (int i = 0; i < values; ++i) a[i * n + threadIdx.x] = r[i];
}
)";

class NvrtcCompiler : public testing::Test {
  protected:
    void SetUp() override {
        const cuda::Nvrtc nvrtc = cuda::load_nvrtc(cuda::library_candidates());
        if (!nvrtc.missing.empty()) GTEST_SKIP() << nvrtc.missing;
        architectures_ = nvrtc.architectures_of;
    }
    bool knows(int architecture) const { return std::find(architectures_.begin(), architectures_.end(), architecture) != architectures_.end(); }

    test::TemporaryFolder folder_;
    DiskCache cache_{folder_.path() / "cache"};
    std::vector<int> architectures_;
};

TEST_F(NvrtcCompiler, CompilesForRealArchitectures) {
    int compiled = 0;
    for (const int architecture : {80, 90, 100}) {
        if (!knows(architecture)) continue;
        const auto compiler = make_nvrtc_compiler(fmt::format("sm_{}", architecture), cache_);
        EXPECT_THAT(compiler->version(), testing::StartsWith("NVRTC 1"));
        const CompileOutcome outcome = compiler->compile(cuda_source(rich_source));
        ASSERT_TRUE(outcome.ok) << outcome.failure << "\n" << outcome.code.log;
        EXPECT_FALSE(outcome.code.from_cache);
        EXPECT_EQ(outcome.code.target, Target::cuda);
        EXPECT_EQ(outcome.code.binary.substr(0, 4),
                  "\x7f"
                  "ELF");
        EXPECT_GT(outcome.code.seconds, 0);
        ASSERT_EQ(outcome.code.resources.size(), 2u);
        EXPECT_EQ(resources_of(outcome.code, "vectors").shared_bytes, 2048);
        EXPECT_GT(resources_of(outcome.code, "doubles").registers, 3);
        EXPECT_EQ(resources_of(outcome.code, "doubles").spill_store_bytes, 0);
        ++compiled;
    }
    EXPECT_GE(compiled, 2);
}

TEST_F(NvrtcCompiler, CompilesHonesOwnKernels) {
    const auto compiler = make_nvrtc_compiler("sm_80", cache_);
    for (const char* name : {"runtime/largest_difference.cu", "runtime/ceilings.cu"}) {
        const CompileOutcome outcome = compiler->compile(cuda_source(render(name, {})));
        ASSERT_TRUE(outcome.ok) << name << ": " << outcome.failure;
        EXPECT_THAT(outcome.code.log, testing::Not(HasSubstr("warning"))) << name;
        for (const auto& entry : outcome.code.resources) EXPECT_EQ(entry.local_bytes, 0) << entry.entry;
    }
}

TEST_F(NvrtcCompiler, ReportsTheSameFromTheCache) {
    const auto compiler = make_nvrtc_compiler("sm_80", cache_);
    const CompileOutcome first = compiler->compile(cuda_source(spilling_source));
    ASSERT_TRUE(first.ok) << first.failure;
    const EntryResources spills = resources_of(first.code, "spills");
    EXPECT_EQ(spills.registers, 32);
    EXPECT_GT(spills.spill_store_bytes, 0);
    EXPECT_GT(spills.spill_load_bytes, 0);
    EXPECT_GT(spills.local_bytes, 0);
    // Another compiler, as another process would make it.
    const CompileOutcome second = make_nvrtc_compiler("sm_80", cache_)->compile(cuda_source(spilling_source));
    ASSERT_TRUE(second.ok);
    EXPECT_TRUE(second.code.from_cache);
    EXPECT_EQ(second.code.binary, first.code.binary);
    EXPECT_EQ(second.code.log, first.code.log);
    EXPECT_EQ(second.code.seconds, first.code.seconds);
    EXPECT_EQ(resources_text(second.code), resources_text(first.code));
    // Another architecture or text is another entry.
    EXPECT_FALSE(make_nvrtc_compiler("sm_90", cache_)->compile(cuda_source(spilling_source)).code.from_cache);
    EXPECT_FALSE(compiler->compile(cuda_source(std::string(spilling_source) + "\n")).code.from_cache);
}

TEST_F(NvrtcCompiler, RebuildsADamagedCacheEntry) {
    const auto compiler = make_nvrtc_compiler("sm_80", cache_);
    const std::string binary = compiler->compile(cuda_source(rich_source)).code.binary;
    int damaged = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(cache_.folder())) {
        if (!entry.is_regular_file()) continue;
        std::filesystem::resize_file(entry.path(), entry.file_size() / 2);
        ++damaged;
    }
    ASSERT_GE(damaged, 1);
    const CompileOutcome again = compiler->compile(cuda_source(rich_source));
    ASSERT_TRUE(again.ok);
    EXPECT_FALSE(again.code.from_cache);
    EXPECT_EQ(again.code.binary, binary);
}

TEST_F(NvrtcCompiler, SaysWhyASourceFails) {
    const auto compiler = make_nvrtc_compiler("sm_80", cache_);
    const CompileOutcome syntax =
        compiler->compile(cuda_source("extern \"C\" __global__ void f(float* a) {\n    a[0] = nowhere;\n    a[1] = nothing;\n}\n"));
    EXPECT_FALSE(syntax.ok);
    EXPECT_EQ(syntax.failure, "kernel.cu(2): error: identifier \"nowhere\" is undefined");
    EXPECT_THAT(syntax.code.log, HasSubstr("nothing"));
    EXPECT_TRUE(syntax.code.binary.empty());
    const CompileOutcome size =
        compiler->compile(cuda_source("extern \"C\" __global__ void f(float* a) { __shared__ float s[20000]; s[threadIdx.x] = a[1]; __syncthreads(); "
                                      "a[0] = s[5]; }"));
    EXPECT_FALSE(size.ok);
    EXPECT_THAT(size.failure, HasSubstr("uses too much shared data"));
    KernelSource cpu = cuda_source("int x;");
    cpu.target = Target::cpu;
    EXPECT_THAT(compiler->compile(cpu).failure, HasSubstr("for cpu"));
    // A failure is not kept: a better compiler may take the source tomorrow.
    EXPECT_FALSE(compiler->compile(cuda_source("wrong")).code.from_cache);
}

// A kernel of a few instructions behind these includes.
KernelSource including(const std::vector<std::string>& names, const std::string& statement = "a[0] = 1;") {
    std::string text;
    for (const std::string& name : names) text += "#include <" + name + ">\n";
    return cuda_source(text + "extern \"C\" __global__ void f(float* a) { " + statement + " }\n");
}

TEST_F(NvrtcCompiler, HasHeadersOfTheCLibraryWithoutAToolkit) {
    const auto compiler = make_nvrtc_compiler("sm_80", cache_);
    const std::vector<std::string> all{"stdint.h", "cstdint", "limits.h", "climits",  "float.h", "cfloat",   "stddef.h", "cstddef",  "math.h",
                                       "cmath",    "stdio.h", "cstdio",   "stdlib.h", "cstdlib", "string.h", "cstring",  "assert.h", "cassert"};
    const CompileOutcome outcome = compiler->compile(
        including(all,
                  "std::uint32_t u = UINT32_MAX; int64_t i = INT64_MIN; std::size_t n = offsetof(float4, y) + CHAR_BIT; assert(n > 1); "
                  "a[0] = std::sqrt(a[1]) + std::fabs(a[2]) + M_PI + FLT_MAX + u + i + n;"));
    EXPECT_TRUE(outcome.ok) << outcome.failure << outcome.code.log;
    EXPECT_THAT(compiler->compile(including({"type_traits"})).failure, HasSubstr("include <cuda/std/type_traits>"));
}

TEST_F(NvrtcCompiler, HasTheToolkitsHeaders) {
    const cuda::ToolkitHeaders toolkit = cuda::find_toolkit_headers(cuda::load_nvrtc(cuda::library_candidates()).library.path());
    if (toolkit.folders.empty()) GTEST_SKIP() << cuda::toolkit_headers_remedy();
    EXPECT_THAT(toolkit.name, testing::StartsWith("CUDA 1"));
    const auto compiler = make_nvrtc_compiler("sm_80", cache_);
    for (const std::vector<std::string>& names :
         std::vector<std::vector<std::string>>{{"cuda_fp16.h"}, {"mma.h"}, {"cuda_runtime.h"}, {"cuda_bf16.h", "stdint.h"}}) {
        const CompileOutcome outcome = compiler->compile(including(names));
        EXPECT_TRUE(outcome.ok) << names[0] << ": " << outcome.failure;
        EXPECT_TRUE(compiler->compile(including(names)).code.from_cache) << names[0];
    }
    EXPECT_TRUE(compiler->compile(including({"cuda_fp16.h"}, "a[0] = __half2float(__float2half(a[1]));")).ok);
    if (!toolkit.has_libcu) GTEST_SKIP() << "the toolkit has no libcu++";
    const CompileOutcome groups = compiler->compile(
        including({"cstdint", "cooperative_groups.h", "cuda/std/cstdint"}, "cooperative_groups::this_thread_block().sync(); a[0] = 1;"));
    EXPECT_TRUE(groups.ok) << groups.failure;
}

TEST_F(NvrtcCompiler, CompilesAnewWhatReadsAHeaderThatChanged) {
    const auto compiler = make_nvrtc_compiler("sm_80", cache_);
    const std::filesystem::path outer = folder_.path() / "outer.h", inner = folder_.path() / "inner.h";
    std::ofstream(outer) << "#include \"inner.h\"\n";
    std::ofstream(inner) << "#define VALUE 1\n";
    const KernelSource source = cuda_source("#include \"" + outer.string() + "\"\nextern \"C\" __global__ void f(int* a) { a[0] = VALUE; }\n");
    const CompileOutcome first = compiler->compile(source);
    ASSERT_TRUE(first.ok) << first.failure;
    EXPECT_TRUE(compiler->compile(source).code.from_cache);
    std::ofstream(inner) << "#define VALUE 2\n";
    const CompileOutcome changed = compiler->compile(source);
    EXPECT_FALSE(changed.code.from_cache);
    EXPECT_NE(changed.code.binary, first.code.binary);
    std::ofstream(inner) << "#define VALUE 1\n";
    EXPECT_TRUE(make_nvrtc_compiler("sm_80", cache_)->compile(source).code.from_cache);
}

TEST_F(NvrtcCompiler, ReadsNoHeaderOfTheFolderThatItRunsIn) {
    const auto former = std::filesystem::current_path();
    std::ofstream(folder_.path() / "stray.h") << "#define VALUE 1\n";
    std::filesystem::current_path(folder_.path());
    const CompileOutcome outcome = make_nvrtc_compiler("sm_80", cache_)
                                       ->compile(cuda_source("#include \"stray.h\"\nextern \"C\" __global__ void f(int* a) { a[0] = VALUE; }\n"));
    std::filesystem::current_path(former);
    EXPECT_FALSE(outcome.ok);
    EXPECT_THAT(outcome.failure, HasSubstr("stray.h"));
}

TEST_F(NvrtcCompiler, RefusesArchitecturesThatItDoesNotKnow) {
    EXPECT_THAT(error_of([&] { make_nvrtc_compiler("sm_999", cache_); }),
                AllOf(HasSubstr("sm_999"), HasSubstr("sm_80"), HasSubstr("install the CUDA toolkit")));
    for (const char* nonsense : {"", "90", "sm_", "sm_90b", "sm_9x", "compute_90", "sm_-90"})
        EXPECT_THAT(error_of([&] { make_nvrtc_compiler(nonsense, cache_); }), HasSubstr("not of the form sm_90")) << nonsense;
}

TEST_F(NvrtcCompiler, CompilesForAnArchitecturesOwnInstructions) {
    if (!knows(90)) GTEST_SKIP() << "this NVRTC does not know sm_90";
    EXPECT_TRUE(make_nvrtc_compiler("sm_90a", cache_)->compile(cuda_source(rich_source)).ok);
}

TEST_F(NvrtcCompiler, WorksFromSeveralThreads) {
    const auto compiler = make_nvrtc_compiler("sm_80", cache_);
    constexpr int threads = 4;
    std::vector<CompileOutcome> outcomes(threads);
    {
        std::vector<std::jthread> workers;
        for (int t = 0; t < threads; ++t)
            workers.emplace_back([&, t] {
                outcomes[static_cast<std::size_t>(t)] =
                    compiler->compile(cuda_source(fmt::format("extern \"C\" __global__ void thread{}(int* a) {{ a[0] = {}; }}", t, t)));
            });
    }
    for (int t = 0; t < threads; ++t) {
        const CompileOutcome& outcome = outcomes[static_cast<std::size_t>(t)];
        ASSERT_TRUE(outcome.ok) << outcome.failure;
        ASSERT_EQ(outcome.code.resources.size(), 1u);
        EXPECT_EQ(outcome.code.resources[0].entry, fmt::format("thread{}", t));
    }
}

TEST(NvrtcCompilerWithoutToolkit, SaysWhatToInstall) {
    const test::TemporaryFolder folder;
    DiskCache cache(folder.path() / "cache");
    const test::EnvironmentVariable nothing("HONE_CUDA_LIBRARIES", folder.path().string());
    EXPECT_THAT(error_of([&] { make_nvrtc_compiler("sm_90", cache); }),
                AllOf(HasSubstr("no NVRTC"), HasSubstr("cuda-nvrtc"), HasSubstr("CUDA_PATH")));
}

TEST(NvrtcCompilerWithFakeNvrtc, SaysThatTheBuiltinsAreMissing) {
    FakeMachine machine;
    const test::EnvironmentVariable without("HONE_FAKE_NVRTC_WITHOUT_BUILTINS", "1");
    EXPECT_THAT(error_of([&] { cuda::make_nvrtc_compiler("sm_90", machine.cache(), FakeMachine::candidates()); }),
                AllOf(HasSubstr("does not find libnvrtc-builtins.so.13.0"), HasSubstr("LD_LIBRARY_PATH")));
    const std::vector<Finding> findings = diagnose(FakeMachine::candidates());
    const auto nvrtc = std::find_if(findings.begin(), findings.end(), [](const Finding& one) { return one.what == "NVRTC"; });
    ASSERT_NE(nvrtc, findings.end());
    EXPECT_FALSE(nvrtc->found);
    EXPECT_THAT(nvrtc->remedy, HasSubstr("libnvrtc-builtins"));
}

// The launch plan of a source that launches one kernel.
KernelSource launching(const std::string& entry, std::string text) {
    KernelSource source = cuda_source(std::move(text));
    source.step.resize(1);
    source.step[0].entry = entry;
    return source;
}

TEST(NvrtcCompilerWithFakeNvrtc, CodeWithoutAKernelOfThePlanIsAFailureFromTheCacheToo) {
    FakeMachine machine;
    const auto compiler = cuda::make_nvrtc_compiler("sm_90", machine.cache(), FakeMachine::candidates());
    const std::string text = "extern \"C\" __global__ void scaled() {}\n__global__ void shifted() {}\n";
    EXPECT_TRUE(compiler->compile(launching("scaled", text)).ok);
    const CompileOutcome outcome = compiler->compile(launching("scale", text));
    EXPECT_FALSE(outcome.ok);
    EXPECT_EQ(outcome.failure, "the source has no kernel of the name scale; it has scaled, shifted");
    EXPECT_EQ(compiler->compile(launching("scale", "int x;")).failure, "the source has no kernel of the name scale; it has none");
}

TEST_F(NvrtcCompiler, CodeWithoutAKernelOfThePlanIsAFailure) {
    const auto compiler = make_nvrtc_compiler("sm_80", cache_);
    const std::string text = R"(
__device__ __noinline__ void helper(float* a) { a[0] = 1; }
extern "C" __global__ void plain(float* a) { helper(a); }
__global__ void mangled(float* a) { helper(a + 1); }
template <int n>
__global__ void instance(float* a) { a[n] = n; }
template __global__ void instance<3>(float* a);
)";
    EXPECT_TRUE(compiler->compile(launching("plain", text)).ok);
    EXPECT_EQ(compiler->compile(launching("mangled", text)).failure,
              "the source has no kernel of the name mangled; it has instance<3>, mangled, plain");
    EXPECT_EQ(compiler->compile(launching("helper", text)).failure,
              "the source has no kernel of the name helper; it has instance<3>, mangled, plain");
}

TEST(NvrtcCompilerWithFakeNvrtc, KeepsTheRules) {
    FakeMachine machine;
    const auto compiler = cuda::make_nvrtc_compiler("sm_90", machine.cache(), FakeMachine::candidates());
    EXPECT_EQ(compiler->version(), "NVRTC 13.0");
    const CompileOutcome outcome = compiler->compile(cuda_source("right"));
    EXPECT_TRUE(outcome.ok);
    EXPECT_TRUE(compiler->compile(cuda_source("right")).code.from_cache);
    EXPECT_EQ(compiler->compile(cuda_source("right")).code.binary, outcome.code.binary);
    EXPECT_EQ(compiler->compile(cuda_source("wrong")).failure, "kernel.cu(1): error: this is wrong");
    EXPECT_THAT(error_of([&] { cuda::make_nvrtc_compiler("sm_89", machine.cache(), FakeMachine::candidates()); }),
                HasSubstr("makes code for sm_80, sm_90, sm_100 only"));
}

}  // namespace
}  // namespace hone::nvrtc_compiler_test
