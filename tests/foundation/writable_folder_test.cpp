#include "foundation/writable_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "tests/support/temporary_folder.hpp"

namespace hone {
namespace {

using testing::IsEmpty;
using testing::StartsWith;

TEST(WritableFolder, OneThatIsNotThereYetIsMadeBelowTheNearestThatIs) {
    const test::TemporaryFolder folder;
    EXPECT_THAT(why_not_writable(folder.path()), IsEmpty());
    EXPECT_THAT(why_not_writable(folder.path() / "not" / "yet"), IsEmpty());
}

TEST(WritableFolder, SaysWhatIsInTheWay) {
    const test::TemporaryFolder folder;
    const std::filesystem::path file = folder.path() / "file";
    std::ofstream(file) << "no folder";
    EXPECT_THAT(why_not_writable(file / "not" / "yet"), StartsWith(file.string() + ": "));
}

}  // namespace
}  // namespace hone
