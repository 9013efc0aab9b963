#include "solvers/output/rank_image.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <vector>

#include "runtime/ranks/thread_ranks.hpp"
#include "tests/support/temporary_folder.hpp"

namespace hone::solvers::rank_image_test {
namespace {

// A layer for each rank but the second one.
void write(Communicator& ranks, const std::filesystem::path& folder) {
    const int layers = ranks.rank() == 1 ? 0 : 1, first = ranks.rank() == 0 ? 0 : ranks.rank() - 1;
    const std::vector<float> p(static_cast<std::size_t>(6 * layers));
    VtkImage image({3, 2, layers}, {0, 0, 0}, {1, 1, 1}, {0, 0, first});
    image.cell_field("p", 1, std::span(p));
    const int all = ranks.size() == 1 ? 1 : ranks.size() - 1;
    EXPECT_EQ(write_rank_image(ranks, folder, "image", image, {3, 2, all}), ranks.size() == 1 ? "image.vti" : "image.pvti");
}

TEST(RankImage, HasAFileOfEachRankWithCells) {
    const test::TemporaryFolder folder;
    run_thread_ranks(3, [&](Communicator& ranks) { write(ranks, folder.path()); });
    EXPECT_TRUE(std::filesystem::exists(folder.path() / "image_0.vti"));
    EXPECT_FALSE(std::filesystem::exists(folder.path() / "image_1.vti"));
    std::ifstream stream(folder.path() / "image.pvti");
    const std::string text(std::istreambuf_iterator<char>(stream), {});
    EXPECT_THAT(text, ::testing::HasSubstr("WholeExtent=\"0 3 0 2 0 2\""));
    EXPECT_THAT(text, ::testing::HasSubstr("<Piece Extent=\"0 3 0 2 0 1\" Source=\"image_0.vti\"/>\n"
                                           "<Piece Extent=\"0 3 0 2 1 2\" Source=\"image_2.vti\"/>\n</PImageData>"));
}

TEST(RankImage, IsOneFileOfOneRank) {
    const test::TemporaryFolder folder;
    run_thread_ranks(1, [&](Communicator& ranks) { write(ranks, folder.path()); });
    EXPECT_TRUE(std::filesystem::exists(folder.path() / "image.vti"));
    EXPECT_FALSE(std::filesystem::exists(folder.path() / "image.pvti"));
}

}  // namespace
}  // namespace hone::solvers::rank_image_test
