#include "foundation/file_store.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <fstream>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "foundation/error.hpp"
#include "tests/support/failing_call.hpp"
#include "tests/support/temporary_folder.hpp"

namespace hone::file_store_test {
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
    try {
        replace_file(folder.path() / "absent" / "file", "x");
        ADD_FAILURE() << "there is no folder";
    } catch (const Error& error) {
        EXPECT_THAT(error.what(), ::testing::HasSubstr("make it, or name another one"));
    }
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

TEST(FileStore, APipeIsRefusedAndNotWaitedFor) {
    const test::TemporaryFolder folder;
    ASSERT_EQ(mkfifo((folder.path() / "pipe").c_str(), 0600), 0);
    EXPECT_THROW(read_file(folder.path() / "pipe", 5), Error);
    EXPECT_THROW(replace_file(folder.path() / "pipe", "x"), Error);
    EXPECT_TRUE(std::filesystem::is_fifo(folder.path() / "pipe")) << "root may replace /dev/null, too";
}

TEST(FileStore, SeveralFilesAreReplacedOrNone) {
    const test::TemporaryFolder folder;
    const auto file = [&](const char* name) { return folder.path() / name; };
    replace_files({{file("a"), "old a"}, {file("b"), "old b"}});
    std::filesystem::create_directories(file("c") / "inside");  // cannot be replaced, when the others are already
    EXPECT_THROW(replace_files({{file("a"), "new a"}, {file("new"), "new"}, {file("c"), "new c"}}), Error);
    EXPECT_EQ(read_file(file("a"), 10), "old a");
    EXPECT_FALSE(std::filesystem::exists(file("new")));
    {
        const test::FailingCall failing(test::FailingCall::Call::rename_second, EIO);
        EXPECT_THROW(replace_files({{file("a"), "new a"}, {file("b"), "new b"}}), Error);
    }
    EXPECT_EQ(read_file(file("a"), 10), "old a");
    EXPECT_EQ(read_file(file("b"), 10), "old b");
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 3) << "no temporary file is left";
}

TEST(FileStore, AWriteThatIsCutShortSaysWhyAndLeavesTheOldFile) {
    const test::TemporaryFolder folder;
    const auto path = folder.path() / "file";
    replace_file(path, "old");
    const test::FailingCall failing(test::FailingCall::Call::write_short, ENOSPC);
    try {
        replace_file(path, std::string(100, 'x'));
        ADD_FAILURE() << "no error";
    } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find("No space left on device (ENOSPC)"), std::string::npos) << error.what();
    }
    EXPECT_EQ(read_file(path, 10), "old");
}

TEST(FileStore, MakesFoldersWithAllAboveThem) {
    const test::TemporaryFolder folder;
    make_folders(folder.path() / "a" / "b" / "c/");
    EXPECT_TRUE(std::filesystem::is_directory(folder.path() / "a" / "b" / "c"));
    EXPECT_NO_THROW(make_folders(folder.path() / "a" / "b" / "c"));
    replace_file(folder.path() / "file", "");
    EXPECT_THROW(make_folders(folder.path() / "file" / "below"), Error);
    EXPECT_THROW(make_folders(folder.path() / "file"), Error);
}

TEST(FolderLock, AFileSystemWithoutLocksIsNamedAsTheReason) {
    const test::TemporaryFolder folder;
    const test::FailingCall failing(test::FailingCall::Call::ofd_lock, ENOLCK);
    try {
        const FolderLock lock(folder.path());
        ADD_FAILURE() << "locked without locks";
    } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find("its file system has no locks"), std::string::npos) << error.what();
        EXPECT_NE(std::string(error.what()).find("ENOLCK"), std::string::npos) << error.what();
    }
}

// A process that takes the lock, says so, and holds it for a while or for ever.
class Holder {
  public:
    Holder(const std::filesystem::path& folder, std::chrono::milliseconds held) {
        std::array<int, 2> ready{};
        EXPECT_EQ(pipe(ready.data()), 0);
        id = fork();
        if (id == 0) {
            const FolderLock lock(folder);
            if (::write(ready[1], "x", 1) != 1) _exit(1);
            std::this_thread::sleep_for(held);
            // As a process ends that does not come to its destructors.
            _exit(0);
        }
        char byte = 0;
        EXPECT_EQ(::read(ready[0], &byte, 1), 1);
        close(ready[0]);
        close(ready[1]);
    }
    ~Holder() {
        kill(id, SIGKILL);
        waitpid(id, nullptr, 0);
    }
    Holder(const Holder&) = delete;
    Holder& operator=(const Holder&) = delete;

    pid_t id = -1;
};

TEST(FolderLock, NamesTheHolderOfTodayHoweverManyHeldItBefore) {
    const test::TemporaryFolder folder;
    { const Holder killed(folder.path(), 60s); }
    for (int i = 0; i < 3; ++i) const FolderLock own(folder.path());
    const Holder holder(folder.path(), 60s);
    // Another one in the queue, which does not hold it.
    std::thread waiting([&] { EXPECT_THROW(FolderLock(folder.path(), 300ms), Error); });
    std::this_thread::sleep_for(50ms);
    try {
        const FolderLock second(folder.path(), 100ms);
        ADD_FAILURE() << "two hold the lock";
    } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find("process " + std::to_string(holder.id) + " "), std::string::npos) << error.what();
    }
    waiting.join();
}

TEST(ConcurrentFolderLock, WhoComesFirstIsServedFirst) {
    const test::TemporaryFolder folder;
    std::optional<FolderLock> held(std::in_place, folder.path());
    constexpr int count = 8;
    std::vector<int> order;
    std::mutex writing;  // the thread sanitizer does not see locks of files
    std::vector<std::thread> threads;
    for (int t = 0; t < count; ++t) {
        threads.emplace_back([&, t] {
            const FolderLock lock(folder.path());
            const std::lock_guard guard(writing);
            order.push_back(t);
        });
        std::this_thread::sleep_for(300ms);  // so that they come in this order
    }
    held.reset();
    for (auto& thread : threads) thread.join();
    ASSERT_EQ(order.size(), count);
    EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
}

TEST(ConcurrentFolderLock, AQueueLongerThanThePatienceIsWaitedForAsLongAsItMoves) {
    const test::TemporaryFolder folder;
    std::atomic<int> served = 0;
    std::vector<std::thread> threads;
    for (int t = 0; t < 16; ++t)
        threads.emplace_back([&] {
            try {
                const FolderLock lock(folder.path(), 4s);
                std::this_thread::sleep_for(300ms);
                ++served;
            } catch (const Error& error) {
                ADD_FAILURE() << error.what();
            }
        });
    for (auto& thread : threads) thread.join();
    EXPECT_EQ(served, 16);
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
}  // namespace hone::file_store_test
