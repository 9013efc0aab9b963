#include "runtime/ranks/thread_ranks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <omp.h>

#include <array>
#include <atomic>
#include <chrono>
#include <random>
#include <thread>

#include "foundation/error.hpp"
#include "tests/runtime/ranks/rank_checks.hpp"
#include "tests/support/environment.hpp"

namespace hone::thread_ranks_test {
namespace {

using ::testing::HasSubstr;

std::string reason(int size, const std::function<void(Communicator&)>& work) {
    try {
        run_thread_ranks(size, work);
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

TEST(ConcurrentThreadRanks, MessagesAndCollectivesAreTheirs) {
    const unsigned seed = std::random_device{}();
    SCOPED_TRACE(seed);
    for (const int size : {1, 2, 3, 8}) {
        std::atomic<int> ranks = 0;
        run_thread_ranks(size, [&](Communicator& communicator) {
            EXPECT_EQ(communicator.size(), size);
            EXPECT_EQ(communicator.local_rank(), communicator.rank());
            ranks |= 1 << communicator.rank();
            test::check_messages(communicator, seed);
            test::check_collectives(communicator, seed);
        });
        EXPECT_EQ(ranks, (1 << size) - 1);
    }
    test::check_messages(*self_communicator(), seed);
    test::check_collectives(*self_communicator(), seed);
}

// What ranks say while one of them keeps the others waiting.
std::string told_while(int size, const std::function<void(Communicator&)>& work) {
    const test::EnvironmentVariable patience{"HONE_PATIENCE", "1"};
    ::testing::internal::CaptureStderr();
    run_thread_ranks(size, work);
    return ::testing::internal::GetCapturedStderr();
}

TEST(SlowThreadRanks, ALongWaitIsToldOfByTheFirstThatWaits) {
    constexpr auto late = std::chrono::milliseconds(1600);
    EXPECT_EQ(told_while(3,
                         [&](Communicator& ranks) {
                             if (ranks.rank() == 2) std::this_thread::sleep_for(late);
                             ranks.barrier();
                         }),
              "hone: rank 0 of 3 has waited 1 s for rank 2. Rank 1 waits, too. Rank 2 does not wait: it computes, or it is stopped.\n");
    EXPECT_EQ(told_while(3,
                         [&](Communicator& ranks) {
                             if (ranks.rank() == 0) std::this_thread::sleep_for(late);
                             all_reduce(ranks, Reduction::sum, 1);
                         }),
              "hone: rank 1 of 3 has waited 1 s for rank 0. Rank 2 waits, too. Rank 0 does not wait: it computes, or it is stopped.\n");
    // Rank 0 waits for rank 1, which waits for rank 2.
    EXPECT_EQ(told_while(3,
                         [&](Communicator& ranks) {
                             std::array<std::byte, 8> own{}, other{};
                             if (ranks.rank() == 2) std::this_thread::sleep_for(late);
                             if (ranks.rank() < 2) {
                                 ranks.begin_exchange({}, std::array{Receive{ranks.rank() + 1, 0, other}});
                                 ranks.end_exchange();
                             }
                             if (ranks.rank() > 0) {
                                 ranks.begin_exchange(std::array{Send{ranks.rank() - 1, 0, own}}, {});
                                 ranks.end_exchange();
                             }
                         }),
              "hone: rank 0 of 3 has waited 1 s for rank 1. Rank 1 waits, too. Rank 2 does not wait: it computes, or it is stopped.\n");
}

// Whatever the others are waiting for.
TEST(ConcurrentThreadRanks, AFailureOfOneRankEndsAll) {
    const std::array<std::function<void(Communicator&)>, 4> waits{[](Communicator& ranks) { ranks.barrier(); },
                                                                  [](Communicator& ranks) { all_reduce(ranks, Reduction::sum, 1); },
                                                                  [](Communicator& ranks) {
                                                                      std::array<std::byte, 8> bytes{};
                                                                      ranks.broadcast(bytes, 2);
                                                                  },
                                                                  [](Communicator& ranks) {
                                                                      std::array<std::byte, 8> bytes{};
                                                                      ranks.begin_exchange({}, std::array{Receive{2, 0, bytes}});
                                                                      ranks.end_exchange();
                                                                  }};
    for (const auto& wait : waits)
        for (const bool late : {false, true}) {
            std::atomic<int> ended = 0;
            const std::string text = reason(4, [&](Communicator& ranks) {
                if (ranks.rank() == 2) {
                    if (late) std::this_thread::sleep_for(std::chrono::milliseconds(20));
                    throw Error("the disk", "it is full", "make room");
                }
                try {
                    wait(ranks);
                } catch (const Error& error) {
                    EXPECT_THAT(error.what(), HasSubstr("rank 2 of 4"));
                    ++ended;
                    throw;
                }
            });
            EXPECT_EQ(text, "rank 2 of 4: the disk: it is full; make room");
            EXPECT_EQ(ended, 3);
        }
}

TEST(ConcurrentThreadRanks, WhatDoesNotFitIsRefused) {
    std::array<std::byte, 8> bytes{};
    EXPECT_THAT(reason(2,
                       [&](Communicator& ranks) {
                           std::array<std::byte, 8> own{};
                           const int other = 1 - ranks.rank();
                           const std::span<std::byte> some = std::span<std::byte>(own).first(ranks.rank() == 0 ? 8 : 4);
                           ranks.begin_exchange(std::array{Send{other, 3, own}}, std::array{Receive{other, 3, some}});
                           ranks.end_exchange();
                       }),
                HasSubstr("rank 0 sends 8 bytes with tag 3, rank 1 expects 4"));
    EXPECT_THAT(reason(2, [&](Communicator& ranks) { ranks.begin_exchange(std::array{Send{2, 0, bytes}}, {}); }), HasSubstr("there is no rank 2"));
    EXPECT_THAT(reason(1, [&](Communicator& ranks) { ranks.begin_exchange(std::array{Send{0, 40000, bytes}}, {}); }), HasSubstr("tag 40000"));
    EXPECT_THAT(reason(1,
                       [](Communicator& ranks) {
                           ranks.begin_exchange({}, {});
                           ranks.begin_exchange({}, {});
                       }),
                HasSubstr("another one has not ended"));
    EXPECT_THAT(reason(1, [](Communicator& ranks) { ranks.end_exchange(); }), HasSubstr("none was begun"));
    EXPECT_THAT(reason(3, [](Communicator& ranks) { ranks.all_gather({}, std::vector<int>{0, 0}, {}); }), HasSubstr("one for each of 3 ranks"));
    EXPECT_THAT(reason(2,
                       [](Communicator& ranks) {
                           const std::array<double, 2> own{};
                           std::array<double, 4> all{};
                           ranks.all_gather(std::span(own).first(1), equal_counts(ranks, 2), all);
                       }),
                HasSubstr("the counts ask for 2 and 4"));
    EXPECT_THAT(
        reason(2, [](Communicator& ranks) { expect_same_on_all_ranks(ranks, "command line", ranks.rank() == 0 ? "--size 64" : "--size 32"); }),
        HasSubstr("rank 1: its command line is \"--size 32\", rank 0's is \"--size 64\""));
    EXPECT_THROW(run_thread_ranks(0, [](Communicator&) {}), Error);
    EXPECT_THROW(run_thread_ranks(100000, [](Communicator&) {}), Error);
}

TEST(ConcurrentThreadRanks, ShareOpenMpsThreads) {
    const int usual = omp_get_max_threads();
    omp_set_num_threads(6);
    for (const auto& [ranks, threads] : {std::pair{2, 3}, {4, 1}, {8, 1}})
        run_thread_ranks(ranks, [expected = threads](Communicator&) { EXPECT_EQ(omp_get_max_threads(), expected); });
    omp_set_num_threads(usual);
}

}  // namespace
}  // namespace hone::thread_ranks_test
