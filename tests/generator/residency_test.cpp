#include "generator/residency.hpp"

#include <gtest/gtest.h>

namespace hone::residency_test {
namespace {

// An sm_90 has 2048 threads, 65536 registers and 228 KiB of shared memory, 227 KiB of it for one
// block.
TEST(Residency, BlocksShareAMultiprocessor) {
    const Limits limits = cuda_limits(90);
    EXPECT_EQ(resident_blocks({.threads = 128}, limits), 16) << "2048 threads";
    EXPECT_EQ(resident_blocks({.threads = 32}, limits), 32) << "no more, however small";
    EXPECT_EQ(resident_blocks({.threads = 128, .shared_bytes = 100 * 1024}, limits), 2);
    EXPECT_EQ(resident_blocks({.threads = 256, .shared_bytes = 16, .registers = 200}, limits), 1);
    EXPECT_EQ(resident_blocks({.threads = 512, .registers = 255}, limits), 0) << "one is too many";
    EXPECT_EQ(resident_blocks({}, limits), 0) << "no threads";
}

TEST(Residency, WhatIsScarcestDecides) {
    const Limits limits = cuda_limits(90);
    EXPECT_EQ(resident_blocks({.threads = 1024, .registers = 32}, limits), 2) << "all threads and all registers";
    EXPECT_EQ(resident_blocks({.threads = 1024, .registers = 33}, limits), 1);
    EXPECT_EQ(resident_blocks({.threads = 64, .shared_bytes = 56 * 1024}, limits), 4) << "57 KiB each with what the driver keeps";
    EXPECT_EQ(resident_blocks({.threads = 64, .shared_bytes = 56 * 1024 + 1}, limits), 3);
    EXPECT_EQ(resident_blocks({.threads = -1}, limits), 0);
}

TEST(Residency, ABlockNeedsNoMoreThanADeviceHas) {
    const Limits limits = cuda_limits(90);
    EXPECT_FALSE(too_many(5, 5, "fingers"));
    EXPECT_EQ(too_many(6, 5, "fingers"), "6 fingers, at most 5 possible");
    EXPECT_FALSE(thread_violation({.threads = 1024}, 2, limits));
    EXPECT_EQ(thread_violation({.threads = 1025}, 1, limits), "1025 threads per block, at most 1024 possible");
    EXPECT_EQ(thread_violation({.threads = 1024}, 3, limits), "3072 threads for min_blocks blocks, at most 2048 possible");
    EXPECT_FALSE(shared_violation({.shared_bytes = 227 * 1024}, 1, limits));
    EXPECT_TRUE(shared_violation({.shared_bytes = 227 * 1024 + 1}, 1, limits));
    EXPECT_FALSE(shared_violation({.shared_bytes = 113 * 1024}, 2, limits));
    EXPECT_EQ(shared_violation({.shared_bytes = 113 * 1024 + 1}, 2, limits),
              "233474 bytes of shared memory for min_blocks blocks, at most 233472 possible");
    EXPECT_FALSE(register_violation({.threads = 256, .registers = 255}, 1, limits));
    EXPECT_EQ(register_violation({.threads = 256, .registers = 256}, 1, limits), "256 registers per thread (estimated), at most 255 possible");
    EXPECT_FALSE(register_violation({.threads = 256, .registers = 128}, 2, limits));
    EXPECT_EQ(register_violation({.threads = 256, .registers = 129}, 2, limits), "129 registers per thread (estimated), at most 128 possible");
    EXPECT_FALSE(register_violation({.threads = 0, .registers = 999}, 1, limits)) << "another rule refuses it";
}

}  // namespace
}  // namespace hone::residency_test
