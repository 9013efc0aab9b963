#include "tuner/worker/line_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "foundation/error.hpp"
#include "tests/support/temporary_folder.hpp"

namespace hone::line_file_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(LineFile, IsReadAsItGrowsAndFromTheBeginningWhereItWasReplaced) {
    const test::TemporaryFolder folder;
    const auto path = folder.path() / "lines";
    LineFileReader reader(path);
    EXPECT_THAT(reader.take(), IsEmpty()) << "there is no file";
    LineFile first(path);
    first.append("one");
    first.append("");
    EXPECT_THAT(reader.take(), ElementsAre("one", ""));
    EXPECT_FALSE(reader.grows()) << "it might be what a dead process left behind";
    EXPECT_THAT(reader.take(), IsEmpty());
    first.append("two");
    EXPECT_THAT(reader.take(), ElementsAre("two"));
    EXPECT_TRUE(reader.grows());
    LineFile second(path);
    second.append("of another run");
    EXPECT_THAT(reader.take(), ElementsAre("of another run"));
    first.append("lost");
    EXPECT_THAT(reader.take(), IsEmpty()) << "the file that was replaced";
}

TEST(LineFile, ALineWithoutItsEndWaitsForIt) {
    const test::TemporaryFolder folder;
    const auto path = folder.path() / "lines";
    std::ofstream file(path);
    LineFileReader reader(path);
    file << "hal" << std::flush;
    EXPECT_THAT(reader.take(), IsEmpty());
    file << "f\nand" << std::flush;
    EXPECT_THAT(reader.take(), ElementsAre("half"));
}

TEST(LineFile, CannotBeMadeWhereThereIsNoFolder) {
    const test::TemporaryFolder folder;
    EXPECT_THROW(LineFile(folder.path() / "none" / "lines"), Error);
}

// As a coordinator's pulse and its requests do; read by another thread all the while.
TEST(ConcurrentLineFile, LinesOfSeveralThreadsStayWhole) {
    constexpr int writers = 3, lines = 200;
    const test::TemporaryFolder folder;
    const auto path = folder.path() / "lines";
    LineFile file(path);
    std::vector<std::string> taken;
    {
        std::vector<std::jthread> threads;
        for (int writer = 0; writer < writers; ++writer)
            threads.emplace_back([&file, writer] {
                for (int line = 0; line < lines; ++line) file.append(std::string(static_cast<std::size_t>(line), static_cast<char>('a' + writer)));
            });
        LineFileReader reader(path);
        while (std::ssize(taken) < writers * lines) {
            for (std::string& line : reader.take()) taken.push_back(std::move(line));
            ASSERT_LE(reader.silent_seconds(), 60);
        }
    }
    // Of each writer every line, in its order; empty ones are anybody's.
    std::array<std::size_t, writers> next{};
    for (const std::string& line : taken) {
        if (line.empty()) continue;
        const auto writer = static_cast<std::size_t>(line.front() - 'a');
        ASSERT_LT(writer, next.size());
        EXPECT_EQ(line, std::string(++next[writer], line.front()));
    }
    EXPECT_EQ(next, (std::array<std::size_t, writers>{lines - 1, lines - 1, lines - 1}));
}

}  // namespace
}  // namespace hone::line_file_test
