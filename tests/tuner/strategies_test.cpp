#include <gtest/gtest.h>

#include <cmath>
#include <deque>
#include <limits>
#include <random>
#include <set>

#include "foundation/error.hpp"
#include "generator/value_lists.hpp"
#include "tests/support/running_time.hpp"
#include "tests/tuner/large_space.hpp"
#include "tests/tuner/synthetic.hpp"
#include "tuner/strategy.hpp"

namespace hone::strategies_test {
namespace {

using test::Landscape;

/// Best cost after every tell, with `window` asks outstanding.
std::vector<double> best_so_far(const Landscape& landscape, const std::string& strategy, std::uint64_t seed, std::size_t evaluations,
                                std::size_t window) {
    const auto search = find_strategy(strategy).make(landscape.space(), landscape.space().members(), seed);
    std::deque<std::int64_t> pending;
    std::vector<double> best;
    while (best.size() < evaluations) {
        while (pending.size() < window) {
            const auto index = search->ask();
            if (!index) break;
            pending.push_back(*index);
        }
        if (pending.empty()) break;
        const double cost = landscape.cost(pending.front());
        search->tell(pending.front(), cost);
        pending.pop_front();
        best.push_back(best.empty() ? cost : std::min(best.back(), cost));
    }
    return best;
}

std::vector<std::string> names() {
    std::vector<std::string> list;
    for (const auto& entry : strategies()) list.push_back(entry.name);
    return list;
}

double optimum(const Landscape& landscape) {
    double least = std::numeric_limits<double>::infinity();
    for (const std::int64_t member : landscape.space().members()) least = std::min(least, landscape.cost(member));
    return least;
}

TEST(Strategies, TheTableNamesEachOnceAndFindsIt) {
    std::set<std::string> names;
    for (const auto& entry : strategies()) {
        EXPECT_TRUE(names.insert(entry.name).second);
        EXPECT_EQ(find_strategy(entry.name).make, entry.make);
        EXPECT_FALSE(entry.summary.empty());
    }
    EXPECT_EQ(strategies().front().name, "surrogate");
}

TEST(Strategies, AMisspeltNameIsAnsweredWithTheNearest) {
    try {
        find_strategy("local_serch");
        FAIL() << "no error";
    } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find("did you mean local_search"), std::string::npos) << error.what();
    }
}

class EveryStrategy : public testing::TestWithParam<std::string> {
  protected:
    std::unique_ptr<Strategy> make(const SearchSpace& space, std::uint64_t seed) const {
        return find_strategy(GetParam()).make(space, space.members(), seed);
    }

    static constexpr std::int64_t size = 200;  ///< of landscapes, about
    const std::uint64_t seed_ = std::random_device{}();
    const testing::ScopedTrace trace_{__FILE__, __LINE__, "seed " + std::to_string(seed_)};
};

INSTANTIATE_TEST_SUITE_P(Strategies, EveryStrategy, testing::ValuesIn(names()), [](const auto& row) { return row.param; });

TEST_P(EveryStrategy, AsksTheSafeConfigurationFirst) {
    const Landscape landscape = Landscape(seed_, size);
    EXPECT_EQ(make(landscape.space(), seed_)->ask(), landscape.space().index_of(landscape.space().safe()));
}

// 10^8 members, of which none lies in memory but those that were asked for.
TEST_P(EveryStrategy, SearchesALargeSpaceWithoutAListOfItsMembers) {
    const SearchSpace space = test::large_space();
    const Members members = space.members();
    ASSERT_GT(members.size(), 90'000'000U);
    test::RunningTime time;
    const auto search = find_strategy(GetParam()).make(space, members, seed_);
    EXPECT_LT(time.seconds(), 3) << "to begin";
    const auto cost = [&](std::int64_t index) {
        double sum = 1;
        for (const Assignment& assignment : space.at(index).assignments())
            sum += std::abs(static_cast<double>(std::get<std::int64_t>(assignment.value)) - 6);
        return sum;
    };
    std::set<std::int64_t> asked;
    double first = 0, best = std::numeric_limits<double>::infinity();
    for (int evaluation = 0; evaluation < 120; ++evaluation) {
        const auto index = search->ask();
        ASSERT_TRUE(index);
        ASSERT_TRUE(members.contains(*index)) << space.at(*index).key();
        ASSERT_TRUE(asked.insert(*index).second) << "asked twice";
        if (evaluation == 0) {
            EXPECT_EQ(*index, space.index_of(space.safe()));
            first = cost(*index);
        }
        best = std::min(best, cost(*index));
        search->tell(*index, cost(*index));
    }
    const bool learns = GetParam() == "surrogate" || GetParam() == "local_search";
    EXPECT_LE(best, (learns ? 0.5 : 1) * first);
}

TEST_P(EveryStrategy, AsksEveryMemberOnceWithManyPending) {
    for (std::uint64_t round = 0; round < 3; ++round) {
        const Landscape landscape = Landscape(seed_ + round, size);
        const auto members = landscape.space().members();
        const auto search = make(landscape.space(), seed_);
        Random random(seed_ + round);
        std::set<std::int64_t> asked;
        std::vector<std::int64_t> pending;
        while (asked.size() < members.size() || !pending.empty()) {
            if (asked.size() < members.size() && (pending.empty() || random.below(3) != 0)) {
                const auto index = search->ask();
                ASSERT_TRUE(index.has_value());
                ASSERT_FALSE(landscape.space().check(landscape.space().at(*index)).has_value()) << "no member";
                ASSERT_TRUE(asked.insert(*index).second) << "asked twice";
                pending.push_back(*index);
            } else {  // in any order
                const std::size_t place = random.index(pending.size());
                search->tell(pending[place], landscape.cost(pending[place]));
                pending.erase(pending.begin() + static_cast<std::ptrdiff_t>(place));
            }
        }
        EXPECT_FALSE(search->ask().has_value());
    }
}

TEST_P(EveryStrategy, EqualTellsGiveEqualAsks) {
    const Landscape landscape = Landscape(seed_, size);
    const auto one = make(landscape.space(), seed_);
    const auto other = make(landscape.space(), seed_);
    while (const auto index = one->ask()) {
        ASSERT_EQ(index, other->ask());
        one->tell(*index, landscape.cost(*index));
        other->tell(*index, landscape.cost(*index));
    }
}

TEST_P(EveryStrategy, WhatWasToldIsNotAsked) {
    const Landscape landscape = Landscape(seed_, size);
    const auto members = landscape.space().members();
    const auto search = make(landscape.space(), seed_);
    Random random(seed_);
    std::set<std::int64_t> known;
    const auto tell_some = [&](std::size_t count) {
        for (std::size_t i = 0; i < count; ++i) {
            const std::int64_t index = members[random.index(members.size())];
            if (known.insert(index).second) search->tell(index, landscape.cost(index));
        }
    };
    tell_some(members.size() / 3);
    const std::int64_t safe = landscape.space().index_of(landscape.space().safe());
    const bool safe_is_known = known.count(safe) != 0;
    bool first = true;
    while (const auto index = search->ask()) {
        if (first) {
            EXPECT_EQ(*index == safe, !safe_is_known);
        }
        first = false;
        ASSERT_TRUE(known.insert(*index).second) << "asked what was told";
        search->tell(*index, landscape.cost(*index));
        if (random.below(4) == 0) tell_some(1);
    }
    EXPECT_EQ(known.size(), members.size());
}

TEST_P(EveryStrategy, ASecondTellIsIgnored) {
    const Landscape landscape = Landscape(seed_, size);
    const auto one = make(landscape.space(), seed_);
    const auto other = make(landscape.space(), seed_);
    while (const auto index = one->ask()) {
        ASSERT_EQ(index, other->ask());
        for (auto* search : {one.get(), other.get()}) search->tell(*index, landscape.cost(*index));
        other->tell(*index, 1e-9);
    }
}

TEST_P(EveryStrategy, CopesWithSpacesOfAFewMembers) {
    for (const std::int64_t count : {1, 2, 10}) {
        std::vector<std::int64_t> values;
        for (std::int64_t value = 0; value < count; ++value) values.push_back(value);
        const SearchSpace space({{"t", "", numbers(values)}}, {}, {{"t", count - 1}});
        for (const std::size_t window : {1U, 4U}) {
            const auto search = make(space, seed_);
            std::deque<std::int64_t> pending;
            std::set<std::int64_t> asked;
            while (true) {
                const auto index = pending.size() < window ? search->ask() : std::nullopt;
                if (index) {
                    asked.insert(*index);
                    pending.push_back(*index);
                } else if (!pending.empty()) {
                    search->tell(pending.front(), 1.0);  // all alike
                    pending.pop_front();
                } else {
                    break;
                }
            }
            EXPECT_EQ(asked.size(), static_cast<std::size_t>(count)) << "window " << window;
        }
    }
}

TEST_P(EveryStrategy, AllMembersMayBeAskedBeforeAnyIsTold) {
    const Landscape landscape = Landscape(seed_, size);
    const auto search = make(landscape.space(), seed_);
    std::set<std::int64_t> asked;
    while (const auto index = search->ask()) asked.insert(*index);
    EXPECT_EQ(asked.size(), landscape.space().members().size());
}

TEST_P(EveryStrategy, ASpaceWhereAllFailsIsStillExhausted) {
    const Landscape landscape = Landscape(seed_, size);
    const auto search = make(landscape.space(), seed_);
    std::size_t asked = 0;
    while (const auto index = search->ask()) {
        search->tell(*index, std::numeric_limits<double>::infinity());
        ++asked;
    }
    EXPECT_EQ(asked, landscape.space().members().size());
}

// More members than the surrogate's model holds at a time: it is made anew for the first of those
// that are asked for here, and again on the way.
TEST_P(EveryStrategy, ExhaustsASpaceOfAThousandMembers) {
    constexpr std::size_t left = 150;
    const Landscape landscape = Landscape(seed_, 1200);
    const auto members = landscape.space().members();
    ASSERT_GE(members.size(), 400 + left);
    const auto search = make(landscape.space(), seed_);
    std::set<std::int64_t> asked;
    for (const std::int64_t member : members)
        if (asked.size() + left < members.size() && asked.insert(member).second) search->tell(member, landscape.cost(member));
    while (const auto index = search->ask()) {
        ASSERT_TRUE(asked.insert(*index).second);
        search->tell(*index, landscape.cost(*index));
    }
    EXPECT_EQ(asked.size(), members.size());
}

/// How far the best of so many evaluations is from the optimum, 0.1 being ten per cent, in the mean
/// over landscapes: fixed ones, so that this is no matter of luck.
double mean_gap(const std::string& strategy, std::size_t evaluations, std::size_t window) {
    constexpr std::uint64_t landscapes = 40;
    double sum = 0;
    for (std::uint64_t seed = 1; seed <= landscapes; ++seed) {
        const Landscape landscape(seed);
        sum += best_so_far(landscape, strategy, seed, evaluations, window).back() / optimum(landscape) - 1;
    }
    return sum / landscapes;
}

TEST(SlowSurrogate, IsWorthThreeTimesAsManyRandomEvaluations) {
    const double random = mean_gap("random", 150, 1);
    EXPECT_LT(mean_gap("surrogate", 50, 1), random);
    EXPECT_LT(mean_gap("surrogate", 50, 8), random) << "with 8 pending";
}

TEST(SlowStrategies, AreWorthHalfAsManyMoreRandomEvaluations) {
    const double random = mean_gap("random", 150, 1);
    for (const char* strategy : {"local_search", "annealing", "genetic"})
        for (const std::size_t window : {1U, 8U}) EXPECT_LT(mean_gap(strategy, 100, window), random) << strategy << ", window " << window;
}

// Its model holds a bounded number of members, also of those that it is told without having asked:
// each would take longer than the one before it.
TEST(Surrogate, WhatItIsToldAboveItsBoundTakesNoTime) {
    const std::uint64_t seed = std::random_device{}();
    const Landscape landscape(seed, 1500);
    const auto members = landscape.space().members();
    const auto search = find_strategy("surrogate").make(landscape.space(), members, seed);
    constexpr std::size_t asks = 30, more_than_it_holds = 450;
    ASSERT_GT(members.size(), 2 * more_than_it_holds) << "seed " << seed;
    std::set<std::int64_t> known;
    const auto ask = [&] {
        const auto index = search->ask();
        ASSERT_TRUE(index && known.insert(*index).second) << "seed " << seed;
        search->tell(*index, landscape.cost(*index));
    };
    for (std::size_t i = 0; i < asks; ++i) ask();  // now there is a model
    const auto seconds_to_tell = [&](std::size_t count) {
        test::RunningTime time;
        for (const std::int64_t member : members)
            if (known.size() < count && known.insert(member).second) search->tell(member, landscape.cost(member));
        return time.seconds();
    };
    const double filling = seconds_to_tell(more_than_it_holds);
    EXPECT_LT(seconds_to_tell(members.size() - 1), filling) << "seed " << seed;
    ask();
    EXPECT_FALSE(search->ask().has_value()) << "seed " << seed;
}

// A form of kernel that hardly fits with anything else has few members, and may be the fastest: it
// is not left to chance whether it is met.
TEST(Surrogate, MeetsAFormThatFewMembersHave) {
    const SearchSpace space(
        {{"form", "", words({"common", "rare"})}, {"x", "", numbers({0, 1, 2, 3, 4, 5, 6, 7})}, {"y", "", numbers({0, 1, 2, 3, 4, 5, 6, 7})}},
        {{"fits",
          [](const Config& config) -> std::optional<std::string> {
              if (config.word("form") == "common" || (config.integer("x") == 7 && config.integer("y") == 7)) return std::nullopt;
              return "only with x=7,y=7";
          }}},
        {{"form", "common"}, {"x", 0}, {"y", 0}});
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        const auto search = find_strategy("surrogate").make(space, space.members(), seed);
        bool met = false;
        for (int i = 0; i < 8; ++i) {
            const auto index = search->ask();
            ASSERT_TRUE(index.has_value());
            met = met || space.at(*index).word("form") == "rare";
            search->tell(*index, 1.0);
        }
        EXPECT_TRUE(met) << "seed " << seed;
    }
}

}  // namespace
}  // namespace hone::strategies_test
