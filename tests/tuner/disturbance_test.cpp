#include "tuner/disturbance.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "generator/families/built_in_families.hpp"

namespace hone::disturbance_test {
namespace {

using testing::HasSubstr;

const Ceilings ceilings{.copy_bytes_per_second = 1e9, .fma_f32 = 1e10, .fma_f64 = 5e9, .how = "made up"};

// A step of a millisecond: 80 % of the memory ceiling, 50 % of the arithmetic one.
Record record() {
    Record record;
    record.problem = built_in_families().parse_problem("gauss_seidel_27 stencil=constant precision=f32 nx=96 ny=96 nz=96");
    record.device.target = Target::cpu;
    record.step = {1e-3, 1e-3, 1e-3, 1e-3, 40};
    record.counts = {1, "updates", 5e6, 8e5};
    record.safe_seconds = 15e-3;
    return record;
}

TEST(Disturbance, HonestFiguresAreLeftAlone) {
    EXPECT_EQ(disturbance(record(), 5e6, 0, ceilings), "");
    EXPECT_EQ(disturbance(record(), 5e6, 0, {}), "") << "nothing was measured";
}

TEST(Disturbance, NothingIsFasterThanMemoryButWhatTheCachesHold) {
    Record fast = record();
    fast.counts.bytes = 1.09e6;
    EXPECT_EQ(disturbance(fast, 5e6, 0, ceilings), "");
    fast.counts.bytes = 1.4e6;
    EXPECT_THAT(disturbance(fast, 5e6, 0, ceilings), HasSubstr("140 % of the memory ceiling"));
    EXPECT_EQ(disturbance(fast, 5e6, 200'000, ceilings), "") << "each byte in a cache spares a read and a write";
    fast.device.target = Target::cuda;
    EXPECT_NE(disturbance(fast, 5e6, 0, ceilings), "");
}

TEST(Disturbance, ArithmeticBindsWhereTheOperationsCannotBeSpared) {
    Record fast = record();
    fast.counts.operations = 2.18e7;
    EXPECT_THAT(disturbance(fast, 2.18e7, 0, ceilings), HasSubstr("218 % of the arithmetic ceiling"));
    EXPECT_EQ(disturbance(fast, 1e7, 0, ceilings), "") << "a form that executes fewer than are counted";
    EXPECT_NE(disturbance(fast, 1e9, 0, ceilings), "") << "what a form executes beyond the counted is its own affair";
    fast.device.target = Target::cuda;
    EXPECT_EQ(disturbance(fast, 2.18e7, 0, ceilings), "") << "matrix units do more than the ceiling's";
}

TEST(Disturbance, AGainOfABusyMinuteIsPointedOut) {
    Record lucky = record();
    lucky.safe_seconds = 7.367;
    EXPECT_THAT(disturbance(lucky, 5e6, 0, ceilings), HasSubstr("a gain of 7367x over the safe configuration is beyond 20x"));
    lucky.counts.bytes = 5e6;
    EXPECT_THAT(disturbance(lucky, 5e6, 0, ceilings), HasSubstr("no kernel can pass; a gain"));
}

}  // namespace
}  // namespace hone::disturbance_test
