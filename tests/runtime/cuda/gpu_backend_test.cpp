// The CUDA backend on a real device. Skipped, saying why, where there is none.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <random>
#include <thread>

#include "foundation/error.hpp"
#include "generator/workload.hpp"
#include "runtime/cuda/cuda_backend.hpp"
#include "runtime/cuda/driver.hpp"
#include "runtime/cuda/nvml.hpp"
#include "tests/support/backend_or_skip.hpp"
#include "tests/support/temporary_folder.hpp"

namespace hone::gpu_backend_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

const char* const kernels = R"(
extern "C" __global__ void add(const float* x, float* y, float factor, int first, int last) {
    const int i = first + blockIdx.x * blockDim.x + threadIdx.x;
    if (i < last) y[i] += factor * x[i];
}

// Reverses `words` values of one block through dynamic shared memory.
extern "C" __global__ void reverse(float* values, int words) {
    extern __shared__ float tile[];
    for (int i = threadIdx.x; i < words; i += blockDim.x) tile[i] = values[i];
    __syncthreads();
    for (int i = threadIdx.x; i < words; i += blockDim.x) values[i] = tile[words - 1 - i];
}

// The same beside 16 KiB of static shared memory.
extern "C" __global__ void reverse_beside_static(float* values, int words) {
    __shared__ float fixed[4096];
    extern __shared__ float tile[];
    for (int i = threadIdx.x; i < 4096; i += blockDim.x) fixed[i] = 0.5f * values[i % words];
    for (int i = threadIdx.x; i < words; i += blockDim.x) tile[i] = values[i];
    __syncthreads();
    for (int i = threadIdx.x; i < words; i += blockDim.x) values[i] = tile[words - 1 - i] + fixed[i % 4096];
}

extern "C" __global__ void coordinates(int* seen) {
    const int block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    const int thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    atomicAdd(&seen[block * blockDim.x * blockDim.y * blockDim.z + thread], 1);
}

extern "C" __global__ void illegal(int* nowhere) { *nowhere = 1; }
)";

KernelSource source_of(const char* text) {
    KernelSource source;
    source.target = Target::cuda;
    source.text = text;
    return source;
}

class GpuBackend : public testing::Test {
  protected:
    void SetUp() override {
        backend_ = test::backend_or_skip("cuda", cache_);
        if (!backend_) return;
        const CompileOutcome outcome = backend_->compiler().compile(source_of(kernels));
        ASSERT_TRUE(outcome.ok) << outcome.failure << "\n" << outcome.code.log;
        module_ = backend_->load(outcome.code);
        std::printf("seed %u\n", seed_);
    }

    std::vector<float> random_values(std::size_t count) {
        std::uniform_real_distribution<float> distribution(-1, 1);
        std::vector<float> values(count);
        for (auto& value : values) value = distribution(random_);
        return values;
    }

    DeviceArray uploaded(const std::vector<float>& values) {
        const auto bytes = static_cast<std::int64_t>(values.size() * sizeof(float));
        DeviceArray array(*backend_, bytes);
        backend_->copy(array.data(), values.data(), bytes);
        return array;
    }

    std::vector<float> downloaded(const void* array, std::size_t count) {
        std::vector<float> values(count, -99);
        backend_->copy(values.data(), array, static_cast<std::int64_t>(count * sizeof(float)));
        backend_->synchronise();
        return values;
    }

    // y += factor * x over [first, last).
    void add(void* x, void* y, float factor, int first, int last, Stream stream = {}) {
        void* arguments[] = {static_cast<void*>(&x), static_cast<void*>(&y), &factor, &first, &last};
        module_->launch(module_->entry("add"), {(last - first + 255) / 256, 1, 1}, {256, 1, 1}, 0, stream, arguments);
    }

    std::string reverse(const char* entry, void* values, int words) {
        void* arguments[] = {static_cast<void*>(&values), &words};
        try {
            module_->launch(module_->entry(entry), {1, 1, 1}, {512, 1, 1}, std::int64_t{words} * 4, {}, arguments);
        } catch (const Error& error) {
            return error.what();
        }
        return {};
    }

    unsigned seed_ = std::random_device{}();
    std::mt19937 random_{seed_};
    test::TemporaryFolder folder_;
    DiskCache cache_{folder_.path() / "cache"};
    std::unique_ptr<Backend> backend_;
    std::unique_ptr<Module> module_;
};

TEST_F(GpuBackend, DescribesItsDevice) {
    const Device& device = backend_->device();
    EXPECT_NE(device.fingerprint.name, "");
    EXPECT_EQ(device.fingerprint.architecture, "sm_" + std::to_string(device.limits.architecture));
    EXPECT_EQ(device.fingerprint.compiler, backend_->compiler().version());
    EXPECT_GE(device.limits.architecture, 70);
    EXPECT_GE(device.limits.shared_bytes_per_block, 64 << 10);
    EXPECT_GE(device.limits.shared_bytes_per_multiprocessor, device.limits.shared_bytes_per_block);
    EXPECT_EQ(device.limits.max_threads_per_block, 1024);
    EXPECT_EQ(device.limits.registers_per_multiprocessor, 65536);
    EXPECT_GT(device.memory_bytes, std::int64_t{1} << 30);
    std::string missing;
    const auto devices = cuda_devices(missing);
    ASSERT_FALSE(devices.empty()) << missing;
    EXPECT_EQ(devices[0].fingerprint, device.fingerprint);
}

TEST_F(GpuBackend, CopiesBetweenPageablePinnedAndDeviceMemory) {
    const std::vector<float> values = random_values(1000003);
    const std::int64_t bytes = 4 * 1000003;
    auto* pinned = static_cast<float*>(backend_->allocate_pinned(bytes));
    std::copy(values.begin(), values.end(), pinned);
    DeviceArray first(*backend_, bytes);
    DeviceArray second(*backend_, bytes);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(first.data()) % 256, 0u);
    backend_->copy(first.data(), pinned, bytes);
    backend_->copy(second.data(), first.data(), bytes);
    EXPECT_EQ(downloaded(second.data(), values.size()), values);
    backend_->fill(second.data(), 0, bytes);
    EXPECT_THAT(downloaded(second.data(), values.size()), testing::Each(0.0F));
    backend_->copy(second.data(), values.data(), bytes);
    backend_->synchronise();
    std::fill_n(pinned, values.size(), -99.0F);
    backend_->copy(pinned, second.data(), bytes);
    backend_->synchronise();
    EXPECT_TRUE(std::equal(values.begin(), values.end(), pinned));
    backend_->free_pinned(pinned);
}

TEST_F(GpuBackend, LaunchesOverARange) {
    const std::vector<float> x = random_values(100000);
    const std::vector<float> y = random_values(100000);
    const DeviceArray dx = uploaded(x);
    const DeviceArray dy = uploaded(y);
    add(dx.data(), dy.data(), 2, 1234, 98765);
    const std::vector<float> result = downloaded(dy.data(), y.size());
    for (std::size_t i = 0; i < y.size(); ++i) {
        const bool inside = i >= 1234 && i < 98765;
        ASSERT_EQ(result[i], inside ? y[i] + 2 * x[i] : y[i]) << i;  // 2 x is exact, so one rounding either way
    }
}

TEST_F(GpuBackend, RepeatsRecordedLaunchesInTheirOrder) {
    const std::vector<float> x = random_values(100000);
    const DeviceArray dx = uploaded(x), dy = uploaded(std::vector<float>(x.size(), 0));
    // y += 2 x, x += y: wrong in any other order.
    const auto recording = backend_->record([&](Stream stream) {
        add(dx.data(), dy.data(), 2, 0, 100000, stream);
        add(dy.data(), dx.data(), 1, 0, 100000, stream);
    });
    EXPECT_EQ(downloaded(dx.data(), x.size()), x) << "nothing runs while it is recorded";
    recording->launch();
    recording->launch();
    const std::vector<float> found = downloaded(dx.data(), x.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
        float a = x[i], b = 0;
        for (int round = 0; round < 2; ++round) b += 2 * a, a += b;
        ASSERT_EQ(found[i], a) << i;  // products by 1 and 2 are exact: each sum is rounded once either way
    }
}

TEST_F(GpuBackend, LaunchesThreeDimensions) {
    const Dim3 grid{3, 5, 7};
    const Dim3 block{8, 4, 2};
    const std::size_t count = 3 * 5 * 7 * 8 * 4 * 2;
    DeviceArray seen(*backend_, static_cast<std::int64_t>(count * sizeof(int)));
    backend_->fill(seen.data(), 0, seen.bytes());
    void* pointer = seen.data();
    void* arguments[] = {static_cast<void*>(&pointer)};
    module_->launch(module_->entry("coordinates"), grid, block, 0, {}, arguments);
    std::vector<int> result(count, -1);
    backend_->copy(result.data(), seen.data(), seen.bytes());
    backend_->synchronise();
    EXPECT_THAT(result, testing::Each(1));
}

TEST_F(GpuBackend, GivesAllTheSharedMemoryThatTheDeviceHas) {
    const int most = backend_->device().limits.shared_bytes_per_block / 4;
    for (const int words : {1000, 12288, 12289, most}) {
        std::vector<float> values = random_values(static_cast<std::size_t>(words));
        const DeviceArray array = uploaded(values);
        EXPECT_EQ(reverse("reverse", array.data(), words), "") << words;
        std::vector<float> result = downloaded(array.data(), values.size());
        std::reverse(result.begin(), result.end());
        EXPECT_EQ(result, values) << words;
    }
    const DeviceArray array(*backend_, std::int64_t{4} * most + 4);
    EXPECT_THAT(reverse("reverse", array.data(), most + 1), HasSubstr("launching reverse with grid 1 x 1 x 1, block 512 x 1 x 1"));
    backend_->synchronise();
}

TEST_F(GpuBackend, CountsStaticSharedMemoryToo) {
    const int most = backend_->device().limits.shared_bytes_per_block / 4 - 4096;
    for (const int words : {8192, 8193, most}) {
        const std::vector<float> values = random_values(static_cast<std::size_t>(words));
        const DeviceArray array = uploaded(values);
        EXPECT_EQ(reverse("reverse_beside_static", array.data(), words), "") << words;
        const std::vector<float> result = downloaded(array.data(), values.size());
        for (std::size_t i = 0; i < values.size(); ++i)
            ASSERT_EQ(result[i], values[values.size() - 1 - i] + 0.5F * values[i % 4096 % values.size()]) << i << " of " << words;
    }
}

TEST_F(GpuBackend, RefusedLaunchesAndAllocationsLeaveTheContextWhole) {
    const std::vector<float> values = random_values(100);
    const DeviceArray array = uploaded(values);
    void* pointer = array.data();
    int words = 100;
    void* arguments[] = {static_cast<void*>(&pointer), &words};
    EXPECT_THROW(module_->launch(module_->entry("reverse"), {1, 1, 1}, {2048, 1, 1}, 400, {}, arguments), Error);
    EXPECT_THROW(module_->launch(module_->entry("reverse"), {0, 1, 1}, {32, 1, 1}, 400, {}, arguments), Error);
    EXPECT_THROW(module_->entry("no_such_entry"), Error);
    try {
        backend_->allocate(std::int64_t{1} << 50);
        ADD_FAILURE() << "a pebibyte was allocated";
    } catch (const Error& error) {
        EXPECT_THAT(error.what(), AllOf(HasSubstr("1125899906842624 bytes"), HasSubstr("CUDA_ERROR_OUT_OF_MEMORY")));
    }
    CompiledCode rubbish;
    rubbish.target = Target::cuda;
    rubbish.binary = "this is no object file, and it is long enough to be read as the head of one, which it is not";
    EXPECT_THROW(backend_->load(rubbish), Error);
    EXPECT_EQ(downloaded(array.data(), values.size()), values);
}

TEST_F(GpuBackend, TimesWork) {
    const DeviceArray array(*backend_, 64 << 20);
    const double one = backend_->seconds({}, [&] { backend_->fill(array.data(), 1, array.bytes()); });
    EXPECT_GT(one, 0);
    EXPECT_GE(backend_->seconds({}, [] {}), 0);
}

template <typename Real>
void compare_with_host(Backend& backend, std::int64_t words, std::mt19937& random) {
    const Precision precision = sizeof(Real) == 4 ? Precision::f32 : Precision::f64;
    HostArray a(precision, words);
    HostArray b(precision, words);
    std::uniform_real_distribution<Real> distribution(-1, 1);
    for (auto& value : a.values<Real>()) value = distribution(random);
    for (auto& value : b.values<Real>()) value = distribution(random);
    const DeviceArray da(backend, a.bytes());
    const DeviceArray db(backend, b.bytes());
    const auto both = [&] {
        backend.copy(da.data(), a.data(), a.bytes());
        backend.copy(db.data(), b.data(), b.bytes());
        return backend.largest_difference(da.data(), db.data(), words, precision);
    };
    EXPECT_EQ(both(), largest_difference(a, b)) << words;
    constexpr Real nan = std::numeric_limits<Real>::quiet_NaN();
    constexpr Real infinity = std::numeric_limits<Real>::infinity();
    const auto at = static_cast<std::size_t>(random() % static_cast<std::uint64_t>(words));
    a.values<Real>()[at] = nan;
    EXPECT_EQ(both(), std::numeric_limits<double>::infinity()) << words << ", NaN in one at " << at;
    b.values<Real>()[at] = -nan;
    EXPECT_EQ(both(), largest_difference(a, b)) << words << ", NaN in both at " << at;
    EXPECT_TRUE(std::isfinite(both()));
    a.values<Real>()[at] = infinity;
    b.values<Real>()[at] = infinity;
    EXPECT_EQ(both(), largest_difference(a, b)) << words << ", infinities at " << at;
    b.values<Real>()[at] = -infinity;
    EXPECT_EQ(both(), std::numeric_limits<double>::infinity()) << words << ", infinities of both signs at " << at;
}

TEST_F(GpuBackend, SumsUpLikeTheHost) {
    std::vector<std::uint32_t> words(1000003);
    for (std::uint32_t& word : words) word = static_cast<std::uint32_t>(random_());
    const auto bytes = static_cast<std::int64_t>(4 * words.size());
    const DeviceArray array(*backend_, bytes);
    std::vector<MemoryPiece> pieces;
    for (const std::int64_t part : {std::int64_t{0}, std::int64_t{4}, std::int64_t{4 * 257}, bytes}) pieces.push_back({array.data(), part});
    backend_->copy(array.data(), words.data(), bytes);
    const std::vector<std::uint64_t> sums = backend_->checksums(pieces);
    EXPECT_EQ(sums, backend_->Backend::checksums(pieces));
    words[random_() % words.size()] ^= 1U << random_() % 32;
    backend_->copy(array.data(), words.data(), bytes);
    EXPECT_NE(backend_->checksums(pieces).back(), sums.back());
}

TEST_F(GpuBackend, ComparesLikeTheHost) {
    for (const std::int64_t words : {1, 2, 31, 32, 33, 256, 257, 1000003}) {
        compare_with_host<float>(*backend_, words, random_);
        compare_with_host<double>(*backend_, words, random_);
    }
    EXPECT_EQ(backend_->largest_difference(nullptr, nullptr, 0, Precision::f64), 0);
    std::vector<std::int32_t> a(1000003), b;
    for (std::int32_t& value : a) value = static_cast<std::int32_t>(random_());
    b = a;
    b[random_() % b.size()] ^= 1 << 30;
    const auto bytes = static_cast<std::int64_t>(4 * a.size());
    const DeviceArray first(*backend_, bytes), second(*backend_, bytes);
    backend_->copy(first.data(), a.data(), bytes);
    backend_->copy(second.data(), b.data(), bytes);
    EXPECT_EQ(backend_->largest_difference(first.data(), second.data(), bytes / 4, ValueType::i32), 1 << 30);
}

TEST_F(GpuBackend, RefusesCodeForAnotherArchitecture) {
    const bool hopper = backend_->device().limits.architecture / 10 == 9;
    const CompileOutcome outcome = make_nvrtc_compiler(hopper ? "sm_80" : "sm_90", cache_)->compile(source_of(kernels));
    ASSERT_TRUE(outcome.ok) << outcome.failure;
    try {
        backend_->load(outcome.code);
        ADD_FAILURE() << "it was loaded";
    } catch (const Error& error) {
        EXPECT_THAT(error.what(), HasSubstr("compile for this device's architecture"));
    }
}

// Streams and memory of an application that uses the driver by itself.
TEST_F(GpuBackend, LaunchesOnTheApplicationsStreamsFromSeveralThreads) {
    const cuda::Driver driver = cuda::load_driver(cuda::library_candidates());
    int (*stream_create)(cuda::StreamHandle**, unsigned) = nullptr;
    int (*stream_destroy)(cuda::StreamHandle*) = nullptr;
    ASSERT_TRUE(driver.library.bind("cuStreamCreate", stream_create));
    ASSERT_TRUE(driver.library.bind("cuStreamDestroy_v2", stream_destroy));
    cuda::Context* primary = nullptr;
    ASSERT_EQ(driver.primary_context_retain(&primary, 0), cuda::success);
    constexpr int threads = 4;
    constexpr int rounds = 50;
    const std::vector<float> ones(100000, 1);
    const DeviceArray x = uploaded(ones);
    std::vector<DeviceArray> sums;
    for (int t = 0; t < threads; ++t) sums.push_back(uploaded(std::vector<float>(ones.size(), 0)));
    backend_->synchronise();
    {
        std::vector<std::jthread> workers;
        for (int t = 0; t < threads; ++t)
            workers.emplace_back([&, t] {
                constexpr unsigned non_blocking = 1;
                ASSERT_EQ(driver.context_push(primary), cuda::success);
                cuda::StreamHandle* stream = nullptr;
                ASSERT_EQ(stream_create(&stream, non_blocking), cuda::success);
                for (int i = 0; i < rounds; ++i) add(x.data(), sums[static_cast<std::size_t>(t)].data(), 1, 0, 100000, {stream});
                backend_->synchronise({stream});
                EXPECT_EQ(stream_destroy(stream), cuda::success);
                cuda::Context* popped = nullptr;
                EXPECT_EQ(driver.context_pop(&popped), cuda::success);
                EXPECT_EQ(popped, primary);
            });
    }
    for (const auto& sum : sums) EXPECT_THAT(downloaded(sum.data(), ones.size()), testing::Each(static_cast<float>(rounds)));
    EXPECT_EQ(driver.primary_context_release(0), cuda::success);
}

// The CUDA runtime, as most applications use it, if it is installed.
TEST_F(GpuBackend, SharesMemoryAndStreamsWithTheRuntimeApi) {
    std::vector<std::string> candidates;
    for (const char* folder : {"", "/usr/local/cuda/lib64/", "/usr/local/cuda/targets/x86_64-linux/lib/"})
        for (const char* name : {"libcudart.so.13", "libcudart.so.12", "libcudart.so.11.0", "libcudart.so"})
            candidates.push_back(std::string(folder) + name);
    const cuda::SharedLibrary runtime(candidates);
    if (!runtime) GTEST_SKIP() << "no CUDA runtime: " << runtime.reason();
    int (*allocate)(void**, std::size_t) = nullptr;
    int (*release)(void*) = nullptr;
    int (*stream_create)(void**) = nullptr;
    int (*stream_synchronise)(void*) = nullptr;
    int (*copy)(void*, const void*, std::size_t, int) = nullptr;
    ASSERT_TRUE(runtime.bind("cudaMalloc", allocate) && runtime.bind("cudaFree", release) && runtime.bind("cudaStreamCreate", stream_create) &&
                runtime.bind("cudaStreamSynchronize", stream_synchronise) && runtime.bind("cudaMemcpy", copy));
    const std::vector<float> values = random_values(5000);
    void* x = nullptr;
    void* y = nullptr;
    void* stream = nullptr;
    ASSERT_EQ(allocate(&x, 20000), 0);
    ASSERT_EQ(allocate(&y, 20000), 0);
    ASSERT_EQ(stream_create(&stream), 0);
    constexpr int host_to_device = 1;
    constexpr int device_to_host = 2;
    ASSERT_EQ(copy(x, values.data(), 20000, host_to_device), 0);
    backend_->fill(y, 0, 20000, {stream});
    add(x, y, 1, 0, 5000, {stream});
    ASSERT_EQ(stream_synchronise(stream), 0);
    std::vector<float> result(5000, -99);
    ASSERT_EQ(copy(result.data(), y, 20000, device_to_host), 0);
    EXPECT_EQ(result, values);
    EXPECT_EQ(release(x), 0);
    EXPECT_EQ(release(y), 0);
}

TEST_F(GpuBackend, ReadsPowerAndClocksWhereNvmlIsInstalled) {
    const DeviceMonitor monitor(0);
    if (!monitor.missing().empty()) GTEST_SKIP() << monitor.missing();
    const DeviceReading reading = monitor.read();
    EXPECT_NE(monitor.driver_version(), "");
    ASSERT_TRUE(reading.sm_megahertz);
    EXPECT_GT(*reading.sm_megahertz, 0);
}

// Runs in a process of its own: what it does to its context stays there.
[[noreturn]] void fault_and_report() {
    int status = 1;
    try {
        const test::TemporaryFolder folder;
        DiskCache cache(folder.path() / "cache");
        const auto backend = make_backend("cuda", cache);
        const auto module = backend->load(backend->compiler().compile(source_of(kernels)).code);
        const DeviceArray array(*backend, 400);
        void* nowhere = nullptr;
        void* arguments[] = {static_cast<void*>(&nowhere)};
        module->launch(module->entry("illegal"), {1, 1, 1}, {1, 1, 1}, 0, {}, arguments);
        try {
            backend->synchronise();
        } catch (const Error& error) {
            std::fprintf(stderr, "reported: %s\n", error.what());
            status = 0;
        }
        // The context is lost, and everything on it is released without a word.
    } catch (const Error& error) {
        std::fprintf(stderr, "too early: %s\n", error.what());
    }
    std::_Exit(status);
}

TEST_F(GpuBackend, ReportsAnIllegalAccessAndOtherProcessesGoOn) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_EXIT(fault_and_report(), testing::ExitedWithCode(0), "reported: .*CUDA_ERROR_ILLEGAL_ADDRESS.*compute-sanitizer");
    const std::vector<float> values = random_values(100);
    EXPECT_EQ(downloaded(uploaded(values).data(), values.size()), values);
}

}  // namespace
}  // namespace hone::gpu_backend_test
