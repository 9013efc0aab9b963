#include "runtime/cpu/cpu_device.hpp"

#include <gtest/gtest.h>

namespace hone::cpu_device_test {
namespace {

TEST(CpuDevice, ReadsAnX86Processor) {
    const CpuInfo info = parse_cpuinfo(
        "processor\t: 0\nvendor_id\t: AuthenticAMD\ncpu family\t: 25\nmodel\t\t: 17\nmodel name\t: AMD EPYC 9B14\nflags\t\t: fpu sse2 avx avx2 "
        "avx512f avx512vl\nbugs\t\t:\n\n"
        "processor\t: 1\nmodel name\t: another\nflags\t\t: fpu\n");
    EXPECT_EQ(info.name, "AMD EPYC 9B14");
    EXPECT_EQ(info.instruction_set, "x86-64-avx512");
    EXPECT_EQ(info.vector_bytes, 64);
    EXPECT_EQ(info.microarchitecture, "amd-25-17");
    EXPECT_EQ(info.flags, "fpu sse2 avx avx2 avx512f avx512vl");
}

TEST(CpuDevice, TellsInstructionSetsApart) {
    EXPECT_EQ(parse_cpuinfo("flags : fpu sse2 avx avx2\n").instruction_set, "x86-64-avx2");
    EXPECT_EQ(parse_cpuinfo("flags : fpu sse2 avx avx2\n").vector_bytes, 32);
    EXPECT_EQ(parse_cpuinfo("flags : fpu sse2 avx avx2\nvendor_id : GenuineIntel\nmodel : 207\n").microarchitecture, "") << "no family";
    EXPECT_EQ(parse_cpuinfo("vendor_id : GenuineIntel\ncpu family : 6\nmodel : 207\nflags : fpu sse2\n").microarchitecture, "intel-6-207");
    EXPECT_EQ(parse_cpuinfo("flags : fpu sse2 avx\n").instruction_set, "x86-64-sse2");
    // Knights Landing has avx512f without the forms for shorter vectors, which compilers' AVX-512
    // code takes for granted.
    EXPECT_EQ(parse_cpuinfo("flags : fpu sse2 avx avx2 avx512f\n").vector_bytes, 32);
    EXPECT_EQ(parse_cpuinfo("flags : xavx2 avx2x\n").instruction_set, "x86-64-sse2") << "parts of words are not flags";
}

TEST(CpuDevice, ReadsAnArmProcessor) {
    const CpuInfo info = parse_cpuinfo("processor\t: 0\nFeatures\t: fp asimd sve\nCPU implementer\t: 0x41\nCPU part\t: 0xd4f\n");
    EXPECT_EQ(info.name, "Arm 0x41 part 0xd4f");
    EXPECT_EQ(info.instruction_set, "aarch64-sve");
    EXPECT_EQ(parse_cpuinfo("Features : fp asimd").instruction_set, "aarch64-neon");
}

TEST(CpuDevice, AnythingElseIsAnUnknownProcessorWithTheSmallestVectors) {
    for (const char* text : {"", "\n", ":", "flags", "flags :", "model name", "\0"}) {
        const CpuInfo info = parse_cpuinfo(text);
        EXPECT_EQ(info.name, "unknown processor");
        EXPECT_EQ(info.instruction_set, "unknown");
        EXPECT_EQ(info.vector_bytes, 16);
    }
}

TEST(CpuDevice, ThisMachineHasCoresMemoryAndACache) {
    const Device device = cpu_device("some compiler");
    EXPECT_EQ(device.fingerprint.target, Target::cpu);
    EXPECT_EQ(device.fingerprint.compiler, "some compiler");
    EXPECT_GE(device.fingerprint.units, 1);
    EXPECT_EQ(device.limits.multiprocessors, device.fingerprint.units);
    EXPECT_EQ(device.limits.target, Target::cpu);
    EXPECT_GE(device.limits.cache_bytes, 16 << 10);
    EXPECT_GE(device.memory_bytes, std::int64_t{64} << 20);
}

}  // namespace
}  // namespace hone::cpu_device_test
