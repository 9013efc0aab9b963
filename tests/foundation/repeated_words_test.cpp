#include "foundation/repeated_words.hpp"

#include <gtest/gtest.h>

#include "foundation/random_words.hpp"
#include "tests/support/fresh_random.hpp"

namespace hone::repeated_words_test {
namespace {

constexpr std::int64_t period = RepeatedWords<float>::period;

TEST(RepeatedWords, HaveAPrimePeriod) {
    for (std::int64_t divisor = 2; divisor * divisor <= period; ++divisor) EXPECT_NE(period % divisor, 0) << divisor;
}

TEST(RepeatedWords, AnArrayShorterThanThePeriodHasItsOwnWords) {
    const RepeatedWords<double> words(1000, [](std::int64_t word) { return static_cast<double>(word); });
    std::vector<double> copy(1000);
    words.copy(0, 1000, copy.data());
    for (std::size_t word = 0; word < copy.size(); ++word) EXPECT_EQ(copy[word], static_cast<double>(word));
}

TEST(RepeatedWords, AnyPieceIsThatOfTheWholeArray) {
    test::FreshRandom random;
    const std::uint64_t seed = random();
    const std::int64_t count = 3 * period + 17;
    const RepeatedWords<float> words(count, [&](std::int64_t word) { return random_word(seed, word); });
    for (int piece = 0; piece < 50; ++piece) {
        const auto first = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(count));
        const auto length = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(count - first + 1));
        std::vector<float> copy(static_cast<std::size_t>(length) + 1, -7);
        words.copy(first, length, copy.data());
        for (std::int64_t i = 0; i < length; i += 1 + i / 100)
            ASSERT_EQ(copy[static_cast<std::size_t>(i)], static_cast<float>(random_word(seed, (first + i) % period)))
                << seed << " " << first << " " << i;
        EXPECT_EQ(copy.back(), -7) << "written behind the end";
    }
}

}  // namespace
}  // namespace hone::repeated_words_test
