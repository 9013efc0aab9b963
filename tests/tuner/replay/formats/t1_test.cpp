#include "tuner/replay/formats/t1.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "foundation/error.hpp"
#include "foundation/file_store.hpp"
#include "tests/support/community_spaces.hpp"
#include "tests/support/places.hpp"

namespace hone::t1_test {
namespace {

using ::testing::HasSubstr;

const std::string spaces = test::source_path("tests/spaces/");

std::string error_of(const std::string& text) {
    try {
        parse_t1(text, "some.json");
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

std::string with(const std::string& parameters, const std::string& conditions) {
    return R"({"ConfigurationSpace": {"TuningParameters": [)" + parameters + R"(], "Conditions": [)" + conditions + "]}}";
}

const std::string two =
    R"({"Name": "x", "Type": "int", "Values": "[1, 2, 4]", "Default": 2}, {"Name": "way", "Type": "string", "Values": "['a', 'b']"})";

// The description of a space and its measurement agree: what the conditions leave is what was
// measured.
TEST(T1, ConditionsLeaveWhatTheCommunityMeasured) {
    int read = 0;
    for (const auto& [description, measured, defaults] : {std::tuple{"convolution_milo.json", "convolution_milo__MI250X.json.gz", true},
                                                          {"dedispersion_milo.json", "dedispersion_milo__A100.json.gz", false},
                                                          {"pnpoly.json", "pnpoly__RTX_3090.json.gz", true}}) {
        const std::string described_file = test::community_space(std::string("t1/") + description);
        const std::string measured_file = test::community_space(measured);
        if (described_file.empty() || measured_file.empty()) continue;
        ++read;
        const T1Space described = parse_t1(read_file(described_file, 1 << 20), description);
        const RecordedSpace recorded = read_recorded_space(measured_file);
        EXPECT_EQ(described.kernel, recorded.title().kernel);
        EXPECT_EQ(described.defaults_are_safe, defaults) << description;
        ASSERT_EQ(described.space.tunables().size(), recorded.tunables().size());
        for (std::size_t d = 0; d < recorded.tunables().size(); ++d) {
            EXPECT_EQ(described.space.tunables()[d].name, recorded.tunables()[d].name);
            EXPECT_EQ(described.space.tunables()[d].values, recorded.tunables()[d].values);
        }
        EXPECT_EQ(described.space.members(), recorded.members()) << description;
    }
    if (read == 0) GTEST_SKIP() << test::no_community_spaces;
}

TEST(T1, AFileOfOnesOwnHasItsDefaultsAndMembers) {
    const T1Space t1 = parse_t1(read_file(test::source_path("tests/spaces/t1/tiled_sum.json"), 1 << 20), "tiled_sum.json");
    EXPECT_EQ(t1.kernel, "tiled_sum");
    EXPECT_TRUE(t1.defaults_are_safe);
    EXPECT_EQ(t1.space.safe().key(), "block_x=32,block_y=4,shared=true,padding=1");
    std::vector<std::int64_t> members;
    for (std::int64_t index = 0; index < t1.space.product(); ++index) {
        const Config config = t1.space.at(index);
        const bool shared = config.word("shared") == "true";
        if (config.integer("block_x") * config.integer("block_y") <= 256 && (shared || config.integer("padding") == 0)) members.push_back(index);
    }
    EXPECT_EQ(t1.space.members(), members);
}

TEST(T1, ATextWithAByteOrderMarkIsRead) {
    EXPECT_EQ(parse_t1("\xef\xbb\xbf" + with(two, ""), "some.json").space.members().size(), 6U);
}

TEST(T1, ARejectionNamesTheConditionAndTheValues) {
    const T1Space t1 = parse_t1(with(two, R"({"Parameters": ["x"], "Expression": "x < 4 or way == 'b'"})"), "some.json");
    EXPECT_EQ(t1.space.members().size(), 5U);
    EXPECT_TRUE(t1.space.safe().key() == "x=1,way=a") << t1.space.safe().key();
    const auto rejection = t1.space.check(Config({{"x", std::int64_t{4}}, {"way", std::string("a")}}));
    ASSERT_TRUE(rejection.has_value());
    EXPECT_EQ(rejection->constraint, "x < 4 or way == 'b'");
    EXPECT_EQ(rejection->reason, "way is a, x is 4");
}

TEST(T1, AMistakeIsNamedWithItsLine) {
    EXPECT_THAT(error_of("{}"), HasSubstr("it has no ConfigurationSpace"));
    EXPECT_THAT(error_of(with(two, "\n\n{\"Expression\": \"y > 1\"}")), HasSubstr("some.json:3: "));
    EXPECT_THAT(error_of(with(two, R"({"Expression": "wya == 'a'"})")), HasSubstr("did you mean way?"));
    EXPECT_THAT(error_of(with(two, R"({"Expression": "x > 100"})")), HasSubstr("no configuration meets all conditions"));
    EXPECT_THAT(error_of(with(two + "," + two, "")), HasSubstr("names x again"));
    EXPECT_THAT(error_of(with("", "")), HasSubstr("no parameters"));
    for (const char* values : {"3", "[]", "[[1]]", "open('x')", "[y]"})
        EXPECT_NE(error_of(with(std::string(R"({"Name": "x", "Values": ")") + values + "\"}", "")), "") << values;
}

// Written and read again: exactly the members of the recorded space.
TEST(T1, ARecordedSpaceComesBackMemberForMember) {
    for (const char* name : {"dg_volume_3_f64.space.gz", "gauss_seidel_27_variable_f64.space.gz"}) {
        const RecordedSpace recorded = read_recorded_space(spaces + name);
        const T1Space again = parse_t1(t1_text(recorded), "again");
        EXPECT_EQ(again.space.members(), recorded.members()) << name;
        EXPECT_EQ(again.kernel, recorded.title().kernel);
    }
}

}  // namespace
}  // namespace hone::t1_test
