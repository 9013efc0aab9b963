#include "generator/census.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <numeric>
#include <thread>

#include "foundation/error.hpp"
#include "generator/early_expression.hpp"
#include "generator/value_lists.hpp"
#include "tests/support/fresh_random.hpp"
#include "tests/support/running_time.hpp"

namespace hone::census_test {
namespace {

std::vector<std::int64_t> powers(std::size_t count) {
    std::vector<std::int64_t> values(count);
    for (std::size_t i = 0; i < count; ++i) values[i] = std::int64_t{1} << i;
    return values;
}

std::vector<std::int64_t> up_to(std::int64_t last) {
    std::vector<std::int64_t> values(static_cast<std::size_t>(last));
    std::iota(values.begin(), values.end(), 1);
    return values;
}

/// A space of whole numbers with expressions as constraints, which are asked early, or only once
/// all that they read is known.
SearchSpace space_of(const std::vector<Tunable>& tunables, const std::vector<std::string>& rules, const std::vector<std::int64_t>& safe,
                     bool early = true) {
    auto names = std::make_shared<std::vector<EarlyName>>();
    for (const Tunable& tunable : tunables) {
        EarlyName& name = names->emplace_back(EarlyName{tunable.name, {}});
        for (const Value& value : tunable.values) name.values.push_back({std::get<std::int64_t>(value)});
    }
    std::vector<Constraint> constraints;
    for (const std::string& rule : rules) {
        const PythonExpression expression(rule, "rule");
        Constraint& constraint =
            constraints.emplace_back(Constraint{rule,
                                                [expression](const Config& config) -> std::optional<std::string> {
                                                    const auto value = [&](const std::string& name) { return PythonValue{config.integer(name)}; };
                                                    if (expression.evaluate(value).truth()) return std::nullopt;
                                                    return "it is broken";
                                                },
                                                expression.names()});
        if (early)
            constraint.early = [expression, names] { return std::make_unique<EarlyExpression>(expression, names, PythonExpression::Lookup()); };
    }
    std::vector<Assignment> first;
    for (std::size_t i = 0; i < tunables.size(); ++i) first.push_back({tunables[i].name, safe.empty() ? tunables[i].values.front() : Value(safe[i])});
    return {tunables, std::move(constraints), std::move(first)};
}

std::vector<Tunable> alike(std::size_t count, const std::vector<std::int64_t>& values) {
    std::vector<Tunable> tunables;
    for (std::size_t i = 0; i < count; ++i) tunables.push_back({fmt::format("t{}", i), "", numbers(values)});
    return tunables;
}

std::string product_of(std::size_t count, const char* sign) {
    std::string text;
    for (std::size_t i = 0; i < count; ++i) text += fmt::format("{}t{}", i == 0 ? "" : sign, i);
    return text;
}

double megabytes() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return static_cast<double>(usage.ru_maxrss) / 1024;
}

// Random spaces, one by one and as trees.
TEST(Census, ATreeHasWhatAWalkFinds) {
    test::FreshRandom random;
    const auto below = [&](std::size_t bound) { return static_cast<std::size_t>(random() % bound); };
    std::size_t compared = 0;
    for (int trial = 0; trial < 150; ++trial) {
        std::vector<Tunable> tunables;
        const std::size_t count = 1 + below(6);
        for (std::size_t i = 0; i < count; ++i)
            tunables.push_back(
                {fmt::format("t{}", i), "", numbers(below(2) == 0 ? powers(1 + below(5)) : up_to(1 + static_cast<std::int64_t>(below(5))))});
        const auto name = [&] { return tunables[below(count)].name; };
        std::vector<std::string> rules;
        for (std::size_t rule = below(4); rule > 0; --rule) {
            const std::vector<std::string> kinds{fmt::format("{} * {} * {} <= {}", name(), name(), name(), 1 + below(64)),
                                                 fmt::format("{} % {} == 0", name(), name()),
                                                 fmt::format("{} + {} >= {}", name(), name(), below(8)),
                                                 fmt::format("{} != {} or {} <= 2", name(), name(), name()),
                                                 fmt::format("({}, {}) in [(1, 2), (2, 2), (1, 4), (1, 1)]", name(), name()),
                                                 fmt::format("{} in [1, 2, 3]", name())};
            rules.push_back(kinds[below(kinds.size())]);
        }
        std::vector<std::int64_t> safe(count, 1);
        for (const bool early : {true, false}) {
            SearchSpace space;
            try {
                space = space_of(tunables, rules, safe, early);
            } catch (const Error&) {
                continue;  // the first configuration is no member
            }
            std::vector<std::int64_t> members;
            for (std::int64_t index = 0; index < space.product(); ++index)
                if (!space.check(space.at(index))) members.push_back(index);
            const Census census = early_census(space, {});
            ASSERT_EQ(census.members, Members(members)) << fmt::format("{}", fmt::join(rules, "; "));
            std::int64_t all = std::ssize(census.members);
            for (const auto& row : census.rejected) {
                all += row.count;
                EXPECT_NE(space.check(row.example), std::nullopt) << row.constraint;
            }
            EXPECT_EQ(all, space.product()) << "each configuration is counted once";
            EXPECT_EQ(space.members(), census.members);
            const Census walked = take_census(space);
            EXPECT_EQ(walked.members, census.members);
            ++compared;
        }
    }
    EXPECT_GT(compared, 50U);
}

// The members themselves are known by mathematics, not by a walk of 10^10.
TEST(Census, TenToTheTenWithATightRuleAreCutAtOnce) {
    test::RunningTime time;
    // Products of ten numbers 1 to 10 that are 7: one of them is 7, the others are 1.
    const SearchSpace seven = space_of(alike(10, up_to(10)), {product_of(10, " * ") + " == 7"}, {7, 1, 1, 1, 1, 1, 1, 1, 1, 1});
    const Members members = seven.members();
    ASSERT_EQ(members.size(), 10U);
    for (const std::int64_t index : members) EXPECT_EQ(seven.check(seven.at(index)), std::nullopt);
    EXPECT_EQ(members.find(seven.index_of(seven.safe())), 9U) << "ascending: the greatest first value is last";
    // Sums of ten numbers 1 to 10 that are 13: three more than the least, over ten: 12 over 3.
    const SearchSpace sum = space_of(alike(10, up_to(10)), {product_of(10, " + ") + " == 13"}, {4, 1, 1, 1, 1, 1, 1, 1, 1, 1});
    EXPECT_EQ(sum.members().size(), 220U);
    // A rule that the last tunables decide.
    const SearchSpace late =
        space_of(alike(10, up_to(10)), {"t8 * t9 == 1", "t0 == t7", "t1 == t6 and t2 == t5", "t3 + t4 == 2"}, std::vector<std::int64_t>(10, 1));
    EXPECT_EQ(late.members().size(), 1000U);
    EXPECT_LT(time.seconds(), 3) << "a second each, with sanitizers, too";
}

TEST(Census, SevenTunablesOf32ValuesAreCountedAtOnce) {
    test::RunningTime time;
    const SearchSpace space = space_of(alike(7, up_to(32)), {product_of(7, " * ") + " <= 64", "t0 % t1 == 0"}, {});
    const Members members = space.members();
    EXPECT_GT(members.size(), 1000U);
    EXPECT_LT(time.seconds(), 3);
    for (std::size_t i = 0; i < members.size(); i += 997) {
        EXPECT_EQ(space.check(space.at(members[i])), std::nullopt);
        EXPECT_EQ(members.find(members[i]), i);
    }
}

TEST(Census, TenToTheEightLooseMembersTakeLittleTimeAndMemory) {
    const double before = megabytes();
    test::RunningTime time;
    const std::vector<std::string> rules{"t0 * t1 <= 90", "t2 + t3 != 3", "t4 % 2 == 0 or t5 > 1", product_of(8, " + ") + " >= 10"};
    const SearchSpace space = space_of(alike(8, up_to(10)), rules, {2, 2, 2, 2, 2, 2, 2, 2});
    const Census census = take_census(space);
    EXPECT_LT(time.seconds(), 1);
    EXPECT_LT(megabytes() - before, 150);
    EXPECT_GT(census.members.size(), 80'000'000U);
    std::int64_t all = std::ssize(census.members);
    for (const auto& row : census.rejected) all += row.count;
    EXPECT_EQ(all, 100'000'000);
    // Any of them, and any assignment, without the others.
    test::FreshRandom random;
    for (int draw = 0; draw < 2000; ++draw) {
        const auto member = static_cast<std::size_t>(random() % census.members.size());
        const std::int64_t index = census.members[member];
        EXPECT_EQ(space.check(space.at(index)), std::nullopt);
        EXPECT_EQ(census.members.find(index), member);
        const auto any = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(space.product()));
        EXPECT_EQ(census.members.contains(any), !space.check(space.at(any)).has_value());
    }
    const auto holders = space.holders(census.members);
    for (const auto& of_tunable : holders)
        EXPECT_EQ(std::accumulate(of_tunable.begin(), of_tunable.end(), std::int64_t{0}), std::ssize(census.members));
}

TEST(Census, MembersOfOneListOfTheirsAreFoundAtOnce) {
    test::RunningTime time;
    std::string list;
    for (int i = 0; i < 1000; ++i)
        list += fmt::format("{}({}, {}, {}, {}, {}, {}, {}, {})", i == 0 ? "" : ", ", 1 + i % 16, 1 + i % 15, 1 + i % 14, 1 + i % 13, 1 + i % 11,
                            1 + i % 9, 1 + i % 7, 1 + i % 5);
    const SearchSpace space = space_of(alike(8, up_to(16)), {"(" + product_of(8, ", ") + ") in [" + list + "]"}, {});
    EXPECT_EQ(space.members().size(), 1000U);
    EXPECT_LT(time.seconds(), 3);
}

TEST(Census, EnumerationEndsWhereItIsStopped) {
    // A rule that no two beginnings share anything of.
    const std::vector<Tunable> tunables = alike(10, up_to(10));
    std::string hash = "t0";
    for (int i = 1; i < 10; ++i) hash = fmt::format("({} * 31 + t{}) % 1000003", hash, i);
    const SearchSpace space = space_of(tunables, {hash + " != 5"}, {});
    test::RunningTime time;
    EXPECT_LT(space.members([&] { return time.seconds() > 0.2; }).size(), 10'000'000'000U);
    EXPECT_LT(time.seconds(), 2);
    const SearchSpace unread = space_of(tunables, {hash + " != 5"}, {}, false);
    test::RunningTime again;
    unread.members([&] { return again.seconds() > 0.2; });
    EXPECT_LT(again.seconds(), 2);
}

TEST(Census, TheFirstMemberIsFoundWithoutAWalk) {
    const auto first = [](const SearchSpace& space, const std::vector<std::size_t>& sizes) {
        std::vector<std::unique_ptr<EarlyRule>> rules;
        for (const Constraint& constraint : space.forms().front().constraints) rules.push_back(constraint.early());
        return first_member(sizes, rules);
    };
    const std::vector<std::size_t> sizes(10, 10);
    const SearchSpace late = space_of(alike(10, up_to(10)), {"t0 * t1 == 100", "t9 + t8 == 20"}, {10, 10, 1, 1, 1, 1, 1, 1, 10, 10});
    EXPECT_EQ(first(late, sizes), (std::vector<std::uint16_t>{9, 9, 0, 0, 0, 0, 0, 0, 9, 9}));
    EXPECT_THROW(space_of(alike(30, up_to(10)), {}, {}), Error) << "10^30 assignments have no numbers";
}

}  // namespace
}  // namespace hone::census_test
