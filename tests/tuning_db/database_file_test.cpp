#include "tuning_db/database_file.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>

#include "foundation/error.hpp"
#include "foundation/file_store.hpp"
#include "tests/support/places.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/tuning_db/test_families.hpp"
#include "tuning_db/database.hpp"
#include "tuning_db/record_json.hpp"

namespace hone::database_file_test {
namespace {

namespace fs = std::filesystem;
using test::two_families;

fs::path samples(int version) {
    return test::source_path(fmt::format("tests/tuning_db/samples/version_{}", version));
}

std::string good_text() {
    return database_file_text("nvidia_h200", {test::make_record("volume order=5 elements=1000", "unroll=2", 2e-3),
                                              test::make_record("sweep precision=f32 nx=128 ny=64", "block=64", 1e-3)});
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

std::string message(const std::string& text) {
    try {
        parse_database_file(text, "here.json", two_families());
    } catch (const Error& error) {
        return error.what();
    }
    return "accepted";
}

TEST(DatabaseFile, HasOneRecordALine) {
    const Record first = test::make_record("volume order=5 elements=1000", "unroll=2", 2e-3);
    const Record second = test::make_record("volume order=6 elements=1000", "unroll=3", 1e-3);
    EXPECT_EQ(database_file_text("nvidia_h200", {second, first}), R"({
  "schema_version": 3,
  "device": "nvidia_h200",
  "records": [
    )" + to_json(first) + ",\n    " + to_json(second) + R"(
  ]
}
)");
}

// As files were written before: whatever the layout, the records are the same.
std::string one_field_a_line(const std::vector<Record>& records) {
    std::string text = "{\n  \"schema_version\": 3,\n  \"device\": \"nvidia_h200\",\n  \"records\": [";
    for (const Record& record : records) {
        text += text.ends_with("[") ? "\n    {" : ",\n    {";
        for (const auto& [name, value] : record_fields(record))
            text += fmt::format("{}\n      \"{}\": {}", text.ends_with("{") ? "" : ",", name, value);
        text += "\n    }";
    }
    return text + "\n  ]\n}\n";
}

TEST(DatabaseFile, IsReadInTheFormerLayoutAndGetsTodaysWithTheNextMerge) {
    const test::TemporaryFolder folder;
    const fs::path path = folder.path() / "nvidia_h200.json";
    const auto records = parse_database_file(good_text(), "here.json", two_families()).records;
    replace_file(path, one_field_a_line(records));
    const DatabaseFile former = read_database_file(path, two_families());
    ASSERT_EQ(former.records.size(), 2U);
    EXPECT_EQ(database_file_text(former.device, former.records), good_text());
    Database::load(folder.path(), two_families()).merge_into(folder.path());
    EXPECT_EQ(read_file(path, 1 << 20), good_text());
}

TEST(DatabaseFile, AnErrorNamesFileLineAndPlace) {
    ASSERT_EQ(message(good_text()), "accepted");
    const std::string text = message(replaced(good_text(), "\"unroll\": 2", "\"unroll\": 2.5"));
    EXPECT_TRUE(text.starts_with("here.json:6: records[1].configuration.unroll: ")) << text;
    const std::string syntax = message(replaced(good_text(), "\"unroll\": 2", "\"unroll\": 2x"));
    EXPECT_TRUE(syntax.starts_with("here.json:6: column ")) << syntax;
}

TEST(DatabaseFile, RefusesValuesThatNoRecordHas) {
    const std::vector<std::array<std::string, 3>> cases{
        {"\"schema_version\": 3", "\"schema_version\": \"2\"", "schema_version"},
        {"\"schema_version\": 3", "\"schema_version\": 0", "schema_version"},
        {"\"schema_version\": 3,", "", "schema_version"},
        {"\"device\": \"nvidia_h200\"", "\"device\": \"nvidia_h100\"", "records[0].device"},
        {"\"records\": [", "\"recrods\": [], \"records\": [", "did you mean records?"},
        {"\"median\": 0.001", "\"median\": -0.001", "records[0].step_seconds.median"},
        {"\"median\": 0.001", "\"median\": NaN", "here.json:5"},
        {"\"median\": 0.001", "\"median\": 1e999", "here.json:5"},
        {"\"median\": 0.001", "\"median\": \"0.001\"", "is a string"},
        {"\"median\": 0.001", "\"median\": 0.001, \"median\": 0.001", "stands twice"},
        {"\"high\": 0.001001", "\"high\": 0.0005", "records[0].step_seconds.high"},
        {"\"samples\": 40", "\"samples\": 40.5", "records[0].step_seconds.samples"},
        {"\"gigabytes_per_second\": 16", "\"gigabytes_per_second\": 17", "counts and median give 16"},
        {"\"family\": \"sweep\"", "\"family\": \"sw eep\"", "records[0].problem.family"},
        {"\"nx\": 128", "\"nx\": 0", "use a whole number from 1 to 1048576"},
        {"\"nx\": 128", "\"nx\": \"128\"", "nx is 128"},
        {"\"nx\": 128", "\"nz\": 128", "has no parameter \"nz\""},
        {"\"stencil\": \"constant\"", "\"stencil\": \"constnt\"", "did you mean constant?"},
        {"\"block\": 64", "\"block\": [64]", "records[0].configuration.block"},
        {"\"block\": 64", "\"blo ck\": 64", "records[0].configuration"},
        {"\"block\": 64", "\"block\": 99999999999999999999", "records[0].configuration.block"},
        {"\"target\": \"cuda\"", "\"target\": \"vulkan\"", "use cuda or cpu"},
        {"\"error\": 1e-07", "\"error\": -1", "records[0].verification.error"},
        {"\"binding\": \"memory\"", "\"binding\": \"coffee\"", "records[0].ceiling.binding"},
        {"2026-11-21T14:05:00Z", "2026-11-21", "records[0].date"},
        {"2026-11-21T14:05:00Z", "2026-21-11T14:05:00Z", "records[0].date"},
        {"2026-11-21T14:05:00Z", "2026-11-21 14:05:00Z", "records[0].date"},
        {"2026-11-21T14:05:00Z", "2026-11-21T14:05:00Z ", "records[0].date"},
        {"\"source_hash\": \"a", "\"source_hash\": \"", "records[0].versions.source_hash"},
        {"\"source_hash\": \"a", "\"source_hash\": \"g", "records[0].versions.source_hash"},
        {"NVIDIA H200", "NVIDIA \xff\xfe", "UTF-8"},
        {"{\"unroll\": 2}", "[[[[[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]]]]]", "levels of nesting"},
    };
    for (const auto& [from, to, expected] : cases) {
        const std::string text = message(replaced(good_text(), from, to));
        EXPECT_TRUE(text.starts_with("here.json:")) << to << ": " << text;
        EXPECT_NE(text.find(expected), std::string::npos) << to << ": " << text;
    }
    for (const char* text :
         {"", " ", "[]", "null", "{}", "{\"schema_version\": 3}", "\xef\xbb\xbf", "{\"schema_version\": 3, \"device\": 3, \"records\": []}"})
        EXPECT_NE(message(text), "accepted") << text;
}

TEST(DatabaseFile, RubbishOfManyMegabytesIsRefusedWithAShortMessage) {
    const std::string long_word(3 << 20, 'x');
    for (const std::string& text : {std::string(100000, '['), std::string(100000, '{'), long_word, "{\"" + long_word, "{\"" + long_word + "\": 1}",
                                    "{\"schema_version\": 1" + std::string(1 << 20, '0') + "}", "[" + std::string(9'000'000, '\n')}) {
        const std::string answer = message(text);
        EXPECT_TRUE(answer.starts_with("here.json:")) << answer.substr(0, 200);
        EXPECT_LT(answer.size(), 1000U);
    }
    std::string many = "[";
    for (int i = 0; i < 1'500'100; ++i) many += "1,";
    EXPECT_NE(message(many).find("values"), std::string::npos);
}

TEST(DatabaseFile, AFileLongerThanAnyDatabaseIsNotEvenParsed) {
    const test::TemporaryFolder folder;
    const fs::path path = folder.path() / "nvidia_h200.json";
    std::ofstream(path) << good_text();
    fs::resize_file(path, std::uintmax_t{1} << 30);  // sparse
    EXPECT_THROW(read_database_file(path, two_families()), Error);
}

TEST(DatabaseFile, ItsNameIsThatOfItsDevice) {
    const test::TemporaryFolder folder;
    replace_file(folder.path() / "nvidia_h200.json", good_text());
    EXPECT_EQ(read_database_file(folder.path() / "nvidia_h200.json", two_families()).records.size(), 2U);
    fs::rename(folder.path() / "nvidia_h200.json", folder.path() / "mine.json");
    EXPECT_THROW(read_database_file(folder.path() / "mine.json", two_families()), Error);
}

TEST(DatabaseFile, OnlyVisibleJsonFilesAreOfTheDatabase) {
    const test::TemporaryFolder folder;
    for (const char* name : {"b.json", "a.json", ".a.json.tmp", ".hidden.json", "README.md", ".lock"}) std::ofstream(folder.path() / name) << "x";
    const auto files = database_files(folder.path());
    ASSERT_EQ(files.size(), 2U);
    EXPECT_EQ(files.front().filename(), "a.json");
    EXPECT_EQ(files.back().filename(), "b.json");
}

TEST(DatabaseFile, ASubjectThatStandsTwiceLeavesTheBetterOne) {
    const test::TemporaryFolder folder;
    const Record slow = test::make_record("volume order=5 elements=1000", "unroll=2", 2e-3);
    const Record fast = test::make_record("volume order=5 elements=1000", "unroll=3", 1e-3);
    replace_file(folder.path() / "nvidia_h200.json", database_file_text("nvidia_h200", {slow, fast}));
    const Database database = Database::load(folder.path(), two_families());
    ASSERT_EQ(database.records().size(), 1U);
    EXPECT_EQ(database.records().front().config, fast.config);
}

TEST(DatabaseFile, AFileOfANewerProgramIsRefusedAndUntouched) {
    const test::TemporaryFolder folder;
    const fs::path path = folder.path() / "nvidia_h200.json";
    // A structure that this program cannot know.
    const std::string newer = fmt::format("{{\"schema_version\": {}, \"devices\": {{\"nvidia_h200\": [1, 2]}}}}", schema_version + 1);
    replace_file(path, newer);
    const std::string text = message(newer);
    EXPECT_NE(text.find(fmt::format("is {}, this program knows up to {}; use a newer hone", schema_version + 1, schema_version)), std::string::npos)
        << text;
    EXPECT_THROW(Database::load(folder.path(), two_families()), Error);
    Database database(two_families());
    database.add(test::make_record("volume order=5 elements=1000", "unroll=3", 1e-3));
    EXPECT_THROW(database.merge_into(folder.path()), Error);
    EXPECT_EQ(read_file(path, 1 << 20), newer);
}

TEST(DatabaseFile, SamplesOfEveryVersionAreRead) {
    for (int version = 1; version <= schema_version; ++version) {
        const DatabaseFile file = read_database_file(samples(version) / "nvidia_h200.json", two_families());
        EXPECT_EQ(file.version, version);
        EXPECT_EQ(file.records.size(), 2U);
        for (const auto& record : file.records) EXPECT_LE(record.step.low, record.step.high);
    }
}

TEST(DatabaseFile, VersionOneGetsAnIntervalAroundItsMedian) {
    const Database database = Database::load(samples(1), two_families());
    const Match match = database.best(two_families().parse_problem("volume order=3 elements=100000"), test::h200(), test::h200_limits());
    ASSERT_TRUE(match.record);
    EXPECT_EQ(match.record->step, (Statistics{0.002, 0.00196, 2 * 0.002 - 0.00196, 0.00196, 40}));
}

TEST(DatabaseFile, AMergeBringsAnOlderFileToTheNewestVersion) {
    const test::TemporaryFolder folder;
    fs::copy(samples(1) / "nvidia_h200.json", folder.path());
    Database database(two_families());
    database.add(test::make_record("volume order=5 elements=1000", "unroll=3", 1e-3));
    database.merge_into(folder.path());
    const DatabaseFile file = read_database_file(folder.path() / "nvidia_h200.json", two_families());
    EXPECT_EQ(file.version, schema_version);
    EXPECT_EQ(file.records.size(), 3U);
}

TEST(DatabaseFile, ABrokenOlderFileIsRefusedAsWell) {
    const std::string one = read_file(samples(1) / "nvidia_h200.json", 1 << 20);
    for (const auto& [from, to] : {std::pair<std::string, std::string>{"\"minimum\": ", "\"minimal\": "},
                                   {"\"median\": 0.002", "\"median\": {}"},
                                   {"\"records\": [", "\"records\": 3, \"more\": ["},
                                   {"\"step_seconds\": {", "\"step_seconds\": [], \"x\": {"}})
        EXPECT_TRUE(message(replaced(one, from, to)).starts_with("here.json:")) << to;
}

}  // namespace
}  // namespace hone::database_file_test
