#include <gtest/gtest.h>

#include <cmath>
#include <deque>
#include <limits>
#include <random>
#include <set>

#include "generator/error.hpp"
#include "tests/tuner/synthetic.hpp"
#include "tuner/strategy.hpp"

namespace hone {
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

TEST(Strategies, EveryOneAsksTheSafeConfigurationFirst) {
    const std::uint64_t seed = std::random_device{}();
    const Landscape landscape(seed);
    for (const auto& entry : strategies()) {
        const auto search = entry.make(landscape.space(), landscape.space().members(), seed);
        EXPECT_EQ(search->ask(), landscape.space().index_of(landscape.space().safe())) << entry.name;
    }
}

TEST(Strategies, ASpaceOfOneMemberIsAskedOnce) {
    const SearchSpace space({{"t", "", numbers({1})}}, {}, {{"t", std::int64_t{1}}});
    for (const auto& entry : strategies()) {
        const auto search = entry.make(space, space.members(), 1);
        EXPECT_EQ(search->ask(), 0) << entry.name;
        EXPECT_FALSE(search->ask().has_value()) << entry.name;
        search->tell(0, 1.0);
        EXPECT_FALSE(search->ask().has_value()) << entry.name;
    }
}

TEST(Strategies, AllMembersMayBeAskedBeforeAnyIsTold) {
    const Landscape landscape(std::random_device{}());
    const auto members = landscape.space().members();
    for (const auto& entry : strategies()) {
        const auto search = entry.make(landscape.space(), members, 3);
        std::set<std::int64_t> asked;
        while (const auto index = search->ask()) asked.insert(*index);
        EXPECT_EQ(asked.size(), members.size()) << entry.name;
    }
}

TEST(Strategies, ASpaceWhereAllFailsIsStillExhausted) {
    const Landscape landscape(std::random_device{}());
    const auto members = landscape.space().members();
    for (const auto& entry : strategies()) {
        const auto search = entry.make(landscape.space(), members, 3);
        std::size_t asked = 0;
        while (const auto index = search->ask()) {
            search->tell(*index, std::numeric_limits<double>::infinity());
            ++asked;
        }
        EXPECT_EQ(asked, members.size()) << entry.name;
    }
}

// The gap to the optimum after as many evaluations as a short run has, in the mean over landscapes: fixed ones, so that this is no matter of luck.
TEST(Surrogate, ComesFarNearerToTheOptimumThanRandomSearch) {
    constexpr std::uint64_t landscapes = 40;
    for (const std::size_t window : {1U, 8U}) {
        double guided = 0;
        double random = 0;
        for (std::uint64_t seed = 1; seed <= landscapes; ++seed) {
            const Landscape landscape(seed);
            const double least = optimum(landscape);
            guided += best_so_far(landscape, "surrogate", seed, 50, window).back() / least - 1;
            random += best_so_far(landscape, "random", seed, 50, window).back() / least - 1;
        }
        EXPECT_LT(guided, 0.5 * random) << "window " << window << ": mean gaps " << guided / landscapes << " and " << random / landscapes;
    }
}

// A form of kernel that hardly fits with anything else has few members, and may be the fastest: it is not left to chance whether it is met.
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
}  // namespace hone
