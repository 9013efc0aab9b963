#include "tuning_db/device.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace hone::device_test {
namespace {

std::string gpu(const std::string& name) {
    return device_key({Target::cuda, name, "sm_90", 132, "13.0", "NVRTC 13.0"});
}

std::string cpu(const std::string& name, int threads) {
    return device_key({Target::cpu, name, "x86-64-avx512", threads, "", "g++"});
}

TEST(DeviceKey, IsReadable) {
    EXPECT_EQ(gpu("NVIDIA H200"), "nvidia_h200");
    EXPECT_EQ(gpu("NVIDIA A100-SXM4-40GB MIG 1g.5gb"), "nvidia_a100_sxm4_40gb_mig_1g_5gb");
    EXPECT_EQ(cpu("AMD EPYC 9B14", 2), "amd_epyc_9b14_2");
    EXPECT_EQ(cpu("Intel(R) Xeon(R) Gold 6130 CPU @ 2.10GHz", 64), "intel_xeon_gold_6130_cpu_2_10ghz_64");
}

TEST(DeviceKey, TellsMicroarchitecturesOfOneNameApart) {
    DeviceFingerprint device{Target::cpu, "Intel(R) Xeon(R) Processor", "x86-64-avx512 intel-6-207-2048k", 16, "", "g++"};
    EXPECT_EQ(device_key(device), "intel_xeon_processor_intel_6_207_2048k_16");
    EXPECT_EQ(instruction_set(device), "x86-64-avx512");
    const std::string key = device_key(device);
    device.architecture = "x86-64-avx512 intel-6-143-2048k";
    EXPECT_NE(device_key(device), key);
    device.architecture = "x86-64-avx512";
    EXPECT_EQ(device_key(device), "intel_xeon_processor_16") << "a record from before";
    EXPECT_EQ(instruction_set(device), "x86-64-avx512");
}

TEST(DeviceKey, DependsOnTheModelOnly) {
    const DeviceFingerprint device{Target::cuda, "NVIDIA H200", "sm_90", 132, "13.0", "NVRTC 13.0"};
    DeviceFingerprint updated = device;
    updated.driver = "14.0";
    updated.compiler = "NVRTC 14.0";
    EXPECT_EQ(device_key(device), device_key(updated));
    EXPECT_NE(cpu("AMD EPYC 9B14", 2), cpu("AMD EPYC 9B14", 4));
}

TEST(DeviceKey, StrangeNamesAreSafeFileNamesAndStayApart) {
    EXPECT_EQ(gpu("../../etc/passwd"), "etc_passwd");
    EXPECT_EQ(gpu(" (beta)  Card__X\n"), "beta_card_x");
    EXPECT_NE(gpu("龍芯"), gpu("申威")) << "no letter of either can be kept";
    EXPECT_NE(gpu(std::string(5000, 'a')), gpu(std::string(5001, 'a')));
    EXPECT_NE(gpu(""), "");
    EXPECT_NE(cpu("", 8), "");
}

TEST(DeviceKey, IsAlwaysAPlainShortWord) {
    const auto seed = std::random_device{}();
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937 engine(seed);
    for (int i = 0; i < 1000; ++i) {
        std::string name(engine() % 300, ' ');
        for (char& c : name) c = static_cast<char>(engine() % 256);
        const std::string key = i % 2 == 0 ? gpu(name) : cpu(name, static_cast<int>(engine() % 1000));
        EXPECT_GT(key.size(), 1U);
        EXPECT_LE(key.size(), 130U);
        EXPECT_TRUE(std::all_of(key.begin(), key.end(), [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; })) << key;
    }
}

}  // namespace
}  // namespace hone::device_test
