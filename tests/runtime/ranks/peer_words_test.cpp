#include "runtime/ranks/peer_words.hpp"

#include <gtest/gtest.h>

#include <array>
#include <random>
#include <vector>

#include "foundation/error.hpp"
#include "runtime/cpu/cpu_backend.hpp"
#include "runtime/cuda/nvrtc_compiler.hpp"
#include "runtime/ranks/thread_ranks.hpp"
#include "tests/runtime/ranks/late_device.hpp"
#include "tests/support/emulator.hpp"
#include "tests/support/places.hpp"

namespace hone::peer_words_test {
namespace {

class PeerWordsTest : public ::testing::Test {
  protected:
    DiskCache cache_{test::kernel_cache_folder()};
    std::unique_ptr<Backend> backend_ = make_cpu_backend(0, cache_);
};

// One rank's launch after the other, in several blocks: flags of all ranks but the one that is
// launched are there already, so that none waits.
TEST_F(PeerWordsTest, KernelStoresIntoAllBoxesAndSaysSo) {
    if (const std::string missing = backend_->compiler().missing(); !missing.empty()) GTEST_SKIP() << missing;
    const auto seed = std::random_device{}();
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    constexpr int ranks = 3, flags = 5, data = 16, epoch = 7;
    KernelSource source = PeerWords::kernel();
    source.step[0].grid = {3, 1, 1};
    // Threads take turns there, so that a fence has nothing to do.
    source.text = "inline void __threadfence_system() {}\n" + source.text;
    const KernelSource emulated = test::emulated(source);
    const CompileOutcome outcome = backend_->compiler().compile(emulated);
    ASSERT_TRUE(outcome.ok) << outcome.code.log;
    const auto module = backend_->load(outcome.code);
    std::array<std::vector<unsigned>, ranks> own;
    std::vector<unsigned> expected(data, 0xAAAAAAAAU);
    for (auto& words : own) {
        words.resize(1 + random() % 2000);
        for (unsigned& word : words) word = static_cast<unsigned>(random());
        expected.insert(expected.end(), words.begin(), words.end());
    }
    std::fill_n(expected.begin() + flags, ranks, unsigned{epoch});
    expected.push_back(0xAAAAAAAAU);
    std::array<std::vector<unsigned>, ranks> boxes;
    std::array<unsigned*, ranks> pointers{};
    for (std::size_t rank = 0; rank < ranks; ++rank) {
        boxes[rank].assign(expected.size(), 0xAAAAAAAAU);
        pointers[rank] = boxes[rank].data();
    }
    int begin = data;
    for (int rank = 0; rank < ranks; ++rank) {
        for (auto& box : boxes)
            for (int other = 0; other < ranks; ++other) box[static_cast<std::size_t>(flags + other)] = other == rank ? 0U : unsigned{epoch};
        unsigned done = 0;
        auto& words = own[static_cast<std::size_t>(rank)];
        void *from = words.data(), *to = pointers.data(), *counter = &done;
        int last = static_cast<int>(words.size()), all = ranks, own_rank = rank, place = begin, flags_of = flags, number = epoch;
        std::array<void*, 9> arguments{
            static_cast<void*>(&from), static_cast<void*>(&to), static_cast<void*>(&counter), &last, &all, &own_rank, &place, &flags_of, &number};
        module->launch(module->entry(emulated.step[0].entry), {3, 1, 1}, {256, 1, 1}, 0, {}, arguments.data());
        EXPECT_EQ(done, 0U);
        for (const auto& box : boxes) EXPECT_EQ(box[static_cast<std::size_t>(flags + rank)], unsigned{epoch});
        begin += last;
    }
    for (const auto& box : boxes) EXPECT_TRUE(box == expected);
}

TEST_F(PeerWordsTest, KernelCompilesForGpus) {
    std::unique_ptr<Compiler> nvrtc;
    try {
        nvrtc = make_nvrtc_compiler("sm_90", cache_);
    } catch (const Error& error) {
        GTEST_SKIP() << error.what();
    }
    const CompileOutcome outcome = nvrtc->compile(PeerWords::kernel());
    EXPECT_TRUE(outcome.ok) << outcome.failure << outcome.code.log;
}

// Ranks in threads could not end a kernel that waits for one that failed, so they have no such way;
// nor have words of odd lengths.
TEST_F(PeerWordsTest, IsForProcessesAlone) {
    run_thread_ranks(2, [&](Communicator& communicator) {
        test::LateDevice device(*backend_, static_cast<unsigned>(communicator.rank()));
        EXPECT_EQ(PeerWords::make(communicator, device, {8, 8}), nullptr);
        EXPECT_EQ(PeerWords::make(communicator, device, {8, 7}), nullptr);
        EXPECT_EQ(PeerWords::make(communicator, *backend_, {8, 8}), nullptr);
    });
}

}  // namespace
}  // namespace hone::peer_words_test
