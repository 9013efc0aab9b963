#include "tuner/formats/t1.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "generator/error.hpp"
#include "tests/support/places.hpp"
#include "tuning_db/file_store.hpp"

namespace hone::t1_test {
namespace {

using ::testing::HasSubstr;

const std::string spaces = test::source_path("tests/spaces/");

std::string file_text(const std::string& name) {
    return read_file(spaces + "t1/" + name, 1 << 20);
}

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

// The description of a space and its measurement agree: what the conditions leave is what was measured.
TEST(T1, ConditionsLeaveWhatWasMeasured) {
    for (const auto& [description, measured, defaults] : {std::tuple{"convolution_milo.json", "convolution_milo__MI250X.json.gz", true},
                                                          {"dedispersion_milo.json", "dedispersion_milo__A100.json.gz", false},
                                                          {"pnpoly.json", "pnpoly__RTX_3090.json.gz", true}}) {
        const T1Space described = parse_t1(file_text(description), description);
        const RecordedSpace recorded = read_recorded_space(spaces + measured);
        EXPECT_EQ(described.kernel, recorded.title().kernel);
        EXPECT_EQ(described.defaults_are_safe, defaults) << description;
        ASSERT_EQ(described.space.tunables().size(), recorded.tunables().size());
        for (std::size_t d = 0; d < recorded.tunables().size(); ++d) {
            EXPECT_EQ(described.space.tunables()[d].name, recorded.tunables()[d].name);
            EXPECT_EQ(described.space.tunables()[d].values, recorded.tunables()[d].values);
        }
        EXPECT_EQ(described.space.members(), recorded.members()) << description;
    }
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
    EXPECT_THAT(error_of(with(two, R"({"Expression": "x > 100"})")), HasSubstr("none of its first 6 configurations"));
    EXPECT_THAT(error_of(with(two + "," + two, "")), HasSubstr("names x again"));
    EXPECT_THAT(error_of(with("", "")), HasSubstr("no parameters"));
    for (const char* values : {"3", "[]", "[[1]]", "open('x')", "[y]"})
        EXPECT_NE(error_of(with(std::string(R"({"Name": "x", "Values": ")") + values + "\"}", "")), "") << values;
}

// Written and read again: exactly the members of the recorded space.
TEST(T1, ARecordedSpaceComesBackMemberForMember) {
    for (const char* name : {"pnpoly__RTX_3090.json.gz", "convolution_milo__MI250X.json.gz", "coulomb3d__RTX_2080_Ti__T4.json.gz"}) {
        const RecordedSpace recorded = read_recorded_space(spaces + name);
        const T1Space again = parse_t1(t1_text(recorded), "again");
        EXPECT_EQ(again.space.members(), recorded.members()) << name;
        EXPECT_EQ(again.kernel, recorded.title().kernel);
    }
}

}  // namespace
}  // namespace hone::t1_test
