// `hone db validate`, `list`, `stats`, `merge` and `remove`, called as the command line calls them.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "foundation/file_store.hpp"
#include "generator/families/built_in_families.hpp"
#include "runtime/kernel_hash.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/tools/ask.hpp"
#include "tools/console/command.hpp"
#include "tuning_db/database.hpp"

namespace hone::tools::db_test {
namespace {

using test::Answer;
using testing::HasSubstr;
using testing::Not;

Answer hone_db(const std::vector<std::string>& words) {
    std::vector<std::string> arguments{"db"};
    arguments.insert(arguments.end(), words.begin(), words.end());
    return test::ask(arguments);
}

// A member of the space: the family's safe configuration.
Record record_of(const std::string& text, double median) {
    Record record;
    record.problem = built_in_families().parse_problem(text);
    record.config = built_in_families().of(record.problem).space(record.problem, cuda_limits(90)).safe();
    record.device = {Target::cuda, "NVIDIA H200", "sm_90", 132, "13.0", "NVRTC 13.0"};
    record.step = {median, median, median, median, 40};
    record.counts = {1e6, "updates", 5e7, 2e7};
    record.verification_error = 1e-7;
    record.tolerance = 1e-5;
    record.strategy = "local";
    record.date = "2026-11-21T14:05:00Z";
    record.versions.hone = "0.1.0";
    return record;
}

constexpr const char* dg = "dg_volume equation=maxwell_3d order=3 precision=f32 arithmetic=strict elements=1000";
constexpr const char* gs = "gauss_seidel_27 stencil=constant precision=f32 nx=96 ny=96 nz=96";

class DbCommand : public testing::Test {
  protected:
    std::string folder(const std::string& name, const std::vector<Record>& records) const {
        Database database(built_in_families());
        for (const auto& record : records) database.add(record);
        database.merge_into(folder_.path() / name);
        return (folder_.path() / name).string();
    }

    test::TemporaryFolder folder_;
};

TEST_F(DbCommand, CountsWhatThereIs) {
    Record older = record_of("dg_volume equation=maxwell_3d order=3 precision=f32 arithmetic=strict elements=5000", 1e-3);
    older.date = "2026-10-01T00:00:00Z";
    older.step.low = 0.5e-3;
    older.ceiling = "memory";
    older.ceiling_fraction = 0.25;
    Record near = record_of(dg, 1e-3);
    near.ceiling = "memory";
    near.ceiling_fraction = 1;
    near.safe_seconds = 3e-3;
    Record disturbed = record_of(gs, 1e-3);
    disturbed.disturbed = "the machine was busy";
    const std::string good = folder("good", {older, near, disturbed});
    std::filesystem::create_directories(good + "/journals");
    replace_file(good + "/journals/a.jsonl", "12345");
    replace_file(good + "/journals/a.jsonl.previous", "123");
    const auto document = nlohmann::json::parse(hone_db({"stats", good, "--json"}).out);
    const auto& device = document["devices"][0];
    EXPECT_EQ(device["records"], 3);
    EXPECT_EQ(device["families"]["dg_volume"], 2);
    EXPECT_EQ(device["oldest"], "2026-10-01T00:00:00Z");
    EXPECT_EQ(device["newest"], "2026-11-21T14:05:00Z");
    EXPECT_EQ(device["other_sizes"], 2);
    EXPECT_EQ(device["disturbed"], 1);
    EXPECT_EQ(device["unsure"], 1);
    EXPECT_EQ(device["without_ceiling"], 1);
    EXPECT_NEAR(device["mean_part_of_ceiling"].get<double>(), 0.5, 1e-12);
    EXPECT_NEAR(device["mean_gain"].get<double>(), 3, 1e-12);
    EXPECT_EQ(device["bytes"], std::filesystem::file_size(good + "/nvidia_h200.json"));
    EXPECT_EQ(document["journals"]["files"], 1);
    EXPECT_EQ(document["journals"]["bytes"], 8);
    const Answer text = hone_db({"stats", good});
    EXPECT_THAT(text.out, HasSubstr("3 in "));
    EXPECT_THAT(text.out, HasSubstr("2026-10-01 to 2026-11-21"));
    EXPECT_EQ(hone_db({"stats", folder("empty", {})}).code, Exit::nothing);
}

TEST_F(DbCommand, CountsKernelsOfTodayAndWhatRecordsDoNotSay) {
    Record same = record_of(dg, 1e-3);
    const Family& family = built_in_families().of(same.problem);
    same.versions.source_hash = kernel_hash(family.kernel(same.problem, same.config, cuda_limits(90)).text);
    same.seed = 3;
    Record impossible = record_of(gs, 1e-3);
    impossible.config = Config({{"gone", std::int64_t{3}}});
    const auto device = nlohmann::json::parse(
        hone_db({"stats", folder("kernels", {same, impossible, record_of("gauss_seidel_27 stencil=variable precision=f32 nx=96 ny=96 nz=96", 1e-3)}),
                 "--json"})
            .out)["devices"][0];
    EXPECT_EQ(device["kernels"], (nlohmann::json{{"same", 1}, {"other", 1}, {"impossible", 1}}));
    EXPECT_EQ(device["lacking"]["seed"], 2);
    EXPECT_EQ(device["lacking"]["clocks"], 3);
    EXPECT_FALSE(device["lacking"].contains("driver"));
}

// A processor's space depends on how many threads it has: those of the record, not of the machine
// that looks at it.
TEST_F(DbCommand, KernelsOfProcessorsAreMembersOfTheirOwnSpace) {
    Record record = record_of("gauss_seidel_27 stencil=constant precision=f32 nx=96 ny=96 nz=96", 1e-3);
    record.device = {Target::cpu, "Some Processor", "x86-64-avx512", 16, "", "g++ 13"};
    Limits limits = cpu_limits();
    limits.multiprocessors = 16;
    const SearchSpace space = built_in_families().of(record.problem).space(record.problem, limits);
    std::vector<Assignment> assignments = space.safe().assignments();
    for (Assignment& own : assignments)
        if (own.name == "binding") own.value = Value("close");
    record.config = Config(assignments);
    ASSERT_FALSE(space.check(record.config));
    const Answer stats = hone_db({"stats", folder("threads", {record})});
    EXPECT_THAT(stats.out, HasSubstr("Some Processor, 16 threads"));
    EXPECT_THAT(stats.out, Not(HasSubstr("not in today's search spaces")));
    EXPECT_EQ(hone_db({"prune", folder("threads2", {record})}).code, Exit::nothing);
}

TEST_F(DbCommand, PrunesByRulesAndKeepsWhatWas) {
    Record unverified = record_of(gs, 1e-3);
    unverified.verification_error = 1;
    Record old = record_of(dg, 1e-3);
    old.date = "2020-01-01T00:00:00Z";
    Record disturbed = record_of("gauss_seidel_27 stencil=variable precision=f32 nx=96 ny=96 nz=96", 1e-3);
    disturbed.disturbed = "the machine was busy";
    disturbed.date = old.date = "2020-01-01T00:00:00Z";
    const std::string here = folder("prune", {unverified, old, disturbed});
    const std::string before = read_file(here + "/nvidia_h200.json", 1 << 20);
    const auto pruned = [&](std::vector<std::string> options) {
        std::vector<std::string> words{"prune", here, "--json"};
        words.insert(words.end(), options.begin(), options.end());
        return nlohmann::json::parse(hone_db(words).out)["pruned"].size();
    };
    EXPECT_EQ(pruned({}), 1U);
    EXPECT_EQ(pruned({"--disturbed"}), 2U);
    EXPECT_EQ(pruned({"--older-than", "365"}), 3U);
    EXPECT_EQ(pruned({"--other-kernel"}), 3U) << "none has the hash of a kernel";
    EXPECT_EQ(pruned({"--device", "nvidia_a100", "--disturbed"}), 0U);
    EXPECT_EQ(pruned({"--beside", folder("beside", {old})}), 2U);
    EXPECT_EQ(read_file(here + "/nvidia_h200.json", 1 << 20), before) << "without --yes nothing changes";
    const Answer done = hone_db({"prune", here, "--disturbed", "--yes"});
    EXPECT_EQ(done.code, Exit::ok) << done.error;
    EXPECT_THAT(done.out, HasSubstr("not verified within its tolerance"));
    EXPECT_EQ(Database::load(here, built_in_families()).records().size(), 1U);
    EXPECT_EQ(read_file(here + "/nvidia_h200.json.previous", 1 << 20), before);
    EXPECT_EQ(hone_db({"prune", here}).code, Exit::nothing);
    EXPECT_EQ(hone_db({"prune", here, "--beside", here}).code, Exit::wrong_input);
    EXPECT_THAT(hone_db({"stats", here, "--yes"}).error, HasSubstr("use it with 'hone db prune'"));
}

TEST_F(DbCommand, ShowsMarksOfWhatWasFoundWrongAndPrunesThemOnlyWhenTold) {
    const Record record = record_of(dg, 1e-3);
    Record mark = record;
    mark.wrong = "rhs differs by 2";
    const std::string here = folder("marks", {record, mark, record_of(gs, 1e-3)});
    EXPECT_THAT(hone_db({"list", here}).out, HasSubstr(" wrong "));
    EXPECT_THAT(hone_db({"validate", here}).out, HasSubstr("found wrong: rhs differs by 2"));
    const auto stats = nlohmann::json::parse(hone_db({"stats", here, "--json"}).out)["devices"][0];
    EXPECT_EQ(stats["wrong"], 1);
    EXPECT_EQ(stats["records"], 1) << "a mark is none";
    EXPECT_EQ(hone_db({"prune", here, "--yes"}).code, Exit::nothing);
    // Merging it once more, and what a merge would do.
    const std::string other = folder("other", {record});
    EXPECT_THAT(hone_db({"diff", here, other}).out, HasSubstr("0 added, 0 replaced by better ones, 1 kept"));
    const auto merged = nlohmann::json::parse(hone_db({"merge", here, other, "--json"}).out);
    EXPECT_EQ(merged["kept"], 1) << merged;
    EXPECT_EQ(Database::load(here, built_in_families()).records().size(), 1U);
    const Answer pruned = hone_db({"prune", here, "--wrong", "--yes"});
    EXPECT_EQ(pruned.code, Exit::ok) << pruned.error;
    EXPECT_THAT(pruned.out, HasSubstr("found wrong: rhs differs by 2"));
    EXPECT_TRUE(Database::load(here, built_in_families()).marks().empty());
    hone_db({"merge", here, other});
    EXPECT_EQ(Database::load(here, built_in_families()).records().size(), 2U) << "nothing refutes it any more";
}

TEST_F(DbCommand, PrunesEarlierJournalsAlone) {
    const std::string here = folder("journals", {record_of(dg, 1e-3)});
    std::filesystem::create_directories(here + "/journals");
    for (const char* const name : {"a.jsonl", "a.jsonl.previous", "a.jsonl.previous-2"}) replace_file(here + "/journals/" + name, "{}");
    EXPECT_EQ(hone_db({"prune", here, "--journals", "--yes"}).code, Exit::ok);
    EXPECT_TRUE(std::filesystem::exists(here + "/journals/a.jsonl"));
    EXPECT_FALSE(std::filesystem::exists(here + "/journals/a.jsonl.previous"));
    EXPECT_FALSE(std::filesystem::exists(here + "/journals/a.jsonl.previous-2"));
    EXPECT_EQ(Database::load(here, built_in_families()).records().size(), 1U);
}

TEST_F(DbCommand, DiffSaysWhatAMergeWouldDo) {
    const Record faster = record_of(dg, 0.5e-3);
    const std::string mine = folder("mine", {record_of(dg, 1e-3), record_of(gs, 1e-3)});
    const std::string other = folder("other", {faster, record_of("gauss_seidel_27 stencil=variable precision=f32 nx=96 ny=96 nz=96", 1e-3)});
    const auto document = nlohmann::json::parse(hone_db({"diff", mine, other, "--json"}).out);
    EXPECT_EQ(document["counts"], (nlohmann::json{{"added", 1}, {"replaced", 1}, {"kept", 0}, {"identical", 0}}));
    EXPECT_EQ(document["only_in_folder"], 1);
    const auto merged = nlohmann::json::parse(hone_db({"merge", mine, other, "--json"}).out);
    EXPECT_EQ(merged["added"], document["counts"]["added"]);
    EXPECT_EQ(merged["replaced"], document["counts"]["replaced"]);
    EXPECT_EQ(nlohmann::json::parse(hone_db({"diff", mine, other, "--json"}).out)["counts"]["identical"], 2);
    EXPECT_EQ(hone_db({"diff", mine}).code, Exit::wrong_input);
}

TEST_F(DbCommand, ValidatesEveryFileAndNamesThePlaceOfAnError) {
    const std::string good = folder("good", {record_of(dg, 1e-3)});
    EXPECT_EQ(hone_db({"validate", good}).code, Exit::ok);
    EXPECT_THAT(hone_db({"validate", good}).out, HasSubstr("valid    nvidia_h200.json: 1 records"));
    EXPECT_THAT(hone_db({"validate", good}).out, testing::Not(HasSubstr("note")));
    std::ofstream(good + "/broken.json") << "{\n\"schema_version\": 2, }";
    const Answer answer = hone_db({"validate", good});
    EXPECT_EQ(answer.code, Exit::wrong_input);
    EXPECT_THAT(answer.out, HasSubstr("invalid  broken.json"));
    EXPECT_THAT(answer.out, HasSubstr("broken.json:2: "));
    EXPECT_THAT(answer.out, HasSubstr("valid    nvidia_h200.json"));
    const auto document = nlohmann::json::parse(hone_db({"validate", good, "--json"}).out);
    EXPECT_EQ(document["valid"], false);
    EXPECT_EQ(document["files"][0]["valid"], false);
    EXPECT_EQ(document["files"][1]["records"], 1);
}

TEST_F(DbCommand, NotesWhatNoLookUpWillUse) {
    Record alien = record_of(dg, 1e-3);
    alien.config = Config({{"gone", std::int64_t{3}}});
    Record wrong = record_of(gs, 1e-3);
    wrong.verification_error = 1;
    const Answer answer = hone_db({"validate", folder("odd", {alien, wrong})});
    EXPECT_EQ(answer.code, Exit::ok) << "both are legal";
    EXPECT_THAT(answer.out, HasSubstr("elements=1000: no member of today's search space"));
    EXPECT_THAT(answer.out, HasSubstr(": not verified within its tolerance"));
}

TEST_F(DbCommand, NotesAGainThatABusyMachineMadeUp) {
    Record doubtful = record_of(dg, 1e-3);
    doubtful.device = {Target::cpu, "a processor", "x86-64-avx2", 8, "", "c++ 12"};
    doubtful.safe_seconds = 7.367;
    Record honest = record_of(gs, 1e-3);
    honest.safe_seconds = 19e-3;
    Record disturbed = record_of("gauss_seidel_27 stencil=variable precision=f32 nx=96 ny=96 nz=96", 1e-3);
    disturbed.disturbed = "its rate is 218 % of the arithmetic ceiling";
    const Answer answer = hone_db({"validate", folder("both", {doubtful, honest, disturbed})});
    EXPECT_EQ(answer.code, Exit::ok);
    EXPECT_THAT(answer.out, HasSubstr("a gain of 7367x over the safe configuration is beyond 20x"));
    EXPECT_THAT(answer.out, HasSubstr("disturbed: its rate is 218 %"));
    EXPECT_THAT(answer.out, testing::Not(HasSubstr("a gain of 19x")));
}

TEST_F(DbCommand, ListsTheRecords) {
    const std::string place = folder("some", {record_of(dg, 1e-3), record_of(gs, 2e-3)});
    const Answer answer = hone_db({"list", place});
    EXPECT_EQ(answer.code, Exit::ok);
    for (const char* part : {"NVIDIA H200", dg, gs, "1.00 ms", "2026-11-21"}) EXPECT_THAT(answer.out, HasSubstr(part));
    const auto document = nlohmann::json::parse(hone_db({"list", place, "--json"}).out);
    ASSERT_EQ(document["files"].size(), 1U);
    EXPECT_EQ(document["files"][0]["device"], "nvidia_h200");
    EXPECT_EQ(document["files"][0]["records"].size(), 2U);
    std::filesystem::create_directory(folder_.path() / "empty");
    EXPECT_EQ(hone_db({"list", (folder_.path() / "empty").string()}).code, Exit::nothing);
}

TEST_F(DbCommand, MergesFoldersAndFilesAndSaysWhatBecameOfThem) {
    const std::string first = folder("first", {record_of(dg, 1e-3), record_of(gs, 2e-3)});
    const std::string second = folder("second", {record_of(dg, 0.5e-3)});
    const std::string place = (folder_.path() / "merged").string();
    EXPECT_THAT(hone_db({"merge", place, first}).out, HasSubstr("2 records added, 0 replaced by better ones, 0 kept"));
    const auto document = nlohmann::json::parse(hone_db({"merge", place, second + "/nvidia_h200.json", first, "--json"}).out);
    EXPECT_EQ(document["added"], 0);
    EXPECT_EQ(document["replaced"], 1);
    EXPECT_EQ(document["kept"], 1);
    EXPECT_EQ(hone_db({"validate", place}).code, Exit::ok);
}

TEST_F(DbCommand, RemovesWhatIsNamedAndKeepsTheFileAsItWas) {
    Record other = record_of(dg, 1e-3);
    other.device.name = "NVIDIA A100";
    Record coarse = record_of("dg_volume equation=maxwell_3d order=2 precision=f32 arithmetic=strict elements=1000", 1e-3);
    const std::string place = folder("some", {record_of(dg, 1e-3), record_of(gs, 2e-3), coarse, other});
    const std::string before = read_file(place + "/nvidia_h200.json", 1 << 20);
    const Answer dry = hone_db({"remove", place, "dg_volume", "order=3,4", "--device", "NVIDIA H200", "--dry-run"});
    EXPECT_EQ(dry.code, Exit::ok);
    EXPECT_THAT(dry.out, HasSubstr(std::string("would remove  nvidia_h200: ") + dg));
    EXPECT_EQ(read_file(place + "/nvidia_h200.json", 1 << 20), before);
    const auto document = nlohmann::json::parse(hone_db({"remove", place, "dg_volume", "order=3,4", "--device", "nvidia_h200", "--json"}).out);
    EXPECT_EQ(document["dry_run"], false);
    ASSERT_EQ(document["removed"].size(), 1U);
    EXPECT_EQ(document["removed"][0]["problem"]["parameters"]["order"], 3);
    EXPECT_EQ(read_file(place + "/nvidia_h200.json.previous", 1 << 20), before);
    EXPECT_EQ(Database::load(place, built_in_families()).records().size(), 3U);
    EXPECT_EQ(hone_db({"remove", place, "dg_volume", "order=3,4", "--device", "nvidia_h200"}).code, Exit::nothing);
    EXPECT_THAT(hone_db({"remove", place, "dg_volume"}).out, HasSubstr("removed  nvidia_a100: dg_volume"));
    EXPECT_EQ(Database::load(place, built_in_families()).records().size(), 1U);
    EXPECT_EQ(hone_db({"validate", place}).code, Exit::ok) << "a file without records is a database file, too";
}

TEST_F(DbCommand, RemovesRecordsOfFamiliesThatItDoesNotKnow) {
    const std::string place = folder("some", {record_of(dg, 1e-3), record_of(gs, 1e-3)});
    std::string text = read_file(place + "/nvidia_h200.json", 1 << 20);
    text.replace(text.find("\"dg_volume\""), 11, "\"theirs\"");
    replace_file(place + "/nvidia_h200.json", text);
    EXPECT_EQ(hone_db({"remove", place, "theirs", "order=4"}).code, Exit::nothing);
    EXPECT_THAT(hone_db({"remove", place, "theirs", "order=3"}).out, HasSubstr("removed  nvidia_h200: theirs"));
    EXPECT_EQ(hone_db({"remove", place, "theirs"}).code, Exit::wrong_input) << "now nobody knows the name";
}

TEST_F(DbCommand, RefusesAndLeavesAloneWhatANewerHoneWrote) {
    const std::string newer = "{\"schema_version\": 999}";
    std::filesystem::create_directory(folder_.path() / "newer");
    const auto file = folder_.path() / "newer" / "nvidia_h200.json";
    replace_file(file, newer);
    const Answer answer = hone_db({"merge", file.parent_path().string(), folder("own", {record_of(dg, 1e-3)})});
    EXPECT_EQ(answer.code, Exit::wrong_input);
    EXPECT_THAT(answer.error, HasSubstr("use a newer hone"));
    EXPECT_EQ(read_file(file, 100), newer);
}

TEST_F(DbCommand, AnswersAMistakeWithTheRightForm) {
    for (const std::vector<std::string>& words : {std::vector<std::string>{},
                                                  {"validate"},
                                                  {"validat", "x"},
                                                  {"validate", "/absent"},
                                                  {"list", "/absent"},
                                                  {"list", "a", "b"},
                                                  {"merge", "x"},
                                                  {"remove", "/absent", "dg_volume"},
                                                  {"remove", "/tmp"},
                                                  {"remove", "/tmp", "dg_volumee"},
                                                  {"list", "/tmp", "--dry-run"}}) {
        const Answer answer = hone_db(words);
        EXPECT_EQ(answer.code, Exit::wrong_input) << testing::PrintToString(words);
        EXPECT_EQ(answer.out, "");
    }
    EXPECT_THAT(hone_db({"validat", "x"}).error, HasSubstr("did you mean validate?"));
    EXPECT_THAT(hone_db({"merge", "x"}).error, HasSubstr("hone db merge DIR FROM..."));
    EXPECT_THAT(hone_db({"--help"}).out, HasSubstr("merge DIR FROM..."));
}

}  // namespace
}  // namespace hone::tools::db_test
