// The host side of the CUDA backend against a driver that needs no GPU (fake_driver/).
#include "runtime/cuda/cuda_backend.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <random>
#include <set>
#include <stdexcept>
#include <thread>

#include "foundation/error.hpp"
#include "runtime/cuda/driver.hpp"
#include "tests/runtime/cuda/fake_machine.hpp"
#include "tests/support/environment.hpp"
#include "tests/support/fresh_random.hpp"

namespace hone::cuda_backend_test {
namespace {

using test::error_of;
using test::FakeMachine;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

void launch_add_one(const Module& module, void* values, int first, int last) {
    void* arguments[] = {static_cast<void*>(&values), &first, &last};
    module.launch(module.entry("add_one"), {1, 1, 1}, {32, 1, 1}, 0, {}, arguments);
}

TEST(CudaDevices, AreDescribedWithoutAContext) {
    FakeMachine machine;
    machine.state().devices = 2;
    std::string missing;
    const auto devices = cuda::cuda_devices(missing, FakeMachine::candidates());
    ASSERT_EQ(devices.size(), 2u);
    EXPECT_EQ(missing, "");
    const Device& device = devices[1];
    EXPECT_EQ(device.index, 1);
    EXPECT_EQ(device.memory_bytes, 64 << 20);
    EXPECT_EQ(device.fingerprint, (DeviceFingerprint{Target::cuda, "Fake GPU", "sm_90", 132, "13.0", "NVRTC 13.0"}));
    EXPECT_EQ(device.limits.target, Target::cuda);
    EXPECT_EQ(device.limits.architecture, 90);
    EXPECT_EQ(device.limits.shared_bytes_per_block, 227 << 10);
    EXPECT_EQ(device.limits.shared_bytes_per_multiprocessor, 228 << 10);
    EXPECT_EQ(device.limits.registers_per_multiprocessor, 65536);
    EXPECT_EQ(device.limits.max_threads_per_multiprocessor, 2048);
    EXPECT_EQ(device.limits.max_threads_per_block, 1024);
    EXPECT_EQ(device.limits.cache_bytes, 60 << 20);
    EXPECT_EQ(device.limits.compiler, 130);
    EXPECT_THAT(machine.state().calls, testing::Not(testing::Contains("cuDevicePrimaryCtxRetain")));
}

TEST(CudaDevices, SayWhatIsMissing) {
    FakeMachine machine;
    std::string missing;
    machine.state().devices = 0;
    EXPECT_THAT(cuda::cuda_devices(missing, FakeMachine::candidates()), IsEmpty());
    EXPECT_THAT(missing, HasSubstr("finds no device"));
    machine.state() = {};
    machine.state().failures["cuInit"] = 34;
    EXPECT_THAT(cuda::cuda_devices(missing, FakeMachine::candidates()), IsEmpty());
    EXPECT_THAT(missing, HasSubstr("stubs folder"));
    auto candidates = FakeMachine::candidates();
    candidates.driver = {"/absent/libcuda.so.1"};
    EXPECT_THAT(cuda::cuda_devices(missing, candidates), IsEmpty());
    EXPECT_THAT(missing, AllOf(HasSubstr("no CUDA driver (/absent/libcuda.so.1"), HasSubstr("install NVIDIA's driver")));
    machine.state() = {};
    candidates = FakeMachine::candidates();
    candidates.nvrtc = {"/absent/libnvrtc.so"};
    EXPECT_THAT(cuda::cuda_devices(missing, candidates), IsEmpty());
    EXPECT_THAT(missing, AllOf(HasSubstr("no NVRTC"), HasSubstr("cuda-nvrtc")));
    // A library that is something else.
    candidates = FakeMachine::candidates();
    candidates.driver = candidates.nvrtc;
    EXPECT_THAT(cuda::cuda_devices(missing, candidates), IsEmpty());
    EXPECT_THAT(missing, HasSubstr("has no cuGetErrorString"));
}

TEST(CudaBackend, RefusesADeviceThatIsNotThere) {
    FakeMachine machine;
    EXPECT_THAT(error_of([&] { machine.backend(1); }), AllOf(HasSubstr("cuda:1"), HasSubstr("cuda:0 to cuda:0")));
    EXPECT_THAT(error_of([&] { machine.backend(-1); }), HasSubstr("cuda:-1"));
    EXPECT_EQ(machine.state().contexts, 0);
}

TEST(CudaBackend, HoldsThePrimaryContextAsLongAsItOrAModuleLives) {
    FakeMachine machine;
    auto backend = machine.backend();
    auto module = machine.module(*backend);
    EXPECT_EQ(machine.state().contexts, 1);
    EXPECT_EQ(machine.state().modules, 1);
    backend.reset();
    EXPECT_EQ(machine.state().contexts, 1);
    module.reset();
    EXPECT_EQ(machine.state().modules, 0);
    EXPECT_EQ(machine.state().contexts, 0);
    EXPECT_EQ(machine.state().pushes, 0);
}

TEST(CudaBackend, CopiesFillsAndLaunches) {
    FakeMachine machine;
    auto backend = machine.backend();
    auto module = machine.module(*backend);
    {
        test::FreshRandom random;
        std::vector<float> values(1000);
        for (auto& value : values) value = std::uniform_real_distribution<float>(-1, 1)(random);
        DeviceArray array(*backend, 4000);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(array.data()) % 256, 0u);
        backend->copy(array.data(), values.data(), 4000);
        launch_add_one(*module, array.data(), 10, 990);
        auto* back = static_cast<float*>(backend->allocate_pinned(4000));
        backend->copy(back, array.data(), 4000);
        backend->synchronise();
        for (std::size_t i = 0; i < 1000; ++i) ASSERT_EQ(back[i], i >= 10 && i < 990 ? values[i] + 1 : values[i]) << i;
        backend->fill(array.data(), 0xff, 4000);
        backend->copy(back, array.data(), 4000);
        backend->synchronise();
        for (std::size_t i = 0; i < 1000; ++i) ASSERT_TRUE(std::isnan(back[i])) << i;
        backend->free_pinned(back);
        EXPECT_THAT(machine.state().device_memory, testing::SizeIs(1));
    }
    EXPECT_THAT(machine.state().device_memory, IsEmpty());
    EXPECT_THAT(machine.state().pinned_memory, IsEmpty());
}

TEST(CudaBackend, RecordsLaunchesAndRepeatsThem) {
    FakeMachine machine;
    auto backend = machine.backend();
    auto module = machine.module(*backend);
    {
        const std::vector<float> values(100, 3);
        DeviceArray array(*backend, 400);
        backend->copy(array.data(), values.data(), 400);
        void* pointer = array.data();
        const auto add = [&](int first, int last, Stream stream) {
            void* arguments[] = {static_cast<void*>(&pointer), &first, &last};
            module->launch(module->entry("add_one"), {1, 1, 1}, {32, 1, 1}, 0, stream, arguments);
        };
        int calls = 0;
        const auto recording = backend->record([&](Stream stream) {
            ++calls;
            add(0, 50, stream);
            add(40, 100, stream);
        });
        EXPECT_THAT(machine.state().launches, IsEmpty()) << "nothing runs while it is recorded";
        EXPECT_EQ(machine.state().streams, 0);
        int stream = 0;
        recording->launch();
        recording->launch({&stream});
        EXPECT_EQ(calls, 1);
        ASSERT_EQ(machine.state().launches.size(), 4u);
        EXPECT_EQ(machine.state().launches[1].stream, nullptr);
        EXPECT_EQ(machine.state().launches[2].stream, &stream);
        std::vector<float> back(100);
        backend->copy(back.data(), array.data(), 400);
        backend->synchronise();
        for (std::size_t i = 0; i < 100; ++i) ASSERT_EQ(back[i], i >= 40 && i < 50 ? 7 : 5) << i;

        EXPECT_THROW(backend->record([](Stream) { throw std::runtime_error("no more"); }), std::runtime_error);
        for (const char* refused : {"cuStreamCreateWithPriority", "cuStreamBeginCapture_v2", "cuStreamEndCapture", "cuGraphInstantiateWithFlags"}) {
            machine.state().failures = {{refused, 999}};
            EXPECT_THAT(error_of([&] { backend->record([&](Stream on) { add(0, 1, on); }); }), Not(IsEmpty())) << refused;
            machine.state().failures.clear();
        }
        machine.state().failures = {{"cuGraphLaunch", 999}};
        EXPECT_THAT(error_of([&] { recording->launch(); }), HasSubstr("queuing recorded launches"));
        machine.state().failures.clear();
        EXPECT_EQ(machine.state().streams, 0);
        EXPECT_EQ(machine.state().graphs, 1) << "what can be launched again";
    }
    EXPECT_EQ(machine.state().graphs, 0);
    EXPECT_EQ(machine.state().pushes, 0);
}

TEST(CudaBackend, EmptyMemoryIsMemoryToo) {
    FakeMachine machine;
    auto backend = machine.backend();
    void* pointer = backend->allocate(0);
    EXPECT_NE(pointer, nullptr);
    backend->copy(pointer, nullptr, 0);
    backend->fill(pointer, 0, 0);
    backend->free(pointer);
    backend->free(nullptr);
    backend->free_pinned(nullptr);
    EXPECT_THAT(machine.state().device_memory, IsEmpty());
}

TEST(CudaBackend, SaysHowMuchMemoryWasAskedFor) {
    FakeMachine machine;
    auto backend = machine.backend();
    const DeviceArray held(*backend, 1 << 20);
    EXPECT_THAT(error_of([&] { backend->allocate(100 << 20); }), AllOf(HasSubstr("104857600 bytes"), HasSubstr("66060288 of 67108864"),
                                                                       HasSubstr("CUDA_ERROR_OUT_OF_MEMORY"), HasSubstr("smaller problem")));
    EXPECT_THAT(error_of([&] { backend->allocate_pinned(100 << 20); }), HasSubstr("104857600 bytes"));
    EXPECT_THAT(error_of([&] { backend->allocate(-1); }), HasSubstr("-1 bytes"));
    EXPECT_THAT(error_of([&] { backend->allocate_pinned(-1); }), HasSubstr("-1 bytes"));
}

TEST(CudaModule, PassesTheLaunchOnAsItIs) {
    FakeMachine machine;
    auto backend = machine.backend();
    auto module = machine.module(*backend);
    const int entry = module->entry("something");
    EXPECT_EQ(module->entry("something"), entry);
    EXPECT_NE(module->entry("something_else"), entry);
    int stream = 0;
    module->launch(entry, {70000, 3, 5}, {32, 4, 2}, 1234, {&stream}, nullptr);
    ASSERT_EQ(machine.state().launches.size(), 1u);
    const auto& launch = machine.state().launches[0];
    EXPECT_EQ(launch.entry, "something");
    EXPECT_THAT(launch.grid, ElementsAre(70000, 3, 5));
    EXPECT_THAT(launch.block, ElementsAre(32, 4, 2));
    EXPECT_EQ(launch.shared_bytes, 1234u);
    EXPECT_EQ(launch.stream, &stream);
}

TEST(CudaModule, LaunchesBlocksThatMayWaitForEachOtherOrRefuses) {
    FakeMachine machine;
    auto backend = machine.backend();
    auto module = machine.module(*backend);
    const int entry = module->entry("something");
    module->launch_together(entry, {132, 2, 1}, {1024, 1, 1}, 99, {}, nullptr);
    EXPECT_THAT(machine.state().calls, Contains("cuLaunchCooperativeKernel"));
    ASSERT_EQ(machine.state().launches.size(), 1u);
    EXPECT_THAT(machine.state().launches[0].grid, ElementsAre(132, 2, 1));
    EXPECT_EQ(machine.state().launches[0].shared_bytes, 99u);
    EXPECT_THAT(error_of([&] { module->launch_together(entry, {265, 1, 1}, {32, 1, 1}, 0, {}, nullptr); }), HasSubstr("grid 265 x 1 x 1"));
    EXPECT_THAT(machine.state().launches, testing::SizeIs(1));
}

TEST(CudaDevice, SaysWhetherOtherProcessesKernelsRunBesideThisOnes) {
    FakeMachine machine;
    EXPECT_FALSE(machine.backend()->device().is_shared);
    machine.state().mps = true;
    EXPECT_TRUE(machine.backend()->device().is_shared);
}

// Two programs' blocks that wait for each other's room would wait for ever.
TEST(CudaDevice, SaysWhetherOtherProcessesAreThereAndWarnsBeforeBlocksWaitForEachOther) {
    for (const bool mps : {false, true})
        for (const int clients : {1, 2, 70, -1}) {
            FakeMachine machine;
            machine.state().mps = mps;
            machine.nvml().clients = clients;
            auto backend = machine.backend();
            const bool others = mps && clients != 1;
            EXPECT_EQ(backend->device().has_other_clients, others) << clients << " clients; -1: that cannot be told";
            auto module = machine.module(*backend);
            testing::internal::CaptureStderr();
            for (int i = 0; i < 2; ++i) module->launch_together(module->entry("something"), {1, 1, 1}, {32, 1, 1}, 0, {}, nullptr);
            const std::string said = testing::internal::GetCapturedStderr();
            EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), others ? 1 : 0) << said;
            if (others) EXPECT_THAT(said, HasSubstr("both can wait for ever"));
        }
}

TEST(CudaModule, AsksForLargeSharedMemoryOncePerEntry) {
    FakeMachine machine;
    auto backend = machine.backend();
    auto module = machine.module(*backend);
    const auto launch = [&](const char* entry, std::int64_t bytes) {
        module->launch(module->entry(entry), {1, 1, 1}, {32, 1, 1}, bytes, {}, nullptr);
    };
    launch("small", 48 << 10);
    EXPECT_THAT(machine.state().attributes_set, IsEmpty());
    launch("large", (48 << 10) + 1);
    launch("large", 227 << 10);
    launch("static_large", 40 << 10);
    launch("static_large", 211 << 10);
    EXPECT_THAT(machine.state().attributes_set, ElementsAre("large=232448", "static_large=216064"));
    EXPECT_THAT(error_of([&] { launch("large", (227 << 10) + 1); }), AllOf(HasSubstr("launching large"), HasSubstr("232449 bytes of shared")));
}

TEST(CudaModule, RefusesWhatTheDeviceRefuses) {
    FakeMachine machine;
    auto backend = machine.backend();
    auto module = machine.module(*backend);
    const int entry = module->entry("something");
    const auto launch = [&](const Dim3& grid, const Dim3& block, std::int64_t shared = 0) {
        return error_of([&] { module->launch(entry, grid, block, shared, {}, nullptr); });
    };
    EXPECT_THAT(launch({1, 1, 1}, {1025, 1, 1}), HasSubstr("block 1025 x 1 x 1"));
    EXPECT_THAT(launch({0, 1, 1}, {32, 1, 1}), HasSubstr("grid 0 x 1 x 1"));
    EXPECT_THAT(launch({-1, 1, 1}, {32, 1, 1}), HasSubstr("grid -1 x 1 x 1"));
    // 2^32 + 1 blocks must not become one.
    EXPECT_THAT(launch({(std::int64_t{1} << 32) + 1, 1, 1}, {32, 1, 1}), HasSubstr("grid 4294967297 x 1 x 1"));
    EXPECT_THAT(launch({1, 1, 1}, {32, 1, 1}, -1), HasSubstr("-1 bytes of shared"));
    EXPECT_THAT(machine.state().launches, IsEmpty());
    EXPECT_THAT(error_of([&] { module->entry("absent_entry"); }), AllOf(HasSubstr("absent_entry"), HasSubstr("launch plan")));
}

TEST(CudaModule, RefusesCodeForSomethingElse) {
    FakeMachine machine;
    auto backend = machine.backend();
    CompiledCode code;
    EXPECT_THAT(error_of([&] { backend->load(code); }), HasSubstr("compiled for cpu"));
    code.target = Target::cuda;
    EXPECT_THAT(error_of([&] { backend->load(code); }), HasSubstr("no code"));
    code.binary = "no object file";
    EXPECT_THAT(error_of([&] { backend->load(code); }), AllOf(HasSubstr("loading 14 bytes"), HasSubstr("sm_90")));
}

TEST(CudaModule, HasRoomForManyEntriesAndSaysWhenNot) {
    FakeMachine machine;
    auto backend = machine.backend();
    auto module = machine.module(*backend);
    for (int i = 0; i < 64; ++i) EXPECT_EQ(module->entry("entry" + std::to_string(i)), i);
    EXPECT_EQ(module->entry("entry5"), 5);
    EXPECT_THAT(error_of([&] { module->entry("one_more"); }), HasSubstr("more than 64"));
}

TEST(CudaContext, OfTheCallingThreadIsPutBack) {
    FakeMachine machine;
    auto backend = machine.backend();
    const cuda::Driver driver = cuda::load_driver(FakeMachine::candidates());
    ASSERT_EQ(driver.missing, "");
    // Another library's context, as in an application that drives two devices.
    int other = 0;
    auto* const theirs = reinterpret_cast<cuda::Context*>(&other);
    ASSERT_EQ(driver.context_push(theirs), cuda::success);
    const DeviceArray array(*backend, 100);
    backend->fill(array.data(), 0, 100);
    cuda::Context* current = nullptr;
    ASSERT_EQ(driver.context_get_current(&current), cuda::success);
    EXPECT_EQ(current, theirs);
    ASSERT_EQ(driver.context_pop(&current), cuda::success);
    EXPECT_EQ(machine.state().pushes, 0);
}

// More ranks than processors must not poll: they would take them from those that they wait for.
TEST(CudaContext, LetsThreadsSleepWhereProcessesOutnumberProcessors) {
    const auto flags = [](const std::optional<std::string>& processes, const std::optional<std::string>& wish) {
        const test::EnvironmentVariable open_mpi("OMPI_COMM_WORLD_LOCAL_SIZE", processes), mpich("MPI_LOCALNRANKS", {}),
            slurm("SLURM_NTASKS_PER_NODE", {}), said("HONE_WAIT", wish);
        FakeMachine machine;
        const auto backend = machine.backend();
        return machine.state().context_flags;
    };
    constexpr unsigned sleep = cuda::context_sched_blocking_sync;
    EXPECT_EQ(flags({}, {}), 0U);
    EXPECT_EQ(flags("1", {}), 0U);
    EXPECT_EQ(flags("100000", {}), sleep);
    EXPECT_EQ(flags("100000", "poll"), 0U);
    EXPECT_EQ(flags({}, "sleep"), sleep);
    EXPECT_THROW(flags({}, "nap"), Error);
}

TEST(CudaContext, IsNotPushedWhereTheApplicationHasItAlready) {
    FakeMachine machine;
    auto backend = machine.backend();
    const cuda::Driver driver = cuda::load_driver(FakeMachine::candidates());
    // What the runtime API does at its first call: the primary context, current in this thread.
    cuda::Context* primary = nullptr;
    ASSERT_EQ(driver.primary_context_retain(&primary, 0), cuda::success);
    ASSERT_EQ(driver.context_push(primary), cuda::success);
    const int before = machine.state().total_pushes;
    auto module = machine.module(*backend);
    cuda::DevicePointer theirs = 0;
    ASSERT_EQ(driver.memory_allocate(&theirs, 400), cuda::success);
    auto* values = reinterpret_cast<void*>(static_cast<std::uintptr_t>(theirs));
    backend->fill(values, 0, 400);
    launch_add_one(*module, values, 0, 100);
    std::vector<float> back(100);
    backend->copy(back.data(), values, 400);
    backend->synchronise();
    EXPECT_THAT(back, testing::Each(1.0F));
    EXPECT_EQ(machine.state().total_pushes, before);
    ASSERT_EQ(driver.memory_free(theirs), cuda::success);
    cuda::Context* popped = nullptr;
    ASSERT_EQ(driver.context_pop(&popped), cuda::success);
    ASSERT_EQ(driver.primary_context_release(0), cuda::success);
}

TEST(CudaBackend, TimesWithTwoEventsThatItKeeps) {
    FakeMachine machine;
    {
        auto backend = machine.backend();
        auto module = machine.module(*backend);
        const int entry = module->entry("something");
        const auto three = [&] {
            for (int i = 0; i < 3; ++i) module->launch(entry, {1, 1, 1}, {1, 1, 1}, 0, {}, nullptr);
        };
        for (int i = 0; i < 5; ++i) EXPECT_NEAR(backend->seconds({}, three), 3.0, 1e-6);
        EXPECT_EQ(machine.state().total_events, 2);
        // Work that throws leaves the backend as it was.
        EXPECT_THAT(error_of([&] { backend->seconds({}, [] { throw Error("work", "it fails", "nothing"); }); }), HasSubstr("it fails"));
        EXPECT_NEAR(backend->seconds({}, three), 3.0, 1e-6);
    }
    EXPECT_EQ(machine.state().events, 0);
    EXPECT_EQ(machine.state().pushes, 0);
}

TEST(CudaBackend, AStopWatchReadsWhatTheDeviceHasPassedWithoutWaiting) {
    FakeMachine machine;
    {
        auto backend = machine.backend();
        auto module = machine.module(*backend);
        const int entry = module->entry("something");
        const auto watch = backend->make_stop_watch();
        for (int launches = 1; launches <= 3; ++launches) {
            watch->start({});
            for (int i = 0; i < launches; ++i) module->launch(entry, {1, 1, 1}, {1, 1, 1}, 0, {}, nullptr);
            watch->stop({});
            module->launch(entry, {1, 1, 1}, {1, 1, 1}, 0, {}, nullptr);  // not in its time
            machine.state().failures["cuEventQuery"] = cuda::error_not_ready;
            EXPECT_EQ(watch->seconds(), std::nullopt);
            machine.state().failures.clear();
            ASSERT_TRUE(watch->seconds().has_value());
            EXPECT_NEAR(*watch->seconds(), launches, 1e-6);
            EXPECT_NEAR(watch->wait(), launches, 1e-6);
        }
        EXPECT_EQ(machine.state().total_events, 2);
        machine.state().failures["cuEventQuery"] = cuda::error_illegal_address;
        EXPECT_THAT(error_of([&] { watch->seconds(); }), HasSubstr("CUDA_ERROR_ILLEGAL_ADDRESS"));
    }
    EXPECT_EQ(machine.state().events, 0);
    EXPECT_EQ(machine.state().pushes, 0);
}

TEST(CudaBackend, ReportsAFaultWhenTheDeviceIsWaitedFor) {
    FakeMachine machine;
    {
        auto backend = machine.backend();
        auto module = machine.module(*backend);
        const DeviceArray array(*backend, 400);
        module->launch(module->entry("fault"), {1, 1, 1}, {1, 1, 1}, 0, {}, nullptr);
        EXPECT_THAT(error_of([&] { backend->synchronise(); }),
                    AllOf(HasSubstr("CUDA device 0 (Fake GPU)"), HasSubstr("CUDA_ERROR_ILLEGAL_ADDRESS (an illegal memory access was encountered)"),
                          HasSubstr("compute-sanitizer")));
        EXPECT_THAT(error_of([&] { backend->seconds({}, [] {}); }), HasSubstr("CUDA_ERROR_ILLEGAL_ADDRESS"));
        EXPECT_THAT(error_of([&] { launch_add_one(*module, array.data(), 0, 1); }), HasSubstr("launching add_one"));
    }
    EXPECT_EQ(machine.state().contexts, 0);
}

template <typename Real>
double compared(Backend& backend, const std::vector<Real>& a, const std::vector<Real>& b) {
    const auto bytes = static_cast<std::int64_t>(a.size() * sizeof(Real));
    const DeviceArray first(backend, bytes);
    const DeviceArray second(backend, bytes);
    backend.copy(first.data(), a.data(), bytes);
    backend.copy(second.data(), b.data(), bytes);
    return backend.largest_difference(first.data(), second.data(), static_cast<std::int64_t>(a.size()),
                                      sizeof(Real) == 4 ? Precision::f32 : Precision::f64);
}

TEST(CudaBackend, OrdersStreamsByOneEvent) {
    FakeMachine machine;
    {
        auto backend = machine.backend();
        const OwnStream stream(*backend), another(*backend);
        EXPECT_EQ(machine.state().streams, 2);
        EXPECT_NE(stream.get().handle, nullptr);
        machine.state().calls.clear();
        backend->order(stream.get(), stream.get());
        EXPECT_THAT(machine.state().calls, Not(Contains("cuEventRecord")));
        stream.follow();
        stream.join();
        backend->order(stream.get(), another.get());
        EXPECT_EQ(std::count(machine.state().calls.begin(), machine.state().calls.end(), "cuEventRecord"), 3);
        EXPECT_EQ(std::count(machine.state().calls.begin(), machine.state().calls.end(), "cuStreamWaitEvent"), 3);
        EXPECT_EQ(machine.state().total_events, 1);
    }
    EXPECT_EQ(machine.state().streams, 0);
    EXPECT_EQ(machine.state().events, 0);
    EXPECT_EQ(machine.state().pushes, 0);
}

TEST(CudaBackend, ComparesThroughTheReductionKernel) {
    FakeMachine machine;
    auto backend = machine.backend();
    std::vector<double> a(5000, 1.0);
    std::vector<double> b = a;
    EXPECT_EQ(compared(*backend, a, b), 0);
    b[4321] = 3.5;
    EXPECT_EQ(compared(*backend, a, b), 2.5);
    EXPECT_EQ(compared(*backend, std::vector<float>(a.begin(), a.end()), std::vector<float>(b.begin(), b.end())), 2.5);
    const std::vector<std::int32_t> counts{1, -1}, others{1, -5};
    EXPECT_EQ(backend->largest_difference(counts.data(), others.data(), 2, ValueType::i32), 4);
    b[0] = std::numeric_limits<double>::quiet_NaN();
    EXPECT_EQ(compared(*backend, a, b), std::numeric_limits<double>::infinity());
    EXPECT_EQ(compared(*backend, std::vector<double>{1}, std::vector<double>{4}), 3);
    EXPECT_EQ(backend->largest_difference(nullptr, nullptr, 0, Precision::f32), 0);
    // Blocks of 256 threads, each with a word of its own as long as there are blocks.
    EXPECT_EQ(machine.state().launches[0].grid[0], 20u);
    EXPECT_EQ(machine.state().launches[0].block[0], 256u);
}

TEST(CudaBackend, ComparesManyPairsAsEachByItself) {
    FakeMachine machine;
    auto backend = machine.backend();
    std::vector<double> zeros(3000, 0.0), others(3000, 0.0);
    std::vector<ArrayPair> pairs;
    for (int i = 0; i < 40; ++i) {
        others[static_cast<std::size_t>(70 * i)] = i;
        pairs.push_back({zeros.data(), others.data(), i % 5 == 4 ? 0 : 70 * i + 1, ValueType::f64});
    }
    machine.state().calls.clear();
    const std::vector<double> found = backend->largest_differences(pairs);
    ASSERT_EQ(found.size(), pairs.size());
    for (std::size_t i = 0; i < pairs.size(); ++i) EXPECT_EQ(found[i], pairs[i].count == 0 ? 0 : static_cast<double>(i)) << i;
    EXPECT_EQ(std::count(machine.state().calls.begin(), machine.state().calls.end(), "cuStreamSynchronize"), 3) << "one for sixteen pairs";
    EXPECT_TRUE(backend->largest_differences({}).empty());
}

TEST(CudaBackend, SumsUpManyPiecesAsEachByItself) {
    FakeMachine machine;
    auto backend = machine.backend();
    std::vector<std::uint32_t> words(3000, 7);
    std::vector<MemoryPiece> pieces;
    for (int i = 0; i < 40; ++i) pieces.push_back({words.data(), i % 5 == 4 ? 0 : 4 * (70 * i + 1)});
    const std::vector<std::uint64_t> before = backend->checksums(pieces);
    ASSERT_EQ(before.size(), pieces.size());
    words[70 * 20] = 8;
    const std::vector<std::uint64_t> after = backend->checksums(pieces);
    for (std::size_t i = 0; i < pieces.size(); ++i) EXPECT_EQ(before[i] != after[i], i >= 20 && i % 5 != 4) << i;
    EXPECT_TRUE(backend->checksums({}).empty());
}

// One pass through everything that a backend does.
void use_everything(FakeMachine& machine) {
    std::string missing;
    if (cuda::cuda_devices(missing, FakeMachine::candidates()).empty()) throw Error("devices", missing, "");
    auto backend = machine.backend();
    auto module = machine.module(*backend);
    const DeviceArray array(*backend, 400);
    void* pinned = backend->allocate_pinned(400);
    const std::unique_ptr<void, std::function<void(void*)>> owner(pinned, [&](void* pointer) { backend->free_pinned(pointer); });
    backend->fill(array.data(), 0, 400);
    backend->copy(pinned, array.data(), 400);
    backend->synchronise();
    backend->seconds({}, [&] { module->launch(module->entry("large"), {1, 1, 1}, {32, 1, 1}, 100 << 10, {}, nullptr); });
    backend->largest_difference(array.data(), array.data(), 100, Precision::f32);
    backend->checksums(std::array{MemoryPiece{array.data(), 400}});
    const OwnStream stream(*backend);
    stream.follow();
}

// No return code may be passed over: whichever function of the driver fails, an Error says so, and
// everything is released.
TEST(CudaBackend, ChecksEveryReturnCode) {
    FakeMachine machine;
    use_everything(machine);
    const std::set<std::string> used(machine.state().calls.begin(), machine.state().calls.end());
    // What runs in destructors, where nothing can be thrown, and what is only asked while an error
    // is being written.
    const std::set<std::string> silent{"cuDevicePrimaryCtxRelease_v2",
                                       "cuCtxPopCurrent_v2",
                                       "cuModuleUnload",
                                       "cuMemFree_v2",
                                       "cuMemFreeHost",
                                       "cuEventDestroy_v2",
                                       "cuStreamDestroy_v2"};
    EXPECT_GT(used.size(), 25u);
    for (const auto& symbol : used) {
        machine.state() = {};
        machine.state().failures[symbol] = 999;
        const std::string error = error_of([&] { use_everything(machine); });
        if (silent.contains(symbol)) {
            EXPECT_EQ(error, "") << symbol;
        } else {
            EXPECT_THAT(error, HasSubstr("CUDA_ERROR_FAKE")) << symbol;
            EXPECT_EQ(machine.state().contexts, 0) << symbol;
            EXPECT_EQ(machine.state().pushes, 0) << symbol;
            EXPECT_EQ(machine.state().modules, 0) << symbol;
            EXPECT_EQ(machine.state().events, 0) << symbol;
            EXPECT_THAT(machine.state().device_memory, IsEmpty()) << symbol;
        }
    }
}

TEST(CudaBackend, ADeviceThatIsGoneIsNoKernelsFault) {
    FakeMachine machine;
    const auto backend = machine.backend();
    const DeviceArray array(*backend, 256);
    for (const int code : {46, 100, 214, 802}) {
        machine.state().failures["cuMemsetD8Async"] = code;
        EXPECT_THROW(backend->fill(array.data(), 0, 256), MachineError) << code;
    }
    machine.state().failures["cuMemsetD8Async"] = cuda::error_illegal_address;
    try {
        backend->fill(array.data(), 0, 256);
        ADD_FAILURE() << "it did not fail";
    } catch (const MachineError& error) {
        ADD_FAILURE() << error.what();
    } catch (const Error&) {  // of a kernel before
    }
    machine.state().failures.clear();
}

TEST(ConcurrentCudaModule, LaunchesFromSeveralThreads) {
    FakeMachine machine;
    auto backend = machine.backend();
    auto module = machine.module(*backend);
    constexpr int threads = 4;
    constexpr int launches = 50;
    std::vector<std::jthread> workers;
    for (int t = 0; t < threads; ++t)
        workers.emplace_back([&, t] {
            for (int i = 0; i < launches; ++i) {
                const int entry = module->entry("entry" + std::to_string((t + i) % 7));
                module->launch(entry, {1, 1, 1}, {32, 1, 1}, 60 << 10, {}, nullptr);
            }
        });
    workers.clear();
    EXPECT_EQ(machine.state().launches.size(), static_cast<std::size_t>(threads * launches));
    EXPECT_EQ(machine.state().pushes, 0);
}

}  // namespace
}  // namespace hone::cuda_backend_test
