#include "benchmarks/timed_kernels.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hone::timed_kernels_test {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

const std::vector<TimedKernel> tuned{{"dg_volume", Grade::exact}, {"dg_surface", Grade::nearest_size}};
const std::vector<TimedKernel> mixed{{"dg_volume", Grade::exact}, {"dg_rk", Grade::none}};

TEST(TimedKernels, SayHowEachWasFound) {
    EXPECT_EQ(grades_of(tuned), "dg_volume exact, dg_surface nearest_size");
    EXPECT_EQ(grades_of(mixed), "dg_volume exact, dg_rk none*");
    EXPECT_EQ(grades_of({{"gemm", Grade::same_architecture}}), "gemm same_architecture*");
}

TEST(TimedKernels, MarkRatiosWithUntunedOnes) {
    EXPECT_EQ(ratio_name("rival/ours", tuned), "rival/ours");
    EXPECT_EQ(ratio_name("rival/ours", mixed), "rival/ours*");
    EXPECT_EQ(ratio_name("rival/ours", {}), "rival/ours") << "rivals that nobody tunes";
    EXPECT_EQ(ratio_name("rival/ours", {tuned[0], tuned[0].as_rival()}), "rival/ours");
    EXPECT_EQ(ratio_name("rival/ours", {tuned[0], tuned[1].as_rival()}), "rival/ours*") << "a rival that was tuned at another size";
}

TEST(RatioSummary, LeavesUntunedOnesOutOfTheMeanAndSaysSo) {
    RatioSummary summary("drawn");
    EXPECT_EQ(summary.text(), "");
    summary.add(1, tuned);
    summary.add(4, tuned);
    EXPECT_EQ(summary.text(), "drawn: 2 shapes, rival / ours 2.000 in the geometric mean, 1.000 at least, 0 below 0.95\n");
    summary.add(0.1, mixed);
    EXPECT_THAT(summary.text(), HasSubstr("drawn: 2 shapes, rival / ours 2.000 in the geometric mean, 1.000 at least"));
    EXPECT_THAT(summary.text(), HasSubstr("drawn*: 1 shapes, rival / ours 0.100 in the geometric mean"));
    EXPECT_THAT(summary.text(), EndsWith(std::string("*: ") + untuned_note + "\n"));
    RatioSummary none("listed");
    none.add(7, mixed);
    EXPECT_THAT(none.text(), StartsWith("listed*: 1 shapes")) << "there is nothing else to take a mean of";
}

}  // namespace
}  // namespace hone::timed_kernels_test
