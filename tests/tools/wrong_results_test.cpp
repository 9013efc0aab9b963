// A stored result that is wrong: what each command that finds it so does about it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "interfaces/kernel_folder/kernel_folder.hpp"
#include "runtime/kernel_hash.hpp"
#include "tests/tools/hasty_kernel.hpp"
#include "tests/tools/hone_process.hpp"
#include "tools/console/json.hpp"
#include "tools/console/target.hpp"
#include "tuning_db/database.hpp"

namespace hone::tools::wrong_results_test {
namespace {

using testing::HasSubstr;

class SlowWrongResults : public testing::Test {
  protected:
    SlowWrongResults() {
        Database database(families_);
        database.add(wrong());
        for (const std::filesystem::path& place : {db(), other()}) database.merge_into(place);
    }

    std::filesystem::path db() const { return own_.folder.path() / "db"; }
    std::filesystem::path other() const { return own_.folder.path() / "other"; }

    /// As a search stored it that compared less than it should have.
    Record wrong() const {
        const Problem problem = families_.parse_problem("doubled size=1600");
        const Family& family = families_.of(problem);
        Record record;
        record.problem = problem;
        record.config = family.space(problem, device_.limits).parse("hasty=1");
        record.device = device_.fingerprint;
        record.step = {1e-5, 1e-5, 1e-5, 1e-5, 40};
        record.counts = family.counts(problem);
        record.verification_error = 0;
        record.tolerance = 1e-15;
        record.strategy = "random";
        record.date = "2026-11-21T14:05:00Z";
        record.versions = {"0.1.0", kernel_hash(family.kernel(problem, record.config, device_.limits).text)};
        return record;
    }

    Json looked_up() const {
        const test::HoneRun run({"lookup", "doubled", "size=1600", "--device", "cpu", "--json"});
        return Json::parse(run.out)["matches"][0];
    }
    void expect_gone() const {
        EXPECT_EQ(looked_up()["config"]["key"], "hasty=0") << looked_up();
        EXPECT_EQ(test::HoneRun({"db", "merge", db().string(), other().string()}).code, 0);
        EXPECT_EQ(looked_up()["config"]["key"], "hasty=0") << "a merge brings it back";
        ASSERT_FALSE(Database::load(db(), families_).marks().empty());
    }

    test::OwnFolders own_;
    KernelFolder kernel_{test::hasty_kernel(own_.folder.path())};
    Families families_{std::vector<Family>{kernel_.family()}};
    test::EnvironmentVariable kernels_{"HONE_KERNELS", kernel_.path().string()};
    Device device_ = find_device("cpu");
};

TEST_F(SlowWrongResults, VerifyMarksIt) {
    ASSERT_EQ(looked_up()["grade"], "exact");
    ASSERT_EQ(looked_up()["config"]["key"], "hasty=1");
    const test::HoneRun verified({"verify", "doubled", "--device", "cpu"});
    EXPECT_EQ(verified.code, 1) << verified.out << verified.error;
    EXPECT_THAT(verified.out, HasSubstr("look-ups pass over this record from now on"));
    expect_gone();
    EXPECT_THAT(test::HoneRun({"db", "list", db().string()}).out, HasSubstr("wrong"));
    EXPECT_THAT(Database::load(db(), families_).marks().front().wrong, HasSubstr("found by 'hone verify'"));
}

TEST_F(SlowWrongResults, ASearchStoresItsRightResultThoughItIsSlower) {
    const test::HoneRun tuned({"tune", "doubled", "size=1600", "--device", "cpu", "--force", "--evaluations", "2", "--samples", "6"});
    EXPECT_EQ(tuned.code, 0) << tuned.out << tuned.error;
    EXPECT_EQ(looked_up()["grade"], "exact");
    EXPECT_EQ(looked_up()["config"]["key"], "hasty=0");
    expect_gone();
    EXPECT_EQ(looked_up()["config"]["key"], "hasty=0");
}

TEST_F(SlowWrongResults, AFolderThatCannotBeWrittenIsSaidAndNothingElseIsLost) {
    std::filesystem::remove_all(db());
    std::ofstream(db()) << "no folder";
    const test::HoneRun verified({"verify", "doubled", "--device", "cpu", "--db", other().string()});
    EXPECT_EQ(verified.code, 1) << verified.error;
    EXPECT_FALSE(Database::load(other(), families_).marks().empty()) << "the folder that was named";
}

}  // namespace
}  // namespace hone::tools::wrong_results_test
