#include "runtime/ranks/gather_exchange.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <random>

#include "foundation/error.hpp"
#include "runtime/cpu/cpu_backend.hpp"
#include "runtime/ranks/thread_ranks.hpp"
#include "tests/support/places.hpp"
#include "tests/support/rank_error.hpp"

namespace hone::gather_exchange_test {
namespace {

// Items with an owner each; every rank has its own and copies of some others', at places of its own
// choice.
struct Case {
    int ranks = 1;
    std::vector<int> owner;
    std::vector<std::vector<int>> at;  ///< [rank][item]: its place there, -1 where the rank has it not
};

Case random_case(std::mt19937& random) {
    const auto draw = [&](int low, int high) { return std::uniform_int_distribution<>(low, high)(random); };
    Case result{draw(1, 5), std::vector<int>(static_cast<std::size_t>(draw(1, 40))), {}};
    for (int& owner : result.owner) owner = draw(0, result.ranks - 1);
    for (int rank = 0; rank < result.ranks; ++rank) {
        std::vector<int> places(2 * result.owner.size());
        std::iota(places.begin(), places.end(), 0);
        std::shuffle(places.begin(), places.end(), random);
        places.resize(result.owner.size());
        for (std::size_t item = 0; item < places.size(); ++item)
            if (result.owner[item] != rank && draw(0, 2) > 0) places[item] = -1;
        result.at.push_back(places);
    }
    return result;
}

std::vector<GatherLink> links_of(const Case& c, int rank) {
    std::vector<GatherLink> links;
    const auto& here = c.at[static_cast<std::size_t>(rank)];
    for (int other = 0; other < c.ranks; ++other) {
        GatherLink link{other, {}, {}};
        const auto& there = c.at[static_cast<std::size_t>(other)];
        for (std::size_t item = 0; item < c.owner.size(); ++item) {
            if (c.owner[item] == rank && there[item] >= 0) link.own.push_back(here[item]);
            if (c.owner[item] == other && here[item] >= 0) link.copies.push_back(here[item]);
        }
        if (other != rank && !(link.own.empty() && link.copies.empty())) links.push_back(link);
    }
    return links;
}

// After the exchange exactly the copies have their items' words, and everything else what it had.
template <typename Word>
void check_rank(const Case& c, Communicator& communicator, Backend& backend) {
    constexpr Word poison = 77777;
    constexpr int fields = 2;
    const auto& here = c.at[static_cast<std::size_t>(communicator.rank())];
    const auto word = [&](int field, std::size_t item) { return static_cast<Word>(1000 * field + static_cast<int>(item)); };
    std::array<std::vector<Word>, fields> arrays, expected;
    for (int field = 0; field < fields; ++field) {
        auto& own = arrays[static_cast<std::size_t>(field)];
        own.assign(2 * c.owner.size(), poison);
        auto& all = expected[static_cast<std::size_t>(field)] = own;
        for (std::size_t item = 0; item < c.owner.size(); ++item) {
            if (here[item] < 0) continue;
            all[static_cast<std::size_t>(here[item])] = word(field, item);
            if (c.owner[item] == communicator.rank()) own[static_cast<std::size_t>(here[item])] = word(field, item);
        }
    }
    // Work in between is done once, whether what arrives waits for it or the other way round.
    int between = 0;
    const auto before = arrays;
    for (const EdgePlace place : {EdgePlace::beside, EdgePlace::serial}) {
        communicator.set_exchange_settings({.edges = place});
        arrays = before;
        GatherExchange exchange(communicator, backend, links_of(c, communicator.rank()), sizeof(Word));
        for (int round = 0; round < 2; ++round) {
            exchange.begin(std::array<void*, fields>{arrays[0].data(), arrays[1].data()}, [&] { ++between; });
            exchange.end();
        }
        EXPECT_EQ(arrays, expected) << "rank " << communicator.rank();
    }
    EXPECT_EQ(between, 4);
}

class ConcurrentGatherExchange : public ::testing::Test {
  protected:
    DiskCache cache_{test::kernel_cache_folder()};
    std::unique_ptr<Backend> backend_ = make_cpu_backend(0, cache_);
};

TEST_F(ConcurrentGatherExchange, BringsExactlyTheCopies) {
    const auto seed = std::random_device{}();
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    for (int attempt = 0; attempt < 24; ++attempt) {
        SCOPED_TRACE(attempt);
        const Case c = random_case(random);
        run_thread_ranks(c.ranks, [&](Communicator& communicator) {
            check_rank<std::uint64_t>(c, communicator, *backend_);
            check_rank<std::uint32_t>(c, communicator, *backend_);
        });
    }
}

TEST_F(ConcurrentGatherExchange, RefusesWhatDoesNotFit) {
    const auto made_of = [&](const std::vector<GatherLink>& links, int bytes) {
        return test::error_of_ranks(2, [&](Communicator& ranks) { GatherExchange(ranks, *backend_, links, bytes); });
    };
    EXPECT_THAT(made_of({{2, {0}, {}}}, 8), ::testing::HasSubstr("a link to rank 2 of 2"));
    EXPECT_THAT(made_of({{1, {0}, {}}, {1, {}, {1}}}, 8), ::testing::HasSubstr("two links to rank 1"));
    EXPECT_THAT(made_of({{0, {-1}, {}}}, 8), ::testing::HasSubstr("negative place"));
    EXPECT_THAT(made_of({}, 2), ::testing::HasSubstr("words of 2 bytes"));
    // A list that is longer on one side than on the other.
    EXPECT_THAT(test::error_of_ranks(2,
                                     [&](Communicator& ranks) {
                                         std::array<double, 4> field{};
                                         const bool first = ranks.rank() == 0;
                                         GatherExchange exchange(
                                             ranks, *backend_,
                                             {{first ? 1 : 0, first ? std::vector<std::int64_t>{0, 1} : std::vector<std::int64_t>{},
                                               first ? std::vector<std::int64_t>{} : std::vector<std::int64_t>{2}}},
                                             8);
                                         exchange.begin(std::array<void*, 1>{field.data()});
                                         exchange.end();
                                     }),
                ::testing::HasSubstr("exchange of messages"));
}

}  // namespace
}  // namespace hone::gather_exchange_test
