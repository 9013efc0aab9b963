#include "foundation/run_folder.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <memory>
#include <vector>

#include "tests/support/environment.hpp"
#include "tests/support/temporary_folder.hpp"

namespace hone::run_folder_test {
namespace {

namespace fs = std::filesystem;

/// A process that holds a run folder with something in it until it is ended.
class Owner {
  public:
    Owner() {
        std::array<int, 2> ready{};
        EXPECT_EQ(pipe(ready.data()), 0);
        pid_ = fork();
        if (pid_ == 0) {
            const RunFolder folder;
            fs::create_directories(folder.path() / "deep" / "down");
            std::ofstream(folder.path() / "deep" / "down" / "file") << "something";
            (void)!write(ready[1], "x", 1);
            while (true) pause();
        }
        close(ready[1]);
        char byte = 0;
        EXPECT_EQ(read(ready[0], &byte, 1), 1);
        close(ready[0]);
    }
    ~Owner() { end(); }
    Owner(const Owner&) = delete;
    Owner& operator=(const Owner&) = delete;

    void end() {
        if (pid_ <= 0) return;
        kill(pid_, SIGKILL);
        waitpid(pid_, nullptr, 0);
        pid_ = 0;
    }

  private:
    pid_t pid_ = 0;
};

class RunFolderTest : public testing::Test {
  protected:
    std::vector<fs::path> folders() const {
        std::vector<fs::path> found;
        for (const auto& entry : fs::directory_iterator(place.path())) found.push_back(entry.path());
        return found;
    }

    test::TemporaryFolder place;
    test::EnvironmentVariable variable{"TMPDIR", place.path().string()};
};

TEST_F(RunFolderTest, GoesWithAllThatIsInIt) {
    {
        const RunFolder folder;
        EXPECT_EQ(folders(), std::vector<fs::path>{folder.path()});
        EXPECT_EQ(folder.environment().front().second, folder.path().string());
        fs::create_directory(folder.path() / "more");
        std::ofstream(folder.path() / "more" / "file") << "something";
    }
    EXPECT_TRUE(folders().empty());
}

TEST_F(RunFolderTest, OfAKilledProcessGoesWithTheNextOne) {
    Owner killed;
    ASSERT_EQ(folders().size(), 1U);
    killed.end();
    ASSERT_EQ(folders().size(), 1U) << "nobody could remove it";
    const RunFolder next;
    EXPECT_EQ(folders(), std::vector<fs::path>{next.path()});
}

TEST_F(RunFolderTest, OfALivingProcessStays) {
    const Owner living;
    const RunFolder own;
    const std::vector<fs::path> before = folders();
    ASSERT_EQ(before.size(), 2U);
    { const RunFolder next; }
    EXPECT_EQ(folders(), before);
    for (const fs::path& folder : before) EXPECT_TRUE(folder == own.path() || fs::exists(folder / "deep" / "down" / "file"));
}

TEST_F(RunFolderTest, WhatNobodySaysToBeARunsFolderStays) {
    fs::create_directory(place.path() / "hone-run-mine");
    std::ofstream(place.path() / "hone-run-mine" / "thesis") << "something";
    fs::create_directory(place.path() / "hone-backup");
    std::ofstream(place.path() / "hone-backup" / ".owner") << "process 1";
    std::ofstream(place.path() / "hone-run-file") << "something";
    { const RunFolder next; }
    EXPECT_EQ(folders().size(), 3U);
    EXPECT_TRUE(fs::exists(place.path() / "hone-run-mine" / "thesis"));
}

TEST_F(RunFolderTest, LinksAreNotFollowed) {
    Owner killed;
    const fs::path left = folders().front();
    const test::TemporaryFolder elsewhere;
    std::ofstream(elsewhere.path() / ".owner") << "process 1";
    std::ofstream(elsewhere.path() / "thesis") << "something";
    fs::create_directory_symlink(elsewhere.path(), place.path() / "hone-run-linked");
    fs::create_directory_symlink(elsewhere.path(), left / "link");
    killed.end();
    { const RunFolder next; }
    EXPECT_FALSE(fs::exists(left));
    EXPECT_TRUE(fs::is_symlink(place.path() / "hone-run-linked"));
    EXPECT_TRUE(fs::exists(elsewhere.path() / "thesis"));
    EXPECT_TRUE(fs::exists(elsewhere.path() / ".owner"));
}

TEST_F(RunFolderTest, ManyProcessesMaySweepAtOnce) {
    constexpr int dead = 20;
    constexpr int sweepers = 6;
    {
        std::vector<std::unique_ptr<Owner>> owners;
        for (int i = 0; i < dead; ++i) owners.push_back(std::make_unique<Owner>());
    }
    ASSERT_EQ(folders().size(), std::size_t{dead});
    std::vector<pid_t> children;
    for (int i = 0; i < sweepers; ++i) {
        children.push_back(fork());
        if (children.back() != 0) continue;
        bool kept = true;
        for (int round = 0; round < 20; ++round) {
            const RunFolder own;
            std::ofstream(own.path() / "file") << "something";
            { const RunFolder another; }
            kept = kept && fs::exists(own.path() / "file");
        }
        _exit(kept ? 0 : 1);
    }
    for (const pid_t child : children) {
        int status = 0;
        waitpid(child, &status, 0);
        EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "a living process lost its folder";
    }
    EXPECT_TRUE(folders().empty());
}

}  // namespace
}  // namespace hone::run_folder_test
