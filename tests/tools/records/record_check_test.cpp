#include "tools/records/record_check.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <random>

#include "foundation/file_store.hpp"
#include "foundation/process.hpp"
#include "generator/families.hpp"
#include "generator/families/built_in_families.hpp"
#include "tests/support/places.hpp"
#include "tests/tools/ask.hpp"
#include "tests/tools/hone_process.hpp"
#include "tools/console/json.hpp"
#include "tuning_db/database.hpp"
#include "tuning_db/database_file.hpp"

namespace hone::tools::record_check_test {
namespace {

using test::ask;
using testing::HasSubstr;

Record volume(int order = 3) {
    Record record;
    record.problem = built_in_families().parse_problem(fmt::format("dg_volume equation=maxwell_3d order={} precision=f32 elements=1000", order));
    record.config = built_in_families().of(record.problem).space(record.problem, cuda_limits(90)).safe();
    record.device = {Target::cuda, "NVIDIA H200", "sm_90", 132, "13.0", "NVRTC 13.0"};
    record.step = {1e-3, 0.99e-3, 1.01e-3, 0.99e-3, 40};
    record.verification_error = 0;
    record.versions = {"0.1.0", std::string(64, 'a')};
    return record;
}

Surroundings same_as(const Record& record) {
    return {record.device, record.versions.hone, record.versions.source_hash, true, ""};
}

Outcome measured(double median, double half_width = 0.01) {
    Outcome outcome;
    outcome.step = {median, (1 - half_width) * median, (1 + half_width) * median, median, 40};
    return outcome;
}

TEST(RecordCheck, HoldsWithinTheToleranceOrTheNoise) {
    const Record record = volume();
    const Surroundings now = same_as(record);
    EXPECT_EQ(judged(record, measured(1.04e-3), now, 0.05).verdict, Verdict::holds);
    EXPECT_EQ(judged(record, measured(1.2e-3), now, 0.05).verdict, Verdict::slower);
    EXPECT_EQ(judged(record, measured(1.2e-3, 0.2), now, 0.05).verdict, Verdict::holds);
    EXPECT_EQ(judged(record, measured(0.8e-3), now, 0.05).verdict, Verdict::faster);
    EXPECT_EQ(judged(record, failure(Status::wrong, "differs by 2"), now, 0.05).verdict, Verdict::fails);
    EXPECT_EQ(judged(record, failure(Status::wrong, "differs by 2"), now, 0.05).found, "wrong: differs by 2");
    EXPECT_TRUE(is_drift(Verdict::slower) && is_drift(Verdict::fails) && is_drift(Verdict::impossible));
    EXPECT_FALSE(is_drift(Verdict::holds) || is_drift(Verdict::faster) || is_drift(Verdict::unmeasured));
}

TEST(RecordCheck, SaysWhatElseDiffersAndWhatToDo) {
    const Record record = volume();
    EXPECT_EQ(judged(record, measured(1e-3), same_as(record), 0.05).differs, "");
    EXPECT_EQ(judged(record, measured(1e-3), same_as(record), 0.05).remedy, "");
    EXPECT_THAT(judged(record, measured(2e-3), same_as(record), 0.05).remedy, HasSubstr("clocks"));
    Surroundings now = same_as(record);
    now.device.driver = "14.1";
    now.source_hash = std::string(64, 'b');
    now.same_kernel = false;
    const RecordCheck changed = judged(record, measured(2e-3), now, 0.05);
    EXPECT_THAT(changed.differs, HasSubstr("driver 13.0 -> 14.1"));
    EXPECT_THAT(changed.differs, HasSubstr("another kernel"));
    EXPECT_THAT(changed.remedy, HasSubstr("tune again"));
    now.busy = "12.0 % of the processors' time was stolen";
    EXPECT_THAT(judged(record, measured(2e-3), now, 0.05).remedy, HasSubstr("verify again while"));
}

TEST(RecordCheck, SamplesTakeEveryFamilyInTurn) {
    std::vector<Record> records;
    for (int order = 1; order <= 10; ++order) records.push_back(volume(order));
    Record other = volume();
    other.problem = built_in_families().parse_problem("gauss_seidel_27 stencil=constant precision=f32 nx=8 ny=8 nz=8");
    records.push_back(other);
    const std::uint64_t seed = std::random_device{}();
    for (std::size_t count = 1; count <= 12; ++count) {
        const std::vector<Record> sample = sample_of(records, count, seed);
        std::map<std::string, int> families;
        std::map<std::string, int> problems;
        for (const Record& record : sample) {
            ++families[record.problem.family()];
            EXPECT_EQ(++problems[record.problem.key()], 1);
        }
        EXPECT_EQ(sample.size(), std::min<std::size_t>(count, 11));
        if (count > 1) EXPECT_EQ(families["gauss_seidel_27"], 1);
        EXPECT_TRUE(std::is_sorted(sample.begin(), sample.end(), stands_before));
    }
}

TEST(RecordCheck, CommandSaysWhereThereIsNothingOfThisDevice) {
    // Of GPUs alone: what ships has results of some processors, too.
    const test::OwnFolders own;
    const auto folder = own.folder.path() / "gpus";
    std::filesystem::create_directories(folder);
    for (const char* name : {"nvidia_h100_80gb_hbm3.json", "nvidia_h200.json"})
        std::filesystem::copy_file(test::source_path(std::string("tuning_db/records/") + name), folder / name);
    const test::Answer answer = ask({"verify", "dg_volume", "--device", "cpu", "--db", folder.string(), "--json"});
    EXPECT_EQ(answer.code, Exit::nothing);
    EXPECT_THAT(answer.error, HasSubstr("there are those of "));
    EXPECT_THAT(answer.error, HasSubstr("nvidia_h100_80gb_hbm3, nvidia_h200"));
    EXPECT_TRUE(Json::parse(answer.out)["checks"].empty());
    EXPECT_EQ(ask({"verify", "--device", "cpu", "--sample", "3", "--all"}).code, Exit::wrong_input);
    EXPECT_EQ(ask({"verify", "--device", "cpu", "--tolerance", "x"}).code, Exit::wrong_input);
}

// Whatever lies in the folder, each command that looks at results ends with a sentence.
TEST(RecordCheck, CommandsThatInspectRefuseWhatTheyCannotRead) {
    const test::OwnFolders own;
    const auto folder = own.folder.path() / "db";
    std::filesystem::create_directories(folder);
    const std::string db = folder.string();
    const std::vector<std::vector<std::string>> commands{{"show", "--db", db},
                                                         {"explain", "dg_volume", "--db", db},
                                                         {"diff", db, db},
                                                         {"verify", "--device", "cpu", "--db", db},
                                                         {"roofline", "--db", db},
                                                         {"verify", "--update", "--device", "cpu", "--db", db},
                                                         {"plot", "rate", "--db", db},
                                                         {"plot", "greenup", "--db", db},
                                                         {"db", "stats", db},
                                                         {"db", "prune", db},
                                                         {"report", "--db", db, "--output", (own.folder.path() / "report.html").string()}};
    const auto all_say = [&](const std::string& text, Exit code) {
        replace_file(folder / "nvidia_h200.json", text);
        for (const auto& command : commands) {
            const test::Answer answer = ask(command);
            EXPECT_EQ(answer.code, code) << command[0] << " " << command[1] << answer.out;
            EXPECT_THAT(answer.error, testing::AllOf(HasSubstr("nvidia_h200.json"), testing::Not(HasSubstr("terminate")))) << command[0];
        }
    };
    all_say(R"({"schema_version": 99, "device": "nvidia_h200", "records": []})", Exit::wrong_input);
    all_say(R"({"schema_version": 3, "device": "nvidia_h200", "records": [{"problem": {"fam)", Exit::wrong_input);
    std::filesystem::remove(folder / "nvidia_h200.json");
    for (const auto& command : commands) {
        const test::Answer answer = ask(command);
        EXPECT_NE(answer.code, Exit::internal) << command[0];
        EXPECT_NE(answer.error + answer.out, "") << command[0];
    }
}

// Tuned here, then verified as it stands, as if it had been a thousand times as fast, and with a
// configuration that is none.
TEST(SlowRecordCheck, CommandMeasuresAgainAndFlagsDrift) {
    if (find_program("c++").empty()) GTEST_SKIP() << "there is no C++ compiler";
    const test::OwnFolders own;
    const std::string folder = (own.folder.path() / "db").string();
    const test::HoneRun tuned({"tune", "gauss_seidel_27", "stencil=constant", "precision=f32", "nx=20", "ny=18", "nz=16", "--device", "cpu",
                               "--evaluations", "2", "--samples", "6", "--db", folder});
    ASSERT_EQ(tuned.code, 0) << tuned.error;
    const test::HoneRun holds({"verify", "--device", "cpu", "--db", folder, "--tolerance", "100000%", "--json"});
    EXPECT_EQ(holds.code, 0) << holds.error;
    const Json check = Json::parse(holds.out)["checks"][0];
    EXPECT_EQ(check["verdict"], "holds");
    EXPECT_GT(check["step_seconds"]["median"], 0);

    const auto file = database_files(folder).front();
    Database faster(built_in_families());
    Record record = read_database_file(file, built_in_families()).records.front();
    for (double* value : {&record.step.median, &record.step.low, &record.step.high, &record.step.minimum}) *value *= 1e-3;
    faster.add(record);
    const std::string other = (own.folder.path() / "other").string();
    faster.merge_into(other);
    const test::HoneRun slower({"verify", "--device", "cpu", "--db", other});
    EXPECT_EQ(slower.code, 1) << slower.error;
    EXPECT_THAT(slower.out, HasSubstr("slower"));
    EXPECT_THAT(slower.out, HasSubstr("to do: "));
    EXPECT_THAT(slower.out, HasSubstr("1 of 1 results measured again, 1 do not hold"));
}

}  // namespace
}  // namespace hone::tools::record_check_test
