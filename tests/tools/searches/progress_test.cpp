#include "tools/searches/progress.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "tools/console/format.hpp"

namespace hone::tools::progress_test {
namespace {

using testing::HasSubstr;
using testing::Not;

Outcome measured(double median) {
    Outcome outcome;
    outcome.step.median = median;
    return outcome;
}

// Ten of a hundred candidates in ten seconds, budget thirty; the best is twice as fast as the safe
// one.
ProgressState midway() {
    ProgressState state;
    state.number = 2;
    state.problems = 3;
    state.problem = "dg_volume order=3";
    state.counts.bytes = 1e9;
    state.seconds = 30;
    state.run.members = 100;
    state.run.evaluations = 10;
    state.run.elapsed = 10;
    state.run.counts = {{Status::measured, 7}, {Status::wrong, 2}, {Status::crashed, 1}};
    state.run.safe = measured(0.2);
    state.run.best = Tuner::Best{Config(), measured(0.1)};
    return state;
}

TEST(Progress, LineSaysAllThatMatters) {
    const std::string line = progress_line(midway(), 200);
    for (const char* part : {"2/3", "10 tried", "3 failed", "20 s left", "10.0 GB/s", "2.00x safe", "dg_volume order=3"})
        EXPECT_THAT(line, HasSubstr(part));
}

TEST(Progress, LineIsCutToTheTerminal) {
    for (const int columns : {0, 1, 20, 79}) EXPECT_LE(display_width(progress_line(midway(), columns)), columns);
    ProgressState state = midway();
    state.problem = "µµµ";
    const std::string whole = progress_line(state, 500);
    const std::string cut = progress_line(state, display_width(whole) - 1);
    EXPECT_EQ(cut + "µ", whole);  // between characters, not inside one
}

TEST(Progress, EndsByWhicheverComesFirst) {
    ProgressState state = midway();
    EXPECT_DOUBLE_EQ(part_done(state), 10.0 / 30);
    EXPECT_DOUBLE_EQ(seconds_left(state), 20);
    state.evaluations = 15;  // five more at a second each
    EXPECT_DOUBLE_EQ(part_done(state), 10.0 / 15);
    EXPECT_DOUBLE_EQ(seconds_left(state), 5);
    state.seconds = 0;
    EXPECT_DOUBLE_EQ(seconds_left(state), 5);
    state.seconds = 3;  // overdrawn
    EXPECT_DOUBLE_EQ(part_done(state), 1);
    EXPECT_DOUBLE_EQ(seconds_left(state), 0);
}

TEST(Progress, SaysWhatIsNotKnownYet) {
    ProgressState state;
    state.problem = "p";
    EXPECT_EQ(part_done(state), 0);
    EXPECT_LT(seconds_left(state), 0);
    EXPECT_THAT(progress_line(state, 200), HasSubstr("nothing measured yet"));
    EXPECT_THAT(progress_line(state, 200), Not(HasSubstr("failed")));
}

TEST(Progress, SaysWhatTheModelExpectsToGain) {
    ProgressState state = midway();
    EXPECT_THAT(progress_line(state, 500), Not(HasSubstr("to gain")));
    state.run.outlook = Outlook{0.4, 0.0213};
    EXPECT_THAT(progress_line(state, 500), HasSubstr(", 2.1 % to gain"));
    state.run.finals = true;
    EXPECT_THAT(progress_line(state, 500), Not(HasSubstr("to gain"))) << "the search is over";
}

TEST(Progress, NamesFailuresByKind) {
    EXPECT_EQ(failures(midway().run.counts), "2 " + to_string(Status::wrong) + ", 1 " + to_string(Status::crashed));
    EXPECT_EQ(failures({{Status::measured, 5}}), "");
}

TEST(ProgressPrinter, RedrawsOnATerminalAndWritesLinesElsewhere) {
    for (const bool terminal : {true, false}) {
        std::ostringstream out;
        std::ostringstream error;
        Console console{out, error, terminal, 80};
        ProgressPrinter printer(console);
        ProgressState state = midway();
        printer.begin(state);
        printer.evaluated(state);
        const std::string before = error.str();
        EXPECT_EQ(before.find('\x1b') != std::string::npos, terminal);
        EXPECT_EQ(std::count(before.begin(), before.end(), '\n'), terminal ? 1 : 2);
        state.run.elapsed = 12;  // no new best, not ten seconds later: a log stays quiet
        printer.evaluated(state);
        EXPECT_EQ(error.str() == before, !terminal);
        state.run.elapsed = 30;
        printer.evaluated(state);
        EXPECT_NE(error.str(), before);
        EXPECT_EQ(out.str(), "");
    }
}

}  // namespace
}  // namespace hone::tools::progress_test
