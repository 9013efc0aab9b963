#include "foundation/host_memory.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <set>
#include <vector>

#include "foundation/error.hpp"
#include "tests/support/temporary_folder.hpp"

namespace hone::host_memory_test {
namespace {

namespace fs = std::filesystem;

void write(const fs::path& path, const std::string& text) {
    fs::create_directories(path.parent_path());
    std::ofstream(path) << text;
}

TEST(HostMemory, TheLeastOfWhatTheSystemAndTheControlGroupsLeaveIsFree) {
    const test::TemporaryFolder root;
    write(root.path() / "proc/meminfo", "MemTotal:       8192 kB\nMemFree:        1024 kB\nMemAvailable:   4096 kB\n");
    EXPECT_EQ(free_memory(root.path()), 4096 << 10);
    write(root.path() / "proc/self/cgroup", "0::/a/b\n");
    write(root.path() / "sys/fs/cgroup/a/memory.max", "3145728\n");
    EXPECT_EQ(free_memory(root.path()), 3 << 20);
    write(root.path() / "sys/fs/cgroup/a/memory.current", "2097152\n");
    EXPECT_EQ(free_memory(root.path()), 1 << 20);
    write(root.path() / "sys/fs/cgroup/a/memory.stat", "anon 1048576\ninactive_file 524288\nactive_file 524288\n");
    EXPECT_EQ(free_memory(root.path()), 3 << 19) << "files that are kept for later can be dropped";
    write(root.path() / "sys/fs/cgroup/a/b/memory.max", "1048576\n");
    write(root.path() / "sys/fs/cgroup/a/b/memory.current", "2097152\n");
    EXPECT_EQ(free_memory(root.path()), 0) << "a limit may have been lowered below what is in use";
}

TEST(HostMemory, MoreThanTheProcessMayHaveIsRefusedAtOnce) {
    EXPECT_GT(usable_memory(), 0);
    EXPECT_GT(free_memory(), 0);
    EXPECT_THROW(allocate_host_memory(usable_memory() + 1, "much"), Error);
    void* const little = allocate_host_memory(1000, "little");
    EXPECT_NE(little, nullptr);
    release_host_memory(little);
}

TEST(HostMemory, LargeArraysBeginAtDifferentPlacesOfTheirPages) {
    constexpr std::int64_t bytes = 5 << 20;
    constexpr std::uintptr_t page = 4096, alignment = 256;
    std::vector<void*> arrays;
    std::set<std::uintptr_t> places;
    for (int i = 0; i < 12; ++i) {
        auto* const array = static_cast<char*>(arrays.emplace_back(allocate_host_memory(bytes, "array")));
        array[0] = array[bytes - 1] = 1;
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(array) % alignment, 0U);
        places.insert(reinterpret_cast<std::uintptr_t>(array) % page);
    }
    EXPECT_GE(places.size(), 11U);
    for (void* array : arrays) release_host_memory(array);
    release_host_memory(nullptr);
}

}  // namespace
}  // namespace hone::host_memory_test
