// Tuning runs are killed at random moments and resumed.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <csignal>
#include <set>
#include <thread>

#include "tests/campaign/campaign.hpp"
#include "tests/support/descendants.hpp"
#include "tuner/journal.hpp"

namespace hone::test {
namespace {

namespace fs = std::filesystem;

/// The lines that ended; a last one may be torn.
std::string whole_lines(const std::string& text) {
    return text.substr(0, text.rfind('\n') + 1);
}

fs::path journal_in(const fs::path& database) {
    std::error_code error;
    for (fs::directory_iterator entry(database / "journals", error), end; !error && entry != end; entry.increment(error))
        if (entry->path().extension() == ".jsonl") return entry->path();
    return {};
}

/// Nothing was evaluated twice.
void expect_every_candidate_once(const std::string& journal) {
    std::set<std::int64_t> seen;
    for (const JournalEntry& entry : parse_journal(journal, "journal").entries) {
        if (entry.kind != JournalEntry::Kind::evaluation || entry.purpose != Candidate::Purpose::search) continue;
        EXPECT_TRUE(seen.insert(entry.index).second) << "candidate " << entry.index << " was recorded twice";
    }
}

/// The folders of runs; one that is being made or removed may be empty for a moment, and stay so.
int run_folders(const fs::path& place) {
    int folders = 0;
    for (const auto& entry : fs::directory_iterator(place))
        folders += entry.path().filename().string().find("hone-run-") == 0 && !fs::is_empty(entry.path()) ? 1 : 0;
    return folders;
}

TEST(CampaignKills, LoseAndRepeatNothing) {
    std::mt19937_64 random = fresh_random();
    int kills = 0;
    int runs = 0;
    int left = 0;
    std::size_t evaluations = 0;
    const int wanted = static_cast<int>(times(20));
    while (kills < wanted) {
        const OwnFolders own;
        const TemporaryFolder place;
        const fs::path database = own.folder.path() / "db";
        const auto words = tune_command({"--budget", "10m", "--evaluations", "12", "--resume", "--db", database.string()});
        std::string before;
        bool complete = false;
        while (!complete && kills < wanted) {
            Descendants descendants;
            {
                const EnvironmentVariable temporary("TMPDIR", place.path().string());
                HoneProcess process(words);
                std::this_thread::sleep_for(std::chrono::milliseconds(draw(random, 3000)));
                process.send(SIGKILL);
                const int code = process.wait();
                ++runs;
                complete = code == 0;
                ASSERT_TRUE(code == 0 || code == -SIGKILL) << code << process.error();
                kills += code == -SIGKILL ? 1 : 0;
            }
            EXPECT_TRUE(descendants.gone()) << "a process outlived its run";
            left += run_folders(place.path());
            const fs::path journal = journal_in(database);
            const std::string after = journal.empty() ? "" : whole_lines(text_of(journal));
            ASSERT_EQ(after.substr(0, before.size()), before) << "what was recorded has changed";
            before = after;
            if (!before.empty()) expect_every_candidate_once(before);
        }
        // The last one is left alone.
        const EnvironmentVariable temporary("TMPDIR", place.path().string());
        const HoneRun last(words);
        ++runs;
        ASSERT_EQ(last.code, 0) << last.error;
        const std::string journal = text_of(journal_in(database));
        ASSERT_EQ(journal.substr(0, before.size()), before);
        expect_every_candidate_once(journal);
        evaluations += parse_journal(journal, "journal").entries.size();
        EXPECT_EQ(subjects_in(database).size(), 1U);
        EXPECT_EQ(HoneRun({"db", "validate", database.string()}).code, 0);
        EXPECT_EQ(run_folders(place.path()), 0) << "the folders of killed runs are removed by the next one";
        if (testing::Test::HasFailure()) break;
    }
    count(fmt::format("kills: {} of {} runs, {} evaluations, 0 lost or repeated; {} folders were left and swept, 0 processes", kills, runs,
                      evaluations, left));
}

}  // namespace
}  // namespace hone::test
