#include "runtime/ranks/nccl_ranks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <random>

#include "foundation/error.hpp"
#include "runtime/cpu/cpu_backend.hpp"
#include "runtime/cuda/cuda_backend.hpp"
#include "runtime/cuda/nccl.hpp"
#include "runtime/ranks/halo_exchange.hpp"
#include "runtime/ranks/thread_ranks.hpp"
#include "tests/runtime/cuda/fake_machine.hpp"
#include "tests/support/environment.hpp"
#include "tests/support/places.hpp"
#include "tests/support/rank_error.hpp"

namespace hone::nccl_ranks_test {
namespace {

using ::testing::HasSubstr;

// A sum of each word, and messages around the ring in both directions, of which two ranks have both
// with each other: only tags tell them apart.
void check(Communicator& communicator, Backend& device, NcclRanks& nccl) {
    const int rank = communicator.rank(), size = communicator.size(), next = (rank + 1) % size, last = (rank + size - 1) % size;
    std::array<double, 3> words{1.5 + rank, -2.0 * rank, 1e6}, expected{};
    for (int r = 0; r < size; ++r) expected[0] += 1.5 + r, expected[1] += -2.0 * r, expected[2] += 1e6;
    DeviceArray sums(device, sizeof words);
    device.copy(sums.data(), words.data(), sizeof words);
    nccl.sum(static_cast<double*>(sums.data()), 3);
    device.copy(words.data(), sums.data(), sizeof words);
    device.synchronise();
    EXPECT_EQ(words, expected);  // whole and half numbers: exact in any order

    const auto text = [](int from, bool up) { return std::array<std::uint64_t, 2>{static_cast<std::uint64_t>(100 + from), up ? 1U : 2U}; };
    DeviceArray boxes(device, 64);
    auto* const box = static_cast<std::byte*>(boxes.data());
    const auto up = text(rank, true), down = text(rank, false);
    device.copy(box, up.data(), 16);
    device.copy(box + 16, down.data(), 16);
    device.fill(box + 32, 0xAA, 32);
    nccl.exchange(std::array{DeviceMessage{last, 1, box + 16, 16}, DeviceMessage{next, 0, box, 16}, DeviceMessage{next, 2, box, 0}},
                  std::array{DeviceMessage{last, 0, box + 32, 16}, DeviceMessage{next, 1, box + 48, 16}, DeviceMessage{last, 2, box, 0}});
    std::array<std::uint64_t, 4> heard{};
    device.copy(heard.data(), box + 32, 32);
    device.synchronise();
    EXPECT_EQ(heard, (std::array<std::uint64_t, 4>{text(last, true)[0], 1, text(next, false)[0], 2}));
}

TEST(NcclRanks, SumAndSend) {
    for (const int ranks : {1, 2, 3}) {
        test::FakeMachine machine;
        machine.state().devices = ranks;
        std::vector<std::unique_ptr<Backend>> devices;
        for (int rank = 0; rank < ranks; ++rank) devices.push_back(machine.backend(rank));
        run_thread_ranks(ranks, [&](Communicator& communicator) {
            Backend& device = *devices[static_cast<std::size_t>(communicator.rank())];
            NcclRanks nccl(communicator, device, test::FakeMachine::candidates());
            EXPECT_EQ(nccl.version(), "NCCL 2.28.9");
            check(communicator, device, nccl);
        });
    }
}

TEST(NcclRanks, SayWhatIsWrong) {
    test::FakeMachine machine;
    const auto device = machine.backend();
    DiskCache cache{test::kernel_cache_folder()};
    const auto processor = make_cpu_backend(0, cache);
    const auto candidates = test::FakeMachine::candidates();
    EXPECT_THAT(test::error_of_ranks(2, [&](Communicator& ranks) { NcclRanks(ranks, *device, candidates); }),
                HasSubstr("ranks 0 and 1 have the same GPU"));
    EXPECT_THAT(test::error_of_ranks(1, [&](Communicator& ranks) { NcclRanks(ranks, *processor, candidates); }), HasSubstr("is not a GPU"));
    auto none = candidates;
    none.nccl = {"/absent/libnccl.so.2"};
    EXPECT_THAT(test::error_of_ranks(1, [&](Communicator& ranks) { NcclRanks(ranks, *device, none); }),
                HasSubstr("install NVIDIA's package libnccl2"));
    // A library that is none.
    none.nccl = candidates.nvml;
    EXPECT_THAT(test::error_of_ranks(1, [&](Communicator& ranks) { NcclRanks(ranks, *device, none); }), HasSubstr("has no ncclGetVersion"));
    // Where one rank cannot, none waits for it within NCCL.
    EXPECT_THAT(test::error_of_ranks(2, [&](Communicator& ranks) { NcclRanks(ranks, ranks.rank() == 1 ? *processor : *device, candidates); }),
                HasSubstr("NCCL"));
}

// Halos by it, with a rank that is its neighbours' neighbour on both sides.
TEST(NcclRanks, BringHalos) {
    const test::EnvironmentVariable libraries("HONE_CUDA_LIBRARIES", test::fake_driver_folder()), way("HONE_MESSAGES", "nccl");
    test::FakeMachine machine;
    machine.state().devices = 2;
    const std::array<std::unique_ptr<Backend>, 2> devices{machine.backend(0), machine.backend(1)};
    const GridPartition partition{{2, 1, 6}, {1, 1, 2}, {false, false, true}, {1, 1, 1}};
    run_thread_ranks(2, [&](Communicator& communicator) {
        Backend& device = *devices[static_cast<std::size_t>(communicator.rank())];
        HaloExchange halo(communicator, device, partition, {.strides = {1, 2, 2}, .origin = 2});
        const auto plane = [](int k) { return 10.0 * ((k + 6) % 6); };
        const int first = 3 * communicator.rank();
        std::array<double, 10> words{};
        for (int k = 0; k < 3; ++k) words[static_cast<std::size_t>(2 * k + 2)] = words[static_cast<std::size_t>(2 * k + 3)] = plane(first + k);
        DeviceArray field(device, sizeof words);
        device.copy(field.data(), words.data(), sizeof words);
        for (int round = 0; round < 2; ++round) {
            halo.begin(std::array<void*, 1>{field.data()});
            halo.end();
        }
        device.copy(words.data(), field.data(), sizeof words);
        device.synchronise();
        for (int k = -1; k < 4; ++k) EXPECT_EQ(words[static_cast<std::size_t>(2 * k + 3)], plane(first + k)) << "plane " << k;
    });
}

// NVIDIA's library with one rank, which is all that one GPU allows.
TEST(GpuNcclRanks, SumAndSendToThemselves) {
    std::string missing;
    if (cuda_devices(missing).empty()) GTEST_SKIP() << missing;
    if (const cuda::Nccl nccl = cuda::load_nccl(cuda::library_candidates()); !nccl.missing.empty()) GTEST_SKIP() << nccl.missing;
    DiskCache cache{test::kernel_cache_folder()};
    const auto device = make_cuda_backend(0, cache);
    const auto alone = self_communicator();
    NcclRanks nccl(*alone, *device);
    check(*alone, *device, nccl);
}

}  // namespace
}  // namespace hone::nccl_ranks_test
