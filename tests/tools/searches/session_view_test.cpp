#include "tools/searches/session_view.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "foundation/file_store.hpp"
#include "generator/families/built_in_families.hpp"
#include "tests/tools/ask.hpp"
#include "tests/tools/hone_process.hpp"
#include "tools/console/format.hpp"
#include "tools/console/known_families.hpp"
#include "tuner/journal.hpp"

namespace hone::tools::session_view_test {
namespace {

namespace fs = std::filesystem;
using test::ask;
using testing::HasSubstr;

const DeviceFingerprint h200{Target::cuda, "NVIDIA H200", "sm_90", 132, "13.0", "NVRTC 13.0"};

Problem sweep(int size) {
    return built_in_families().parse_problem(fmt::format("gauss_seidel_27 stencil=constant precision=f32 nx={0} ny={0} nz={0}", size));
}

// Three problems: the first is done, the second has three candidates, one of which failed, the
// third waits.
class SessionView : public testing::Test {
  protected:
    SessionView() : folder_(own_.folder.path() / "results") {
        plan_.device = h200;
        plan_.seconds = 600;
        for (const int size : {16, 24, 32}) plan_.problems.push_back(sweep(size).key());
    }

    void write(SessionLog& log) {
        ASSERT_EQ(log.missing(), "");
        log.begin(0, 200, false);
        log.end(0, SessionStep::State::done, "1.00 ms a step");
        log.begin(1, 300, false);
        RunDescription& run = run_;
        run.problem = plan_.problems[1];
        run.device = h200;
        run.strategy = "random";
        run.space = std::string(64, '0');
        run.members = 90;
        run.version = "0.1.0";
        Journal journal = Journal::start(journal_path(folder_, sweep(24), h200), run);
        for (int i = 0; i < 3; ++i) {
            JournalEntry entry;
            entry.elapsed = 1 + i;
            entry.index = i;
            entry.config = fmt::format("block_x={}", 1 << i);
            entry.outcome = i == 1 ? failure(Status::wrong, "differs") : Outcome{};
            entry.outcome.step = {i == 0 ? 2e-3 : 1e-3, 0.9e-3, 2.1e-3, 0.9e-3, 9};
            journal.append(entry);
        }
    }

    test::OwnFolders own_;
    RunDescription run_;  // of the second problem's journal
    fs::path folder_;
    SessionPlan plan_;
};

TEST_F(SessionView, TellsOfEveryProblemFromLogAndJournals) {
    SessionLog log(folder_, plan_);
    write(log);
    const WatchedSession session = watched_session(log.file(), known_families());
    EXPECT_EQ(session.state, WatchedSession::State::running);
    ASSERT_EQ(session.problems.size(), 3U);
    EXPECT_EQ(session.problems[0].outcome, "1.00 ms a step");
    const ProgressState& second = session.problems[1].progress;
    EXPECT_EQ(session.problems[1].state, SessionStep::State::running);
    EXPECT_EQ(second.run.evaluations, 3);
    EXPECT_EQ(second.run.counts.at(Status::wrong), 1);
    EXPECT_EQ(second.run.best->outcome.step.median, 1e-3);
    EXPECT_EQ(second.run.safe->step.median, 2e-3);
    EXPECT_EQ(session.problems[2].state, SessionStep::State::waiting);
    std::string text;
    for (const std::string& line : session_lines(session, 200, 50)) text += line + "\n";
    for (const char* const part : {"NVIDIA H200", "1 of 3 problems done", "3 tried, 1 failed", "2.00x safe", "waiting", "failed: 1 wrong"})
        EXPECT_THAT(text, HasSubstr(part));
}

TEST_F(SessionView, ARunThatGoesOnIsInItsFinalsNoMore) {
    JournalText journal;
    const JournalEntry candidate{.config = "a=1", .outcome = failure(Status::wrong, "made up")};
    const std::vector<std::pair<JournalEntry, bool>> steps{
        {candidate, false}, {{.kind = JournalEntry::Kind::finish}, true}, {{.kind = JournalEntry::Kind::done}, true}, {candidate, false}};
    for (const auto& [entry, finals] : steps) {
        journal.entries.push_back(entry);
        EXPECT_EQ(progress_of(journal).finals, finals) << journal.entries.size();
    }
}

TEST_F(SessionView, FitsAnyTerminal) {
    SessionLog log(folder_, plan_);
    write(log);
    const WatchedSession session = watched_session(log.file(), known_families());
    for (const int columns : {1, 20, 40, 80, 150})
        for (const int rows : {1, 5, 10, 24}) {
            const auto lines = session_lines(session, columns, rows);
            EXPECT_LE(lines.size(), static_cast<std::size_t>(rows));
            for (const std::string& line : lines) EXPECT_LE(display_width(line), columns);
        }
    std::string narrow;
    for (const std::string& line : session_lines(session, 40, 24)) narrow += line + "\n";
    EXPECT_THAT(narrow, HasSubstr("3 tried, 1 failed"));
    const std::string& problem = session.problems.front().progress.problem;
    EXPECT_THAT(narrow, HasSubstr(problem.substr(problem.rfind(' ') + 1))) << "names are broken, not cut";
}

TEST_F(SessionView, KnowsARunThatWasKilledFromOneThatEnded) {
    fs::path file;
    {
        SessionLog log(folder_, plan_);
        write(log);
        file = log.file();
        EXPECT_TRUE(is_alive(file));
    }
    EXPECT_FALSE(is_alive(file));
    EXPECT_EQ(watched_session(file, known_families()).state, WatchedSession::State::killed);
    const test::Answer answer = ask({"watch", "--db", folder_.string()});
    EXPECT_EQ(answer.code, Exit::ok);
    EXPECT_THAT(answer.out, HasSubstr("killed: 1 of 3 problems done"));
    EXPECT_THAT(answer.error, HasSubstr("--resume goes on"));
    // A line that was cut is left out, other damage is named.
    const std::string text = read_file(file, 1 << 20);
    replace_file(file, text + "{\"event\": \"end\", \"prob");
    EXPECT_EQ(watched_session(file, known_families()).problems[0].state, SessionStep::State::done);
    replace_file(file, text + "rubbish\n");
    EXPECT_THAT(ask({"watch", file.string()}).error, HasSubstr(file.filename().string()));
    std::string newer = text;
    newer.replace(newer.find("\"hone_session\": 1"), 17, "\"hone_session\": 2");
    replace_file(file, newer);
    EXPECT_THAT(ask({"watch", file.string()}).error, HasSubstr("newer hone"));
    EXPECT_EQ(ask({"watch", file.string()}).code, Exit::wrong_input);
}

TEST_F(SessionView, TimeOfARunThatIsOverStandsStill) {
    for (const bool killed : {false, true}) {
        fs::path file;
        {
            SessionLog log(folder_, plan_);
            write(log);
            if (!killed) {
                log.end(1, SessionStep::State::done, "1.00 ms a step");
                log.done(false);
            }
            file = log.file();
        }
        const std::string text = read_file(file, 1 << 20);
        const std::size_t at = text.find("\"at\": ") + 6;
        std::string earlier = text;
        earlier.replace(at, text.find(',', at) - at, fmt::format("{:.0f}", unix_seconds() - 1000));
        replace_file(file, earlier);
        fs::last_write_time(file, fs::file_time_type::clock::now() - std::chrono::seconds(900));
        const WatchedSession session = watched_session(file, known_families());
        ASSERT_EQ(session.state, killed ? WatchedSession::State::killed : WatchedSession::State::finished);
        // The killed run began its second problem just now, by its log, and tried for three
        // seconds.
        EXPECT_NEAR(session.elapsed, killed ? 1003 : 100, 2);
        EXPECT_EQ(watched_session(file, known_families()).elapsed, session.elapsed) << "it is over";
        const Json document = json_of(session);
        EXPECT_NEAR(document["elapsed"].get<double>(), session.elapsed, 1e-6);
        EXPECT_TRUE(document["problems"][1]["seconds_left"].is_null());
        fs::remove(file);
    }
}

// The journal of a problem is that of its last run.
TEST_F(SessionView, WhatALaterRunTriesIsNotToldOfTheOneBefore) {
    for (const bool killed : {false, true}) {
        fs::path file;
        {
            SessionLog log(folder_, plan_);
            write(log);
            TuningProgress progress;
            progress.elapsed = 3;
            progress.evaluations = 3;
            progress.members = 90;
            progress.counts = {{Status::measured, 2}, {Status::wrong, 1}};
            progress.safe = Outcome{};
            progress.safe->step.median = 2e-3;
            progress.best = Tuner::Best{{}, {}};
            progress.best->outcome.step.median = 1e-3;
            if (!killed) log.end(1, SessionStep::State::done, "1.00 ms a step", progress);
            if (!killed) log.done(false);
            file = folder_ / "sessions" / "20260101T000000-1.jsonl";
            fs::rename(log.file(), file);
        }
        const Json before = json_of(watched_session(file, known_families()));
        EXPECT_EQ(before["problems"][1]["evaluations"], 3);
        EXPECT_EQ(before["problems"][1]["counts"]["wrong"], 1);
        EXPECT_EQ(before["problems"][1]["best_seconds"], 1e-3);
        EXPECT_EQ(before["problems"][1]["safe_seconds"], 2e-3);
        SessionLog later(folder_, plan_);
        later.begin(1, 300, true);
        Journal journal = Journal::resume(journal_path(folder_, sweep(24), h200), run_);
        JournalEntry entry;
        entry.elapsed = 5000;
        entry.index = 7;
        entry.config = "block_x=128";
        entry.outcome.step = {0.5e-3, 0.4e-3, 0.6e-3, 0.4e-3, 9};
        journal.append(entry);
        Json after = json_of(watched_session(file, known_families()));
        if (killed) {
            EXPECT_EQ(after["problems"][1]["evaluations"], 0) << "nobody knows which were its own";
            EXPECT_LT(after["elapsed"].get<double>(), 100);
        } else {
            EXPECT_EQ(after, before);
        }
        EXPECT_EQ(json_of(watched_session(later.file(), known_families()))["problems"][1]["evaluations"], 4);
        fs::remove(file);
        fs::remove_all(folder_);
    }
}

TEST_F(SessionView, SaysSoWhereNothingRan) {
    const test::Answer answer = ask({"watch", "--db", folder_.string()});
    EXPECT_EQ(answer.code, Exit::nothing);
    EXPECT_THAT(answer.error, HasSubstr("no session was run"));
    EXPECT_EQ(answer.out, "");
}

// As a full disk leaves them.
TEST_F(SessionView, LogsWithoutALineArePassedOver) {
    fs::create_directories(folder_ / "sessions");
    const fs::path empty = folder_ / "sessions" / "99990101T000000-1.jsonl";
    for (const char* text : {"", "{\"hone_session\": 1"}) {
        replace_file(empty, text);
        EXPECT_EQ(ask({"watch", "--db", folder_.string()}).code, Exit::nothing);
    }
    SessionLog log(folder_, plan_);
    write(log);
    EXPECT_THAT(ask({"watch", "--db", folder_.string(), "--once"}).out, HasSubstr("1.00 ms a step"));
    EXPECT_THAT(ask({"watch", empty.string()}).error, HasSubstr("it has no line"));
    // A pipe that nobody writes to would be waited for.
    fs::remove(empty);
    ASSERT_EQ(mkfifo(empty.c_str(), 0600), 0);
    EXPECT_THAT(ask({"watch", "--db", folder_.string(), "--once"}).out, HasSubstr("1.00 ms a step"));
    EXPECT_EQ(ask({"watch", empty.string()}).code, Exit::wrong_input);
}

TEST_F(SessionView, LogThatCannotBeWrittenStopsNobody) {
    replace_file(own_.folder.path() / "results", "a file");
    SessionLog log(folder_, plan_);
    EXPECT_NE(log.missing(), "");
    log.begin(0, 1, false);
    log.done(false);
}

TEST_F(SessionView, OldLogsGoAndRunningOnesStay) {
    fs::create_directories(folder_ / "sessions");
    for (int i = 0; i < 30; ++i) replace_file(folder_ / "sessions" / fmt::format("20200101T0000{:02}-1.jsonl", i), "{}\n");
    const SessionLog log(folder_, plan_);
    const auto files = session_files(folder_);
    EXPECT_LE(files.size(), 21U);
    EXPECT_EQ(files.back(), log.file());
}

}  // namespace
}  // namespace hone::tools::session_view_test
