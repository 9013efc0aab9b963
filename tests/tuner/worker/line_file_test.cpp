#include "tuner/worker/line_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "generator/error.hpp"
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

}  // namespace
}  // namespace hone::line_file_test
