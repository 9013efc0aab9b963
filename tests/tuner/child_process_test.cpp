#include "tuner/child_process.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>

#include "generator/error.hpp"

namespace hone {
namespace {

using testing::HasSubstr;

std::optional<std::string> next_line(ChildProcess& child) {
    while (true) {
        if (auto line = child.take_line()) return line;
        if (child.closed()) return std::nullopt;
        ChildProcess* const children[] = {&child};
        ChildProcess::wait(children, 1);
    }
}

TEST(ChildProcess, AnswersLineByLine) {
    ChildProcess child({"/bin/cat"});
    child.send("one");
    child.send("two");
    EXPECT_EQ(next_line(child), "one");
    EXPECT_EQ(next_line(child), "two");
    EXPECT_FALSE(child.closed());
    EXPECT_FALSE(child.take_line().has_value());
}

TEST(ChildProcess, CarriesLinesLongerThanAnyPipe) {
    ChildProcess child({"/bin/cat"});
    const std::string line(100000, 'x');
    child.send(line);
    EXPECT_EQ(next_line(child), line);
}

TEST(ChildProcess, ALineBeforeTheEndIsNotLost) {
    ChildProcess child({"/bin/echo", "last words"});
    EXPECT_EQ(next_line(child), "last words");
    EXPECT_FALSE(next_line(child).has_value());
    EXPECT_EQ(child.end(), "exit code 0");
}

TEST(ChildProcess, TellsHowItEndedAndWhatItComplainedAbout) {
    ChildProcess child({"/bin/ls", "/no/such/folder"});
    EXPECT_FALSE(next_line(child).has_value());
    EXPECT_THAT(child.end(), HasSubstr("exit code 2"));
    EXPECT_THAT(child.end(), HasSubstr("/no/such/folder")) << "also when asked again";
}

TEST(ChildProcess, IsKilledWhenItWouldNotEnd) {
    const auto begin = std::chrono::steady_clock::now();
    ChildProcess child({"/bin/sleep", "1000"});
    EXPECT_THAT(child.end(), HasSubstr("signal 9"));
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(100));
}

TEST(ChildProcess, SendingToOneThatIsGoneDoesNoHarm) {
    ChildProcess child({"/bin/true"});
    EXPECT_FALSE(next_line(child).has_value());
    child.send("anybody there?");
    EXPECT_EQ(child.end(), "exit code 0");
}

TEST(ChildProcess, AProgramThatIsNotThereIsAnError) {
    EXPECT_THROW(ChildProcess({"/no/such/program"}), Error);
}

}  // namespace
}  // namespace hone
