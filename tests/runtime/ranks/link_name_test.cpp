#include "runtime/ranks/link_name.hpp"

#include <gtest/gtest.h>

#include <mutex>
#include <set>

#include "runtime/cpu/cpu_backend.hpp"
#include "runtime/ranks/thread_ranks.hpp"
#include "tests/runtime/ranks/late_device.hpp"
#include "tests/support/environment.hpp"
#include "tests/support/places.hpp"

namespace hone::link_name_test {
namespace {

using Peers = test::LateDevice::Peers;

// What ranks in threads say of their links, on devices that look like GPUs from outside, or on
// processors.
class ConcurrentLinkName : public ::testing::Test {
  protected:
    struct Answer {
        std::set<std::string> names;  // of all ranks: one
        std::vector<MessageWay> ways;
    };
    Answer of(int ranks, const std::function<Peers(int)>& peers_of, bool on_processors = false) {
        Answer answer;
        std::mutex mutex;
        run_thread_ranks(ranks, [&](Communicator& communicator) {
            test::LateDevice late(*backend_, static_cast<unsigned>(communicator.rank()), peers_of(communicator.rank()));
            Backend& device = on_processors ? *backend_ : late;
            const std::string name = link_name(communicator, device);
            const std::vector<MessageWay> ways = message_ways(communicator, device);
            const std::lock_guard lock(mutex);
            answer.names.insert(name);
            answer.ways = ways;
        });
        return answer;
    }

    test::EnvironmentVariable nowhere_{"HONE_CUDA_LIBRARIES", "/nowhere"};
    DiskCache cache_{test::kernel_cache_folder()};
    std::unique_ptr<Backend> backend_ = make_cpu_backend(0, cache_);
};

TEST_F(ConcurrentLinkName, IsWhatMessagesGoOver) {
    const auto present = [](int) { return Peers::present; };
    for (const int ranks : {2, 3}) {
        const Answer processors = of(ranks, present, true);
        EXPECT_EQ(processors.names, std::set<std::string>{"host memory, between threads"});
        EXPECT_TRUE(processors.ways.empty());
        const Answer peers = of(ranks, present);
        EXPECT_EQ(peers.names, std::set<std::string>{"peers, between threads"}) << "no driver says what leads from one to the other";
        EXPECT_EQ(peers.ways, (std::vector{MessageWay::events, MessageWay::host})) << "streams of threads need no flags";
        const Answer none = of(ranks, [](int) { return Peers::absent; });
        EXPECT_EQ(none.names, std::set<std::string>{"host memory, between threads"});
        EXPECT_EQ(none.ways, std::vector{MessageWay::host});
    }
    // Between the second and the third are peers; the first has none.
    const Answer both = of(3, [](int rank) { return rank == 0 ? Peers::deaf : Peers::present; });
    EXPECT_EQ(both.names, std::set<std::string>{"host memory + peers, between threads"});
    EXPECT_EQ(both.ways, std::vector{MessageWay::host});
}

}  // namespace
}  // namespace hone::link_name_test
