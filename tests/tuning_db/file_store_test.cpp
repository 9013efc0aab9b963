#include "tuning_db/file_store.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <optional>
#include <thread>
#include <vector>

#include "generator/error.hpp"
#include "tests/support/temporary_folder.hpp"

namespace hone {
namespace {

using namespace std::chrono_literals;

TEST(FileStore, WhatIsWrittenIsReadBack) {
    const test::TemporaryFolder folder;
    const auto path = folder.path() / "file";
    const std::string long_text = std::string(300000, 'x') + '\0' + "\xff end";
    for (const std::string& text : {std::string("first"), long_text, std::string()}) {
        replace_file(path, text);
        EXPECT_EQ(read_file(path, 1 << 20), text);
    }
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1) << "no temporary file is left";
}

TEST(FileStore, ReadingRefusesWhatIsAbsentNoFileOrTooLong) {
    const test::TemporaryFolder folder;
    replace_file(folder.path() / "file", "12345");
    EXPECT_EQ(read_file(folder.path() / "file", 5), "12345");
    EXPECT_THROW(read_file(folder.path() / "file", 4), Error);
    EXPECT_THROW(read_file(folder.path() / "absent", 5), Error);
    EXPECT_THROW(read_file(folder.path(), 5), Error);
    EXPECT_THROW(read_file("/dev/zero", 5), Error) << "it never ends";
}

TEST(FileStore, AFailedReplacementLeavesTheOldFile) {
    const test::TemporaryFolder folder;
    EXPECT_THROW(replace_file(folder.path() / "absent" / "file", "x"), Error);
    const auto path = folder.path() / "file";
    replace_file(path, "old");
    std::filesystem::create_directory(folder.path() / ".file.tmp");  // the temporary file cannot be made
    EXPECT_THROW(replace_file(path, "new"), Error);
    EXPECT_EQ(read_file(path, 10), "old");
    std::filesystem::create_directories(folder.path() / "taken" / "inside");
    EXPECT_THROW(replace_file(folder.path() / "taken", "x"), Error);
    EXPECT_FALSE(std::filesystem::exists(folder.path() / ".taken.tmp"));
}

TEST(FileStore, ATemporaryFileThatACrashLeftIsInNobodysWay) {
    const test::TemporaryFolder folder;
    std::ofstream(folder.path() / ".file.tmp") << "half a fi";
    replace_file(folder.path() / "file", "new");
    EXPECT_EQ(read_file(folder.path() / "file", 10), "new");
}

TEST(FolderLock, TheErrorOfAVainWaitNamesTheHolder) {
    const test::TemporaryFolder folder;
    const FolderLock lock(folder.path());
    try {
        const FolderLock second(folder.path(), 20ms);
        ADD_FAILURE() << "two hold the lock";
    } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find("process " + std::to_string(getpid())), std::string::npos) << error.what();
    }
}

TEST(FolderLock, IsFreeAgainAfterItsScopeAndNeedsAFolder) {
    const test::TemporaryFolder folder;
    std::optional<FolderLock> lock(std::in_place, folder.path());
    lock.reset();
    EXPECT_NO_THROW(FolderLock(folder.path(), 0ms));
    EXPECT_THROW(FolderLock(folder.path() / "absent", 0ms), Error);
}

TEST(FolderLock, IsFreeAgainWhenItsProcessWasKilled) {
    const test::TemporaryFolder folder;
    std::array<int, 2> ready{};
    ASSERT_EQ(pipe(ready.data()), 0);
    const pid_t child = fork();
    if (child == 0) {
        const FolderLock lock(folder.path());
        if (write(ready[1], "x", 1) != 1) _exit(1);
        pause();
    }
    char byte = 0;
    ASSERT_EQ(read(ready[0], &byte, 1), 1);
    EXPECT_THROW(FolderLock(folder.path(), 20ms), Error);
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    EXPECT_NO_THROW(FolderLock(folder.path(), 10s));
    close(ready[0]);
    close(ready[1]);
}

TEST(ConcurrentFolderLock, ThreadsExcludeEachOther) {
    const test::TemporaryFolder folder;
    std::atomic<int> inside = 0;
    std::atomic<int> total = 0;
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([&] {
            for (int i = 0; i < 25; ++i) {
                const FolderLock lock(folder.path());
                EXPECT_EQ(++inside, 1);
                ++total;
                --inside;
            }
        });
    for (auto& thread : threads) thread.join();
    EXPECT_EQ(total, 100);
}

}  // namespace
}  // namespace hone
