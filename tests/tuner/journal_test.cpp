#include "tuner/journal.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <fstream>
#include <random>
#include <set>
#include <sstream>

#include "foundation/error.hpp"
#include "tests/support/failing_call.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/tuner/replay/simulated_run.hpp"

namespace hone::journal_test {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string read(const std::filesystem::path& file) {
    std::ostringstream text;
    text << std::ifstream(file).rdbuf();
    return text.str();
}

void write(const std::filesystem::path& file, const std::string& text) {
    std::ofstream(file, std::ios::trunc) << text;
}

class JournalTest : public testing::Test {
  protected:
    JournalTest() {
        run.problem = "landscape precision=f32 n=100";
        run.device = test::made_up_device().fingerprint;
        run.space = std::string(64, 'a');
        run.members = 100;
        run.version = "0.1.0";
        run.strategy = "random";
        run.seed = 18446744073709551615U;
        file = folder.path() / "journals" / "a.jsonl";
    }

    JournalEntry entry(std::int64_t index) const {
        JournalEntry made{JournalEntry::Kind::evaluation, 1.5 * static_cast<double>(index), index,
                          Candidate::Purpose::search,     "t=" + std::to_string(index),     {}};
        made.outcome = test::Landscape(5).outcome(0, static_cast<std::uint64_t>(index));
        made.outcome.reason = "with \"quotes\", a\nline's end and \xe2\x82\xac";
        made.outcome.verification_error = std::numeric_limits<double>::infinity();
        return made;
    }

    void fill(int entries) {
        Journal journal = Journal::start(file, run);
        for (int i = 0; i < entries; ++i) journal.append(entry(i));
    }

    std::string message_of_resume() {
        try {
            Journal::resume(file, run);
        } catch (const Error& error) {
            return error.what();
        }
        return "no error";
    }

    test::TemporaryFolder folder;
    std::filesystem::path file;
    RunDescription run;
};

TEST_F(JournalTest, GivesBackWhatWasAppended) {
    fill(3);
    {
        Journal journal = Journal::resume(file, run);
        ASSERT_EQ(journal.entries().size(), 3U);
        for (int i = 0; i < 3; ++i) {
            const JournalEntry& found = journal.entries()[static_cast<std::size_t>(i)];
            EXPECT_EQ(found.index, i);
            EXPECT_EQ(found.elapsed, 1.5 * i);
            EXPECT_EQ(found.config, "t=" + std::to_string(i));
            EXPECT_EQ(found.outcome, entry(i).outcome);
        }
        EXPECT_FALSE(journal.complete());
        journal.append({JournalEntry::Kind::finish, 9, 0, Candidate::Purpose::search, "", {}});
        journal.append({JournalEntry::Kind::done, 10, 0, Candidate::Purpose::search, "", {}});
    }
    const Journal journal = Journal::resume(file, run);
    EXPECT_EQ(journal.entries()[3].kind, JournalEntry::Kind::finish);
    EXPECT_TRUE(journal.complete());
}

TEST_F(JournalTest, SaysOfEachEvaluationWhatItWasFor) {
    const std::vector<std::pair<Candidate::Purpose, std::string>> words{
        {Candidate::Purpose::search, "candidate"}, {Candidate::Purpose::again, "again"}, {Candidate::Purpose::finalist, "finalist"}};
    {
        Journal journal = Journal::start(file, run);
        for (const auto& [purpose, word] : words) {
            JournalEntry made = entry(1);
            made.purpose = purpose;
            journal.append(made);
        }
    }
    std::istringstream lines(read(file));
    std::string line;
    std::getline(lines, line);  // the run
    for (const auto& [purpose, word] : words) {
        std::getline(lines, line);
        EXPECT_TRUE(line.starts_with("{\"event\": \"" + word + "\", \"elapsed\": 1.5, \"index\": 1, \"config\": \"t=1\", \"outcome\": {")) << line;
    }
    const Journal journal = Journal::resume(file, run);
    ASSERT_EQ(journal.entries().size(), words.size());
    for (std::size_t i = 0; i < words.size(); ++i) EXPECT_EQ(journal.entries()[i].purpose, words[i].first) << words[i].second;
}

TEST_F(JournalTest, ACutAnywhereLosesAtMostTheLastLine) {
    fill(2);
    const std::string whole = read(file);
    const std::size_t header = whole.find('\n') + 1;
    const std::size_t second = whole.find('\n', header) + 1;
    const unsigned seed = std::random_device{}();
    std::mt19937 random(seed);
    std::set<std::size_t> lengths{0, header - 1, header, second - 1, second, whole.size() - 1, whole.size()};
    while (lengths.size() < 60) lengths.insert(random() % whole.size());
    for (const std::size_t length : lengths) {
        write(file, whole.substr(0, length));
        const std::size_t expected = length < second ? 0 : length < whole.size() ? 1 : 2;
        {
            Journal journal = Journal::resume(file, run);
            ASSERT_EQ(journal.entries().size(), expected) << length << " seed " << seed;
            journal.append(entry(7));
        }
        const Journal again = Journal::resume(file, run);
        ASSERT_EQ(again.entries().size(), expected + 1) << length;
        ASSERT_EQ(again.entries().back().index, 7) << length;
    }
}

TEST_F(JournalTest, DamageElsewhereIsAnErrorThatNamesFileAndLine) {
    fill(3);
    const std::string whole = read(file);
    std::string damaged = whole;
    const std::size_t third = whole.find('\n', whole.find('\n') + 1) + 1;
    damaged[third + 4] = '\x01';
    write(file, damaged);
    EXPECT_THAT(message_of_resume(), HasSubstr("a.jsonl:3"));
    EXPECT_EQ(read(file), damaged) << "a damaged journal is left as it is";
}

TEST_F(JournalTest, AnyMutationIsReadOrRefusedButNeverCrashes) {
    fill(3);
    const std::string whole = read(file);
    const unsigned seed = std::random_device{}();
    std::mt19937 random(seed);
    for (int trial = 0; trial < 500; ++trial) {
        std::string mutated = whole;
        for (int change = 0; change < 3; ++change) mutated[random() % mutated.size()] = static_cast<char>(random() % 256);
        write(file, mutated);
        try {
            const Journal journal = Journal::resume(file, run);
            EXPECT_LE(journal.entries().size(), 6U) << "seed " << seed;
        } catch (const Error& error) {
            EXPECT_THAT(error.what(), HasSubstr("journal")) << "seed " << seed;
        }
    }
}

TEST_F(JournalTest, RefusesAJournalOfAnotherRun) {
    fill(1);
    const RunDescription mine = run;
    run.problem = "landscape precision=f64 n=100";
    EXPECT_THAT(message_of_resume(), HasSubstr("its problem is"));
    run = mine;
    run.space = std::string(64, 'b');
    EXPECT_THAT(message_of_resume(), HasSubstr("its space is"));
    run = mine;
    run.device.name = "another";
    EXPECT_THAT(message_of_resume(), HasSubstr("its device is"));
    run = mine;
    run.settings.window = 3;
    EXPECT_THAT(message_of_resume(), HasSubstr("its settings is"));
    run = mine;
    EXPECT_EQ(message_of_resume(), "no error");
}

TEST_F(JournalTest, ResumesOneThatDoesNotSayHowManyMembersThereAre) {
    fill(2);
    std::string old = read(file);
    const std::string field = "\"members\": 100, ";
    ASSERT_NE(old.find(field), std::string::npos);
    write(file, old.erase(old.find(field), field.size()));
    EXPECT_EQ(Journal::resume(file, run).entries().size(), 2U);
    run.space = std::string(64, 'b');
    EXPECT_THAT(message_of_resume(), HasSubstr("its space is"));
}

TEST_F(JournalTest, OneProcessAtATimeHoldsIt) {
    const Journal journal = Journal::start(file, run);
    EXPECT_THAT(message_of_resume(), HasSubstr("another process is tuning this problem"));
    EXPECT_THROW(Journal::start(file, run), Error);
}

TEST_F(JournalTest, AFreshStartKeepsTheOldOne) {
    fill(2);
    const std::string old = read(file);
    fill(0);
    EXPECT_EQ(read(file.string() + ".previous"), old);
    EXPECT_TRUE(Journal::resume(file, run).entries().empty());
}

TEST_F(JournalTest, ForgettingToResumeTwiceLosesNothing) {
    fill(3);
    const std::string old = read(file);
    fill(1);
    const std::string newer = read(file);
    fill(0);
    EXPECT_EQ(read(file.string() + ".previous"), newer);
    EXPECT_EQ(read(file.string() + ".previous-2"), old);
    for (int run = 0; run < 20; ++run) fill(0);
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(file.parent_path()), {}), 10) << "the nine before, and no more";
}

TEST_F(JournalTest, AFileSystemWithoutLocksIsNoOtherProcess) {
    for (const int error : {ENOSYS, ENOLCK, EOPNOTSUPP}) {
        const test::FailingCall failing(test::FailingCall::Call::flock, error);
        EXPECT_THAT(message_of_resume(), HasSubstr("its file system has no locks")) << error;
        EXPECT_THAT(message_of_resume(), HasSubstr("--db or HONE_DB")) << error;
        EXPECT_THAT(message_of_resume(), Not(HasSubstr("another process"))) << error;
    }
    const test::FailingCall failing(test::FailingCall::Call::flock, EIO);
    EXPECT_THAT(message_of_resume(), HasSubstr("it cannot be locked: Input/output error (EIO)"));
}

TEST_F(JournalTest, AWriteThatIsCutShortSaysWhy) {
    Journal journal = Journal::start(file, run);
    const test::FailingCall failing(test::FailingCall::Call::write_short, ENOSPC);
    try {
        journal.append(entry(1));
        ADD_FAILURE() << "half a line was taken for a whole one";
    } catch (const Error& error) {
        EXPECT_THAT(error.what(), HasSubstr("No space left on device (ENOSPC)"));
    }
}

TEST_F(JournalTest, PeekTellsStrategyAndSeed) {
    RunDescription found;
    EXPECT_FALSE(Journal::peek(file, found));
    fill(0);
    EXPECT_TRUE(Journal::peek(file, found));
    EXPECT_EQ(found.strategy, "random");
    EXPECT_EQ(found.seed, run.seed);
}

TEST_F(JournalTest, AFolderThatCannotBeWrittenIsAnError) {
    write(folder.path() / "plain", "");
    EXPECT_THROW(Journal::start(folder.path() / "plain" / "journals" / "a.jsonl", run), Error);
}

}  // namespace
}  // namespace hone::journal_test
