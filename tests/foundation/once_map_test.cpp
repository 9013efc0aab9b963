#include "foundation/once_map.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <latch>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace hone::once_map_test {
namespace {

TEST(OnceMap, BuildsOncePerKey) {
    OnceMap<std::string, int> map;
    int builds = 0;
    const auto build = [&] { return std::make_shared<const int>(++builds); };
    const auto first = map.get("a", build);
    EXPECT_EQ(map.get("a", build), first);
    EXPECT_EQ(*map.get("b", build), 2);
    EXPECT_EQ(builds, 2);
}

TEST(OnceMap, AFailureIsForgotten) {
    OnceMap<std::string, int> map;
    EXPECT_THROW(map.get("a", []() -> std::shared_ptr<const int> { throw std::runtime_error("first"); }), std::runtime_error);
    EXPECT_EQ(*map.get("a", [] { return std::make_shared<const int>(7); }), 7);
}

TEST(ConcurrentOnceMap, ThreadsThatAskTogetherGetOneValue) {
    OnceMap<int, int> map;
    constexpr int thread_count = 8;
    std::atomic<int> builds{0};
    std::latch start(thread_count);
    std::vector<std::shared_ptr<const int>> got(thread_count);
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < thread_count; ++i)
        threads.emplace_back([&, i] {
            start.arrive_and_wait();
            got[i] = map.get(1, [&] {
                std::this_thread::sleep_for(std::chrono::milliseconds(20));
                return std::make_shared<const int>(++builds);
            });
        });
    for (auto& thread : threads) thread.join();
    EXPECT_EQ(builds, 1);
    for (const auto& value : got) EXPECT_EQ(value, got[0]);
}

TEST(ConcurrentOnceMap, AllWhoWaitHearOfTheFailure) {
    OnceMap<int, int> map;
    constexpr int thread_count = 4;
    std::latch start(thread_count);
    std::atomic<int> heard{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < thread_count; ++i)
        threads.emplace_back([&] {
            start.arrive_and_wait();
            try {
                map.get(1, []() -> std::shared_ptr<const int> {
                    std::this_thread::sleep_for(std::chrono::milliseconds(20));
                    throw std::runtime_error("no");
                });
            } catch (const std::runtime_error&) {
                ++heard;
            }
        });
    for (auto& thread : threads) thread.join();
    EXPECT_EQ(heard, thread_count);
    EXPECT_EQ(*map.get(1, [] { return std::make_shared<const int>(7); }), 7);
}

// A slow compilation of one kernel must not hold up another: the first builder waits until the
// second key is there.
TEST(ConcurrentOnceMap, KeysDoNotWaitForEachOther) {
    OnceMap<int, int> map;
    std::latch second_is_built(1);
    std::thread slow([&] {
        map.get(1, [&] {
            second_is_built.wait();
            return std::make_shared<const int>(1);
        });
    });
    EXPECT_EQ(*map.get(2, [] { return std::make_shared<const int>(2); }), 2);
    second_is_built.count_down();
    slow.join();
}

}  // namespace
}  // namespace hone::once_map_test
