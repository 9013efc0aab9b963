#include "foundation/shares.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <thread>
#include <vector>

namespace hone::shares_test {
namespace {

TEST(Shares, KeepTheValueUntilTheLastCopyIsGone) {
    auto value = std::make_shared<const int>(7);
    const std::weak_ptr<const int> seen = value;
    std::optional<Shares<int>> shares(value);
    EXPECT_EQ(shares->mine().get(), value.get());
    value.reset();
    std::shared_ptr<const int> copy = shares->mine();
    shares.reset();
    ASSERT_FALSE(seen.expired());
    EXPECT_EQ(*copy, 7);
    copy.reset();
    EXPECT_TRUE(seen.expired());
}

TEST(ConcurrentShares, ThreadsHaveCountsOfTheirOwn) {
    const Shares<int> shares(std::make_shared<const int>(7));
    const long before = shares.mine().use_count();
    std::vector<std::shared_ptr<const int>> copies(8);
    std::vector<std::thread> threads;
    for (auto& copy : copies) threads.emplace_back([&] { copy = shares.mine(); });
    for (auto& thread : threads) thread.join();
    for (const auto& copy : copies) EXPECT_EQ(*copy, 7);
    EXPECT_EQ(shares.mine().use_count(), before) << "of this thread, which copied nothing";
    for (std::size_t i = 0; i < copies.size(); ++i)
        for (std::size_t j = 0; j < i; ++j) EXPECT_TRUE(copies[i].owner_before(copies[j]) || copies[j].owner_before(copies[i])) << i << " " << j;
}

}  // namespace
}  // namespace hone::shares_test
