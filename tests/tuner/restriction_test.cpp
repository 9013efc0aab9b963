#include "tuner/restriction.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "generator/error.hpp"

namespace hone {
namespace {

SearchSpace space() {
    return SearchSpace({{"block_x", "", numbers({8, 16, 32})}, {"form", "", words({"plain", "rows"})}}, {},
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

}  // namespace
}  // namespace hone
