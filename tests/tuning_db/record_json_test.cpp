#include "tuning_db/record_json.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>

#include "foundation/error.hpp"
#include "foundation/json.hpp"
#include "generator/families/built_in_families.hpp"
#include "tests/tuning_db/test_families.hpp"

namespace hone::json_test {
namespace {

TEST(Json, ARecordReadsBackTheSame) {
    const auto seed = std::random_device{}();
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    test::RandomRecords random(seed);
    for (int i = 0; i < 200; ++i) {
        const Record record = i % 3 == 0 ? random() : i % 3 == 1 ? random.shared() : random.exchanged();
        const std::string text = to_json(record);
        EXPECT_EQ(text.find('\n'), std::string::npos);
        const Record again = record_from_json(text, test::two_families(), "here");
        EXPECT_EQ(again.problem, record.problem);
        EXPECT_EQ(again.config.assignments(), record.config.assignments());
        EXPECT_EQ(again.device, record.device);
        EXPECT_EQ(again.step, record.step);
        EXPECT_EQ(again.versions, record.versions);
        EXPECT_EQ(again.found, record.found);
        EXPECT_EQ(again.disturbed, record.disturbed);
        EXPECT_EQ(again.team, record.team);
        EXPECT_EQ(again.seed, record.seed);
        EXPECT_EQ(again.conditions, record.conditions);
        EXPECT_EQ(again.energy, record.energy);
        EXPECT_EQ(again.hybrid, record.hybrid);
        EXPECT_EQ(again.exchange, record.exchange);
        EXPECT_TRUE(again.further.empty());
        EXPECT_EQ(to_json(again), text);
    }
}

TEST(Json, RefusesProcessorsAndBindingsThatAreNone) {
    test::RandomRecords random(1);
    Record record = random();
    for (const Team& team : {Team{"", "none"}, Team{"all", "none"}, Team{"0-3", ""}, Team{"0-3", "very close"}}) {
        record.team = Team{"0-3,8", "close"};
        EXPECT_EQ(record_from_json(to_json(record), test::two_families(), "here").team, record.team);
        record.team = team;
        EXPECT_THROW(record_from_json(to_json(record), test::two_families(), "here"), Error) << to_json(record);
    }
    record.team.reset();
    EXPECT_EQ(to_json(record).find("team"), std::string::npos) << "records of before have no such field";
}

TEST(Json, RefusesSeedsAndConditionsThatAreNone) {
    test::RandomRecords random(1);
    Record record = random();
    record.seed = 12;
    record.conditions = {};
    record.conditions.sm_megahertz = 1980;
    const std::string text = to_json(record);
    for (const auto& [from, to] : {std::pair<std::string, std::string>{"\"12\"", "12"},
                                   {"\"12\"", "\"99999999999999999999\""},
                                   {"\"12\"", "\"1x\""},
                                   {"1980", "-1"},
                                   {"1980", "1e7"},
                                   {"\"sm_megahertz\"", "\"megahertz\""}}) {
        ASSERT_NE(text.find(from), std::string::npos);
        std::string wrong = text;
        wrong.replace(text.find(from), from.size(), to);
        EXPECT_THROW(record_from_json(wrong, test::two_families(), "here"), Error) << wrong;
    }
}

// A family takes "order" as one of the words 4, 8 and 16; whoever reads a record reads a number.
// Records of before have the word.
TEST(Json, AChoiceAmongNumbersIsWrittenAsANumberAndReadAsEither) {
    const Families& families = built_in_families();
    const Problem problem =
        families.parse_problem("acoustics_staggered kernel=step dimension=2 order=16 media=array absorbing=none precision=f32 nx=64 ny=32");
    const std::string text = to_json(problem);
    EXPECT_NE(text.find(R"("dimension": 2, "order": 16, "media": "array")"), std::string::npos) << text;
    test::RandomRecords random(1);
    Record record = random();
    record.problem = problem;
    std::string written = to_json(record);
    EXPECT_EQ(record_from_json(written, families, "here").problem, problem);
    for (const char* former : {"2", "16"}) {
        const std::size_t place = written.find(std::string(": ") + former + ",") + 2;
        written.replace(place, std::string(former).size(), std::string("\"") + former + "\"");
    }
    ASSERT_NE(written.find(R"("dimension": "2", "order": "16")"), std::string::npos) << written;
    const Record again = record_from_json(written, families, "here");
    EXPECT_EQ(again.problem, problem);
    EXPECT_EQ(again.problem.word("order"), "16");
}

TEST(Json, RefusesEnergiesAndSharesOutOfTheirRange) {
    test::RandomRecords random(1);
    const auto refused = [](const Record& record) {
        EXPECT_THROW(record_from_json(to_json(record), test::two_families(), "here"), Error) << to_json(record);
    };
    const auto energy = [&](const std::function<void(Energy&)>& change) {
        Record record = random();
        record.energy = random.energy(1e-3);
        EXPECT_NO_THROW(record_from_json(to_json(record), test::two_families(), "here"));
        change(*record.energy);
        refused(record);
    };
    energy([](Energy& e) { e.joules.median = 0; });
    energy([](Energy& e) { e.joules.low = 2 * e.joules.median; });
    energy([](Energy& e) { e.watts = -1; });
    energy([](Energy& e) { e.source = "a meter"; });
    energy([](Energy& e) { e.idle_watts = 1e9; });
    energy([](Energy& e) { e.samples_per_second = std::nan(""); });
    const auto hybrid = [&](const std::function<void(Record&)>& change) {
        Record record = random.shared();
        change(record);
        refused(record);
    };
    hybrid([](Record& r) { r.hybrid->share = 1.01; });
    hybrid([](Record& r) { r.hybrid->share = -0.01; });
    hybrid([](Record& r) { r.hybrid->granularity = 0; });
    hybrid([](Record& r) { r.hybrid->own_cost.b = -1e-9; });
    hybrid([](Record& r) { r.hybrid->partner_cost.samples = -1; });
    hybrid([](Record& r) { r.purpose = "energy"; });
    hybrid([](Record& r) { r.hybrid.reset(); });
    hybrid([](Record& r) { r.found = "somewhere"; });
    const auto exchange = [&](const std::function<void(Record&)>& change) {
        Record record = random.exchanged();
        EXPECT_NO_THROW(record_from_json(to_json(record), test::two_families(), "here"));
        change(record);
        refused(record);
    };
    exchange([](Record& r) { r.exchange->program = ""; });
    exchange([](Record& r) { r.exchange->program = "two words"; });
    exchange([](Record& r) { r.exchange->link = ""; });
    exchange([](Record& r) { r.exchange->ranks = 1; });
    exchange([](Record& r) { r.exchange->ranks = 1'000'001; });
    exchange([](Record& r) { r.exchange->usual_seconds = -1; });
    exchange([](Record& r) { r.purpose = "hybrid"; });
    exchange([](Record& r) { r.purpose.clear(); });
    exchange([](Record& r) { r.exchange.reset(); });
}

TEST(Json, ADisturbedRecordSaysWhy) {
    Record record = test::make_record("volume order=5 elements=1000", "unroll=2", 1e-3);
    EXPECT_EQ(to_json(record).find("disturbed"), std::string::npos) << "records of before have no such field";
    record.disturbed = "a gain of 7367x";
    std::string text = to_json(record);
    EXPECT_EQ(record_from_json(text, test::two_families(), "here").disturbed, record.disturbed);
    text.replace(text.find("a gain of 7367x"), record.disturbed.size(), "");
    EXPECT_THROW(record_from_json(text, test::two_families(), "here"), Error);
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
         {std::string("plain"), std::string("\"quoted\" \\ \n\t\x01"), std::string("zero \0 byte", 11), std::string("é龍😀")})
        EXPECT_EQ(parse_json(json_string(text), "here").text, text);
    Record record = test::make_record("volume order=5 elements=1000", "unroll=2", 2e-3);
    record.device.compiler = "g++ \xff 12";
    EXPECT_EQ(record_from_json(to_json(record), test::two_families(), "here").device.compiler, "g++ \xef\xbf\xbd 12");
}

TEST(Json, AProblemOfAnUnknownFamilyIsKeptAsItStands) {
    const Record record = test::make_record("sweep precision=f32 nx=128 ny=64", "block=64", 1e-3);
    const Record foreign = record_from_json(to_json(record), test::volume_alone(), "here");
    EXPECT_EQ(foreign.problem.key(), record.problem.key());
    EXPECT_EQ(to_json(foreign), to_json(record));
    EXPECT_FALSE(test::volume_alone().has("sweep"));
    EXPECT_TRUE(test::volume_alone().has("volume"));
}

TEST(Json, AnErrorNamesThePlaceGivenByTheCaller) {
    try {
        record_from_json("{\n\n\"problem\": 3}", test::two_families(), "journal line 7");
        ADD_FAILURE() << "accepted";
    } catch (const Error& error) {
        EXPECT_TRUE(std::string(error.what()).starts_with("journal line 7:3: problem: ")) << error.what();
    }
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

}  // namespace
}  // namespace hone::json_test
