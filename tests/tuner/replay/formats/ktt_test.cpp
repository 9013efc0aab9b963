#include "tuner/replay/formats/ktt.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "foundation/error.hpp"
#include "foundation/file_store.hpp"
#include "tests/support/places.hpp"

namespace hone::ktt_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::string contents(const std::string& name) {
    return read_file(test::source_path("tests/fuzz/seeds/recorded_space/") + name, 1 << 20);
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
}

std::string error_of(const std::string& text) {
    try {
        parse_recorded_space(text, "some.ktt");
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

// The same results in all three formats.
TEST(Ktt, ReadsJsonXmlAndCsv) {
    for (const char* const file : {"ktt.json", "ktt.xml", "ktt.csv"}) {
        SCOPED_TRACE(file);
        const RecordedSpace space = parse_recorded_space(contents(file), file);
        EXPECT_EQ(space.title().name, "ktt");
        EXPECT_EQ(space.title().kernel, "transpose");
        if (file != std::string("ktt.csv")) EXPECT_EQ(space.title().device, "NVIDIA \"A100\"");
        ASSERT_EQ(space.parameters().size(), 2U);
        EXPECT_EQ(space.parameters()[0].name, "TILE_DIM");
        EXPECT_EQ(space.parameters()[0].written, (std::vector<std::string>{"16", "32"}));
        EXPECT_EQ(space.parameters()[1].written, (std::vector<std::string>{"0.5", "1.5"}));
        EXPECT_EQ(space.members().size(), 3U) << "one stands twice";
        EXPECT_EQ(space.valid(), 2);
        EXPECT_DOUBLE_EQ(space.cost(0), 1234.5e-6);
        EXPECT_DOUBLE_EQ(space.cost(3), 617.25e-6);
        EXPECT_NE(space.at(1).outcome.status, Status::measured);
    }
    EXPECT_EQ(parse_recorded_space(contents("ktt.json"), "ktt.json").at(1).outcome.status, Status::wrong);
    EXPECT_EQ(parse_recorded_space(contents("ktt.xml"), "ktt.xml").at(1).outcome.status, Status::wrong);
}

TEST(Ktt, AMistakeIsNamedWithItsPlace) {
    const std::string json = contents("ktt.json"), xml = contents("ktt.xml"), csv = contents("ktt.csv");
    EXPECT_THAT(error_of(replaced(json, "Microseconds", "Fortnights")), AllOf(HasSubstr("some.ktt:"), HasSubstr("\"Fortnights\"")));
    EXPECT_THAT(error_of(replaced(json, "\"Metadata\"", "\"Metal\"")), HasSubstr("has no Metadata"));
    EXPECT_THAT(error_of(replaced(json, "\"TotalDuration\": 1234.5", "\"TotalDuration\": 0")),
                AllOf(HasSubstr("Results[0]"), HasSubstr("no duration")));
    EXPECT_THAT(error_of(replaced(json, "ValidationFailed", "Odd")), HasSubstr("the status is \"Odd\""));
    EXPECT_THAT(error_of(replaced(json, "\"TILE_DIM\"", "\"TILE\"")), HasSubstr("other parameters than the first"));
    EXPECT_THAT(error_of(json.substr(0, json.size() / 2)), HasSubstr("some.ktt"));
    EXPECT_THAT(error_of(replaced(xml, "TimeUnit=\"Microseconds\"", "")), AllOf(HasSubstr("some.ktt:3"), HasSubstr("Metadata has no TimeUnit")));
    EXPECT_THAT(error_of(replaced(xml, "TotalDuration=\"1234.5\"", "TotalDuration=\"x\"")), HasSubstr("no duration"));
    EXPECT_THAT(error_of(replaced(xml, "Name=\"TILE_DIM\"", "Name=TILE_DIM")), HasSubstr("has no value"));
    EXPECT_THAT(error_of(xml.substr(0, xml.size() / 2)), HasSubstr("some.ktt:"));
    EXPECT_THAT(error_of(replaced(csv, "(us)", "(weeks)")), HasSubstr("\"weeks\""));
    EXPECT_THAT(error_of(replaced(csv, ",16,", ",16,1,")), AllOf(HasSubstr("some.ktt:2"), HasSubstr("cells")));
}

TEST(Ktt, NoPartOfAFileDoesHarm) {
    for (const char* const file : {"ktt.json", "ktt.xml", "ktt.csv"}) {
        const std::string whole = contents(file);
        for (std::size_t length = 0; length < whole.size(); ++length) error_of(whole.substr(0, length));
    }
}

}  // namespace
}  // namespace hone::ktt_test
