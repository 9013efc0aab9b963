#include "runtime/ranks/message_kernels.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <random>
#include <vector>

#include "foundation/error.hpp"
#include "runtime/cpu/cpu_backend.hpp"
#include "runtime/cuda/nvrtc_compiler.hpp"
#include "tests/support/emulator.hpp"
#include "tests/support/places.hpp"

namespace hone::message_kernels_test {
namespace {

// The kernels of a GPU, on the processor in several blocks, one launch after the other.
class MessageKernelsTest : public ::testing::Test {
  protected:
    void SetUp() override {
        if (const std::string missing = backend_->compiler().missing(); !missing.empty()) GTEST_SKIP() << missing;
        source_ = MessageKernels::kernels(8);
        for (Launch& launch : source_.step) launch.grid = {3, 1, 1}, launch.block = {4, 1, 1};
        // Threads take turns there, so that a fence has nothing to do.
        source_.text = "inline void __threadfence_system() {}\n" + source_.text;
        source_ = test::emulated(source_);
        const CompileOutcome outcome = backend_->compiler().compile(source_);
        ASSERT_TRUE(outcome.ok) << outcome.code.log;
        module_ = backend_->load(outcome.code);
    }

    void launch(std::size_t step, std::vector<std::uint64_t>& field, const std::int64_t* places, std::vector<std::uint64_t>& message,
                MessageFlag awaited, MessageFlag raised, int words) {
        void *field_data = field.data(), *message_data = message.data(), *done_data = &done_;
        const void* places_data = places;
        std::array<void*, 9> arguments{static_cast<void*>(&field_data),
                                       static_cast<void*>(&places_data),
                                       static_cast<void*>(&message_data),
                                       static_cast<void*>(&awaited.word),
                                       static_cast<void*>(&raised.word),
                                       static_cast<void*>(&done_data),
                                       &words,
                                       &awaited.value,
                                       &raised.value};
        module_->launch(module_->entry(source_.step[step].entry), source_.step[step].grid, source_.step[step].block, 0, {}, arguments.data());
    }

    DiskCache cache_{test::kernel_cache_folder()};
    std::unique_ptr<Backend> backend_ = make_cpu_backend(0, cache_);
    KernelSource source_;
    std::unique_ptr<Module> module_;
    std::uint32_t done_ = 0;
};

TEST_F(MessageKernelsTest, BringWordsFromTheirPlacesAndBack) {
    const auto seed = std::random_device{}();
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    for (const int words : {0, 1, 11, 12, 47, 48, 49, 300}) {
        for (const bool placed : {false, true}) {
            SCOPED_TRACE(words);
            const auto count = static_cast<std::size_t>(words);
            std::vector<std::int64_t> places(count + 5);
            std::iota(places.begin(), places.end(), 0);
            if (placed) std::shuffle(places.begin(), places.end(), random);
            std::vector<std::uint64_t> field(count + 5), message(count + 1, 7), expected = message;
            for (auto& word : field) word = random();
            for (std::size_t n = 0; n < count; ++n) expected[n] = field[static_cast<std::size_t>(places[n])];
            std::uint32_t flag = 4, taken = 3;
            launch(0, field, placed ? places.data() : nullptr, message, {}, {}, words);
            EXPECT_EQ(message, expected);
            for (const MessageFlag& awaited : {MessageFlag{}, MessageFlag{&taken, 2}, MessageFlag{&taken, 3}}) {
                std::fill(message.begin(), message.end(), 7);
                launch(0, field, placed ? places.data() : nullptr, message, awaited, {&flag, flag + 5}, words);
                EXPECT_EQ(message, expected);
            }
            EXPECT_EQ(flag, 19U);
            EXPECT_EQ(taken, 3U);
            EXPECT_EQ(done_, 0U);
            // A flag that is beyond the number does not hold anybody up.
            for (const std::uint32_t awaited : {18U, 19U}) {
                std::vector<std::uint64_t> back(count + 5, 3), all(count + 5, 3);
                for (std::size_t n = 0; n < count; ++n) all[static_cast<std::size_t>(places[n])] = expected[n];
                launch(1, back, placed ? places.data() : nullptr, message, {&flag, awaited}, {}, words);
                EXPECT_EQ(back, all);
            }
        }
    }
}

TEST(MessageKernels, CompileForGpus) {
    DiskCache cache{test::kernel_cache_folder()};
    std::unique_ptr<Compiler> nvrtc;
    try {
        nvrtc = make_nvrtc_compiler("sm_90", cache);
    } catch (const Error& error) {
        GTEST_SKIP() << error.what();
    }
    for (const int word_bytes : {4, 8, 16}) {
        const CompileOutcome outcome = nvrtc->compile(MessageKernels::kernels(word_bytes));
        EXPECT_TRUE(outcome.ok) << outcome.failure << outcome.code.log;
    }
}

}  // namespace
}  // namespace hone::message_kernels_test
