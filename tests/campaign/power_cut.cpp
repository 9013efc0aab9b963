// The power fails at every moment of recorded runs, and whatever the disk may hold then is used
// again.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "generator/families/built_in_families.hpp"
#include "tests/campaign/recorded_disk.hpp"
#include "tuner/journal.hpp"

namespace hone::test {
namespace {

namespace fs = std::filesystem;
using Left = RecordedDisk::Left;

class CampaignPowerCut : public testing::Test {
  protected:
    CampaignPowerCut() { fs::create_directories(disk); }

    RecordedDisk recorded() const { return RecordedDisk(read_log(log), disk); }

    /// Calls `check` with the folder for every moment and everything that may be left, and then for
    /// so many random moments of which some of each is left.
    template <typename Check>
    int cut(const RecordedDisk& recording, const Check& check) {
        int cuts = 0;
        std::size_t next = 0;
        const std::vector<Left> kinds{Left::synchronised, Left::everything, Left::names, Left::some};
        const std::size_t random_moments = times(200);
        for (; next <= recording.length() + random_moments; ++next) {
            const std::size_t moment = next <= recording.length() ? next : draw(random, recording.length() + 1);
            for (const Left left : next <= recording.length() ? kinds : std::vector<Left>{Left::some}) {
                const fs::path target = own.folder.path() / "restored";
                fs::remove_all(target);
                recording.restore(moment, left, random, target);
                SCOPED_TRACE(fmt::format("the power fails before call {} of {} ({}); left {}", moment, recording.length(),
                                         moment < recording.length() ? recording.call(moment).path : "the end", static_cast<int>(left)));
                check(target, moment);
                ++cuts;
                if (HasFailure()) return cuts;
            }
        }
        return cuts;
    }

    OwnFolders own;
    fs::path disk = own.folder.path() / "disk";
    fs::path log = own.folder.path() / "log";
    std::mt19937_64 random = fresh_random();
};

TEST_F(CampaignPowerCut, ADatabaseKeepsWhatWasAcknowledged) {
    constexpr int merges = 6;
    MadeRecords made(own.folder.path() / "from");
    std::vector<MadeRecords::Batch> batches;
    for (int i = 0; i < merges; ++i) {
        batches.push_back(made.make(2));
        {
            const Preload preload({disk, log, "db", ""});
            ASSERT_EQ(HoneRun({"db", "merge", (disk / "db").string(), batches.back().folder.string()}).code, 0);
        }
        mark(log, std::to_string(i));
    }
    const RecordedDisk recording = recorded();
    const MadeRecords::Batch later = made.make(1);
    int validated = 0;
    const int cuts = cut(recording, [&](const fs::path& restored, std::size_t moment) {
        std::vector<std::string> acknowledged;
        for (std::size_t i = 0; i < moment; ++i)
            if (recording.call(i).event.call == Call::mark) {
                const auto& subjects = batches[std::stoul(recording.call(i).path)].subjects;
                acknowledged.insert(acknowledged.end(), subjects.begin(), subjects.end());
            }
        const fs::path database = restored / "db";
        ASSERT_EQ(lost(acknowledged, subjects_in(database)), std::vector<std::string>());
        // The next process goes on with it.
        Database more = Database::load(later.folder, built_in_families());
        more.merge_into(database);
        acknowledged.push_back(later.subjects.front());
        ASSERT_EQ(lost(acknowledged, subjects_in(database)), std::vector<std::string>());
        if (draw(random, 8) != 0) return;
        ++validated;
        const HoneRun valid({"db", "validate", database.string()});
        ASSERT_EQ(valid.code, 0) << valid.out << valid.error;
    });
    count(fmt::format("power cuts in merges: {} in {} recorded calls, {} of them read by 'hone db validate', 0 acknowledged records lost", cuts,
                      recording.length(), validated));
}

// That the cuts find something at all: a database that synchronises nothing would lose records.
TEST_F(CampaignPowerCut, IsNoticedWhereNothingIsSynchronised) {
    MadeRecords made(own.folder.path() / "from");
    const MadeRecords::Batch batch = made.make(2);
    {
        const Preload preload({disk, log, "db", ""});
        ASSERT_EQ(HoneRun({"db", "merge", (disk / "db").string(), batch.folder.string()}).code, 0);
    }
    std::vector<LoggedCall> files_alone = read_log(log);
    std::vector<LoggedCall> folders_alone = files_alone;
    const auto of_folder = [](const LoggedCall& call) { return fs::is_directory(call.path); };
    const auto synchronises = [](const LoggedCall& call) { return call.event.call == Call::fsync; };
    std::erase_if(files_alone, [&](const LoggedCall& call) { return synchronises(call) && of_folder(call); });
    std::erase_if(folders_alone, [&](const LoggedCall& call) { return synchronises(call) && !of_folder(call); });
    for (const auto& calls : {files_alone, folders_alone}) {
        const RecordedDisk recording(calls, disk);
        int spoiled = 0;
        for (const Left left : {Left::synchronised, Left::names}) {
            const fs::path target = own.folder.path() / "restored";
            fs::remove_all(target);
            recording.restore(recording.length(), left, random, target);
            try {
                spoiled += lost(batch.subjects, subjects_in(target / "db")).empty() ? 0 : 1;
            } catch (const Error&) {
                ++spoiled;
            }
        }
        EXPECT_GT(spoiled, 0);
    }
}

/// The journals of a folder, each as it stands.
std::vector<std::string> journals(const fs::path& folder) {
    std::vector<std::string> texts;
    std::error_code error;
    for (fs::directory_iterator entry(folder / "journals", error), end; !error && entry != end; entry.increment(error))
        texts.push_back(text_of(entry->path()));
    return texts;
}

TEST_F(CampaignPowerCut, AJournalKeepsEveryEvaluation) {
    const auto run = [&](const std::vector<std::string>& more, const fs::path& folder) {
        std::vector<std::string> words = tune_command(more);
        words.insert(words.end(), {"--db", folder.string(), "--json"});
        return HoneRun(words);
    };
    {
        const Preload preload({disk, log, "tune", ""});
        // Two runs, of which the second puts the first one's journal aside, and goes on once.
        for (const std::vector<std::string>& more :
             {std::vector<std::string>{"--evaluations", "3"}, {"--evaluations", "2"}, {"--evaluations", "4", "--resume"}}) {
            const HoneRun tuned = run(more, disk / "db");
            ASSERT_EQ(tuned.code, 0) << tuned.error;
        }
    }
    const RecordedDisk recording = recorded();
    fs::path journal;
    for (std::size_t i = 0; i < recording.length(); ++i)
        if (recording.call(i).event.created != 0 && fs::path(recording.call(i).path).parent_path().filename() == "journals")
            journal = recording.call(i).path;
    ASSERT_FALSE(journal.empty());
    std::size_t entries = 0;
    int resumed = 0;
    const int cuts = cut(recording, [&](const fs::path& restored, std::size_t moment) {
        // Whatever the run was told to be on the disk is the beginning of some journal.
        const std::vector<std::string> found = journals(restored / "db");
        for (const std::string& kept : recording.kept(journal, moment)) {
            const bool there =
                std::any_of(found.begin(), found.end(), [&](const std::string& text) { return text.compare(0, kept.size(), kept) == 0; });
            ASSERT_TRUE(there) << "lost: " << kept;
            entries += static_cast<std::size_t>(std::count(kept.begin(), kept.end(), '\n'));
        }
        const fs::path present = restored / "db" / "journals" / journal.filename();
        if (!fs::exists(present)) return;
        const std::string before = text_of(present);
        const bool begun = before.find('\n') != std::string::npos && before.find('\0') > before.find('\n');
        if (begun) {
            const JournalText read = parse_journal(before, "restored");
            const Journal opened = Journal::resume(present, read.run);
            ASSERT_EQ(opened.entries().size(), read.entries.size());
        }
        if (draw(random, 60) != 0) return;
        ++resumed;
        const HoneRun again = run({"--evaluations", "2", "--resume"}, restored / "db");
        ASSERT_EQ(again.code, 0) << again.out << again.error << before;
    });
    EXPECT_GT(entries, 0U);
    count(fmt::format("power cuts in tuning: {} in {} recorded calls, {} lines looked for, {} runs resumed by 'hone tune', 0 evaluations lost", cuts,
                      recording.length(), entries, resumed));
}

}  // namespace
}  // namespace hone::test
