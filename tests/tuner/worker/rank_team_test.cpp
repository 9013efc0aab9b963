#include "tuner/worker/rank_team.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <csignal>
#include <random>
#include <set>
#include <thread>

#include "foundation/error.hpp"
#include "foundation/processors.hpp"
#include "tests/support/axpy_family.hpp"
#include "tests/support/environment.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tuner/worker/child_process.hpp"

namespace hone::rank_team_test {
namespace {

using testing::HasSubstr;

Device cpu_device() {
    std::string missing;
    return backends().back().devices(missing).front();
}

// Ranks in threads of this process, with processors that only they have, as far as they say.
class RankTeamTest : public testing::Test {
  protected:
    std::jthread rank(int number, const std::vector<std::string>& command = {"/proc/self/exe", "worker"}) {
        return std::jthread([this, number, command](const std::stop_token& stop) {
            try {
                serve_rank(files, {number, 2, 0, "job"}, device, cache, command, [&] { return stop.stop_requested(); });
            } catch (const Error& error) {
                ended = error.what();
            }
        });
    }

    test::TemporaryFolder folder;
    std::filesystem::path files = folder.path() / "ranks";
    std::filesystem::path cache = folder.path();
    Device device = cpu_device();
    std::string ended;
    std::vector<std::string> complaints;
    std::function<void(const std::string&)> complain = [this](const std::string& text) { complaints.push_back(text); };
};

using SlowRankTeam = RankTeamTest;
using ConcurrentRankTeam = RankTeamTest;

// A coordinator, its pulse and its rank, each in a thread of its own; requests go between the
// beats.
TEST_F(ConcurrentRankTeam, AsksForWorkersBesideItsPulse) {
    device.limits.target = Target::cuda;
    device.index = 1;
    auto other = rank(1, {"/bin/sh", "-c", "cat"});
    Device own = device;
    own.index = 0;
    std::set<std::string> workers;
    constexpr int requests = 40;
    {
        RankTeam team(files, {0, 2, 0, "job"}, own, cache, "/proc/self/exe", 20, complain);
        const std::vector<WorkerPlace> places = team.places();
        ASSERT_EQ(places.size(), 1U) << complaints.front();
        for (int n = 0; n < requests; ++n) {
            workers.insert(places.front().command().back());
            std::this_thread::sleep_for(std::chrono::milliseconds(25));
        }
    }
    other.join();
    EXPECT_EQ(workers.size(), std::size_t{requests}) << "each worker has files of its own";
    EXPECT_EQ(ended, "");
}

TEST_F(SlowRankTeam, ARankThatUsesTheSameProcessorsTakesNoPart) {
    const auto other = rank(1);
    RankTeam team(files, {0, 2, 0, "job"}, device, cache, "/proc/self/exe", 20, complain);
    EXPECT_TRUE(team.places().empty());
    ASSERT_EQ(complaints.size(), 1U);
    EXPECT_THAT(complaints.front(), HasSubstr("have the launcher bind ranks"));
}

TEST_F(SlowRankTeam, ARankThatDoesNotComeIsTold) {
    RankTeam team(files, {0, 2, 0, "job"}, device, cache, "/proc/self/exe", 0.1, complain);
    ASSERT_EQ(complaints.size(), 1U);
    EXPECT_THAT(complaints.front(), HasSubstr("rank 1 takes no part"));
}

TEST_F(SlowRankTeam, AnotherKindOfDeviceTakesNoPart) {
    const auto other = rank(1);
    Device gpu = device;
    gpu.fingerprint.name = "something else";
    RankTeam team(files, {0, 2, 0, "job"}, gpu, cache, "/proc/self/exe", 20, complain);
    ASSERT_EQ(complaints.size(), 1U);
    EXPECT_THAT(complaints.front(), HasSubstr("this run's is something else"));
}

// A GPU that is nowhere: index 0 here, another there, so that both take part; its "worker" answers
// what it is told.
TEST_F(SlowRankTeam, LinesReachAWorkerAndComeBackUntilItEnds) {
    device.limits.target = Target::cuda;
    device.index = 1;
    const auto other =
        rank(1, {"/bin/sh", "-c", R"(while read -r line; do [ "$line" = end ] && { echo "as told" >&2; exit 3; }; echo "heard $line"; done)"});
    device.index = 1;
    Device own = device;
    own.index = 0;
    RankTeam team(files, {0, 2, 0, "job"}, own, cache, "/proc/self/exe", 20, complain);
    ASSERT_EQ(team.places().size(), 1U) << complaints.front();
    EXPECT_EQ(team.compilers().size(), static_cast<std::size_t>(processors().usable)) << "they share the cache";
    const std::vector<WorkerPlace> places = team.places();
    EXPECT_THAT(places.front().name, HasSubstr("cuda:1"));
    ChildProcess worker(places.front().command());
    const auto answer = [&] {
        ChildProcess* const child = &worker;
        for (int i = 0; i < 300; ++i) {
            if (auto line = worker.take_line()) return *line;
            if (worker.closed()) break;
            ChildProcess::wait({&child, 1}, 0.1);
        }
        return std::string("nothing");
    };
    worker.send("one");
    worker.send("two");
    EXPECT_EQ(answer(), "heard one");
    EXPECT_EQ(answer(), "heard two");
    worker.send("end");
    EXPECT_EQ(answer(), "nothing");
    EXPECT_THAT(worker.end(), testing::AllOf(HasSubstr("exit code"), HasSubstr("as told")));
    ChildProcess again(places.front().command());
    again.send("three");
    ChildProcess* const child = &again;
    std::optional<std::string> heard;
    for (int i = 0; i < 300 && !heard; ++i) {
        ChildProcess::wait({&child, 1}, 0.1);
        heard = again.take_line();
    }
    EXPECT_EQ(heard.value_or("nothing"), "heard three") << "a new worker of the same rank";
}

}  // namespace
}  // namespace hone::rank_team_test
