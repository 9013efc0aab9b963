#include "runtime/cuda/resource_report.hpp"

#include <gtest/gtest.h>

namespace hone::cuda::resource_report_test {
namespace {

void expect(const EntryResources& found, const EntryResources& wanted) {
    EXPECT_EQ(found.entry, wanted.entry);
    EXPECT_EQ(found.registers, wanted.registers) << wanted.entry;
    EXPECT_EQ(found.shared_bytes, wanted.shared_bytes) << wanted.entry;
    EXPECT_EQ(found.local_bytes, wanted.local_bytes) << wanted.entry;
    EXPECT_EQ(found.spill_store_bytes, wanted.spill_store_bytes) << wanted.entry;
    EXPECT_EQ(found.spill_load_bytes, wanted.spill_load_bytes) << wanted.entry;
}

// As NVRTC 13.0 writes it.
TEST(ResourceReport, ReadsNvrtc13) {
    const auto all = parse_resources(
        "kernel.cu(9): warning #177-D: variable \"unused\" was declared but never referenced\n"
        "\n"
        "ptxas info    : 4 bytes gmem, 400 bytes cmem[3], 8 bytes cmem[4]\n"
        "ptxas info    : Compiling entry function 'calls' for 'sm_80'\n"
        "ptxas info    : Function properties for calls\n"
        "ptxas         .     40 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
        "ptxas info    : Used 15 registers, used 0 barriers, 48 bytes cumulative stack size, 364 bytes cmem[0]\n"
        "ptxas info    : Compile time = 2.957 ms\n"
        "ptxas info    : Compiling entry function 'spill' for 'sm_80'\n"
        "ptxas info    : Function properties for spill\n"
        "ptxas         .     792 bytes stack frame, 1256 bytes spill stores, 1336 bytes spill loads\n"
        "ptxas info    : Used 32 registers, used 1 barriers, 792 bytes cumulative stack size, 256 bytes smem, 364 bytes cmem[0]\n"
        "ptxas info    : Compile time = 19.682 ms\n");
    ASSERT_EQ(all.size(), 2u);
    expect(all[0], {"calls", 15, 0, 48, 0, 0});
    expect(all[1], {"spill", 32, 256, 792, 1256, 1336});
}

// As CUDA 11 and 12 write it: no word before the line of the stack.
TEST(ResourceReport, ReadsOlderCompilers) {
    const auto all = parse_resources(
        "ptxas info    : Compiling entry function 'old' for 'sm_80'\r\n"
        "ptxas info    : Function properties for old\r\n"
        "    16 bytes stack frame, 8 bytes spill stores, 4 bytes spill loads\r\n"
        "ptxas info    : Used 255 registers, 49152 bytes smem, 400 bytes cmem[0]\r\n");
    ASSERT_EQ(all.size(), 1u);
    expect(all[0], {"old", 255, 49152, 16, 8, 4});
}

TEST(ResourceReport, CountsSpillsOfFunctionsThatAreNotInlinedForEveryEntry) {
    const auto all = parse_resources(
        "ptxas info    : Compiling entry function 'one' for 'sm_90'\n"
        "ptxas info    : Function properties for one\n"
        "ptxas         .     0 bytes stack frame, 0 bytes spill stores, 2 bytes spill loads\n"
        "ptxas info    : Used 10 registers, used 0 barriers\n"
        "ptxas info    : Function properties for helper\n"
        "ptxas         .     64 bytes stack frame, 12 bytes spill stores, 20 bytes spill loads\n"
        "ptxas info    : Compiling entry function 'two' for 'sm_90'\n"
        "ptxas info    : Function properties for two\n"
        "ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
        "ptxas info    : Used 12 registers, used 0 barriers");
    ASSERT_EQ(all.size(), 2u);
    expect(all[0], {"one", 10, 0, 0, 12, 22});
    expect(all[1], {"two", 12, 0, 0, 12, 20});
}

TEST(ResourceReport, PassesOverWhatItDoesNotUnderstand) {
    EXPECT_TRUE(parse_resources("").empty());
    EXPECT_TRUE(parse_resources("Used many registers\n bytes stack frame\nFunction properties for \n 9999999999999 bytes stack frame").empty());
    const auto all = parse_resources("Compiling entry function 'cut\nUsed registers, 99999999999999 bytes smem");
    ASSERT_EQ(all.size(), 1u);
    expect(all[0], {"cut", 0, 0, 0, 0, 0});
}

}  // namespace
}  // namespace hone::cuda::resource_report_test
