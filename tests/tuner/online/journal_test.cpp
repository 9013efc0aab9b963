#include "tuner/online/journal.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tests/support/fresh_random.hpp"
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

// What runs already has been compiled: its neighbours take the compiler no longer.
TEST(OnlineJournal, ASearchBeginsWithTheNeighboursOfWhatRuns) {
    const test::TemporaryFolder folder;
    test::FreshRandom random;
    const test::Landscape landscape(random());
    const Families families({test::landscape_family(landscape)});
    const Problem problem = families.parse_problem("landscape n=100");
    const SearchSpace space = families.of(problem).space(problem, test::made_up_device().limits);
    OnlineNotes notes;
    open_notes(notes, folder.path(), families.of(problem), problem, test::made_up_device(), space.safe(), {}, "random", 1, [] { return false; });
    ASSERT_TRUE(notes.policy);
    std::set<std::string> wanted, neighbours;
    for (const Candidate& candidate : notes.policy->take_wanted()) wanted.insert(candidate.config.key());
    for (const std::int64_t member : space.members()) {
        int differ = 0;
        bool next = true;
        const auto own = space.levels(member), safe = space.levels(space.index_of(space.safe()));
        for (std::size_t i = 0; i < own.size(); ++i) {
            differ += own[i] == safe[i] ? 0 : 1;
            next = next && (own[i] == safe[i] || own[i] == safe[i] + 1);
        }
        if (differ == 1 && next) neighbours.insert(space.at(member).key());
    }
    EXPECT_FALSE(neighbours.empty());
    EXPECT_TRUE(std::includes(wanted.begin(), wanted.end(), neighbours.begin(), neighbours.end()))
        << testing::PrintToString(wanted) << " without one of " << testing::PrintToString(neighbours);
    EXPECT_GT(wanted.size(), neighbours.size() + 1) << "and the search's own beginning";
    EXPECT_EQ(wanted.count(space.safe().key()), 1U);
}

}  // namespace
}  // namespace hone::online_journal_test
