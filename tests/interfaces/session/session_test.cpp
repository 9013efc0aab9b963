#include "interfaces/session/session.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "foundation/error.hpp"
#include "generator/families/built_in_families.hpp"
#include "tests/support/axpy_family.hpp"
#include "tests/support/environment.hpp"
#include "tests/support/sample_record.hpp"
#include "tests/support/temporary_folder.hpp"

namespace hone::session_test {
namespace {

class SessionTest : public testing::Test {
  protected:
    // A result for this machine's processor that is not the safe configuration.
    void keep(const std::string& problem, const std::string& config, const std::filesystem::path& place) {
        Session session("cpu", {.cache = folder_.path() / "cache", .families = &families_});
        Database found(families_);
        found.add(test::sample_record(families_, families_.parse_problem(problem), config, session.device().fingerprint, session.device().limits));
        found.merge_into(place);
    }

    Families families_ = test::axpy_families({"none"});
    test::TemporaryFolder folder_;
    test::EnvironmentVariable database_{"HONE_DB", std::nullopt};
    test::EnvironmentVariable data_{"XDG_DATA_HOME", (folder_.path() / "data").string()};
};

TEST_F(SessionTest, FindsWhatTheUserTuned) {
    keep("axpy n=1000", "storage=table", folder_.path() / "data" / "hone" / "db");
    Session session("cpu", {.cache = folder_.path() / "cache", .families = &families_});
    const auto kernel = session.kernel("axpy n=1000");
    EXPECT_EQ(kernel->match().grade, Grade::exact);
    EXPECT_EQ(kernel, session.kernel(families_.parse_problem("axpy n=1000"))) << "looked up once";
    EXPECT_EQ(session.database().records().size(), 1U);
}

TEST_F(SessionTest, ReadsANamedFolderAloneAndRefusesOneThatIsMissing) {
    keep("axpy n=1000", "storage=table", folder_.path() / "data" / "hone" / "db");
    keep("axpy n=2000", "storage=table", folder_.path() / "named");
    Session session("cpu", {.database = folder_.path() / "named", .cache = folder_.path() / "cache", .families = &families_});
    EXPECT_EQ(session.kernel("axpy n=1000")->match().grade, Grade::nearest_size);
    EXPECT_THROW(Session("cpu", {.database = folder_.path() / "absent", .cache = folder_.path() / "cache"}), Error);
}

TEST_F(SessionTest, MeasuresAtFirstUseOnceAndOnlyIfAsked) {
    keep("axpy n=1000", "storage=table", folder_.path() / "data" / "hone" / "db");
    const auto grade = [&](std::optional<FirstUse> first_use, const std::string& problem) {
        Session session("cpu", {.cache = folder_.path() / "cache",
                                .families = &families_,
                                .first_use = first_use,
                                .first_use_seconds = 60,
                                .worker = {"/proc/self/exe", "worker"}});
        return session.kernel(problem)->match().grade;
    };
    EXPECT_EQ(grade(std::nullopt, "axpy n=2000"), Grade::nearest_size);
    EXPECT_EQ(grade(FirstUse::predicted, "axpy n=2000"), Grade::nearest_size);
    EXPECT_EQ(grade(FirstUse::measured, "axpy n=1000"), Grade::exact) << "nothing is measured";
    EXPECT_EQ(grade(FirstUse::measured, "axpy n=2000"), Grade::measured);
    EXPECT_EQ(grade(FirstUse::predicted, "axpy n=2000"), Grade::measured) << "it was kept";
    const test::EnvironmentVariable variable("HONE_FIRST_USE", "measured");
    EXPECT_EQ(grade(std::nullopt, "axpy n=500"), Grade::measured);
}

TEST_F(SessionTest, AnswersWhereNothingCanBeMeasured) {
    keep("axpy n=1000", "storage=table", folder_.path() / "data" / "hone" / "db");
    std::vector<std::string> warnings;
    Session session("cpu", {.cache = folder_.path() / "cache",
                            .families = &families_,
                            .warn = [&](const std::string& text) { warnings.push_back(text); },
                            .first_use = FirstUse::measured,
                            .first_use_seconds = 1e-3,
                            .worker = {"/proc/self/exe", "worker"}});
    EXPECT_EQ(session.kernel("axpy n=2000")->match().grade, Grade::nearest_size);
    ASSERT_EQ(warnings.size(), 1U);
    EXPECT_THAT(warnings[0], testing::HasSubstr("axpy precision=f32 n=2000 is not measured at its first use"));
    EXPECT_THROW(Session("cpu", {.first_use_seconds = 0}), Error);
}

TEST_F(SessionTest, HasTheFamiliesOfHoneByDefault) {
    Session session("cpu", {.cache = folder_.path() / "cache"});
    EXPECT_EQ(&session.families(), &built_in_families());
    EXPECT_GT(session.database().records().size(), 0U) << "what ships with hone";
    EXPECT_THROW(session.kernel("axpy n=1000"), Error);
}

}  // namespace
}  // namespace hone::session_test
