#include "tools/records/record_verifier.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "foundation/process.hpp"
#include "generator/families/built_in_families.hpp"
#include "tests/support/environment.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/tools/hone_process.hpp"
#include "tools/console/target.hpp"
#include "tuning_db/database.hpp"

namespace hone::tools::record_verifier_test {
namespace {

using testing::HasSubstr;

// A record as of a search, of the safe configuration, with a time that anything holds.
Record invented(const std::string& problem, const Device& device) {
    Record record;
    record.problem = built_in_families().parse_problem(problem);
    const Family& family = built_in_families().of(record.problem);
    record.config = family.space(record.problem, device.limits).safe();
    record.device = device.fingerprint;
    record.counts = family.counts(record.problem);
    record.step = {10, 1e-9, 100, 1e-9, 6};
    record.verification_error = 0;
    record.tolerance = 1;
    record.date = "2026-11-21T00:00:00Z";
    record.versions = {"0.1.0", std::string(64, 'a')};
    record.strategy = "random";
    record.evaluations = 3;
    return record;
}

class SlowRecordVerifier : public testing::Test {
  protected:
    void SetUp() override {
        if (find_program("c++").empty()) GTEST_SKIP() << "there is no C++ compiler";
    }
    VerifierSettings settings(std::size_t lanes) const {
        return {.update = true, .lanes = lanes, .load = SystemLoad(own.folder.path()), .command = {test::HoneProcess::program(), "worker"}};
    }

    test::OwnFolders own;
    Device device = find_device("cpu");
    std::ostringstream out;
    std::ostringstream error;
    Console console{out, error};
    std::vector<Record> records{invented("gauss_seidel_27 stencil=constant precision=f32 nx=20 ny=18 nz=16", device),
                                invented("gauss_seidel_27 stencil=constant precision=f64 nx=20 ny=18 nz=16", device),
                                invented("gauss_seidel_27 stencil=symmetric precision=f64 nx=16 ny=18 nz=16", device)};
};

TEST_F(SlowRecordVerifier, BringsRecordsUpToDateSideBySide) {
    records[1].config = Config({{"form", Value("no_such_form")}});
    RecordVerifier verifier(device, settings(2), console);
    std::vector<std::string> told;
    const auto checks = verifier.run(records, [&](const RecordCheck& check) { told.push_back(check.record.problem.key()); });
    ASSERT_EQ(checks.size(), 3U) << error.str();
    ASSERT_EQ(told.size(), 3U);
    EXPECT_EQ(checks[0].record.problem, records[1].problem) << "said first, because nothing is measured";
    EXPECT_NE(checks[0].found, "");
    EXPECT_FALSE(checks[0].update);
    for (const std::size_t i : {1U, 2U}) {
        ASSERT_TRUE(checks[i].update) << checks[i].kept << checks[i].found;
        EXPECT_EQ(checks[i].update->step, *checks[i].step);
        EXPECT_LE(checks[i].update->verification_error, checks[i].update->tolerance);
        EXPECT_GT(checks[i].update->ceiling_fraction, 0);
        EXPECT_EQ(verifier.makes_same_kernel(*checks[i].update), true);
        EXPECT_EQ(verifier.makes_same_kernel(checks[i].record), false);
        EXPECT_EQ(checks[i].update->strategy, "random");
    }
}

TEST_F(SlowRecordVerifier, EndsInTimeWithWhatItHas) {
    VerifierSettings hurried = settings(1);
    hurried.seconds = 1e-6;
    RecordVerifier verifier(device, hurried, console);
    EXPECT_TRUE(verifier.run(records).empty());
    EXPECT_TRUE(verifier.out_of_time());
    EXPECT_FALSE(verifier.interrupted());
}

// The command stores what it measured, however the machine was; a second call finds nothing that it
// could complete.
TEST_F(SlowRecordVerifier, CommandStoresAndGoesOn) {
    const auto folder = own.folder.path() / "db";
    Database database(built_in_families());
    for (const Record& record : {records[0], records[1]}) database.add(record);
    database.merge_into(folder);
    const test::HoneRun first({"verify", "--update", "--device", "cpu", "--db", folder.string(), "--budget", "5m"});
    EXPECT_EQ(first.code, 0) << first.error;
    EXPECT_THAT(first.out, HasSubstr("2 of 2 results measured again"));
    int updated = 0;
    const Database after = Database::load(folder, built_in_families());
    for (const Record& record : after.records()) {
        EXPECT_EQ(record.evaluations, 3);
        updated += record.step.median < 10 ? 1 : 0;
    }
    EXPECT_THAT(first.out, HasSubstr(fmt::format("{} brought up to date", updated)));
    if (updated < 2) GTEST_SKIP() << "the machine is busy: " << first.out;
    const test::HoneRun second({"verify", "--update", "--device", "cpu", "--db", folder.string()});
    EXPECT_EQ(second.code, 0);
    EXPECT_THAT(second.error, HasSubstr("all 2 results of this device are up to date"));
}

}  // namespace
}  // namespace hone::tools::record_verifier_test
