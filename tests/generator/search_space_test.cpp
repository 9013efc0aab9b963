#include "generator/search_space.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "generator/error.hpp"

namespace hone {
namespace {

using ::testing::HasSubstr;

// 3 x 4 x 2 = 24 assignments; at most 256 threads leaves out 64 x 8 twice.
SearchSpace sample_space() {
    const Constraint threads{"threads", [](const Config& config) -> std::optional<std::string> {
                                 const std::int64_t count = config.integer("block_x") * config.integer("block_y");
                                 if (count <= 256) return std::nullopt;
                                 return std::to_string(count) + " threads, the device has 256";
                             }};
    return SearchSpace({{"block_x", "threads along x", numbers({16, 32, 64})},
                        {"block_y", "threads along y", numbers({1, 2, 4, 8})},
                        {"staging", "how planes are held", words({"registers", "caches"})}},
                       {threads}, {{"block_x", std::int64_t{32}}, {"block_y", std::int64_t{4}}, {"staging", std::string("caches")}});
}

TEST(SearchSpace, IndexAndConfigurationAreInverse) {
    const SearchSpace space = sample_space();
    ASSERT_EQ(space.product(), 24);
    for (std::int64_t index = 0; index < space.product(); ++index) EXPECT_EQ(space.index_of(space.at(index)), index);
    EXPECT_EQ(space.at(0).key(), "block_x=16,block_y=1,staging=registers");
    EXPECT_EQ(space.at(1).key(), "block_x=16,block_y=1,staging=caches") << "the last tunable runs fastest";
    EXPECT_EQ(space.at(23).key(), "block_x=64,block_y=8,staging=caches");
}

TEST(SearchSpace, MembersAreExactlyWhatTheConstraintsAllow) {
    const SearchSpace space = sample_space();
    const std::vector<std::int64_t> members = space.members();
    EXPECT_EQ(members.size(), 22U);
    EXPECT_TRUE(std::is_sorted(members.begin(), members.end()));
    for (std::int64_t index = 0; index < space.product(); ++index) {
        const Config config = space.at(index);
        const bool fits = config.integer("block_x") * config.integer("block_y") <= 256;
        EXPECT_EQ(std::binary_search(members.begin(), members.end(), index), fits) << config.key();
        EXPECT_EQ(space.check(config).has_value(), !fits) << config.key();
    }
}

TEST(SearchSpace, ARejectionHasTheRuleAndTheReason) {
    const auto rejection = sample_space().check(sample_space().parse("block_x=64,block_y=8"));
    ASSERT_TRUE(rejection.has_value());
    EXPECT_EQ(rejection->constraint, "threads");
    EXPECT_THAT(rejection->reason, HasSubstr("512 threads"));
}

TEST(SearchSpace, WhatComesFromAFileIsCheckedValueByValue) {
    const SearchSpace space = sample_space();
    const Assignment x{"block_x", std::int64_t{32}};
    const Assignment y{"block_y", std::int64_t{4}};
    const Assignment staging{"staging", std::string("caches")};
    EXPECT_FALSE(space.check(Config({x, y, staging})));
    EXPECT_TRUE(space.check(Config()));
    EXPECT_TRUE(space.check(Config({x, y})));
    EXPECT_TRUE(space.check(Config({x, y, staging, staging})));
    EXPECT_TRUE(space.check(Config({y, x, staging})));
    EXPECT_TRUE(space.check(Config({{"block_x", std::int64_t{33}}, y, staging})));
    EXPECT_TRUE(space.check(Config({{"block_x", std::string("32")}, y, staging})));
    EXPECT_TRUE(space.check(Config({x, y, {"staging", std::string("disk")}})));
}

TEST(SearchSpace, ParsingFillsWithTheSafeConfiguration) {
    const SearchSpace space = sample_space();
    EXPECT_EQ(space.parse(""), space.safe());
    EXPECT_EQ(space.parse("block_y=2").key(), "block_x=32,block_y=2,staging=caches");
    EXPECT_EQ(space.parse("staging=registers,block_x=16").key(), "block_x=16,block_y=4,staging=registers");
    for (const auto index : space.members()) EXPECT_EQ(space.parse(space.at(index).key()), space.at(index));
}

TEST(SearchSpace, ParsingErrorsNameTheNearest) {
    const SearchSpace space = sample_space();
    const auto error_of = [&](const char* text) -> std::string {
        try {
            return "accepted " + space.parse(text).key();
        } catch (const Error& error) {
            return error.what();
        }
    };
    EXPECT_THAT(error_of("blok_x=32"), HasSubstr("did you mean block_x?"));
    EXPECT_THAT(error_of("staging=register"), HasSubstr("did you mean registers?"));
    EXPECT_THAT(error_of("block_x=33"), HasSubstr("use one of 16, 32, 64"));
    EXPECT_THAT(error_of("block_x"), HasSubstr("has no value"));
    EXPECT_THAT(error_of("block_x=16,block_x=32"), HasSubstr("block_x is given twice"));
    EXPECT_THAT(error_of(",block_x=16"), HasSubstr("has no value"));
}

TEST(SearchSpace, ASafeConfigurationOutsideTheSpaceIsAnError) {
    const Tunable unroll{"unroll", "", numbers({1, 2})};
    EXPECT_THROW(SearchSpace({unroll}, {}, {{"unroll", std::int64_t{3}}}), Error);
    EXPECT_THROW(SearchSpace({unroll}, {}, {}), Error);
    const Constraint never{"never", [](const Config&) { return std::optional<std::string>("no"); }};
    EXPECT_THROW(SearchSpace({unroll}, {never}, {{"unroll", std::int64_t{1}}}), Error);
    EXPECT_NO_THROW(SearchSpace({unroll}, {}, {{"unroll", std::int64_t{1}}}));
}

}  // namespace
}  // namespace hone
