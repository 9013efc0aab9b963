#include "runtime/ranks/mesh_partition.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "foundation/error.hpp"
#include "runtime/ranks/thread_ranks.hpp"

namespace hone::mesh_partition_test {
namespace {

// The cells of a box, each with those beside it, in an order of no meaning.
MeshItems box(int nx, int ny, int nz, std::mt19937& random) {
    std::vector<int> number(static_cast<std::size_t>(nx * ny * nz)), place(number.size());
    std::iota(number.begin(), number.end(), 0);
    std::shuffle(number.begin(), number.end(), random);
    for (std::size_t n = 0; n < number.size(); ++n) place[static_cast<std::size_t>(number[n])] = static_cast<int>(n);
    MeshItems items;
    items.starts = {0};
    for (const int n : number) {
        const std::array<int, 3> at{n % nx, n / nx % ny, n / nx / ny}, cells{nx, ny, nz}, step{1, nx, nx * ny};
        items.places.push_back({static_cast<double>(at[0]), static_cast<double>(at[1]), static_cast<double>(at[2])});
        for (std::size_t axis = 0; axis < 3; ++axis)
            for (const int side : {-1, 1})
                if (at[axis] + side >= 0 && at[axis] + side < cells[axis])
                    items.neighbours.push_back(place[static_cast<std::size_t>(n + side * step[axis])]);
        items.starts.push_back(static_cast<std::int32_t>(items.neighbours.size()));
    }
    return items;
}

std::vector<double> work_of_ranks(const MeshItems& items, const std::vector<int>& ranks, std::size_t size) {
    std::vector<double> work(size);
    for (std::size_t item = 0; item < items.size(); ++item)
        work.at(static_cast<std::size_t>(ranks[item])) += items.work.empty() ? 1 : items.work[item];
    return work;
}

std::vector<Cutter> cutters() {
    std::vector<Cutter> result{Cutter::bisection};
    if (has_metis()) result.push_back(Cutter::metis);
    return result;
}

TEST(MeshPartition, GivesRanksWorkAsTheirSpeedsAndCutsLittle) {
    const auto seed = std::random_device{}();
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    MeshItems items = box(16, 8, 8, random);
    for (const bool unequal_work : {false, true}) {
        if (unequal_work)
            for (std::size_t n = 0; n < items.size(); ++n) items.work.push_back(std::uniform_real_distribution<>(1, 3)(random));
        const double all = unequal_work ? std::accumulate(items.work.begin(), items.work.end(), 0.0) : static_cast<double>(items.size());
        for (const Cutter cutter : cutters())
            for (const std::vector<double>& speeds : {std::vector<double>{1}, {1, 1}, {1, 1, 1}, {3, 1}, {1, 2, 1, 4}, {1, 1, 1, 1, 1, 1, 1, 1}}) {
                SCOPED_TRACE(speeds.size());
                const std::vector<int> ranks = partition_items(items, speeds, cutter);
                EXPECT_EQ(ranks, partition_items(items, speeds, cutter));
                const std::vector<double> work = work_of_ranks(items, ranks, speeds.size());
                const double sum = std::accumulate(speeds.begin(), speeds.end(), 0.0);
                // METIS may be three percent off, and an item is one in a thousand; bisection adds
                // half an item's work at each of three cuts.
                for (std::size_t rank = 0; rank < work.size(); ++rank)
                    EXPECT_NEAR(work[rank], all * speeds[rank] / sum, 0.04 * all / static_cast<double>(speeds.size()) + 6);
                // Eight cubes of 4^3 and 8 x 4 x 4 cells have 2 (64 + 2 * 128) = 640 cells' faces
                // between them, both ways. Twice that is cut badly.
                EXPECT_LE(words_cut(items, ranks), 2 * 640);
            }
    }
}

TEST(MeshPartition, EveryRankGetsSomething) {
    const auto seed = std::random_device{}();
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    for (int attempt = 0; attempt < 50; ++attempt) {
        const auto draw = [&](int low, int high) { return std::uniform_int_distribution<>(low, high)(random); };
        const MeshItems items = box(draw(1, 4), draw(1, 4), draw(1, 3), random);
        std::vector<double> speeds(static_cast<std::size_t>(draw(1, static_cast<int>(items.size()))));
        std::generate(speeds.begin(), speeds.end(), [&] { return std::exp(std::uniform_real_distribution<>(-5, 5)(random)); });
        for (const Cutter cutter : cutters()) {
            const std::vector<double> work = work_of_ranks(items, partition_items(items, speeds, cutter), speeds.size());
            EXPECT_GE(*std::min_element(work.begin(), work.end()), 1);
        }
    }
}

std::string reason(const MeshItems& items, const std::vector<double>& speeds, Cutter cutter = Cutter::best) {
    try {
        partition_items(items, speeds, cutter);
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

TEST(MeshPartition, RefusesWhatCannotBeShared) {
    std::mt19937 random(1);
    MeshItems items = box(2, 2, 1, random);
    EXPECT_THAT(reason(items, {1, 1, 1, 1, 1}), ::testing::HasSubstr("start at most 4"));
    EXPECT_THAT(reason(items, {1, 0}), ::testing::HasSubstr("positive"));
    EXPECT_THAT(reason(items, {}), ::testing::HasSubstr("speeds of 0 ranks"));
    items.work = {1, 1, 1};
    EXPECT_THAT(reason(items, {1, 1}), ::testing::HasSubstr("3 works"));
    items.work = {1, 1, 1, -1};
    EXPECT_THAT(reason(items, {1, 1}), ::testing::HasSubstr("work that is not positive"));
    items.work.clear();
    items.starts.back() += 1;
    EXPECT_THAT(reason(items, {1, 1}), ::testing::HasSubstr("starts"));
    EXPECT_THROW(parse_cutter("knife"), Error);
    if (!has_metis()) {
        EXPECT_THAT(reason(box(2, 2, 1, random), {1, 1}, Cutter::metis), ::testing::HasSubstr("libmetis-dev"));
    }
}

TEST(ConcurrentMeshPartition, RanksAgreeWhateverTheirSpeeds) {
    std::mt19937 random(2);
    const MeshItems items = box(6, 5, 4, random);
    const std::vector<int> expected = partition_items(items, std::vector<double>{1, 2, 3});
    run_thread_ranks(3, [&](Communicator& ranks) { EXPECT_EQ(partition_items(ranks, items, ranks.rank() + 1.0), expected); });
}

}  // namespace
}  // namespace hone::mesh_partition_test
