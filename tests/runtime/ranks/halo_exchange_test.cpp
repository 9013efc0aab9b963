#include "runtime/ranks/halo_exchange.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "foundation/error.hpp"
#include "runtime/cpu/cpu_backend.hpp"
#include "runtime/ranks/thread_ranks.hpp"
#include "tests/support/places.hpp"
#include "tests/support/rank_error.hpp"

namespace hone::halo_exchange_test {
namespace {

using Cells = std::array<std::int64_t, 3>;

// A grid whose cells know where they are, cut at random, with rows that are padded and axes that
// need not be in memory as they are counted.
struct Case {
    GridPartition partition;
    int layers = 1;
    std::array<int, 3> memory{0, 1, 2};  // axes, fastest first
    std::int64_t padding = 0;

    std::int64_t word(int field, const Cells& cell) const {
        return ((field * partition.cells[2] + cell[2]) * partition.cells[1] + cell[1]) * partition.cells[0] + cell[0];
    }
};

Case random_case(std::mt19937& random, int dimensions) {
    const auto draw = [&](int low, int high) { return std::uniform_int_distribution<>(low, high)(random); };
    Case result;
    result.layers = draw(1, 4);
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(dimensions); ++axis) {
        result.partition.ranks[axis] = draw(1, 3);
        result.partition.periodic[axis] = draw(0, 1) == 1;
        result.partition.granularity[axis] = draw(result.layers, result.layers + 2);
        result.partition.cells[axis] = result.partition.granularity[axis] * (result.partition.ranks[axis] + draw(0, 2));
    }
    std::shuffle(result.memory.begin(), result.memory.end(), random);
    result.padding = draw(0, 3);
    return result;
}

// Of a field whose halo is complete: after it is spoilt one layer comes back, and the others stay
// as they are.
void check_fewer_layers(const Case& c, Communicator& communicator, HaloExchange& halo, const HaloLayout& layout, std::vector<std::int64_t>& field) {
    const std::vector<std::int64_t> whole = field;
    const auto block = c.partition.block(communicator.rank());
    for (auto& word : field) word = -9;
    const auto for_box = [&](int layers, const auto& call) {
        Cells n{};
        for (n[2] = -layers; n[2] < block[2].cells() + layers; ++n[2])
            for (n[1] = -layers; n[1] < block[1].cells() + layers; ++n[1])
                for (n[0] = -layers; n[0] < block[0].cells() + layers; ++n[0])
                    call(n, static_cast<std::size_t>(layout.origin + n[0] * layout.strides[0] + n[1] * layout.strides[1] + n[2] * layout.strides[2]));
    };
    for_box(0, [&](const Cells&, std::size_t at) { field[at] = whole[at]; });
    halo.begin(std::array{HaloField{field.data(), 1}});
    halo.end();
    std::int64_t wrong = 0;
    for_box(c.layers, [&](const Cells& n, std::size_t at) {
        int outside = 0, side_of = 0;
        for (int axis = 0; axis < 3; ++axis) {
            const auto along = static_cast<std::size_t>(axis);
            if (n[along] >= 0 && n[along] < block[along].cells()) continue;
            ++outside;
            const int side = n[along] < 0 ? 0 : 1;
            const bool next = n[along] == -1 || n[along] == block[along].cells();
            side_of = next && c.partition.neighbour(communicator.rank(), axis, side) ? 1 : 0;
        }
        const bool comes = outside == 0 || (outside == 1 && side_of == 1);
        wrong += field[at] == (comes ? whole[at] : -9) ? 0 : 1;
    });
    EXPECT_EQ(wrong, 0) << "words of rank " << communicator.rank();
}

// One rank's part: own cells have their numbers, all others are poisoned; after the exchange
// exactly the layers beyond cut faces have their numbers, too.
void check_rank(const Case& c, Communicator& communicator, Backend& backend) {
    constexpr std::int64_t poison = -7;
    constexpr int fields = 2;
    const auto block = c.partition.block(communicator.rank());
    Cells extents{};
    HaloLayout layout{{}, 0, 8, c.layers};
    std::int64_t words = 1;
    for (const int axis : c.memory) {
        const auto along = static_cast<std::size_t>(axis);
        extents[along] = block[along].cells() + 2 * c.layers;
        layout.strides[along] = words;
        layout.origin += words * c.layers;
        words *= extents[along];
        if (axis == c.memory[0]) words += c.padding;
    }
    std::array<std::vector<std::int64_t>, fields> arrays;
    arrays.fill(std::vector<std::int64_t>(static_cast<std::size_t>(words), poison));
    const auto for_all = [&](const auto& call) {
        Cells n{};
        for (n[2] = -c.layers; n[2] < block[2].cells() + c.layers; ++n[2])
            for (n[1] = -c.layers; n[1] < block[1].cells() + c.layers; ++n[1])
                for (n[0] = -c.layers; n[0] < block[0].cells() + c.layers; ++n[0]) {
                    int outside = 0;
                    bool known = true;
                    Cells global{};
                    for (std::size_t axis = 0; axis < 3; ++axis) {
                        const bool is_outside = n[axis] < 0 || n[axis] >= block[axis].cells();
                        outside += is_outside ? 1 : 0;
                        global[axis] = block[axis].first + n[axis];
                        if (is_outside && c.partition.ranks[axis] == 1) known = false;
                        if (!c.partition.periodic[axis] && (global[axis] < 0 || global[axis] >= c.partition.cells[axis])) known = false;
                        global[axis] = (global[axis] + 4 * c.partition.cells[axis]) % c.partition.cells[axis];
                    }
                    const std::int64_t at = layout.origin + n[0] * layout.strides[0] + n[1] * layout.strides[1] + n[2] * layout.strides[2];
                    call(static_cast<std::size_t>(at), global, outside, known && outside <= 1);
                }
    };
    for (int field = 0; field < fields; ++field)
        for_all([&](std::size_t at, const Cells& global, int outside, bool) {
            if (outside == 0) arrays[static_cast<std::size_t>(field)][at] = c.word(field, global);
        });
    HaloExchange halo(communicator, backend, c.partition, layout);
    for (int round = 0; round < 2; ++round) {
        halo.begin(std::array<void*, fields>{arrays[0].data(), arrays[1].data()});
        halo.end();
    }
    std::int64_t wrong = 0, right = 0, received = 0;
    for (int field = 0; field < fields; ++field)
        for_all([&](std::size_t at, const Cells& global, int outside, bool known) {
            const std::int64_t expected = known ? c.word(field, global) : poison;
            (arrays[static_cast<std::size_t>(field)][at] == expected ? right : wrong) += 1;
            received += field == 0 && known && outside == 1 ? 8 : 0;
        });
    EXPECT_EQ(wrong, 0) << "of " << wrong + right << " words of rank " << communicator.rank();
    EXPECT_EQ(all_reduce(communicator, Reduction::sum, static_cast<double>(halo.bytes_per_field())),
              all_reduce(communicator, Reduction::sum, static_cast<double>(received)));
    check_fewer_layers(c, communicator, halo, layout, arrays[0]);
}

class ConcurrentHaloExchange : public ::testing::Test {
  protected:
    DiskCache cache_{test::kernel_cache_folder()};
    std::unique_ptr<Backend> backend_ = make_cpu_backend(0, cache_);
};

TEST_F(ConcurrentHaloExchange, BringsExactlyTheLayersBeyondCutFaces) {
    const auto seed = std::random_device{}();
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    for (int attempt = 0; attempt < 24; ++attempt) {
        const Case c = random_case(random, 1 + attempt % 3);
        SCOPED_TRACE(attempt);
        run_thread_ranks(c.partition.size(), [&](Communicator& communicator) { check_rank(c, communicator, *backend_); });
    }
}

TEST_F(ConcurrentHaloExchange, RefusesWhatDoesNotFit) {
    EXPECT_THAT(test::error_of_ranks(2,
                                     [&](Communicator& ranks) {
                                         HaloExchange(ranks, *backend_, {{8, 8, 9}, {1, 1, 3}}, {{1, 8, 64}});
                                     }),
                ::testing::HasSubstr("a partition for 3 ranks"));
    EXPECT_THAT(test::error_of_ranks(3,
                                     [&](Communicator& ranks) {
                                         HaloExchange(ranks, *backend_, {{8, 8, 9}, {1, 1, 3}}, {{1, 8, 64}, 0, 8, 4});
                                     }),
                ::testing::HasSubstr("has 3 cells along z, neighbours read 4"));
    EXPECT_THAT(test::error_of_ranks(3,
                                     [&](Communicator& ranks) {
                                         HaloExchange halo(ranks, *backend_, {{8, 8, 9}, {1, 1, 3}}, {{1, 8, 64}, 0, 8, 2});
                                         halo.begin(std::array{HaloField{nullptr, 3}});
                                     }),
                ::testing::HasSubstr("3 layers of a field; use 1 to 2"));
}

}  // namespace
}  // namespace hone::halo_exchange_test
