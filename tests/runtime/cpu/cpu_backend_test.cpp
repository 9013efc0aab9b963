#include "runtime/cpu/cpu_backend.hpp"

#include <gtest/gtest.h>
#include <sys/mount.h>

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <random>
#include <thread>
#include <vector>

#include "foundation/error.hpp"
#include "tests/support/axpy_family.hpp"
#include "tests/support/failing_call.hpp"
#include "tests/support/temporary_folder.hpp"

namespace hone::cpu_backend_test {
namespace {

class CpuBackendTest : public ::testing::Test {
  protected:
    CompileOutcome compile(const std::string& fault = "none") {
        const Families families = test::axpy_families({"none", fault});
        const Problem problem = families.parse_problem("axpy n=10");
        const Limits& limits = backend_->device().limits;
        const Family& family = families.of(problem);
        return backend_->compiler().compile(family.kernel(problem, family.space(problem, limits).parse("fault=" + fault), limits));
    }

    test::TemporaryFolder folder_;
    DiskCache cache_{folder_.path() / "cache"};
    std::unique_ptr<Backend> backend_ = make_cpu_backend(0, cache_);
};

TEST_F(CpuBackendTest, MemoryIsAlignedAndKnowsItsLimits) {
    for (const std::int64_t bytes : {0, 1, 255, 256, 4097, 5 << 20}) {
        const DeviceArray array(*backend_, bytes);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(array.data()) % 256, 0U) << bytes;
    }
    EXPECT_THROW(backend_->allocate(-1), Error);
    try {
        backend_->allocate(std::int64_t{1} << 60);
        FAIL() << "2^60 bytes were given";
    } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find("1152921504606846976"), std::string::npos) << error.what();
    }
}

// Around the size from which on all threads take part, and with a last share that is not whole.
TEST_F(CpuBackendTest, CopiesAndFillsEveryByteAndNoOther) {
    const std::uint64_t seed = std::random_device{}();
    std::mt19937_64 random(seed);
    for (const std::int64_t bytes : {0, 1, 1000, (1 << 20) - 1, 1 << 20, (1 << 20) + 1, (3 << 20) + 12345}) {
        std::vector<unsigned char> from(static_cast<std::size_t>(bytes) + 2);
        for (auto& byte : from) byte = static_cast<unsigned char>(random());
        std::vector<unsigned char> to(from.size(), 7);
        backend_->copy(to.data() + 1, from.data() + 1, bytes);
        std::vector<unsigned char> expected = from;
        expected.front() = expected.back() = 7;
        EXPECT_TRUE(to == expected) << bytes << " bytes, seed " << seed;
        backend_->fill(to.data() + 1, 9, bytes);
        std::fill(expected.begin() + 1, expected.end() - 1, static_cast<unsigned char>(9));
        EXPECT_TRUE(to == expected) << bytes << " bytes";
    }
}

TEST_F(CpuBackendTest, MeasuresAtLeastTheTimeThatPassed) {
    EXPECT_GE(backend_->seconds({}, [] { std::this_thread::sleep_for(std::chrono::milliseconds(20)); }), 0.02);
    const auto watch = backend_->make_stop_watch();
    watch->start({});
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    watch->stop({});
    ASSERT_TRUE(watch->seconds().has_value());
    EXPECT_GE(*watch->seconds(), 0.02);
    EXPECT_EQ(watch->wait(), *watch->seconds());
}

TEST_F(CpuBackendTest, RecordedWorkIsDoneAtEachLaunch) {
    int calls = 0;
    const auto recording = backend_->record([&](Stream) { ++calls; });
    EXPECT_EQ(calls, 0);
    recording->launch();
    recording->launch();
    EXPECT_EQ(calls, 2);
}

TEST_F(CpuBackendTest, ComparesArraysByTheRuleOfWorkloads) {
    std::vector<double> a(1000, 1.0);
    std::vector<double> b = a;
    b[999] = 1.5;
    a[3] = b[3] = std::numeric_limits<double>::quiet_NaN();
    EXPECT_EQ(backend_->largest_difference(a.data(), b.data(), 1000, Precision::f64), 0.5);
    b[4] = std::numeric_limits<double>::quiet_NaN();
    EXPECT_EQ(backend_->largest_difference(a.data(), b.data(), 1000, Precision::f64), std::numeric_limits<double>::infinity());
    const float x[2] = {1, 2};
    const float y[2] = {1, 4};
    EXPECT_EQ(backend_->largest_difference(x, y, 2, Precision::f32), 2);
}

TEST_F(CpuBackendTest, LoadsFromTheCachesFileOrFromTheBytesAlone) {
    if (!backend_->compiler().missing().empty()) GTEST_SKIP() << backend_->compiler().missing();
    const CompileOutcome outcome = compile();
    ASSERT_TRUE(outcome.ok) << outcome.failure;
    EXPECT_EQ(backend_->load(outcome.code)->entry("axpy"), 0);
    std::filesystem::remove(outcome.code.file);
    EXPECT_EQ(backend_->load(outcome.code)->entry("axpy"), 0) << "the cache dropped its entry";
    CompiledCode bytes;
    bytes.binary = outcome.code.binary;
    EXPECT_EQ(backend_->load(bytes)->entry("axpy"), 0);
    EXPECT_THROW(backend_->load(bytes)->entry("no_such_entry"), Error);
}

TEST_F(CpuBackendTest, WhatCannotBeLoadedIsAnError) {
    if (!backend_->compiler().missing().empty()) GTEST_SKIP() << backend_->compiler().missing();
    const CompileOutcome outcome = compile("launch_failure");
    ASSERT_TRUE(outcome.ok) << outcome.failure;
    try {
        backend_->load(outcome.code);
        FAIL() << "an object that has no room was loaded";
    } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find("static TLS block"), std::string::npos) << error.what();
    }
    CompiledCode garbage;
    garbage.binary = "this is no shared object";
    EXPECT_THROW(backend_->load(garbage), Error);
    garbage.binary += ", and the cache has no room for it";
    const test::FailingCall failing(test::FailingCall::Call::write_short, ENOSPC);
    EXPECT_THROW(backend_->load(garbage), MachineError);
    CompiledCode cubin = outcome.code;
    cubin.target = Target::cuda;
    EXPECT_THROW(backend_->load(cubin), Error);
}

// A file system without execution, where this user may mount one.
class WithoutExecution {
  public:
    explicit WithoutExecution(std::filesystem::path folder) : folder_(std::move(folder)) {
        std::filesystem::create_directory(folder_);
        mounted_ = mount("tmpfs", folder_.c_str(), "tmpfs", MS_NOEXEC, "mode=0700") == 0;
    }
    ~WithoutExecution() {
        if (mounted_) umount2(folder_.c_str(), MNT_DETACH);
    }
    WithoutExecution(const WithoutExecution&) = delete;
    WithoutExecution& operator=(const WithoutExecution&) = delete;
    bool mounted() const { return mounted_; }

  private:
    std::filesystem::path folder_;
    bool mounted_ = false;
};

TEST_F(CpuBackendTest, ACacheWithoutExecutionIsNoObstacle) {
    const test::TemporaryFolder folder;
    const WithoutExecution place(folder.path() / "cache");
    if (!place.mounted()) GTEST_SKIP() << "this user may not mount";
    DiskCache cache(folder.path() / "cache");
    const auto backend = make_cpu_backend(0, cache);
    if (const std::string missing = backend->compiler().missing(); !missing.empty()) GTEST_SKIP() << missing;
    for (int repetition = 0; repetition < 2; ++repetition)  // then from the cache
        for (const char* fault : {"none", "launch_failure"}) {
            const Families families = test::axpy_families({"none", "launch_failure"});
            const Problem problem = families.parse_problem("axpy n=1000");
            const Family& family = families.of(problem);
            const KernelSource source = family.kernel(problem, family.space(problem, backend->device().limits).parse(std::string("fault=") + fault),
                                                      backend->device().limits);
            const CompileOutcome outcome = backend->compiler().compile(source);
            ASSERT_TRUE(outcome.ok) << outcome.failure;
            if (fault == std::string("none")) {
                EXPECT_NO_THROW(backend->load(outcome.code)->entry("axpy"));
                continue;
            }
            try {
                backend->load(outcome.code);
                ADD_FAILURE() << "an object that has no room was loaded";
            } catch (const MachineError& error) {
                ADD_FAILURE() << "the candidate's fault is told as the machine's: " << error.what();
            } catch (const Error& error) {
                EXPECT_NE(std::string(error.what()).find("static TLS block"), std::string::npos) << error.what();
            }
        }
}

TEST(DeviceName, GpuIsCudaAndNoNameOfTheOtherKindIsSuggested) {
    for (const char* name : {"gpu", "gpu:0", "cuda", "cuda:0"}) {
        EXPECT_EQ(parse_device_name(name).target, Target::cuda) << name;
        EXPECT_EQ(parse_device_name(name).index, 0) << name;
    }
    EXPECT_EQ(parse_device_name("gpu:2").index, 2);
    EXPECT_EQ(parse_device_name("cpu").target, Target::cpu);
    const auto message = [](const char* name) -> std::string {
        try {
            parse_device_name(name);
        } catch (const Error& error) {
            return error.what();
        }
        return "";
    };
    EXPECT_NE(message("gpv").find("did you mean gpu?"), std::string::npos) << message("gpv");
    EXPECT_NE(message("cpv").find("did you mean cpu?"), std::string::npos) << message("cpv");
    EXPECT_NE(message("cudda").find("did you mean cuda?"), std::string::npos) << message("cudda");
    EXPECT_EQ(message("xpu").find("did you mean"), std::string::npos) << "as near to cpu as to gpu: " << message("xpu");
    EXPECT_NE(message("xpu").find("use cpu, cuda"), std::string::npos);
}

TEST_F(CpuBackendTest, IsTheCpuInTheTableOfBackends) {
    EXPECT_EQ(make_backend("cpu", cache_)->device().fingerprint, backend_->device().fingerprint);
    EXPECT_EQ(make_backend("cpu:0", cache_)->device().limits.target, Target::cpu);
    EXPECT_NO_THROW(make_backend("best", cache_));
    for (const char* name : {"cpu:1", "cpu:", "cpu:x", "cpu:-1", "cpu:0x", "gpv", "", "cp", "CPU"})
        EXPECT_THROW(make_backend(name, cache_), Error) << name;
    std::string missing;
    const std::vector<Device> devices = cpu_devices(missing);
    ASSERT_EQ(devices.size(), 1U);
    EXPECT_EQ(devices[0].fingerprint, backend_->device().fingerprint);
}

}  // namespace
}  // namespace hone::cpu_backend_test
