#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "foundation/file_store.hpp"
#include "tests/support/json_schema.hpp"
#include "tests/support/places.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/tuning_db/test_families.hpp"
#include "tuning_db/database.hpp"
#include "tuning_db/database_file.hpp"

namespace hone::schema_test {
namespace {

namespace fs = std::filesystem;

// A file with the version that it should be valid for.
struct Question {
    fs::path file;
    int version = schema_version;
};

std::string verdicts(const std::vector<Question>& questions) {
    std::vector<test::SchemaQuestion> asked;
    for (const auto& [file, version] : questions)
        asked.push_back({test::source_path(fmt::format("tuning_db/schema/database-{}.schema.json", version)), file});
    return test::schema_verdicts(asked);
}

TEST(DatabaseSchema, DescribesWhatIsWritten) {
    const test::TemporaryFolder folder;
    const auto seed = std::random_device{}();
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    test::RandomRecords random(seed);
    Database database(test::two_families());
    for (int i = 0; i < 100; ++i) database.add(random());
    for (int i = 0; i < 20; ++i) database.add(random.shared()), database.add(random.exchanged());
    Record record = test::make_record("volume order=9 elements=7", "", 1);
    record.purpose = "energy";
    record.verification_error = std::numeric_limits<double>::infinity();
    record.ceiling_fraction = 0;
    record.safe_seconds = 0;
    record.disturbed = "a gain of 7367x";
    record.verified_on = "volume order=9 elements=5";
    record.further = {{"joules", "1.5"}};
    database.add(record);
    record.wrong = "it differs by 2";
    record.config = Config({{"unroll", std::int64_t{9}}});
    record.purpose.clear();
    database.add(record);
    database.merge_into(folder.path());
    replace_file(folder.path() / "empty.json", database_file_text("empty", {}));
    std::vector<Question> questions;
    for (const auto& file : database_files(folder.path())) questions.push_back({file});
    ASSERT_EQ(questions.size(), 5U) << "four devices and the empty one";
    const std::string answer = verdicts(questions);
    if (answer.empty()) GTEST_SKIP() << test::no_schema_validator;
    EXPECT_EQ(answer, "vvvvv");
}

TEST(DatabaseSchema, DescribesTheSamplesOfEveryVersionAndTheShippedRecords) {
    std::vector<Question> questions;
    std::string expected;
    for (int version = 1; version <= schema_version; ++version) {
        const fs::path sample = test::source_path(fmt::format("tests/tuning_db/samples/version_{}/nvidia_h200.json", version));
        questions.push_back({sample, version});
        expected += 'v';
        if (version == schema_version) continue;
        questions.push_back({sample, schema_version});  // the schemas differ
        expected += 'i';
    }
    for (const auto& file : database_files(test::source_path("tuning_db/records"))) {
        questions.push_back({file});
        expected += 'v';
    }
    const std::string answer = verdicts(questions);
    if (answer.empty()) GTEST_SKIP() << test::no_schema_validator;
    EXPECT_EQ(answer, expected);
}

TEST(DatabaseSchema, RefusesWhatIsWrong) {
    const test::TemporaryFolder folder;
    const std::string good = database_file_text("nvidia_h200", {test::make_record("volume order=5 elements=1000", "unroll=2", 2e-3)});
    std::vector<Question> questions;
    for (const auto& [from, to] : {std::pair<std::string, std::string>{"\"unroll\": 2", "\"unroll\": 2.5"},
                                   {"\"median\": 0.002", "\"median\": -1"},
                                   {"\"cuda\"", "\"vulkan\""},
                                   {"\"schema_version\": 3", "\"schema_version\": 4"},
                                   {"2026-11", "2026/11"}}) {
        std::string text = good;
        text.replace(text.find(from), from.size(), to);
        questions.push_back({folder.path() / fmt::format("{}.json", questions.size())});
        replace_file(questions.back().file, text);
    }
    const std::string answer = verdicts(questions);
    if (answer.empty()) GTEST_SKIP() << test::no_schema_validator;
    EXPECT_EQ(answer, "iiiii");
}

}  // namespace
}  // namespace hone::schema_test
