#include "runtime/ranks/ordered_gather.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "generator/error.hpp"
#include "runtime/ranks/thread_ranks.hpp"

namespace hone::ordered_gather_test {
namespace {

// Items are dealt to ranks at random, each rank's in a random order.
TEST(ConcurrentOrderedGather, PutsItemsInTheirOrderWhoeverHasThem) {
    const auto seed = std::random_device{}();
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    for (const int ranks : {1, 2, 3, 4, 8}) {
        const int items = std::uniform_int_distribution<>(1, 60)(random);
        std::vector<double> words(static_cast<std::size_t>(3 * items));
        std::generate(words.begin(), words.end(), [&] { return std::uniform_real_distribution<>(-1, 1)(random); });
        std::vector<std::vector<std::int64_t>> numbers(static_cast<std::size_t>(ranks));
        for (int item = 0; item < items; ++item)
            numbers[static_cast<std::size_t>(std::uniform_int_distribution<>(0, ranks - 1)(random))].push_back(item);
        for (auto& own : numbers) std::shuffle(own.begin(), own.end(), random);
        const std::vector<double> firsts(words.begin(), words.begin() + items);
        run_thread_ranks(ranks, [&](Communicator& communicator) {
            const auto& own = numbers[static_cast<std::size_t>(communicator.rank())];
            const OrderedGather gather(communicator, own);
            EXPECT_EQ(gather.items(), items);
            const std::vector<double> mine = gather.own_of(words, 3);
            ASSERT_EQ(mine.size(), 3 * own.size());
            for (std::size_t n = 0; n < own.size(); ++n) EXPECT_EQ(mine[3 * n + 2], words[static_cast<std::size_t>(3 * own[n] + 2)]);
            EXPECT_EQ(gather.all(mine, 3), words);
            EXPECT_EQ(gather.on_first(mine, 3), communicator.rank() == 0 ? words : std::vector<double>{});
            EXPECT_EQ(ordered_sum(gather, gather.own_of(firsts)), std::accumulate(firsts.begin(), firsts.end(), 0.0));
        });
    }
}

std::string reason(const std::vector<std::vector<std::int64_t>>& numbers) {
    try {
        run_thread_ranks(static_cast<int>(numbers.size()), [&](Communicator& communicator) {
            const OrderedGather gather(communicator, numbers[static_cast<std::size_t>(communicator.rank())]);
            const std::vector<double> too_many(5);
            gather.all(too_many);
        });
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

TEST(ConcurrentOrderedGather, RefusesItemsOfTwoRanksOrOfNone) {
    EXPECT_THAT(reason({{0, 1}, {1}}), ::testing::HasSubstr("item 1 is no rank's"));
    EXPECT_THAT(reason({{0}, {2}}), ::testing::HasSubstr("item 2 is no rank's"));
    EXPECT_THAT(reason({{0}, {1}}), ::testing::HasSubstr("5 words"));
}

}  // namespace
}  // namespace hone::ordered_gather_test
