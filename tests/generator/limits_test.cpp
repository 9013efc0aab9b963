#include "generator/limits.hpp"

#include <gtest/gtest.h>

namespace hone::limits_test {
namespace {

TEST(Limits, AreThoseOfTheProgrammingGuide) {
    EXPECT_EQ(cuda_limits(80).shared_bytes_per_block, 163 * 1024);
    EXPECT_EQ(cuda_limits(86).max_threads_per_multiprocessor, 1536);
    EXPECT_EQ(cuda_limits(90).shared_bytes_per_block, 227 * 1024);
    EXPECT_EQ(cuda_limits(90).shared_bytes_per_multiprocessor, 228 * 1024);
    EXPECT_EQ(cuda_limits(90).registers_per_multiprocessor, 65536);
    EXPECT_EQ(cuda_limits(100).max_threads_per_multiprocessor, 2048);
    EXPECT_EQ(cuda_limits(120).shared_bytes_per_block, 99 * 1024);
}

TEST(Limits, EveryArchitectureGetsLimitsThatCanRunSomething) {
    for (int architecture = 50; architecture <= 200; ++architecture) {
        const Limits limits = cuda_limits(architecture);
        EXPECT_EQ(limits.target, Target::cuda);
        EXPECT_EQ(limits.architecture, architecture);
        EXPECT_EQ(limits.max_threads_per_block, 1024);
        EXPECT_GE(limits.max_threads_per_multiprocessor, limits.max_threads_per_block);
        EXPECT_GE(limits.shared_bytes_per_block, 48 * 1024);
        EXPECT_GE(limits.shared_bytes_per_multiprocessor, limits.shared_bytes_per_block);
        EXPECT_GT(limits.multiprocessors, 0);
    }
}

TEST(Limits, AnUnknownArchitectureNeverGetsMoreThanTheOnesItStandsBetween) {
    EXPECT_LE(cuda_limits(110).shared_bytes_per_block, cuda_limits(100).shared_bytes_per_block);
    EXPECT_LE(cuda_limits(121).shared_bytes_per_block, cuda_limits(120).shared_bytes_per_block);
    EXPECT_LE(cuda_limits(87).max_threads_per_multiprocessor, cuda_limits(86).max_threads_per_multiprocessor);
}

TEST(Limits, PascalHasNotTheSharedMemoryOfVolta) {
    for (const int architecture : {50, 52, 60, 61, 62}) {
        EXPECT_EQ(cuda_limits(architecture).shared_bytes_per_block, 48 * 1024);
        EXPECT_LE(cuda_limits(architecture).shared_bytes_per_multiprocessor, 96 * 1024);
    }
}

TEST(Limits, SayWhatAnArchitectureAndACompilerHave) {
    const auto has = [](int architecture, int compiler, Feature feature) {
        Limits limits = cuda_limits(architecture);
        limits.compiler = compiler;
        return limits.has(feature);
    };
    EXPECT_FALSE(has(62, 0, Feature::ordered_accesses));
    EXPECT_TRUE(has(70, 0, Feature::ordered_accesses));
    EXPECT_FALSE(has(75, 0, Feature::async_copies));
    EXPECT_TRUE(has(80, 0, Feature::async_copies));
    EXPECT_FALSE(has(89, 0, Feature::bulk_copies));
    EXPECT_TRUE(has(90, 0, Feature::bulk_copies));
    EXPECT_FALSE(has(90, 118, Feature::bulk_copies)) << "PTX 7.8";
    EXPECT_TRUE(has(90, 118, Feature::wide_f64_matrix_units));
    EXPECT_TRUE(has(90, 120, Feature::bulk_copies));
    EXPECT_TRUE(has(120, 130, Feature::bulk_copies));
    EXPECT_FALSE(cpu_limits().has(Feature::async_copies));
}

TEST(Limits, TheProcessorHasAVectorAndACache) {
    const Limits limits = cpu_limits();
    EXPECT_EQ(limits.target, Target::cpu);
    EXPECT_GE(limits.vector_bytes, 16);
    EXPECT_GT(limits.cache_bytes, 0);
    EXPECT_GE(limits.multiprocessors, 1);
}

}  // namespace
}  // namespace hone::limits_test
