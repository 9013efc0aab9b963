#include "tuner/worker/guarded_memory.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <utility>

#include "foundation/error.hpp"
#include "foundation/host_memory.hpp"
#include "tests/runtime/cuda/fake_machine.hpp"
#include "tests/support/temporary_folder.hpp"

namespace hone::guarded_memory_test {
namespace {

class GuardedMemoryTest : public testing::Test {
  protected:
    test::TemporaryFolder folder;
    DiskCache cache{folder.path() / "cache"};
    std::unique_ptr<Backend> backend = make_backend("cpu", cache);
    static constexpr std::int64_t guard = 16384;
    static constexpr std::int64_t small = 8008, large = 5'000'008;
};

TEST_F(GuardedMemoryTest, HasRoomOnBothSides) {
    for (const std::int64_t bytes : {small, large}) {
        GuardedMemory memory(*backend, bytes, guard);
        EXPECT_EQ(memory.bytes(), bytes);
        EXPECT_GE(memory.before(), guard);
        EXPECT_GE(memory.behind(), guard);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory.data()) % 256, 0U);
        std::memset(static_cast<char*>(memory.data()) - memory.before(), 1, static_cast<std::size_t>(memory.before() + bytes + memory.behind()));
        GuardedMemory moved(std::move(memory));
        EXPECT_EQ(static_cast<char*>(moved.data())[bytes - 1], 1);
    }
    EXPECT_EQ(GuardedMemory().data(), nullptr);
}

TEST_F(GuardedMemoryTest, LargeArraysBeginAtDifferentPlacesOfTheirLargePages) {
    const GuardedMemory first(*backend, large, guard), second(*backend, large, guard);
    const auto place = [](const GuardedMemory& memory) { return reinterpret_cast<std::uintptr_t>(memory.data()) % large_page_bytes; };
    EXPECT_NE(place(first) % 4096, place(second) % 4096);
    EXPECT_LT(place(first), 1U << 17) << "the rest of the first large page is its own";
}

TEST_F(GuardedMemoryTest, TooMuchIsRefused) {
    EXPECT_THROW(GuardedMemory(*backend, std::int64_t{1} << 50, guard), Error);
}

TEST_F(GuardedMemoryTest, OfOtherDevicesHasGuards) {
    test::FakeMachine machine;
    const auto gpu = machine.backend();
    for (const std::int64_t bytes : {small, large}) {
        GuardedMemory memory(*gpu, bytes, guard);
        EXPECT_GE(memory.before(), guard);
        EXPECT_GE(memory.behind(), guard);
        memory.make_read_only();
        gpu->fill(static_cast<char*>(memory.data()) - guard, 1, guard + bytes + guard);
    }
}

using GuardedMemoryDeathTest = GuardedMemoryTest;

TEST_F(GuardedMemoryDeathTest, FarAwayIsNothing) {
    const GuardedMemory few(*backend, small, guard), many(*backend, large, guard);
    auto *const first = static_cast<volatile char*>(few.data()), *const second = static_cast<volatile char*>(many.data());
    EXPECT_DEATH(first[-few.before() - 1] = 1, "");
    EXPECT_DEATH(first[std::int64_t{1} << 29] = 1, "");
    EXPECT_DEATH(static_cast<void>(second[large + many.behind()]), "");
    EXPECT_DEATH(second[-(std::int64_t{1} << 29)] = 1, "");
}

TEST_F(GuardedMemoryDeathTest, WhatIsReadOnlyIsNotWritten) {
    GuardedMemory memory(*backend, small, 0);
    auto* const data = static_cast<volatile char*>(memory.data());
    data[5] = 7;
    memory.make_read_only();
    EXPECT_EQ(data[5], 7);
    EXPECT_DEATH(data[5] = 1, "");
}

}  // namespace
}  // namespace hone::guarded_memory_test
