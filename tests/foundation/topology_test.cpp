#include "foundation/topology.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>

#include "tests/support/temporary_folder.hpp"

namespace hone::topology_test {
namespace {

namespace fs = std::filesystem;

void write(const fs::path& path, const std::string& text) {
    fs::create_directories(path.parent_path());
    std::ofstream(path) << text << "\n";
}

// Two sockets of two cores of two threads: processors 0 to 3 are the first threads of the cores, 4
// to 7 the second.
void make_machine(const fs::path& root) {
    for (int number = 0; number < 8; ++number) {
        const fs::path folder = root / fmt::format("sys/devices/system/cpu/cpu{}", number);
        const int core = number % 4;
        const int socket = core / 2;
        write(folder / "topology/physical_package_id", std::to_string(socket));
        write(folder / "topology/core_id", std::to_string(core % 2));
        fs::create_directories(folder / fmt::format("node{}", socket));
        const std::string of_core = fmt::format("{},{}", core, core + 4);
        for (const auto& [index, level, type, size, shared] :
             {std::tuple{0, 1, "Data", "48K", of_core}, std::tuple{1, 1, "Instruction", "32K", of_core},
              std::tuple{2, 3, "Unified", "30720K", std::string(socket == 0 ? "0-1,4-5" : "2-3,6-7")}}) {
            const fs::path cache = folder / fmt::format("cache/index{}", index);
            write(cache / "level", std::to_string(level));
            write(cache / "type", type);
            write(cache / "size", size);
            write(cache / "shared_cpu_list", shared);
        }
    }
}

TEST(Topology, CountsWhatTheProcessorsHave) {
    const test::TemporaryFolder root;
    make_machine(root.path());
    const Topology all = topology_of({0, 1, 2, 3, 4, 5, 6, 7}, root.path());
    EXPECT_EQ(all.sockets, 2);
    EXPECT_EQ(all.cores, 4);
    EXPECT_EQ(all.threads_per_core, 2);
    EXPECT_EQ(all.numa_nodes, 2);
    ASSERT_EQ(all.caches.size(), 3U);
    EXPECT_EQ(all.caches[0].kind, "data");
    EXPECT_EQ(all.caches[0].bytes, 48 << 10);
    EXPECT_EQ(all.caches[0].count, 4);
    EXPECT_EQ(all.caches[2].level, 3);
    EXPECT_EQ(all.caches[2].bytes, 30 << 20);
    EXPECT_EQ(all.caches[2].count, 2);
}

TEST(Topology, CountsOnlyTheProcessorsThatItIsAskedAbout) {
    const test::TemporaryFolder root;
    make_machine(root.path());
    const Topology one = topology_of({2, 3}, root.path());
    EXPECT_EQ(one.sockets, 1);
    EXPECT_EQ(one.cores, 2);
    EXPECT_EQ(one.threads_per_core, 1) << "the second threads are others'";
    EXPECT_EQ(one.numa_nodes, 1);
    const Topology siblings = topology_of({1, 5}, root.path());
    EXPECT_EQ(siblings.cores, 1);
    EXPECT_EQ(siblings.threads_per_core, 2);
}

TEST(Topology, SharesKeepTheThreadsOfACoreTogether) {
    const test::TemporaryFolder root;
    make_machine(root.path());
    using Shares = std::vector<std::vector<int>>;
    EXPECT_EQ(shares_of({0, 1, 2, 3, 4, 5, 6, 7}, 2, root.path()), (Shares{{0, 1, 4, 5}, {2, 3, 6, 7}})) << "sockets";
    EXPECT_EQ(shares_of({0, 1, 2, 3, 4, 5, 6, 7}, 4, root.path()), (Shares{{0, 4}, {1, 5}, {2, 6}, {3, 7}})) << "cores";
    EXPECT_EQ(shares_of({0, 1, 2}, 2, root.path()), (Shares{{0}, {1}})) << "equal shares leave one over";
    EXPECT_EQ(shares_of({3, 9}, 2, root.path() / "nothing"), (Shares{{3}, {9}}));
}

TEST(Topology, WhereTheSystemIsSilentEachProcessorIsACore) {
    const test::TemporaryFolder nothing;
    const Topology unknown = topology_of({0, 1}, nothing.path());
    EXPECT_EQ(unknown.sockets, 1);
    EXPECT_EQ(unknown.cores, 2);
    EXPECT_EQ(unknown.threads_per_core, 1);
    EXPECT_EQ(unknown.numa_nodes, 1);
    EXPECT_TRUE(unknown.caches.empty());
}

}  // namespace
}  // namespace hone::topology_test
