#include "runtime/ranks/slab.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "tests/support/fresh_random.hpp"

namespace hone::slab_test {
namespace {

TEST(Slab, ItsPartsAreItsOwnLayersOnceEach) {
    test::FreshRandom random;
    for (int attempt = 0; attempt < 200; ++attempt) {
        const auto draw = [&](int low, int high) { return std::uniform_int_distribution<>(low, high)(random); };
        const int ranks = draw(1, 5), layers = draw(1, 4), reach = draw(1, 6);
        const GridPartition partition{{1, 1, ranks * draw(layers, 12)}, {1, 1, ranks}};
        for (int rank = 0; rank < ranks; ++rank) {
            const Slab slab = slab_of(partition, rank, 2, layers);
            EXPECT_EQ(slab.is_cut(), ranks > 1);
            EXPECT_EQ(slab.below, rank > 0 ? layers : 0);
            EXPECT_EQ(slab.above, rank + 1 < ranks ? layers : 0);
            std::vector<int> times(static_cast<std::size_t>(slab.stored()));
            const Slab::Parts parts = slab.parts(reach);
            const auto count = [&](const CellRange& range) {
                for (auto layer = range.first; layer < range.last; ++layer) ++times[static_cast<std::size_t>(layer)];
            };
            for (const CellRange& edge : parts.edges) count(edge);
            if (parts.interior) {
                EXPECT_GT(parts.interior->cells(), 0);
                count(*parts.interior);
                // Nothing in it is what a neighbour reads.
                if (slab.below > 0) EXPECT_GE(parts.interior->first, slab.begin() + reach);
                if (slab.above > 0) EXPECT_LE(parts.interior->last, slab.end() - reach);
            }
            for (std::int64_t layer = 0; layer < slab.stored(); ++layer)
                EXPECT_EQ(times[static_cast<std::size_t>(layer)], layer >= slab.begin() && layer < slab.end() ? 1 : 0);
            const CellRange wide = slab.with(2, 100);
            EXPECT_EQ(wide.first, slab.begin() - std::min(2, slab.below));
            EXPECT_EQ(wide.last, slab.stored());
            EXPECT_EQ(slab.stored_in_grid().cells(), slab.stored());
        }
    }
}

}  // namespace
}  // namespace hone::slab_test
