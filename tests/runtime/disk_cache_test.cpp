#include "runtime/disk_cache.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <random>
#include <thread>
#include <vector>

#include "foundation/error.hpp"
#include "tests/support/environment.hpp"
#include "tests/support/fresh_random.hpp"
#include "tests/support/temporary_folder.hpp"

namespace hone::disk_cache_test {
namespace {

namespace fs = std::filesystem;
using test::EnvironmentVariable;
using test::TemporaryFolder;

std::string bytes_of(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

void overwrite(const fs::path& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

int permissions(const fs::path& path) {
    struct stat status {};
    EXPECT_EQ(lstat(path.c_str(), &status), 0) << path;
    return static_cast<int>(status.st_mode & 07777);
}

// Sets when an entry was used last.
void used(const fs::path& path, time_t when) {
    const struct timespec times[2] = {{when, 0}, {when, 0}};
    ASSERT_EQ(utimensat(AT_FDCWD, path.c_str(), times, 0), 0) << path;
}

std::string random_bytes(std::size_t count, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::string bytes(count, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random());
    return bytes;
}

std::int64_t size_of(const fs::path& folder) {
    std::int64_t total = 0;
    for (const auto& item : fs::directory_iterator(folder)) total += static_cast<std::int64_t>(item.file_size());
    return total;
}

TEST(DiskCache, GivesBackWhatWasWritten) {
    test::FreshRandom random;
    const TemporaryFolder folder;
    const DiskCache cache(folder.path() / "cache");
    for (const auto& contents : {std::string(), std::string("text"), std::string("\0\n\0", 3), random_bytes(100'000, random())}) {
        const std::string key = "key of " + std::to_string(contents.size());
        EXPECT_EQ(cache.read(key), std::nullopt);
        EXPECT_TRUE(cache.write(key, contents));
        EXPECT_EQ(cache.read(key), contents);
        EXPECT_EQ(bytes_of(cache.path(key)).substr(0, contents.size()), contents) << "a loader must find the contents at the file's start";
    }
    EXPECT_TRUE(cache.write("key of 4", "another text"));
    EXPECT_EQ(cache.read("key of 4"), "another text");
    EXPECT_EQ(DiskCache(folder.path() / "cache").read("key of 4"), "another text") << "another cache object on the same folder";
}

TEST(DiskCache, AnyTextIsAKeyAndStaysInsideTheFolder) {
    const TemporaryFolder folder;
    const DiskCache cache(folder.path() / "cache");
    for (const std::string& key : {std::string("../../outside"), std::string("/etc/passwd"), std::string("a\nb\0c", 5), std::string(1'000'000, 'k'),
                                   std::string("$(touch here) ; 'quote\"")}) {
        EXPECT_TRUE(cache.write(key, key));
        EXPECT_EQ(cache.read(key), key);
        EXPECT_TRUE(fs::equivalent(cache.path(key).parent_path(), cache.folder()));
    }
    EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), {}), 1);
}

TEST(DiskCache, IsPrivate) {
    const TemporaryFolder folder;
    const mode_t before = umask(0);
    const DiskCache cache(folder.path() / "deep" / "cache");
    cache.write("key", "contents");
    umask(before);
    EXPECT_EQ(permissions(cache.folder()), 0700);
    EXPECT_EQ(permissions(cache.path("key")), 0600);
}

TEST(DiskCache, RefusesAFolderThatIsNotPrivate) {
    const TemporaryFolder folder;
    for (const mode_t mode : {0770U, 0702U, 0777U}) {
        const fs::path open = folder.path() / fmt::format("open-{:o}", mode);
        fs::create_directory(open);
        ASSERT_EQ(chmod(open.c_str(), mode), 0);
        EXPECT_THROW(DiskCache{open}, Error) << open;
    }
    overwrite(folder.path() / "file", "not a folder");
    EXPECT_THROW(DiskCache{folder.path() / "file"}, Error);
    EXPECT_THROW(DiskCache{folder.path() / "file" / "below"}, Error);
    if (geteuid() != 0) {
        EXPECT_THROW(DiskCache{"/usr"}, Error) << "it belongs to root";
    } else {
        const fs::path foreign = folder.path() / "foreign";
        fs::create_directory(foreign);
        ASSERT_EQ(chown(foreign.c_str(), 12345, 12345), 0);
        EXPECT_THROW(DiskCache{foreign}, Error);
    }
}

// A home folder that nothing can be written to, and not only what follows from that.
TEST(DiskCache, SaysWhyItCannotBeMade) {
    const TemporaryFolder folder;
    overwrite(folder.path() / "home", "not a folder");
    try {
        DiskCache cache(folder.path() / "home" / ".cache" / "hone");
        FAIL() << "made below a file";
    } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find("ENOTDIR"), std::string::npos) << error.what();
    }
}

TEST(DiskCache, EveryFlippedByteIsNoticedAndTheEntryDeleted) {
    const TemporaryFolder folder;
    const DiskCache cache(folder.path() / "cache");
    const std::uint64_t seed = std::random_device{}();
    ASSERT_TRUE(cache.write("key", random_bytes(100, seed)));
    const std::string whole = bytes_of(cache.path("key"));
    for (std::size_t at = 0; at < whole.size(); ++at) {
        std::string damaged = whole;
        damaged[at] = static_cast<char>(damaged[at] ^ 1 << (seed + at) % 8);
        overwrite(cache.path("key"), damaged);
        EXPECT_EQ(cache.read("key"), std::nullopt) << "byte " << at << ", seed " << seed;
        EXPECT_FALSE(fs::exists(cache.path("key"))) << "byte " << at;
    }
    ASSERT_TRUE(cache.write("key", "rebuilt"));
    EXPECT_EQ(cache.read("key"), "rebuilt");
}

TEST(DiskCache, EveryTruncationAndAnyExtensionIsNoticed) {
    test::FreshRandom random;
    const TemporaryFolder folder;
    const DiskCache cache(folder.path() / "cache");
    ASSERT_TRUE(cache.write("key", random_bytes(50, random())));
    const std::string whole = bytes_of(cache.path("key"));
    for (std::size_t length = 0; length < whole.size(); ++length) {
        overwrite(cache.path("key"), whole.substr(0, length));
        EXPECT_EQ(cache.read("key"), std::nullopt) << length << " bytes";
    }
    overwrite(cache.path("key"), whole + "x");
    EXPECT_EQ(cache.read("key"), std::nullopt);
    overwrite(cache.path("key"), whole);
    EXPECT_NE(cache.read("key"), std::nullopt) << "the undamaged entry, to show that the ones above could be told from it";
}

TEST(DiskCache, DoesNotFollowALinkInThePlaceOfAnEntry) {
    const TemporaryFolder folder;
    const DiskCache cache(folder.path() / "cache");
    ASSERT_TRUE(cache.write("key", "contents"));
    fs::rename(cache.path("key"), folder.path() / "moved");
    fs::create_symlink(folder.path() / "moved", cache.path("key"));
    EXPECT_EQ(cache.read("key"), std::nullopt);
}

TEST(DiskCache, AFolderThatDoesNotTakeAnEntryIsNoError) {
    const TemporaryFolder folder;
    const DiskCache cache(folder.path() / "cache");
    fs::remove_all(cache.folder());
    EXPECT_FALSE(cache.write("key", "contents"));
    EXPECT_EQ(cache.read("key"), std::nullopt);
}

TEST(DiskCache, APipeInThePlaceOfAnEntryIsNotWaitedFor) {
    const TemporaryFolder folder;
    const DiskCache cache(folder.path() / "cache");
    ASSERT_EQ(mkfifo(cache.path("key").c_str(), 0600), 0);
    EXPECT_EQ(cache.read("key"), std::nullopt);
    EXPECT_TRUE(cache.write("key", "contents"));
    EXPECT_EQ(cache.read("key"), "contents");
}

TEST(DiskCache, ALinkIsRefusedAndOneThatComesLaterNotFollowed) {
    const TemporaryFolder folder;
    const fs::path own = folder.path() / "cache";
    const fs::path others = folder.path() / "others";
    fs::create_directory(others);
    fs::create_directory_symlink(others, own);
    EXPECT_THROW(DiskCache{own}, Error);
    fs::remove(own);
    const DiskCache cache(own);
    ASSERT_TRUE(cache.write("before", "ours"));
    fs::rename(own, folder.path() / "moved");
    fs::create_directory_symlink(others, own);
    EXPECT_EQ(cache.read("before"), "ours");
    EXPECT_EQ(bytes_of(cache.path("before")).substr(0, 4), "ours");
    EXPECT_TRUE(cache.write("after", "ours, too"));
    EXPECT_TRUE(fs::is_empty(others));
}

TEST(DiskCache, TheLeastRecentlyUsedGoFirst) {
    const TemporaryFolder folder;
    constexpr std::int64_t bound = 100'000;
    const std::string contents(9'000, 'c');
    const DiskCache large(folder.path() / "cache");
    constexpr int count = 20;
    for (int i = 0; i < count; ++i) {
        ASSERT_TRUE(large.write(std::to_string(i), contents));
        used(large.path(std::to_string(i)), 1'000'000 + i);
    }
    EXPECT_NE(large.read("0"), std::nullopt);  // used now, so the last to go
    const DiskCache small(folder.path() / "cache", bound);
    ASSERT_TRUE(small.write("new", contents));
    EXPECT_LE(size_of(small.folder()), bound);
    EXPECT_NE(small.read("0"), std::nullopt);
    EXPECT_NE(small.read("new"), std::nullopt);
    EXPECT_EQ(small.read("1"), std::nullopt);
    bool kept = false;
    for (int i = 1; i < count; ++i) {
        const bool there = small.read(std::to_string(i)).has_value();
        EXPECT_TRUE(there || !kept) << i << " went although an older one stayed";
        kept = kept || there;
    }
    EXPECT_TRUE(kept);
}

TEST(DiskCache, StaysBoundedHoweverMuchIsWritten) {
    const TemporaryFolder folder;
    constexpr std::int64_t bound = 50'000;
    const DiskCache cache(folder.path() / "cache", bound);
    test::FreshRandom random;
    for (int i = 0; i < 120; ++i) {
        ASSERT_TRUE(cache.write(std::to_string(i), std::string(random() % 3000, 'c')));
        ASSERT_LE(size_of(cache.folder()), bound) << i;
    }
    EXPECT_GT(size_of(cache.folder()), bound / 2) << "it must not throw away more than it has to";
    ASSERT_TRUE(cache.write("too large", std::string(2 * bound, 'c')));
    EXPECT_LE(size_of(cache.folder()), bound);
}

TEST(DiskCache, TemporaryFilesOfKilledWritersAreRemovedAfterAnHour) {
    const TemporaryFolder folder;
    const DiskCache cache(folder.path() / "cache", 1000);
    const fs::path abandoned = cache.folder() / "x.entry.1.1.new";
    const fs::path current = cache.folder() / "y.entry.2.1.new";
    const fs::path unrelated = cache.folder() / "notes.txt";
    for (const auto& path : {abandoned, current, unrelated}) overwrite(path, "half");
    used(abandoned, time(nullptr) - 4000);
    used(unrelated, time(nullptr) - 4000);
    for (int i = 0; i < 20; ++i) cache.write(std::to_string(i), std::string(500, 'c'));
    EXPECT_FALSE(fs::exists(abandoned));
    EXPECT_TRUE(fs::exists(current));
    EXPECT_TRUE(fs::exists(unrelated)) << "not ours";
}

TEST(DiskCache, TheDefaultFolderFollowsTheEnvironment) {
    const EnvironmentVariable own("HONE_CACHE", "/somewhere/else");
    EXPECT_EQ(DiskCache::default_folder(), "/somewhere/else");
    const EnvironmentVariable none("HONE_CACHE", std::nullopt);
    const TemporaryFolder user;
    const EnvironmentVariable xdg("XDG_CACHE_HOME", (user.path() / "caches").string());
    EXPECT_EQ(DiskCache::default_folder(), user.path() / "caches" / "hone");
    const EnvironmentVariable relative("XDG_CACHE_HOME", "caches");
    const EnvironmentVariable home("HOME", (user.path() / "somebody").string());
    EXPECT_EQ(DiskCache::default_folder(), user.path() / "somebody" / ".cache" / "hone");
    std::ofstream(user.path() / "somebody") << "a home in which nothing can be made";
    EXPECT_EQ(DiskCache::default_folder().filename(), fmt::format("hone-{}", geteuid()));
    const EnvironmentVariable nobody("HOME", std::nullopt);
    EXPECT_EQ(DiskCache::default_folder().filename(), fmt::format("hone-{}", geteuid()));
    const EnvironmentVariable temporary("TMPDIR", "/nonexistent");
    EXPECT_EQ(DiskCache::default_folder(), fmt::format("/tmp/hone-{}", geteuid()));
}

// One writer among several: every read gives one of the writers' contents, whole. Returns the
// number of reads that did not.
int write_and_read(const DiskCache& cache, int writer, int rounds) {
    int wrong = 0;
    for (int i = 0; i < rounds; ++i) {
        const std::string key = std::to_string(i % 7);
        cache.write(key, key + std::string(static_cast<std::size_t>(1000 * (writer + 1)), static_cast<char>('a' + writer)));
        const auto contents = cache.read(key);
        if (!contents) continue;  // another writer's bound may have dropped it
        const char by = contents->back();
        if (*contents != key + std::string(static_cast<std::size_t>(1000 * (by - 'a' + 1)), by)) ++wrong;
    }
    return wrong;
}

TEST(DiskCacheProcesses, EightWriteAtOnceAndNobodyReadsAMixture) {
    const TemporaryFolder folder;
    const fs::path path = folder.path() / "cache";
    std::vector<pid_t> children;
    for (int writer = 0; writer < 8; ++writer) {
        const pid_t child = fork();
        ASSERT_GE(child, 0);
        if (child == 0) _exit(write_and_read(DiskCache(path, 60'000), writer, 60));
        children.push_back(child);
    }
    for (const pid_t child : children) {
        int status = 0;
        ASSERT_EQ(waitpid(child, &status, 0), child);
        EXPECT_TRUE(WIFEXITED(status));
        EXPECT_EQ(WEXITSTATUS(status), 0) << "contents that nobody wrote";
    }
    for (const auto& item : fs::directory_iterator(path)) EXPECT_EQ(item.path().extension(), ".entry") << "a temporary file was left";
}

TEST(ConcurrentDiskCache, ThreadsMayShareOne) {
    const TemporaryFolder folder;
    const DiskCache cache(folder.path() / "cache", 60'000);
    std::vector<std::thread> threads;
    std::vector<int> wrong(4, -1);
    for (int writer = 0; writer < 4; ++writer)
        threads.emplace_back([&, writer] { wrong[static_cast<std::size_t>(writer)] = write_and_read(cache, writer, 40); });
    for (auto& thread : threads) thread.join();
    EXPECT_EQ(wrong, std::vector<int>(4, 0));
}

}  // namespace
}  // namespace hone::disk_cache_test
