#include "tuner/online/first_use.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>

#include "foundation/error.hpp"
#include "runtime/disk_cache.hpp"
#include "tests/support/axpy_family.hpp"
#include "tests/support/environment.hpp"
#include "tests/support/sample_record.hpp"
#include "tests/support/temporary_folder.hpp"

namespace hone::first_use_test {
namespace {

using testing::HasSubstr;

TEST(FirstUseWords, AreThoseOfTheVariable) {
    const auto says = [](const std::optional<std::string>& word) {
        const test::EnvironmentVariable variable("HONE_FIRST_USE", word);
        return usual_first_use();
    };
    EXPECT_EQ(says(std::nullopt), FirstUse::predicted);
    EXPECT_EQ(says("predicted"), FirstUse::predicted);
    EXPECT_EQ(says("measured"), FirstUse::measured);
    try {
        says("measure");
        ADD_FAILURE();
    } catch (const Error& error) {
        EXPECT_STREQ(error.what(), "HONE_FIRST_USE: \"measure\" is no answer to a first use; say predicted or measured");
    }
}

/// A processor whose database knows other sizes of the family.
class FirstUseTest : public testing::Test {
  protected:
    FirstUseTest() : cache_(folder_.path() / "cache"), backend_(make_backend("cpu", cache_)) {
        settings.seconds = 60;  // sanitizers are slow; what is proposed ends it
        settings.folder = folder_.path() / "results";
        settings.cache = cache_.folder();
        settings.worker = {"/proc/self/exe", "worker"};
    }

    void know(const std::string& problem, const std::string& config) {
        const Device& device = backend_->device();
        Record record = test::sample_record(families, families.parse_problem(problem), config, device.fingerprint, device.limits);
        record.safe_seconds = 10 * record.step.median;
        database.add(record);
    }

    std::optional<Match> ask(const std::string& problem) {
        return measured_match(database, families, backend_->device(), families.parse_problem(problem), settings, why);
    }

    Match look_up(const Database& in, const std::string& problem) const {
        return in.best(families.parse_problem(problem), backend_->device().fingerprint, backend_->device().limits);
    }

    test::TemporaryFolder folder_;
    DiskCache cache_;
    std::unique_ptr<Backend> backend_;
    Families families = test::axpy_families({"none", "wrong", "large"});
    Database database{families};
    FirstUseSettings settings;
    std::string why;
};

using SlowFirstUse = FirstUseTest;

TEST_F(FirstUseTest, MeasuresWhatIsSuggestedAndKeepsTheBest) {
    know("axpy n=1000", "storage=table");
    know("axpy n=4000", "storage=prepared");
    const auto match = ask("axpy n=2000");
    ASSERT_TRUE(match) << why;
    EXPECT_EQ(match->grade, Grade::measured);
    ASSERT_TRUE(match->record);
    EXPECT_TRUE(match->record->verified_whole());
    EXPECT_EQ(match->record->found, "first_use");
    EXPECT_GT(match->record->safe_seconds, 0) << "the safe configuration was measured, too";
    EXPECT_LE(match->record->evaluations, 3) << "two suggestions, and the safe configuration";

    const Match next = look_up(Database::load(settings.folder, families), "axpy n=2000");
    EXPECT_EQ(next.grade, Grade::measured) << "the next start finds it";
    EXPECT_EQ(next.config, match->config);
    EXPECT_FALSE(std::filesystem::exists(settings.folder / "journals")) << "a journal of 'hone tune' stays as it is";
}

TEST_F(SlowFirstUse, TheMostProposalsAreKept) {
    for (int i = 0; i < 3; ++i) know("axpy n=" + std::to_string(1000 + i), i == 0 ? "unroll=2" : i == 1 ? "unroll=4" : "storage=table");
    settings.proposals = 2;
    const auto match = ask("axpy n=1100");
    ASSERT_TRUE(match) << why;
    EXPECT_LE(match->record->evaluations, 2);
}

TEST_F(SlowFirstUse, AWrongSuggestionIsNotUsed) {
    know("axpy n=20000", "fault=large");
    const auto match = ask("axpy n=30000");
    if (match) EXPECT_THAT(match->config.key(), Not(HasSubstr("large")));
    const Database found = Database::load(settings.folder, families);
    EXPECT_THAT(look_up(found, "axpy n=30000").config.key(), Not(HasSubstr("large")));
}

TEST_F(FirstUseTest, NothingIsMeasuredWhereNothingIsSuggested) {
    EXPECT_FALSE(ask("axpy n=2000"));
    EXPECT_THAT(why, HasSubstr("no result suggests"));
    EXPECT_FALSE(std::filesystem::exists(settings.folder));
}

TEST_F(FirstUseTest, ABudgetThatIsTooShortIsToldAndNotOverrun) {
    know("axpy n=1000", "storage=table");
    settings.seconds = 1e-3;
    EXPECT_FALSE(ask("axpy n=2000"));
    EXPECT_NE(why, "");
}

TEST_F(FirstUseTest, ATuningRunReplacesWhatWasMeasuredAtFirstUse) {
    Record first = test::axpy_record("axpy n=1000", "unroll=2", backend_->device().fingerprint);
    first.found = found_at_first_use;
    Record tuned = test::axpy_record("axpy n=1000", "unroll=4", backend_->device().fingerprint);
    tuned.date = "2030-01-01T00:00:00Z";
    EXPECT_TRUE(better(tuned, first)) << "as fast";
    EXPECT_FALSE(better(first, tuned));
}

}  // namespace
}  // namespace hone::first_use_test
