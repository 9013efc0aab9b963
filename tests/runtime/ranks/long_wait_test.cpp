#include "runtime/ranks/long_wait.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "tests/support/environment.hpp"

namespace hone::long_wait_test {
namespace {

constexpr RankWait silent{}, for_all{true}, for_first{true, 0}, for_second{true, 1};

TEST(LongWait, ReportsSayWhoIsAwaitedAndWhoDoesNotAnswer) {
    EXPECT_EQ(wait_report(0, 30.2, std::vector{for_second, silent}),
              "rank 0 of 2 has waited 30 s for rank 1. Rank 1 does not wait: it computes, or it is stopped.");
    EXPECT_EQ(wait_report(0, 60, std::vector{for_second, for_all, silent, silent}),
              "rank 0 of 4 has waited 60 s for rank 1. Rank 1 waits, too. Ranks 2, 3 do not wait: they compute, or they are stopped.");
    EXPECT_EQ(wait_report(0, 30, std::vector{for_all, for_all, silent}),
              "rank 0 of 3 has waited 30 s for rank 2. Rank 1 waits, too. Rank 2 does not wait: it computes, or it is stopped.");
    EXPECT_EQ(wait_report(1, 30, std::vector{silent, for_all}, "process"),
              "process 1 of 2 has waited 30 s for process 0. Process 0 does not wait: it computes, or it is stopped.");
    EXPECT_EQ(
        wait_report(0, 30, std::vector{for_second, for_first}, "rank", 4),
        "rank 4 of 2 has waited 30 s for rank 5. Rank 5 waits, too. So all wait for each other: they make different calls, or a message is sent "
        "to nobody.");
    std::vector<RankWait> many(1000, silent);
    many[0] = for_all;
    EXPECT_THAT(wait_report(0, 30, many), ::testing::HasSubstr("for ranks 1, 2, 3, 4, 5, 6, 7, 8 and 991 more. Ranks 1,"));
}

TEST(LongWait, IsToldOfAfterAWhileAndThenAtTwiceTheTime) {
    const test::EnvironmentVariable patience{"HONE_PATIENCE", "30"};
    LongWait wait;
    EXPECT_FALSE(wait.due());
    const auto first = wait.next();
    EXPECT_NEAR(std::chrono::duration<double>(first - LongWait::Clock::now()).count(), 30, 5);
    EXPECT_NEAR(std::chrono::duration<double>(LongWait(1.0 / 3).next() - LongWait::Clock::now()).count(), 10, 5);
    const test::EnvironmentVariable never{"HONE_PATIENCE", "0"};
    EXPECT_EQ(LongWait().next(), LongWait::Clock::time_point::max());
    EXPECT_FALSE(LongWait().due());
}

}  // namespace
}  // namespace hone::long_wait_test
