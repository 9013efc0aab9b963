#include "examples/options/on_ranks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <mutex>

#include "foundation/error.hpp"
#include "tests/support/temporary_folder.hpp"

namespace hone::examples::on_ranks_test {
namespace {

// A program with one option; result: its code and what ran.
struct Ran {
    int code = 0;
    std::map<int, int> sizes;  ///< by rank
};
Ran ran(std::vector<std::string> words, int bad_rank = -1) {
    Ran result;
    std::mutex mutex;
    std::string devices = "one";
    CLI::App app;
    std::string records;
    bool tunes = false;
    app.add_option("--device", devices);
    app.add_option("--db", records);
    app.add_flag("--tune-exchange", tunes);
    words.insert(words.begin(), "program");
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    result.code = run_on_ranks("program", app, static_cast<int>(arguments.size()), arguments.data(), devices, [&](Communicator& ranks) {
        const std::lock_guard lock(mutex);
        result.sizes[ranks.rank()] = ranks.size();
        if (ranks.rank() == bad_rank) throw Error("something", "it is wrong", "mend it");
        return ranks.rank() == 0 ? 7 : 0;
    });
    return result;
}

TEST(RunOnRanks, TakesAThreadForEachDevice) {
    const Ran alone = ran({});
    EXPECT_EQ(alone.code, 7);
    EXPECT_EQ(alone.sizes, (std::map<int, int>{{0, 1}}));
    const Ran several = ran({"--device", "a,b,c"});
    EXPECT_EQ(several.code, 7);
    EXPECT_EQ(several.sizes, (std::map<int, int>{{0, 3}, {1, 3}, {2, 3}}));
}

TEST(RunOnRanks, MakesTheFolderThatTuningWritesTo) {
    const test::TemporaryFolder folder;
    const std::string records = (folder.path() / "new" / "records").string();
    EXPECT_EQ(ran({"--db", records}).code, 7);
    EXPECT_FALSE(std::filesystem::exists(records));
    EXPECT_EQ(ran({"--db", records, "--tune-exchange"}).code, 7);
    EXPECT_TRUE(std::filesystem::is_directory(records));
}

TEST(RunOnRanks, EndsWithWhatIsWrong) {
    ::testing::internal::CaptureStderr();
    EXPECT_EQ(ran({"--device", "a,b"}, 1).code, 2);
    EXPECT_THAT(::testing::internal::GetCapturedStderr(), ::testing::HasSubstr("program: rank 1 of 2: something: it is wrong"));
    ::testing::internal::CaptureStderr();
    EXPECT_EQ(ran({"--devise", "a,b"}).code, 2);
    EXPECT_THAT(::testing::internal::GetCapturedStderr(), ::testing::HasSubstr("--devise"));
}

}  // namespace
}  // namespace hone::examples::on_ranks_test
