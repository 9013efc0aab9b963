#include "runtime/doctor.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/runtime/cuda/fake_machine.hpp"
#include "tests/support/environment.hpp"
#include "tests/support/temporary_folder.hpp"

namespace hone::doctor_test {
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
    EXPECT_THAT(finding(findings, "NCCL").detail, HasSubstr("NCCL 2.28.9 at "));
    EXPECT_THAT(finding(findings, "processor").detail, HasSubstr("OpenMP threads"));
    EXPECT_THAT(finding(findings, "topology").detail,
                testing::ContainsRegex("[0-9]+ sockets?, [0-9]+ cores? of [0-9]+ threads?, [0-9]+ NUMA nodes?"));
    EXPECT_THAT(finding(findings, "ranks in threads").detail, HasSubstr("8 bytes to a neighbour in "));
    finding(findings, "MPI");
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
    for (const char* what : {"CUDA driver", "NVRTC", "NVML", "NCCL", "C++ compiler"}) {
        EXPECT_FALSE(finding(findings, what).found) << what;
        EXPECT_THAT(finding(findings, what).remedy, HasSubstr("install")) << what;
        EXPECT_NE(finding(findings, what).detail, "") << what;
    }
    EXPECT_TRUE(finding(findings, "processor").found);
}

TEST(Doctor, SaysWhoseHeadersKernelsInclude) {
    const test::TemporaryFolder toolkit;
    const test::EnvironmentVariable path("CUDA_HOME", toolkit.path().string());
    const auto found = [] { return finding(diagnose(FakeMachine::candidates()), "CUDA headers"); };
    std::filesystem::create_directories(toolkit.path() / "include/cuda/std");
    std::ofstream(toolkit.path() / "include/cuda_fp16.h") << "\n";
    std::ofstream(toolkit.path() / "include/cuda_runtime_api.h") << "#define CUDART_VERSION  12040\n";
    EXPECT_EQ(found().detail, "of CUDA 12.4 in " + (toolkit.path() / "include").string());
    const test::TemporaryFolder nothing;
    const test::EnvironmentVariable nowhere("HONE_CUDA_LIBRARIES", nothing.path().string());
    EXPECT_FALSE(found().found);
    EXPECT_THAT(found().remedy, HasSubstr("cuda-cudart-dev"));
}

TEST(Doctor, NamesACompilerThatCannotCompileWithItsReason) {
    const test::TemporaryFolder folder;
    const auto old = folder.path() / "g++-8";
    std::ofstream(old) << "#!/bin/sh\n[ \"$1\" = --version ] && { echo 'g++ (GCC) 8.5.0'; exit; }\n"
                       << "echo \"g++: error: unrecognized command line option '-std=c++20'\" >&2\nexit 1\n";
    std::filesystem::permissions(old, std::filesystem::perms::owner_all);
    {
        const test::EnvironmentVariable chosen("HONE_CXX", old.string());
        const auto findings = diagnose();
        EXPECT_FALSE(finding(findings, compiler_finding_name).found);
        EXPECT_THAT(finding(findings, compiler_finding_name).detail, HasSubstr("8.5.0"));
        EXPECT_THAT(finding(findings, compiler_finding_name).detail, HasSubstr("-std=c++20"));
    }
    const test::EnvironmentVariable unset("HONE_CXX", std::nullopt);
    const test::EnvironmentVariable preferred("CXX", old.string());
    const auto findings = diagnose();
    if (!finding(findings, compiler_finding_name).found) GTEST_SKIP() << finding(findings, compiler_finding_name).detail;
    EXPECT_THAT(finding(findings, "C++ compiler passed over").detail, HasSubstr("-std=c++20"));
    EXPECT_THAT(finding(findings, "C++ compiler passed over").remedy, HasSubstr("GCC 12"));
}

TEST(Doctor, SaysWhichFolderKernelsCannotBeCompiledIn) {
    const test::TemporaryFolder folder;
    const std::string file = (folder.path() / "file").string();
    std::ofstream{file} << "not a folder";
    const test::EnvironmentVariable cache("HONE_CACHE", file + "/cache");
    const test::EnvironmentVariable place("TMPDIR", "/proc");  // nobody can make a folder there
    const auto findings = diagnose();
    EXPECT_THAT(finding(findings, cache_finding_name).detail, HasSubstr("ENOTDIR"));
    EXPECT_THAT(finding(findings, cache_finding_name).remedy, HasSubstr("HONE_CACHE"));
    EXPECT_THAT(finding(findings, temporary_finding_name).remedy, HasSubstr("TMPDIR"));
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
}  // namespace hone::doctor_test
