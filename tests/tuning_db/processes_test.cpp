// Databases are written by several processes, and processes die.

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <set>

#include "foundation/file_store.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/tuning_db/test_families.hpp"
#include "tuning_db/database.hpp"

namespace hone::processes_test {
namespace {

using test::make_record;
using test::two_families;

Record numbered(int number) {
    return make_record(fmt::format("volume order={} elements={}", 1 + number % 10, 1 + number), "unroll=1", 1e-3);
}

void merge_one(const std::filesystem::path& folder, int number) {
    Database database(two_families());
    database.add(numbered(number));
    database.merge_into(folder);
}

std::set<std::int64_t> elements_in(const std::filesystem::path& folder) {
    std::set<std::int64_t> elements;
    const Database database = Database::load(folder, two_families());
    for (const auto& record : database.records()) elements.insert(record.problem.integer("elements"));
    return elements;
}

TEST(DatabaseProcesses, EightMergingAtOnceLoseNoRecord) {
    constexpr int processes = 8;
    constexpr int merges = 10;
    const test::TemporaryFolder folder;
    std::vector<pid_t> children;
    for (int process = 0; process < processes; ++process) {
        children.push_back(fork());
        if (children.back() != 0) continue;
        try {
            for (int i = 0; i < merges; ++i) merge_one(folder.path() / "records", process * merges + i);
            _exit(0);
        } catch (...) {
            _exit(1);
        }
    }
    for (const pid_t child : children) {
        int status = 0;
        waitpid(child, &status, 0);
        EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    EXPECT_EQ(elements_in(folder.path() / "records").size(), std::size_t{processes * merges});
}

TEST(DatabaseProcesses, AKilledMergeLeavesTheOldOrTheNewFile) {
    const auto seed = std::random_device{}();
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    test::RandomRecords random(seed);
    const test::TemporaryFolder folder;
    int next = 0;
    std::set<std::int64_t> acknowledged;
    for (int round = 0; round < 15; ++round) {
        std::array<int, 2> done{};
        ASSERT_EQ(pipe(done.data()), 0);
        const pid_t child = fork();
        if (child == 0) {
            for (int number = next;; ++number) {
                merge_one(folder.path(), number);
                if (write(done[1], &number, sizeof number) != sizeof number) _exit(1);
            }
        }
        close(done[1]);
        // At least one merge, then a moment somewhere in the later ones.
        int number = 0;
        ASSERT_EQ(read(done[0], &number, sizeof number), ssize_t{sizeof number});
        acknowledged.insert(1 + number);
        usleep(static_cast<useconds_t>(random.below(20000)));
        kill(child, SIGKILL);
        waitpid(child, nullptr, 0);
        while (read(done[0], &number, sizeof number) == ssize_t{sizeof number}) acknowledged.insert(1 + number);
        close(done[0]);
        next = static_cast<int>(*acknowledged.rbegin());
        const std::set<std::int64_t> present = elements_in(folder.path());  // throws if the file is torn
        EXPECT_TRUE(std::includes(present.begin(), present.end(), acknowledged.begin(), acknowledged.end()));
        EXPECT_LE(present.size(), acknowledged.size() + 1) << "at most the merge in flight is there besides";
        acknowledged = present;
        next = static_cast<int>(*present.rbegin());
    }
}

}  // namespace
}  // namespace hone::processes_test
