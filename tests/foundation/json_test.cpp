#include "foundation/json.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "foundation/error.hpp"

namespace hone::json_test {
namespace {

using ::testing::HasSubstr;

std::string error_of(const std::string& text, int first_line = 1) {
    try {
        return "accepted as " + write_json(parse_json(text, "here", first_line));
    } catch (const Error& error) {
        return error.what();
    }
}

TEST(Json, NumbersAreTheShortestThatReadBackTheSame) {
    EXPECT_EQ(json_number(0.1), "0.1");
    EXPECT_EQ(json_number(1e-7), "1e-07");
    EXPECT_EQ(json_number(5e8), "500000000");
    EXPECT_EQ(json_number(std::nan("")), "null");
    EXPECT_EQ(json_number(-std::numeric_limits<double>::infinity()), "null");
    const auto seed = std::random_device{}();
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937_64 engine(seed);
    for (int i = 0; i < 10000; ++i) {
        const double number = std::bit_cast<double>(engine());
        if (!std::isfinite(number)) continue;
        EXPECT_EQ(parse_json(json_number(number), "here").real, number);
    }
}

TEST(Json, StringsSurviveAndBrokenUtf8IsReplaced) {
    for (const std::string& text :
         {std::string("plain"), std::string("\"quoted\" \\ \n\t\x01"), std::string("zero \0 byte", 11), std::string("é龍😀"), std::string(" ~")})
        EXPECT_EQ(parse_json(json_string(text), "here").text, text);
    EXPECT_EQ(json_string("g++ \xff 12"), "\"g++ \xef\xbf\xbd 12\"");
    EXPECT_EQ(json_string("a\x7f"), "\"a\x7f\"");
}

TEST(JsonTree, WritesBackWhatItRead) {
    for (const char* text :
         {"null", "true", "-3", "1.50", "1e5", "\"a\\nb\"", "[]", "{}", R"({"a": [1, {"b": false}], "c": 0.10000000000000000001})"})
        EXPECT_EQ(write_json(parse_json(text, "here")), text);
}

TEST(JsonTree, EveryValueKnowsItsLine) {
    const JsonNode root = parse_json("{\n\"a\":\n1\n,\"b\": [2,\n3\n], \"c\"\n:\"x\"}\n", "here");
    EXPECT_EQ(root.line, 1);
    EXPECT_EQ(root.find("a")->line, 3);
    EXPECT_EQ(root.find("b")->line, 4);
    EXPECT_EQ(root.find("b")->children.at(0).line, 4);
    EXPECT_EQ(root.find("b")->children.at(1).line, 5);
    EXPECT_EQ(root.find("c")->line, 7);
    EXPECT_EQ(root.find("d"), nullptr);
}

TEST(JsonTree, PlacesAreStrictAboutKindsAndRanges) {
    const JsonNode root = parse_json(R"({"whole": 7, "real": 2.5, "word": "abc", "list": [1, "x"], "huge": 9223372036854775808})", "here");
    const std::string file = "here";
    const JsonPlace place(root, file);
    EXPECT_EQ(place["whole"].integer(7, 7), 7);
    EXPECT_EQ(place["whole"].number(0, 10), 7.0) << "a whole number is a number";
    EXPECT_EQ(place["real"].number(2.5, 2.5), 2.5);
    EXPECT_EQ(place["list"][1].string(1), "x");
    EXPECT_FALSE(place.find("absent"));
    EXPECT_THROW(place["absent"], Error);
    EXPECT_THROW(place["whole"].integer(8, 9), Error);
    EXPECT_THROW(place["real"].integer(0, 9), Error);
    EXPECT_THROW(place["huge"].integer(0, std::numeric_limits<std::int64_t>::max()), Error);
    EXPECT_THROW(place["real"].number(3, 4), Error);
    EXPECT_THROW(place["word"].string(2), Error);
    EXPECT_THROW(place["word"].elements(), Error);
    EXPECT_THROW(place["list"].members(), Error);
    EXPECT_THROW(place["list"]["x"], Error);
    EXPECT_NO_THROW(place.only({"whole", "real", "word", "list", "huge"}));
    EXPECT_THROW(place.only({"whole", "real", "word", "list"}), Error);
}

// Of the whole text, whatever was read before the fault.
TEST(JsonTree, AnErrorNamesTheLineWhereItStands) {
    EXPECT_THAT(error_of("{\n\"a\": 1,\n\"b\": }"), HasSubstr("here:3: "));
    EXPECT_THAT(error_of("{\n\"a\": 1,\n\"b\": }", 40), HasSubstr("here:42: "));
    EXPECT_THAT(error_of("[1,\n2\n"), HasSubstr("here:2: ")) << "the last line";
    EXPECT_THAT(error_of("[1, 2]\n]"), HasSubstr("here:2: "));
    EXPECT_THAT(error_of("[1,\n2,]"), HasSubstr("here:2: column 3: syntax error")) << "without the parser's own words for the line";
    EXPECT_THAT(error_of(""), HasSubstr("here:1: "));
    const std::string rubbish = error_of("[\"" + std::string(5000, 'x'));
    EXPECT_THAT(rubbish, HasSubstr("..."));
    EXPECT_LT(rubbish.size(), 300U) << "of what is wrong the beginning is enough";
}

TEST(JsonTree, NoMemberStandsTwice) {
    EXPECT_THAT(error_of("{\"a\": 1,\n\"a\": 2}"), HasSubstr("here:2: \"a\" stands twice in one object"));
    EXPECT_EQ(error_of(R"([{"a": 1}, {"a": 2}])"), R"(accepted as [{"a": 1}, {"a": 2}])");
}

TEST(JsonTree, LevelsAndMembersAreBounded) {
    const auto nested = [](std::size_t levels) { return std::string(levels, '[') + std::string(levels, ']'); };
    EXPECT_EQ(error_of(nested(16)), "accepted as " + nested(16));
    EXPECT_THAT(error_of(nested(17)), HasSubstr("over 16 levels of nesting"));
    const auto object = [](int members) {
        std::string text = "{";
        for (int member = 0; member < members; ++member) text += fmt::format("{}\"m{}\": 0", member == 0 ? "" : ",", member);
        return text + "}";
    };
    EXPECT_THAT(error_of(object(1000)), HasSubstr("accepted"));
    EXPECT_THAT(error_of(object(1001)), HasSubstr("over 1000 members in one object"));
}

TEST(JsonTree, NumbersAreWholeWhereTheyCanBe) {
    EXPECT_EQ(parse_json("9223372036854775807", "here").kind, JsonNode::Kind::integer);
    EXPECT_EQ(parse_json("9223372036854775807", "here").integer, std::numeric_limits<std::int64_t>::max());
    EXPECT_EQ(parse_json("9223372036854775808", "here").kind, JsonNode::Kind::real);
    EXPECT_EQ(parse_json("9223372036854775808", "here").real, 0x1p63);
    EXPECT_EQ(parse_json("-7", "here").real, -7.0);
    EXPECT_EQ(parse_json("-7", "here").integer, -7);
    EXPECT_EQ(parse_json("7.0", "here").kind, JsonNode::Kind::real);
    EXPECT_EQ(parse_json("2.5e-1", "here").real, 0.25);
}

TEST(JsonTree, TheByteOrderMarkOfEditorsIsNoPartOfTheText) {
    EXPECT_EQ(without_byte_order_mark("\xef\xbb\xbf[1]", "here"), "[1]");
    EXPECT_EQ(without_byte_order_mark("[1]", "here"), "[1]");
    EXPECT_THROW(without_byte_order_mark("\xff\xfe[", "here"), Error);
    EXPECT_THROW(without_byte_order_mark("\xfe\xff[", "here"), Error);
}

std::string failure_at(const JsonPlace& place) {
    try {
        place.fail("is odd", "make it even");
    } catch (const Error& error) {
        return error.what();
    }
}

TEST(JsonPlace, SaysWhereItIs) {
    const JsonNode root = parse_json("{\"list\": [1,\n{\"a\": {\"b\": 2}}], \"other\": [[3]]}", "here");
    const JsonPlace place(root, "here");
    EXPECT_EQ(place.where(), "here:1: the value");
    EXPECT_EQ(place["list"][1]["a"]["b"].where(), "here:2: list[1].a.b");
    EXPECT_EQ(place["other"][0][0].where(), "here:2: other[0][0]");
    EXPECT_EQ(JsonPlace(root, "here", "cache")["list"][0].where(), "here:1: cache.list[0]");
    EXPECT_EQ(JsonPlace(root, "here", "cache").where(), "here:1: cache");
    const JsonNode list = parse_json("[5]", "here");
    EXPECT_EQ(JsonPlace(list, "here", "cache")[0].where(), "here:1: cache[0]");
    EXPECT_THAT(failure_at(place["list"][0]), HasSubstr("here:1: list[0]: is odd; make it even"));
}

template <typename Ask>
std::string refusal(const Ask& ask) {
    try {
        ask();
        return "accepted";
    } catch (const Error& error) {
        return error.what();
    }
}

TEST(JsonPlace, SaysWhatIsThereAndWhatBelongsThere) {
    const JsonNode root = parse_json(R"({"whole": 7, "real": 2.5, "word": "abc", "list": [1], "no": false, "none": null})", "here");
    const JsonPlace place(root, "here");
    EXPECT_THAT(refusal([&] { (void)place["whole"].string(9); }), HasSubstr("whole: is a whole number; a string belongs here"));
    EXPECT_THAT(refusal([&] { (void)place["word"].number(0, 1); }), HasSubstr("word: is a string; a number belongs here"));
    EXPECT_THAT(refusal([&] { (void)place["real"].integer(0, 9); }), HasSubstr("real: is a number; a whole number belongs here"));
    EXPECT_THAT(refusal([&] { (void)place["no"].elements(); }), HasSubstr("no: is true or false; an array belongs here"));
    EXPECT_THAT(refusal([&] { (void)place["none"].members(); }), HasSubstr("none: is null; an object belongs here"));
    EXPECT_THAT(refusal([&] { (void)place["whole"].integer(8, 9); }), HasSubstr("is 7; a whole number from 8 to 9 belongs here"));
    EXPECT_THAT(refusal([&] { (void)place["whole"].integer(5, 6); }), HasSubstr("is 7"));
    EXPECT_EQ(refusal([&] { (void)place["whole"].integer(6, 7); }), "accepted");
    EXPECT_THAT(refusal([&] { (void)place["real"].number(0, 2); }), HasSubstr("is 2.5; a number from 0 to 2 belongs here"));
    EXPECT_THAT(refusal([&] { (void)place["word"].string(2); }), HasSubstr("has 3 bytes; at most 2 belong here"));
    EXPECT_EQ(place["word"].string(3), "abc");
    EXPECT_THAT(refusal([&] { (void)place["list"][1]; }), HasSubstr("has 1 elements; 2 or more belong here"));
    EXPECT_THAT(refusal([&] {
                    place.only({"wholes", "real", "word", "list", "no", "none"});
                }),
                HasSubstr("has an unknown member \"whole\"; did you mean wholes? it may have wholes, real, word, list, no, none"));
    // Of a name that is rubbish the first 120 bytes are told.
    for (const std::size_t length : {120U, 121U}) {
        const std::string name(length, 'x');
        const JsonNode odd = parse_json("{" + json_string(name) + ": 1}", "here");
        EXPECT_THAT(refusal([&] { JsonPlace(odd, "here").only({"a"}); }),
                    HasSubstr(json_string(length == 120 ? name : name.substr(1) + "...") + ";"));
    }
    EXPECT_TRUE(place["none"].is_null());
    EXPECT_FALSE(place["no"].is_null());
}

}  // namespace
}  // namespace hone::json_test
