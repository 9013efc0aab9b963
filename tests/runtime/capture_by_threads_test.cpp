// Launches that several threads keep at once.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "foundation/file_store.hpp"
#include "runtime/capture.hpp"
#include "tests/support/temporary_folder.hpp"

namespace hone::capture_by_threads_test {
namespace {

TEST(ConcurrentCapture, ThreadsThatKeepTheSameAtOnceLeaveOneCopy) {
    const test::TemporaryFolder folder;
    const std::string contents(100000, 'x');
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i)
        threads.emplace_back([&] {
            Capture capture;
            capture.problem = "axpy precision=f32 n=25000";
            capture.arrays.push_back({"x", Access::in, 100000, keep_data(folder.path() / "captures", contents)});
            write_capture(folder.path() / "captures", capture);
        });
    threads.clear();
    const auto files = std::filesystem::recursive_directory_iterator(folder.path());
    EXPECT_EQ(std::count_if(begin(files), end(files), [](const auto& entry) { return entry.is_regular_file(); }), 2);
    const std::vector<Capture> captures = read_captures(folder.path() / "captures");
    ASSERT_EQ(captures.size(), 1);
    EXPECT_EQ(read_file(folder.path() / "captures" / "data" / captures[0].arrays[0].sha256, 1 << 20), contents);
}

}  // namespace
}  // namespace hone::capture_by_threads_test
