#include "tuner/online/journal.hpp"

#include <gtest/gtest.h>

#include "tests/support/temporary_folder.hpp"
#include "tests/tuner/replay/simulated_run.hpp"
#include "tuning_db/database.hpp"

namespace hone::online_journal_test {
namespace {

TEST(OnlineJournal, KeepsARecordThatSaysWhatIsWrongWithItsGain) {
    const test::TemporaryFolder folder;
    const test::Landscape landscape(1);
    const Families families({test::landscape_family(landscape)});
    const Problem problem = families.parse_problem("landscape n=100");
    OnlineNotes notes;
    notes.folder = folder.path();
    notes.run.strategy = "random";
    Outcome outcome;
    outcome.step = {1e-3, 1e-3, 1e-3, 1e-3, 40};
    outcome.verification_error = 0;
    const auto kept = [&](double safe_seconds) {
        keep_record(notes, families, problem, test::made_up_device(), landscape.space().safe(), outcome, safe_seconds, 7);
        return Database::load(folder.path(), families).records().front();
    };
    EXPECT_EQ(kept(7.367).disturbed, "a gain of 7367x over the safe configuration is beyond 20x");
    EXPECT_EQ(kept(2e-3).disturbed, "") << "which replaces the other";
    EXPECT_EQ(kept(7.367).safe_seconds, 2e-3) << "which does not come back";
}

}  // namespace
}  // namespace hone::online_journal_test
