#include "runtime/ranks/ordered_gather.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "foundation/error.hpp"
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
            EXPECT_EQ(ordered_sum(gather, gather.own_of(firsts)), sum_by_halves(firsts));
        });
    }
}

TEST(SumByHalves, RoundsLittleHoweverManyValuesThereAre) {
    const unsigned seed = std::random_device{}();
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937 random(seed);
    std::uniform_real_distribution<> one(0, 1);
    for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{33}, std::size_t{1000003}}) {
        std::vector<double> values(count);
        long double exact = 0;
        for (double& value : values) exact += value = one(random);
        // A value takes part in 32 additions one after another and in one more for each halving,
        // and each rounds by 2^-53 of its result; the sum in long double, 2^11 times as exact,
        // stands for the exact one. One after another, 10^6 values round by some hundred 2^-53.
        const double additions = 32 + (count > 32 ? std::ceil(std::log2(static_cast<double>(count) / 32)) : 0);
        EXPECT_LE(std::abs(static_cast<double>(sum_by_halves(values) - exact)), (additions + 1) * 0x1p-53 * static_cast<double>(exact)) << count;
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
