// Of several processes: mpi_ranks_test.cpp, which starts them.
#include "runtime/ranks/threads_of_processes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "runtime/ranks/device_of_rank.hpp"
#include "runtime/ranks/thread_ranks.hpp"
#include "tests/support/rank_error.hpp"

namespace hone::threads_of_processes_test {
namespace {

TEST(ThreadsOfProcesses, OfOneProcessAreItsRanks) {
    std::atomic<int> ranks = 0;
    run_threads_of_processes(*self_communicator(), 3, [&](Communicator& communicator) {
        EXPECT_EQ(communicator.size(), 3);
        EXPECT_EQ(communicator.transport(), "threads of one process");
        EXPECT_EQ(communicator.processes(), nullptr);
        ranks += 1 << communicator.rank();
    });
    EXPECT_EQ(ranks, 7);
}

TEST(ThreadsOfProcesses, RanksThatAreThreadsHaveNone) {
    EXPECT_THAT(test::error_of_ranks(2, [](Communicator& threads) { run_threads_of_processes(threads, 2, [](Communicator&) {}); }),
                ::testing::HasSubstr("they have no ranks of their own"));
}

TEST(ThreadsOfProcesses, AProcessAloneHasAllDevices) {
    EXPECT_EQ(devices_of_process("a,b,c", *self_communicator()), 3);
    EXPECT_EQ(devices_of_process("cpu", *self_communicator()), 1);
    EXPECT_EQ(devices_of_process("", *self_communicator()), 1);
    // Ranks of a host take the next ones each: of two the first has two of five, the second three.
    std::atomic<int> taken = 0;
    run_thread_ranks(2, [&](Communicator& ranks) { taken += devices_of_process("a,b,c,d,e", ranks) * (ranks.rank() == 0 ? 1 : 10); });
    EXPECT_EQ(taken, 32);
}

}  // namespace
}  // namespace hone::threads_of_processes_test
