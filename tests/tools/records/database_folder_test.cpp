// What commands show of records and journals that have former names of tunables.
#include "tools/records/database_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "foundation/file_store.hpp"
#include "generator/families/built_in_families.hpp"
#include "tests/support/places.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/tools/ask.hpp"
#include "tuning_db/database_file.hpp"

namespace hone::tools::database_folder_test {
namespace {

using testing::HasSubstr;
using testing::Not;

// By the names that its tunables had, where they had others.
Config with_former_names(const Record& record) {
    const SearchSpace space = built_in_families().of(record.problem).space(record.problem, generous_limits(record.device));
    std::vector<Assignment> assignments = record.config.assignments();
    for (Assignment& assignment : assignments)
        for (const Tunable& tunable : space.form_of(record.config)->tunables)
            if (tunable.name == assignment.name && !tunable.former_name.empty() && record.config.find(tunable.former_name) == nullptr)
                assignment.name = tunable.former_name;
    return Config(std::move(assignments));
}

// One record of each family some of whose names have changed: as it was written then, and as it is.
struct Renamed {
    std::vector<Record> former, today;
};

Renamed found() {
    const auto file = read_database_file(test::source_path("tuning_db/records/nvidia_h200.json"), built_in_families());
    std::map<std::string, Record> of_family;
    for (const Record& record : file.records)
        if (record.purpose.empty() && with_former_names(record) != record.config) of_family.try_emplace(record.problem.family(), record);
    Renamed renamed;
    for (const auto& [family, record] : of_family) {
        renamed.today.push_back(record);
        renamed.former.push_back(record);
        renamed.former.back().config = with_former_names(record);
    }
    return renamed;
}

const Renamed& renamed() {
    static const Renamed records = found();
    return records;
}

// All configurations of a document, wherever they stand, as "name=value,...".
void collect(const nlohmann::ordered_json& document, std::vector<std::string>& keys) {
    if (!document.is_structured()) return;
    for (const auto& [name, value] : document.items()) {
        collect(value, keys);
        if (name != "configuration") continue;
        std::string key;
        for (const auto& [tunable, level] : value.items())
            key += (key.empty() ? "" : ",") + tunable + "=" + (level.is_string() ? level.get<std::string>() : level.dump());
        keys.push_back(key);
    }
}

class FormerNames : public testing::Test {
  protected:
    FormerNames() {
        std::filesystem::create_directories(folder_.path());
        replace_file(file(), database_file_text("nvidia_h200", records_.former));
    }
    std::filesystem::path file() const { return folder_.path() / "nvidia_h200.json"; }
    std::string folder() const { return folder_.path().string(); }

    const Renamed& records_ = renamed();
    test::TemporaryFolder folder_;
};

TEST_F(FormerNames, AreShownByNoCommand) {
    ASSERT_GT(records_.today.size(), 3U);
    for (const Record& record : records_.today) {
        EXPECT_THAT(test::ask({"show", record.problem.family(), "--db", folder(), "--csv"}).out, HasSubstr(record.config.key()));
        EXPECT_THAT(test::ask({"show", record.problem.family(), "--db", folder(), "-v"}).out, Not(HasSubstr(with_former_names(record).key())));
        EXPECT_THAT(test::ask({"db", "list", folder()}).out, HasSubstr(record.config.key()));
        std::vector<std::string> words{"explain", record.problem.family()};
        for (const Assignment& value : record.problem.parameters()) words.push_back(value.name + "=" + to_string(value.value));
        words.insert(words.end(), {"--device-file", file().string(), "--json"});
        std::vector<std::string> explained;
        collect(nlohmann::ordered_json::parse(test::ask(words).out), explained);
        EXPECT_THAT(explained, testing::Contains(record.config.key()));
    }
    std::vector<std::string> todays;
    for (const Record& record : records_.today) todays.push_back(record.config.key());
    for (const std::vector<std::string>& words : {std::vector<std::string>{"show", "--db", folder(), "--json"},
                                                  {"db", "list", folder(), "--json"},
                                                  {"db", "prune", folder(), "--older-than", "1", "--json"},
                                                  {"db", "remove", folder(), "--device", "nvidia_h200", "--dry-run", "--json"}}) {
        std::vector<std::string> shown;
        collect(nlohmann::ordered_json::parse(test::ask(words).out), shown);
        EXPECT_THAT(shown, testing::UnorderedElementsAreArray(todays)) << words[1];
    }
}

TEST_F(FormerNames, StandInNoReport) {
    const std::string page = (folder_.path() / "report.html").string();
    test::ask({"report", "--db", folder(), "--no-kernels", "-o", page});
    const std::string text = read_file(page, 1 << 26);
    for (const Record& record : records_.today) EXPECT_THAT(text, HasSubstr(record.config.key()));
}

TEST_F(FormerNames, AreNoOtherConfiguration) {
    const test::TemporaryFolder other;
    replace_file(other.path() / "nvidia_h200.json", database_file_text("nvidia_h200", records_.today));
    EXPECT_THAT(test::ask({"diff", folder(), other.path().string(), "-v"}).out, Not(HasSubstr("other configuration")));
    const std::string merge = test::ask({"db", "diff", folder(), other.path().string(), "--json"}).out;
    EXPECT_THAT(merge, HasSubstr("\"identical\": " + std::to_string(records_.today.size())));
}

TEST_F(FormerNames, OfRecordsThatGoArePrunedAsTheyStand) {
    EXPECT_EQ(test::ask({"db", "prune", folder(), "--older-than", "1", "--yes"}).code, Exit::ok);
    EXPECT_TRUE(read_database_file(file(), built_in_families()).records.empty());
}

TEST_F(FormerNames, OfJournalsAreTodaysWhenTheyAreRead) {
    for (std::size_t i = 0; i < records_.today.size(); ++i) {
        JournalText journal;
        journal.run.problem = records_.former[i].problem.key();
        journal.run.device = records_.former[i].device;
        journal.run.space = std::string(64, 'a');
        journal.run.version = "0.1.0";
        journal.run.strategy = "surrogate";
        JournalEntry entry;
        entry.config = records_.former[i].config.key();
        entry.outcome.step = records_.former[i].step;
        journal.entries.push_back(entry);
        const std::filesystem::path path = folder_.path() / "former.jsonl";
        replace_file(path, journal_text(journal));
        EXPECT_EQ(read_journal(path).entries.at(0).config, records_.today[i].config.key());
    }
}

}  // namespace
}  // namespace hone::tools::database_folder_test
