#include "runtime/ranks/part_balance.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "foundation/error.hpp"
#include "runtime/ranks/thread_ranks.hpp"

namespace hone::part_balance_test {
namespace {

struct Own {
    double work, seconds;
};

std::vector<PartBalance> balances(const std::vector<Own>& ranks, double least_gain) {
    std::vector<PartBalance> result(ranks.size());
    run_thread_ranks(static_cast<int>(ranks.size()), [&](Communicator& communicator) {
        const auto rank = static_cast<std::size_t>(communicator.rank());
        result[rank] = balance_parts(communicator, ranks[rank].work, ranks[rank].seconds, least_gain);
    });
    return result;
}

TEST(PartBalance, SaysWhatPartsAsSpeedsWouldGain) {
    // 100 at 50 and at 25 a second: 4 s, where 200 at 75 a second take 8/3 s.
    for (const PartBalance& each : balances({{100, 2}, {100, 4}}, 0.4)) {
        EXPECT_DOUBLE_EQ(each.gain, 0.5);
        EXPECT_TRUE(each.worth);
    }
    const auto found = balances({{100, 2}, {100, 4}}, 0.6);
    EXPECT_DOUBLE_EQ(found[0].speed, 50);
    EXPECT_DOUBLE_EQ(found[1].speed, 25);
    EXPECT_FALSE(found[0].worth || found[1].worth);
    // Parts that are as speeds already.
    for (const PartBalance& each : balances({{200, 3}, {100, 3}, {50, 3}}, 0.01)) {
        EXPECT_NEAR(each.gain, 0, 1e-12);
        EXPECT_FALSE(each.worth);
    }
}

TEST(PartBalance, TakesTheMeanForRanksThatDidNothing) {
    const auto found = balances({{100, 1}, {0, 0}, {300, 1}}, 0.1);
    EXPECT_DOUBLE_EQ(found[1].speed, 200);
    EXPECT_DOUBLE_EQ(found[0].gain, 0.5);  // 1 s in place of 400 at 600 a second
    EXPECT_TRUE(found[1].worth);
    EXPECT_FALSE(balances({{0, 0}, {0, 0}}, 0.1)[0].worth);
    EXPECT_FALSE(balances({{100, 1}}, 0)[0].worth);  // alone
}

TEST(PartBalance, RefusesWhatIsNoNumber) {
    for (const Own wrong : {Own{-1, 1}, {1, -1}, {1, std::numeric_limits<double>::quiet_NaN()}, {std::numeric_limits<double>::infinity(), 1}})
        EXPECT_THROW(balances({{1, 1}, wrong}, 0.1), Error);
}

}  // namespace
}  // namespace hone::part_balance_test
