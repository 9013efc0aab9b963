#include "runtime/doctor.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/runtime/cuda/fake_machine.hpp"
#include "tests/support/environment.hpp"

namespace hone {
namespace {

using test::FakeMachine;
using testing::HasSubstr;

const Finding& finding(const std::vector<Finding>& findings, const std::string& what) {
    for (const auto& one : findings)
        if (one.what == what) return one;
    throw Error("findings", "nothing about " + what, "");
}

TEST(Doctor, FindsEverythingOnAFullMachine) {
    FakeMachine machine;
    const auto findings = diagnose(FakeMachine::candidates());
    EXPECT_THAT(finding(findings, "CUDA driver").detail, HasSubstr("libcuda.so.1, for CUDA 13.0"));
    EXPECT_EQ(finding(findings, "device cuda:0").detail, "Fake GPU, sm_90, 132 multiprocessors, 0.1 GiB");
    EXPECT_THAT(finding(findings, "NVRTC").detail, HasSubstr("NVRTC 13.0 at "));
    EXPECT_THAT(finding(findings, "NVML").detail, HasSubstr("driver 580.1"));
    EXPECT_THAT(finding(findings, "processor").detail, HasSubstr("OpenMP threads"));
    for (const auto& one : findings) {
        EXPECT_NE(one.purpose, "") << one.what;
        EXPECT_NE(one.detail, "") << one.what;
        EXPECT_EQ(one.found, one.remedy.empty()) << one.what;
    }
    EXPECT_EQ(machine.state().contexts, 0);
}

TEST(Doctor, SaysWhatToInstallOnABareMachine) {
    const test::TemporaryFolder nothing;
    const test::EnvironmentVariable cuda("HONE_CUDA_LIBRARIES", nothing.path().string());
    const test::EnvironmentVariable compiler("HONE_CXX", "/absent/c++");
    const auto findings = diagnose();
    for (const char* what : {"CUDA driver", "NVRTC", "NVML", "C++ compiler"}) {
        EXPECT_FALSE(finding(findings, what).found) << what;
        EXPECT_THAT(finding(findings, what).remedy, HasSubstr("install")) << what;
        EXPECT_NE(finding(findings, what).detail, "") << what;
    }
    EXPECT_TRUE(finding(findings, "processor").found);
}

TEST(Doctor, GoesOnAfterADeviceThatDoesNotAnswer) {
    FakeMachine machine;
    machine.state().failures["cuDeviceGetName"] = 999;
    const auto findings = diagnose(FakeMachine::candidates());
    EXPECT_FALSE(finding(findings, "device cuda:0").found);
    EXPECT_THAT(finding(findings, "device cuda:0").detail, HasSubstr("CUDA_ERROR_FAKE"));
    EXPECT_TRUE(finding(findings, "NVRTC").found);
}

}  // namespace
}  // namespace hone
