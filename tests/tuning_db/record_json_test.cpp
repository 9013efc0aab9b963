#include "tuning_db/record_json.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>

#include "foundation/error.hpp"
#include "generator/families/built_in_families.hpp"
#include "tests/tuning_db/test_families.hpp"

namespace hone::record_json_test {
namespace {

TEST(RecordJson, ARecordReadsBackTheSame) {
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

TEST(RecordJson, RefusesProcessorsAndBindingsThatAreNone) {
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

TEST(RecordJson, RefusesSeedsAndConditionsThatAreNone) {
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
TEST(RecordJson, AChoiceAmongNumbersIsWrittenAsANumberAndReadAsEither) {
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

TEST(RecordJson, RefusesEnergiesAndSharesOutOfTheirRange) {
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

TEST(RecordJson, ADisturbedRecordSaysWhy) {
    Record record = test::make_record("volume order=5 elements=1000", "unroll=2", 1e-3);
    EXPECT_EQ(to_json(record).find("disturbed"), std::string::npos) << "records of before have no such field";
    record.disturbed = "a gain of 7367x";
    std::string text = to_json(record);
    EXPECT_EQ(record_from_json(text, test::two_families(), "here").disturbed, record.disturbed);
    text.replace(text.find("a gain of 7367x"), record.disturbed.size(), "");
    EXPECT_THROW(record_from_json(text, test::two_families(), "here"), Error);
}

TEST(RecordJson, BrokenUtf8IsReplaced) {
    Record record = test::make_record("volume order=5 elements=1000", "unroll=2", 2e-3);
    record.device.compiler = "g++ \xff 12";
    EXPECT_EQ(record_from_json(to_json(record), test::two_families(), "here").device.compiler, "g++ \xef\xbf\xbd 12");
}

TEST(RecordJson, AProblemOfAnUnknownFamilyIsKeptAsItStands) {
    const Record record = test::make_record("sweep precision=f32 nx=128 ny=64", "block=64", 1e-3);
    const Record foreign = record_from_json(to_json(record), test::volume_alone(), "here");
    EXPECT_EQ(foreign.problem.key(), record.problem.key());
    EXPECT_EQ(to_json(foreign), to_json(record));
    EXPECT_FALSE(test::volume_alone().has("sweep"));
    EXPECT_TRUE(test::volume_alone().has("volume"));
}

TEST(RecordJson, AnErrorNamesThePlaceGivenByTheCaller) {
    try {
        record_from_json("{\n\n\"problem\": 3}", test::two_families(), "journal line 7");
        ADD_FAILURE() << "accepted";
    } catch (const Error& error) {
        EXPECT_TRUE(std::string(error.what()).starts_with("journal line 7:3: problem: ")) << error.what();
    }
}

}  // namespace
}  // namespace hone::record_json_test
