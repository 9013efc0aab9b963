// Ranks in processes. Each test starts this very program under mpirun, with a filter that leaves
// that test alone; there it is a rank.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <random>
#include <thread>

#include "foundation/error.hpp"
#include "foundation/process.hpp"
#include "runtime/ranks/device_mail.hpp"
#include "runtime/ranks/device_of_rank.hpp"
#include "runtime/ranks/gather_exchange.hpp"
#include "runtime/ranks/mpi_communicator.hpp"
#include "runtime/ranks/rank_place.hpp"
#include "runtime/ranks/run_ranks.hpp"
#include "runtime/ranks/threads_of_processes.hpp"
#include "tests/runtime/cuda/fake_machine.hpp"
#include "tests/runtime/ranks/rank_checks.hpp"
#include "tests/support/environment.hpp"

namespace hone::mpi_ranks_test {
namespace {

using ::testing::HasSubstr;

// Ends what a rank does; googletest's own closing words would come from all of them.
[[noreturn]] void be_a_rank(const std::function<int(Communicator&)>& work) {
    std::fflush(nullptr);
    std::_Exit(run_ranks("ranks", work));
}

bool is_rank() {
    return rank_place().ranks > 0;
}

class MpiRanks : public ::testing::Test {
  protected:
    void SetUp() override {
        if (is_rank()) return;
        if (mpi_version().empty()) GTEST_SKIP() << "hone was built without MPI (Debian, Ubuntu: libopenmpi-dev)";
        if (mpirun_.empty()) GTEST_SKIP() << "there is no mpirun (Debian, Ubuntu: openmpi-bin)";
    }

    // This test on so many ranks.
    ProcessResult on_ranks(int ranks, const std::vector<std::pair<std::string, std::string>>& more = {}) const {
        // Leaks: what MPI keeps at its end is not ours.
        std::vector<std::pair<std::string, std::string>> environment{{"OMPI_ALLOW_RUN_AS_ROOT", "1"},    {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"},
                                                                     {"ASAN_OPTIONS", "detect_leaks=0"}, {"HONE_TEST_SEED", fmt::format("{}", seed_)},
                                                                     {"GTEST_TOTAL_SHARDS", "1"},        {"GTEST_SHARD_INDEX", "0"}};
        environment.insert(environment.end(), more.begin(), more.end());
        const auto* const test = ::testing::UnitTest::GetInstance()->current_test_info();
        return run_process({mpirun_, "--oversubscribe", "-n", fmt::format("{}", ranks), std::filesystem::read_symlink("/proc/self/exe").string(),
                            fmt::format("--gtest_filter={}.{}", test->test_suite_name(), test->name())},
                           60, environment);
    }

    static unsigned given_seed() { return static_cast<unsigned>(std::stoul(std::getenv("HONE_TEST_SEED"))); }

    std::string mpirun_ = find_program("mpirun");
    unsigned seed_ = std::random_device{}();
};

TEST_F(MpiRanks, MessagesAndCollectivesAreTheirs) {
    if (is_rank())
        be_a_rank([](Communicator& communicator) {
            test::check_messages(communicator, given_seed());
            test::check_collectives(communicator, given_seed());
            if (communicator.rank() == 0) fmt::print("{} ranks by {} are well\n", communicator.size(), communicator.transport());
            return 0;
        });
    const ProcessResult result = on_ranks(3);
    EXPECT_TRUE(result.ok()) << result.failure() << ", seed " << seed_ << '\n' << result.output;
    EXPECT_THAT(result.output, HasSubstr("3 ranks by MPI ("));
}

TEST_F(MpiRanks, AFailureOfOneRankEndsAllWithItsReason) {
    if (is_rank())
        be_a_rank([](Communicator& communicator) {
            communicator.barrier();
            if (communicator.rank() == 1) throw Error("the disk", "it is full", "make room");
            communicator.barrier();
            return 0;
        });
    const ProcessResult result = on_ranks(3);
    EXPECT_FALSE(result.timed_out);
    EXPECT_EQ(result.exit_code, 2) << result.output;
    EXPECT_THAT(result.output, HasSubstr("ranks: rank 1 of 3: the disk: it is full; make room"));
}

// A rank that is stopped for two seconds, and goes on.
void stop_for_a_while() {
    const pid_t own = getpid();
    if (fork() == 0) {
        sleep(2);
        kill(own, SIGCONT);
        _exit(0);
    }
    std::raise(SIGSTOP);
}

TEST_F(MpiRanks, AStoppedRankIsNamedByTheFirstThatWaits) {
    if (is_rank())
        be_a_rank([](Communicator& communicator) {
            std::array<std::byte, 8> own{}, other{};
            const int next = (communicator.rank() + 1) % 3, last = (communicator.rank() + 2) % 3;
            // All wait in a collective call for one of them, then in messages.
            for (const int stopped : {2, 0}) {
                communicator.barrier();
                if (communicator.rank() == stopped) stop_for_a_while();
                communicator.barrier();
            }
            if (communicator.rank() == 2) stop_for_a_while();
            for (int round = 0; round < 2; ++round) {
                communicator.begin_exchange(std::vector{Send{next, 0, own}}, std::vector{Receive{last, 0, other}});
                communicator.end_exchange();
            }
            return 0;
        });
    const ProcessResult result = on_ranks(3, {{"HONE_PATIENCE", "1"}});
    EXPECT_FALSE(result.timed_out);
    EXPECT_EQ(result.exit_code, 0) << result.output;
    EXPECT_THAT(result.output, HasSubstr("rank 0 of 3 has waited 1 s for rank 2. Rank 1 waits, too. Rank 2 does not wait"));
    EXPECT_THAT(result.output, HasSubstr("rank 1 of 3 has waited 1 s for rank 0. Rank 2 waits, too. Rank 0 does not wait"));
}

TEST_F(MpiRanks, AKilledRankEndsAllWithItsName) {
    if (is_rank())
        be_a_rank([](Communicator& communicator) -> int {
            std::vector<std::byte> own(1 << 20), others(1 << 20);
            const int next = (communicator.rank() + 1) % 3, last = (communicator.rank() + 2) % 3;
            for (int round = 0;; ++round) {
                communicator.begin_exchange(std::vector{Send{next, 0, own}}, std::vector{Receive{last, 0, others}});
                if (round == 1 && communicator.rank() == 2) std::raise(SIGKILL);
                communicator.end_exchange();
            }
        });
    const ProcessResult result = on_ranks(3);
    EXPECT_FALSE(result.timed_out) << "the others wait for a rank that is no more";
    EXPECT_NE(result.exit_code, 0);
    EXPECT_THAT(result.output, HasSubstr("rank 2"));
    EXPECT_THAT(result.output, HasSubstr("Killed"));
}

// Each rank sends three words to the next one, and nothing back: whoever is slow must find its
// message whole all the same.
void expect_messages_of_one_way(Communicator& communicator, Backend& device) {
    constexpr int rounds = 12;
    constexpr std::int64_t words = 3, bytes = words * static_cast<std::int64_t>(sizeof(std::uint64_t));
    const int size = communicator.size(), next = (communicator.rank() + 1) % size, last = (communicator.rank() + size - 1) % size;
    const DeviceArray out(device, bytes), in(device, bytes);
    DeviceMail mail(communicator, device, {{next, 0, 1}, {last, 1, 0}});
    for (int round = 0; round < rounds; ++round) {
        const auto word = [&](int of) { return static_cast<std::uint64_t>(1000 * of + round); };
        const std::array<std::uint64_t, words> own{word(communicator.rank()), 7, word(communicator.rank())};
        device.copy(out.data(), own.data(), bytes);
        // Once in between, longer ones both ways.
        const std::int64_t back = round == 7 ? bytes : 0;
        mail.prepare({{{bytes, back}}, {{back, bytes}}});
        mail.send(std::array{DeviceMail::Words{0, 0, out.data()}, DeviceMail::Words{1, 0, out.data()}});
        if ((round + communicator.rank()) % 4 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(5));
        const DeviceArray returned(device, bytes);
        mail.receive(std::array{DeviceMail::Words{0, 0, returned.data()}, DeviceMail::Words{1, 0, in.data()}});
        std::array<std::uint64_t, words> found{};
        device.copy(found.data(), in.data(), bytes);
        device.synchronise();
        if (found != std::array<std::uint64_t, words>{word(last), 7, word(last)})
            throw Error(fmt::format("a message of round {} to rank {}", round, communicator.rank()),
                        fmt::format("{} in place of {}", found[0], word(last)), "mend it");
    }
}

// Processes that share one GPU by CUDA IPC, or have one each, as far as a driver can be had without
// one: the memory of each is really mapped by the others.
TEST_F(MpiRanks, DevicesStoreIntoTheMemoryOfOtherProcesses) {
    if (is_rank())
        be_a_rank([](Communicator& communicator) {
            constexpr int rounds = 4;
            const int size = communicator.size();
            const auto word = [&](int of, int round, int n) { return static_cast<std::uint64_t>(1000 * of + 10 * round + n); };
            const bool shares = std::getenv("HONE_TEST_SHARES") != nullptr;
            test::FakeMachine machine;
            machine.state().shares_memory = shares;
            const char* const given = std::getenv("HONE_TEST_GPUS");
            const int gpus = given == nullptr ? 1 : *given - '0';
            const bool mps = std::getenv("HONE_TEST_MPS") != nullptr;
            machine.state().devices = gpus;
            machine.state().mps = mps;
            const auto device = machine.backend(communicator.rank() % gpus);
            {
                // Everybody's two words, in the order of ranks, of which each rank has its own;
                // more fields from round to round.
                DeviceArray field(*device, 2 * size * static_cast<std::int64_t>(sizeof(std::uint64_t)));
                std::vector<GatherLink> links;
                std::vector<DeviceMail::Channel> channels;
                for (int other = 0; other < size; ++other) {
                    if (other == communicator.rank()) continue;
                    links.push_back({other, {2 * communicator.rank() + 1, 2 * communicator.rank()}, {2 * other + 1, 2 * other}});
                    channels.push_back({other, 0, 0});
                }
                GatherExchange exchange(communicator, *device, links, 8);
                for (int round = 0; round < rounds; ++round) {
                    std::vector<std::uint64_t> words(2 * static_cast<std::size_t>(size));
                    for (int n = 0; n < 2; ++n) words[static_cast<std::size_t>(2 * communicator.rank() + n)] = word(communicator.rank(), round, n);
                    device->copy(field.data(), words.data(), field.bytes());
                    exchange.begin(std::vector<void*>(round == 2 ? 200 : 1, field.data()));
                    exchange.end();
                    device->copy(words.data(), field.data(), field.bytes());
                    device->synchronise();
                    for (int rank = 0; rank < size; ++rank)
                        for (int n = 0; n < 2; ++n)
                            if (words[static_cast<std::size_t>(2 * rank + n)] != word(rank, round, n))
                                throw Error("words of another process", "they are others than it sent", "mend it");
                }
                DeviceMail mail(communicator, *device, channels);
                mail.agree();
                mail.prepare(std::vector(channels.size(), std::vector<DeviceMail::Sizes>{{8, 8}}));
                communicator.barrier();
                const bool apart = gpus == size, by_events = message_way(communicator) == MessageWay::events;
                if (mail.has_flags(0) != (shares && apart && !by_events)) throw Error("flags", "who shares a GPU awaits them, or nobody", "mend it");
                // Processes that share a GPU would take turns.
                const bool by_peers = shares && (apart || mps || message_way(communicator) != MessageWay::best);
                if (mail.way(0) != (by_peers ? "peer" : "host")) throw Error("the way", mail.way(0) + ": " + mail.why_not_peer(0), "mend it");
                expect_messages_of_one_way(communicator, *device);
            }
            if (machine.state().opened_memory.empty()) return 0;
            throw Error("memory of other processes", "it is open after its last use", "close it");
        });
    const test::EnvironmentVariable none("HONE_TEST_SHARES", {});
    EXPECT_TRUE(on_ranks(3).ok());
    const test::EnvironmentVariable shares("HONE_TEST_SHARES", "1");
    for (const char* const gpus : {"1", "2"}) {
        const test::EnvironmentVariable devices("HONE_TEST_GPUS", gpus), mps("HONE_TEST_MPS", "1");
        const ProcessResult result = on_ranks(3);
        EXPECT_TRUE(result.ok()) << gpus << " GPUs and the multi-process service: " << result.failure() << '\n' << result.output;
    }
    for (const char* const gpus : {"1", "2", "3"})
        for (const char* const way : {"best", "copies", "stores", "spin", "events"}) {
            const test::EnvironmentVariable messages("HONE_MESSAGES", way), devices("HONE_TEST_GPUS", gpus);
            const ProcessResult result = on_ranks(3);
            EXPECT_TRUE(result.ok()) << gpus << " GPUs, " << way << ": " << result.failure() << '\n' << result.output;
        }
}

// A device that waits for the flag of a rank that is gone waits for ever: its process has to be
// ended all the same, with the name of who is gone.
TEST_F(MpiRanks, ARankKilledWhileDevicesAwaitItsFlagEndsAll) {
    if (is_rank())
        be_a_rank([](Communicator& communicator) -> int {
            test::FakeMachine machine;
            machine.state().shares_memory = true;
            machine.state().devices = communicator.size();
            const auto device = machine.backend(communicator.rank());
            DeviceArray field(*device, 2 * sizeof(std::uint64_t));
            const int other = 1 - communicator.rank();
            GatherExchange exchange(communicator, *device, {{other, {communicator.rank()}, {other}}}, 8);
            for (int round = 0;; ++round) {
                if (round == 5 && communicator.rank() == 1) std::raise(SIGKILL);
                exchange.begin(std::vector<void*>{field.data()});
                exchange.end();
                if (round == 4) fmt::print(stderr, "rank {} is there\n", communicator.rank());
            }
        });
    for (const char* const way : {"copies", "spin"}) {
        const test::EnvironmentVariable messages("HONE_MESSAGES", way);
        const ProcessResult result = on_ranks(2);
        EXPECT_FALSE(result.timed_out) << "rank 0 waits for a flag that nobody raises";
        EXPECT_NE(result.exit_code, 0);
        for (const char* const part : {"rank 0 is there", "rank 1 is there", "rank 1", "Killed"}) EXPECT_THAT(result.output, HasSubstr(part));
    }
}

// Threads of a process with so many of them in each: a process has one more than the one before.
int threads_of(const Communicator& processes) {
    return 1 + processes.rank();
}

// Three processes with one, two and three threads: six ranks.
TEST_F(MpiRanks, ThreadsOfProcessesAreRanks) {
    if (is_rank())
        be_a_rank([](Communicator& processes) {
            run_threads_of_processes(processes, threads_of(processes), [&](Communicator& ranks) {
                test::check_messages(ranks, given_seed());
                test::check_collectives(ranks, given_seed());
                if (ranks.size() != 6 || ranks.local_size() != 6 || ranks.local_rank() != ranks.rank() || ranks.processes() != nullptr)
                    throw Error("place",
                                fmt::format("{} of {}, on this host {} of {}", ranks.rank(), ranks.size(), ranks.local_rank(), ranks.local_size()),
                                "mend it");
                // A message of another length than expected.
                std::vector<std::byte> own(8), other(static_cast<std::size_t>(ranks.rank() == 4 || ranks.rank() == 3 ? 16 : 8));
                ranks.begin_exchange(std::vector{Send{(ranks.rank() + 1) % 6, 3, own}}, std::vector{Receive{(ranks.rank() + 5) % 6, 3, other}});
                std::string found;
                try {
                    ranks.end_exchange();
                } catch (const Error& error) {
                    found = error.what();
                }
                const std::string expected = ranks.rank() == 3 ? "rank 2 sends 8 bytes with tag 3, rank 3 expects 16"
                                             : ranks.rank() == 4
                                                 ? "threads of process 2: exchange of messages: rank 0 sends 8 bytes with tag 3, rank 1 expects 16"
                                                 : "";
                if (found.find(expected) == std::string::npos || found.empty() != expected.empty()) throw Error("length", found, "mend it");
                if (ranks.rank() == 5) fmt::print("{} ranks by {} are well\n", ranks.size(), ranks.transport());
                ranks.barrier();
            });
            return 0;
        });
    const ProcessResult result = on_ranks(3);
    EXPECT_TRUE(result.ok()) << result.failure() << ", seed " << seed_ << '\n' << result.output;
    EXPECT_THAT(result.output, HasSubstr("6 ranks by MPI ("));
    EXPECT_THAT(result.output, HasSubstr(") and threads are well"));
}

TEST_F(MpiRanks, AFailureOfOneThreadEndsAllWithItsReason) {
    if (is_rank())
        be_a_rank([](Communicator& processes) {
            run_threads_of_processes(processes, threads_of(processes), [&](Communicator& ranks) {
                ranks.barrier();
                if (ranks.rank() == 4) throw Error("the disk", "it is full", "make room");
                std::vector<std::byte> bytes(8);
                // From a thread of another process, of this one, and from all.
                if (ranks.rank() == 0 || ranks.rank() == 3) {
                    ranks.begin_exchange({}, std::vector{Receive{4, 0, bytes}});
                    ranks.end_exchange();
                }
                ranks.barrier();
            });
            return 0;
        });
    const ProcessResult result = on_ranks(3);
    EXPECT_FALSE(result.timed_out);
    EXPECT_EQ(result.exit_code, 2) << result.output;
    EXPECT_THAT(result.output, HasSubstr("ranks: rank 4 of 6: the disk: it is full; make room"));
}

// Two processes, each with two GPUs of its own: stores go to the other thread and to the other
// process.
TEST_F(MpiRanks, DevicesOfThreadsStoreIntoTheMemoryOfAll) {
    if (is_rank())
        be_a_rank([](Communicator& processes) {
            test::FakeMachine machine;
            machine.state().shares_memory = true;
            machine.state().devices = 4;
            run_threads_of_processes(processes, 2, [&](Communicator& ranks) {
                const auto device = machine.backend(ranks.local_rank());
                {
                    DeviceMail mail(ranks, *device, {{(ranks.rank() + 1) % 4, 0, 1}, {(ranks.rank() + 3) % 4, 1, 0}});
                    mail.prepare({{{8, 8}}, {{8, 8}}});
                    for (std::size_t n = 0; n < 2; ++n) {
                        // The next one of ranks 0 and 2, and the last of 1 and 3, is a thread of
                        // this process.
                        const bool here = (ranks.rank() % 2 == 0) == (n == 0);
                        if (mail.way(n) != "peer" || mail.has_flags(n) == here) throw Error("the way", mail.why_not_peer(n), "mend it");
                    }
                    // What was prepared is sent, too: both take turns in the same two slots.
                    mail.send();
                    mail.receive();
                    ranks.barrier();
                    expect_messages_of_one_way(ranks, *device);
                }
                ranks.barrier();
            });
            if (machine.state().opened_memory.empty()) return 0;
            throw Error("memory of other processes", "it is open after its last use", "close it");
        });
    const ProcessResult result = on_ranks(2);
    EXPECT_TRUE(result.ok()) << result.failure() << '\n' << result.output;
}

// A list that is longer than there are processes is shared by them, the next ones to each.
TEST_F(MpiRanks, ProcessesOfAHostShareAListOfDevices) {
    if (is_rank())
        be_a_rank([](Communicator& processes) {
            std::string taken;
            const auto take = [&](const std::string& names) {
                run_threads_of_processes(processes, devices_of_process(names, processes), [&](Communicator& ranks) {
                    std::vector<std::byte> own(8);
                    const std::string name = device_of_rank(names, ranks) + " ";
                    std::transform(name.begin(), name.end(), own.begin(), [](char letter) { return static_cast<std::byte>(letter); });
                    const std::vector<std::byte> all = gather_on_first(ranks, std::span<const std::byte>(own).first(name.size()));
                    for (const std::byte letter : all) taken += static_cast<char>(letter);
                    if (ranks.rank() == 0) taken += "| ";
                });
            };
            for (const char* const names : {"a,b,c,d,e", "a,b,c", "a,b", "cpu"}) take(names);
            if (processes.rank() == 0) fmt::print("{}\n", taken);
            return 0;
        });
    const ProcessResult result = on_ranks(3);
    EXPECT_TRUE(result.ok()) << result.failure() << '\n' << result.output;
    EXPECT_THAT(result.output, HasSubstr("a b c d e | a b c | a b a | cpu cpu cpu | "));
}

TEST(RunRanks, WithoutALauncherThereIsOneRank) {
    if (is_rank()) GTEST_SKIP() << "a launcher started this";
    EXPECT_EQ(
        run_ranks("alone", [](Communicator& communicator) { return communicator.size() == 1 && communicator.transport() == "one rank" ? 0 : 9; }), 0);
    ::testing::internal::CaptureStderr();
    EXPECT_EQ(run_ranks("alone", [](Communicator&) -> int { throw Error("the disk", "it is full", "make room"); }), 2);
    EXPECT_EQ(::testing::internal::GetCapturedStderr(), "alone: the disk: it is full; make room\n");
}

TEST(RunRanks, WithoutMpiSeveralRanksAreRefused) {
    if (!mpi_version().empty()) GTEST_SKIP() << "hone was built with " << mpi_version();
    const test::EnvironmentVariable ranks("OMPI_COMM_WORLD_SIZE", "4"), rank("OMPI_COMM_WORLD_RANK", "0");
    ::testing::internal::CaptureStderr();
    EXPECT_EQ(run_ranks("several", [](Communicator&) { return 0; }), 2);
    EXPECT_THAT(::testing::internal::GetCapturedStderr(), HasSubstr("apt install libopenmpi-dev"));
}

}  // namespace
}  // namespace hone::mpi_ranks_test
