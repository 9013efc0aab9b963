#include "tuner/restriction.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "foundation/error.hpp"
#include "generator/value_lists.hpp"

namespace hone::restriction_test {
namespace {

SearchSpace space() {
    return SearchSpace({{"block_x", "", numbers({8, 16, 32}), {}, "threads"}, {"form", "", words({"plain", "rows"})}}, {},
                       {{"block_x", std::int64_t{8}}, {"form", "plain"}});
}

std::vector<std::string> left_by(const std::string& text) {
    const SearchSpace all = space();
    const auto only = parse_restriction(all, text);
    std::vector<std::string> keys;
    for (const std::int64_t index : all.members())
        if (!only || only(all.at(index))) keys.push_back(all.at(index).key());
    return keys;
}

TEST(Restriction, LeavesMembersWithTheseValues) {
    EXPECT_EQ(left_by("").size(), 6U);
    EXPECT_FALSE(parse_restriction(space(), ""));
    EXPECT_EQ(left_by("form=rows").size(), 3U);
    EXPECT_EQ(left_by("block_x=16,form=rows"), (std::vector<std::string>{"block_x=16,form=rows"}));
    EXPECT_EQ(left_by("block_x=16,block_x=32,form=plain").size(), 2U) << "a name given twice: either value";
    EXPECT_EQ(left_by("block_x=16,threads=32").size(), 4U) << "a former name is the same tunable";
}

TEST(Restriction, WhatTheSpaceDoesNotHaveIsAnError) {
    for (const char* text : {"block_y=8", "block_x=9", "form", "form=row", "block_x=16;form=rows"})
        EXPECT_THROW(parse_restriction(space(), text), Error) << text;
    try {
        parse_restriction(space(), "from=rows");
        FAIL();
    } catch (const Error& error) {
        EXPECT_THAT(error.what(), testing::HasSubstr("did you mean form"));
    }
}

SearchSpace many(std::int64_t most) {
    std::vector<std::int64_t> values;
    for (std::int64_t i = 1; i <= 100; ++i) values.push_back(i);
    return SearchSpace(
        {{"block_x", "", numbers(values)}, {"block_y", "", numbers(values)}},
        {{"most", [most](const Config& c) { return c.integer("block_x") > most ? std::optional<std::string>("too large") : std::nullopt; }}},
        {{"block_x", std::int64_t{1}}, {"block_y", std::int64_t{1}}});
}

std::vector<std::string> drawn_keys(const SearchSpace& space, std::int64_t count, std::uint64_t seed) {
    std::vector<std::string> keys;
    for (const std::int64_t index : drawn_members(space, space.members(), count, seed)) keys.push_back(space.at(index).key());
    std::sort(keys.begin(), keys.end());
    return keys;
}

TEST(DrawnMembers, AreSoManyOfThoseThatAreLeftAndFollowFromTheSeed) {
    const SearchSpace space = many(100);
    EXPECT_EQ(drawn_keys(space, 500, 1), drawn_keys(space, 500, 1));
    EXPECT_NE(drawn_keys(space, 500, 1), drawn_keys(space, 500, 2));
    EXPECT_EQ(Members(drawn_members(space, space.members(), 20000, 1)), space.members()) << "no more than there are";
    const char* const text = "block_x=3,block_x=4";
    const auto only = parse_restriction(space, text);
    const std::vector<std::int64_t> drawn = drawn_members(space, restricted_members(space, space.members(), text), 50, 1);
    EXPECT_EQ(drawn.size(), 50U);
    EXPECT_TRUE(std::is_sorted(drawn.begin(), drawn.end()));
    EXPECT_TRUE(std::all_of(drawn.begin(), drawn.end(), [&](std::int64_t index) { return only(space.at(index)); }));
}

// A machine that compiles ahead may know less of the device than the one that tunes.
TEST(DrawnMembers, AreNearlyTheSameWhereADeviceAllowsALittleLess) {
    const std::vector<std::string> all = drawn_keys(many(100), 1000, 1);
    const std::vector<std::string> less = drawn_keys(many(95), 1000, 1);
    std::vector<std::string> both;
    std::set_intersection(all.begin(), all.end(), less.begin(), less.end(), std::back_inserter(both));
    EXPECT_EQ(less.size(), 1000U);
    // What is allowed on both and drawn on the one is drawn on the other.
    EXPECT_EQ(std::ptrdiff_t(both.size()),
              std::count_if(all.begin(), all.end(), [](const std::string& key) { return many(95).parse(key).integer("block_x") <= 95; }));
    EXPECT_GT(both.size(), 800U);
}

}  // namespace
}  // namespace hone::restriction_test
