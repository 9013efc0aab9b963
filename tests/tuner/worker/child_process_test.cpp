#include "tuner/worker/child_process.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>

#include "foundation/error.hpp"
#include "tests/support/descendants.hpp"

namespace hone::child_process_test {
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

TEST(ChildProcess, EndsWithWhatLeftItsGroup) {
    test::Descendants descendants;
    {
        ChildProcess child({"/bin/sh", "-c", "setsid sh -c 'echo begun; exec sleep 1000' & wait"});
        EXPECT_EQ(next_line(child), "begun");
    }
    EXPECT_TRUE(descendants.gone());
}

TEST(ChildProcess, AWorkerThatIsStoppedDiesWithItsParent) {
    prctl(PR_SET_CHILD_SUBREAPER, 1);  // else the system itself wakes stopped processes up that nobody could wake any more
    test::Descendants descendants;
    const pid_t parent = fork();
    if (parent == 0) {
        ChildProcess worker({"/proc/self/exe", "worker"});
        worker.send("anything");
        if (!next_line(worker)) _exit(1);
        kill(worker.pid(), SIGSTOP);
        siginfo_t info{};
        waitid(P_PID, static_cast<id_t>(worker.pid()), &info, WSTOPPED | WNOWAIT);
        kill(getpid(), SIGKILL);
    }
    int status = 0;
    EXPECT_EQ(waitpid(parent, &status, 0), parent);
    EXPECT_TRUE(WIFSIGNALED(status));
    EXPECT_TRUE(descendants.gone());
    prctl(PR_SET_CHILD_SUBREAPER, 0);
    waitpid(-1, nullptr, WNOHANG);
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
}  // namespace hone::child_process_test
