#include "runtime/hybrid_thread.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace hone::hybrid_thread_test {
namespace {

TEST(ConcurrentHybridThread, DoesOnePieceOfWorkAfterTheOtherOnOneThread) {
    HybridThread thread;
    int done = 0;
    std::thread::id first;
    for (int i = 0; i < 1000; ++i) {
        thread.begin([&] {
            ++done;
            if (first == std::thread::id()) first = std::this_thread::get_id();
            EXPECT_EQ(std::this_thread::get_id(), first);
        });
        thread.end();
        ASSERT_EQ(done, i + 1);
    }
    EXPECT_NE(first, std::this_thread::get_id());
}

TEST(ConcurrentHybridThread, HandsOverWhatTheWorkThrewAndGoesOn) {
    HybridThread thread;
    thread.begin([] { throw std::runtime_error("lost"); });
    EXPECT_THROW(thread.end(), std::runtime_error);
    bool done = false;
    thread.begin([&] { done = true; });
    EXPECT_NO_THROW(thread.end());
    EXPECT_TRUE(done);
}

TEST(ConcurrentHybridThread, EndsWhileItHasNothingToDo) {
    for (int i = 0; i < 100; ++i) const HybridThread thread;
}

}  // namespace
}  // namespace hone::hybrid_thread_test
