#include "solvers/output/progress.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "foundation/text.hpp"

namespace hone::solvers::progress_test {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

TEST(ProgressBar, RedrawsItsLineAndLeavesNothingBehind) {
    std::ostringstream stream;
    double time = 100;
    {
        Progress progress("steps", 4000, {&stream, true, 60, [&] { return time; }});
        progress.at(1, "soon");
        EXPECT_EQ(stream.str(), "") << "not yet";
        time += 3;
        progress.at(1000, std::string(100, 'x'));
        EXPECT_THAT(stream.str(), HasSubstr("[######..................] 1 000 of 4 000 steps, 9 s left"));
        EXPECT_EQ(stream.str().find('\n'), std::string::npos);
        EXPECT_LT(text::display_width(stream.str()), 60 + 4) << "with the return and the four-character erasure, minus the free column";
        const std::string before = stream.str();
        time += 0.1;
        progress.at(2000);
        EXPECT_EQ(stream.str(), before) << "too soon after";
    }
    EXPECT_THAT(stream.str(), EndsWith("\r\x1b[K"));
}

TEST(ProgressBar, WritesALineNowAndThenIntoALog) {
    std::ostringstream stream;
    double time = 0;
    int notes = 0;
    {
        Progress progress("steps", 100, {&stream, false, 60, [&] { return time; }});
        for (int step = 1; step <= 100; ++step) {
            time += 0.35;
            progress.at(step, [&] { return "note " + std::to_string(++notes); });
        }
    }
    const std::string text = stream.str();
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 3) << text;
    EXPECT_EQ(notes, 3) << "made only where they are shown";
    EXPECT_THAT(text, HasSubstr("29 of 100 steps"));
    EXPECT_THAT(text, Not(HasSubstr("\x1b")));
}

}  // namespace
}  // namespace hone::solvers::progress_test
