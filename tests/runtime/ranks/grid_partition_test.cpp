#include "runtime/ranks/grid_partition.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <set>
#include <vector>

#include "foundation/error.hpp"

namespace hone::grid_partition_test {
namespace {

using ::testing::HasSubstr;
using Cells = std::array<std::int64_t, 3>;

TEST(GridPartition, EveryCellHasOneRankAndNeighboursTouch) {
    const auto seed = std::random_device{}();
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const auto draw = [&](unsigned most) { return static_cast<int>(random() % most) + 1; };
    for (int attempt = 0; attempt < 100; ++attempt) {
        GridPartition partition{{draw(40), draw(40), draw(40)}, {draw(3), draw(3), draw(3)}, {}, {draw(5), draw(5), draw(5)}};
        for (std::size_t axis = 0; axis < 3; ++axis) {
            partition.periodic[axis] = random() % 2 == 0;
            partition.cells[axis] = std::max(partition.cells[axis], partition.granularity[axis] * partition.ranks[axis]);
        }
        ASSERT_NO_THROW(partition.check());
        std::vector<int> owner(static_cast<std::size_t>(partition.cells[0] * partition.cells[1] * partition.cells[2]), -1);
        const auto at = [&](const Cells& cell) -> int& {
            return owner[static_cast<std::size_t>((cell[2] * partition.cells[1] + cell[1]) * partition.cells[0] + cell[0])];
        };
        for (int rank = 0; rank < partition.size(); ++rank) {
            ASSERT_EQ(partition.rank_at(partition.place(rank)), rank);
            const auto block = partition.block(rank);
            for (std::size_t axis = 0; axis < 3; ++axis) {
                ASSERT_GT(block[axis].cells(), 0);
                ASSERT_EQ(block[axis].first % partition.granularity[axis], 0);
            }
            for (std::int64_t k = block[2].first; k < block[2].last; ++k)
                for (std::int64_t j = block[1].first; j < block[1].last; ++j)
                    for (std::int64_t i = block[0].first; i < block[0].last; ++i) {
                        ASSERT_EQ(at({i, j, k}), -1);
                        at({i, j, k}) = rank;
                    }
        }
        ASSERT_EQ(std::count(owner.begin(), owner.end(), -1), 0);
        // Who owns the cell beyond the first and the last of a block?
        for (int rank = 0; rank < partition.size(); ++rank)
            for (int axis = 0; axis < 3; ++axis)
                for (const int side : {0, 1}) {
                    const auto along = static_cast<std::size_t>(axis);
                    const auto block = partition.block(rank);
                    Cells cell{block[0].first, block[1].first, block[2].first};
                    cell[along] = side == 0 ? block[along].first - 1 : block[along].last;
                    const bool beyond = cell[along] < 0 || cell[along] == partition.cells[along];
                    cell[along] = (cell[along] + partition.cells[along]) % partition.cells[along];
                    const auto neighbour = partition.neighbour(rank, axis, side);
                    const bool expected = partition.ranks[along] > 1 && (!beyond || partition.periodic[along]);
                    ASSERT_EQ(neighbour.has_value(), expected);
                    if (expected) {
                        ASSERT_EQ(*neighbour, at(cell));
                    }
                }
    }
}

TEST(GridPartition, CutsTheSmallestFaces) {
    EXPECT_EQ(partition_grid({64, 64, 64}, {}, 8).ranks, (std::array<int, 3>{2, 2, 2}));
    EXPECT_EQ(partition_grid({64, 64, 64}, {}, 4).ranks, (std::array<int, 3>{1, 2, 2}));
    EXPECT_EQ(partition_grid({1000, 10, 1}, {}, 6).ranks, (std::array<int, 3>{6, 1, 1}));
    EXPECT_EQ(partition_grid({512, 512, 1}, {}, 2).ranks, (std::array<int, 3>{1, 2, 1})) << "along the slower axis";
    EXPECT_EQ(partition_grid({64, 64, 64}, {}, 8, {1, 1, 8}, {false, false, true}).ranks, (std::array<int, 3>{1, 1, 8}));
}

std::string reason(const std::function<void()>& call) {
    try {
        call();
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

TEST(GridPartition, RefusesRanksWithoutCells) {
    EXPECT_THAT(reason([] { partition_grid({64, 64, 64}, {}, 9, {1, 1, 8}, {false, false, true}); }), HasSubstr("start at most 8"));
    EXPECT_THAT(reason([] { partition_grid({4, 4, 1}, {}, 17); }), HasSubstr("start at most 16"));
    EXPECT_THAT(reason([] { partition_grid({4, 4, 4}, {}, 7); }), HasSubstr("smaller prime factors"));
    EXPECT_THAT(reason([] { GridPartition{{4, 4, 4}, {1, 5, 1}}.check(); }), HasSubstr("5 ranks along y"));
}

}  // namespace
}  // namespace hone::grid_partition_test
