#include "runtime/process.hpp"

#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <filesystem>
#include <fstream>

#include "tests/support/environment.hpp"
#include "tests/support/temporary_folder.hpp"

namespace hone {
namespace {

namespace fs = std::filesystem;
using test::EnvironmentVariable;
using test::TemporaryFolder;

constexpr double patience = 30;

ProcessResult shell(const std::string& script, double timeout = patience) {
    return run_process({"/bin/sh", "-c", script}, timeout);
}

TEST(Process, TellsHowAProgramEnded) {
    EXPECT_TRUE(shell("exit 0").ok());
    const ProcessResult failed = shell("echo out; echo err >&2; exit 3");
    EXPECT_FALSE(failed.ok());
    EXPECT_EQ(failed.exit_code, 3);
    EXPECT_EQ(failed.output, "out\nerr\n");
    EXPECT_EQ(failed.failure(), "ended with exit code 3");
    const ProcessResult killed = shell("kill -SEGV $$");
    EXPECT_FALSE(killed.ok());
    EXPECT_EQ(killed.signal, SIGSEGV);
    EXPECT_NE(killed.failure().find("signal 11"), std::string::npos) << killed.failure();
}

TEST(Process, AProgramThatCannotBeStartedIsAValue) {
    const ProcessResult result = run_process({"/nonexistent/program"}, patience);
    EXPECT_FALSE(result.started);
    EXPECT_FALSE(result.ok());
    EXPECT_NE(result.failure().find("/nonexistent/program"), std::string::npos);
}

TEST(Process, ArgumentsAreNotInterpreted) {
    const TemporaryFolder folder;
    const std::string canary = (folder.path() / "canary").string();
    for (const std::string& argument : {"$(touch " + canary + ")", "; touch " + canary, "`touch " + canary + "`",
                                        std::string("two  words 'and' \"quotes\" \\"), std::string("*"), std::string("")}) {
        const ProcessResult result = run_process({"/usr/bin/printf", "%s", argument}, patience);
        EXPECT_EQ(result.output, argument);
    }
    EXPECT_FALSE(fs::exists(canary));
}

TEST(Process, StandardInputIsEmpty) {
    EXPECT_EQ(run_process({"/bin/cat"}, patience).output, "");
}

TEST(Process, TheEnvironmentIsTheCallersWithChanges) {
    const EnvironmentVariable kept("HONE_TEST_KEPT", "kept");
    const EnvironmentVariable changed("HONE_TEST_CHANGED", "before");
    const ProcessResult result =
        run_process({"/bin/sh", "-c", "echo $HONE_TEST_KEPT $HONE_TEST_CHANGED"}, patience, {{"HONE_TEST_CHANGED", "after"}});
    EXPECT_EQ(result.output, "kept after\n");
}

TEST(Process, MuchOutputNeitherBlocksNorFillsMemory) {
    const ProcessResult result = shell("head -c 5000000 /dev/zero; echo end >&2");
    EXPECT_TRUE(result.ok()) << result.failure();
    EXPECT_EQ(result.output.size(), std::size_t{1} << 20);
}

TEST(Process, ATimeOutEndsTheWholeGroup) {
    // The program and what it starts inherit the end that is written to. Reading from the other one ends when nobody is left who has it.
    std::array<int, 2> ends{};
    ASSERT_EQ(pipe(ends.data()), 0);
    const ProcessResult result = shell("sleep 100 & sleep 100", 0.2);
    close(ends[1]);
    EXPECT_TRUE(result.timed_out);
    EXPECT_FALSE(result.ok());
    EXPECT_EQ(result.failure().substr(0, 12), "killed after");
    EXPECT_LT(result.seconds, 50);
    pollfd left{ends[0], POLLIN, 0};
    EXPECT_EQ(poll(&left, 1, static_cast<int>(1000 * patience)), 1) << "a child of the program outlived it";
    close(ends[0]);
}

TEST(Process, ATimeOutComesEvenWhenTheOutputIsClosed) {
    const ProcessResult result = shell("exec >&- 2>&-; sleep 100", 0.2);
    EXPECT_TRUE(result.timed_out);
}

TEST(Process, ProgramsAreFoundOnThePath) {
    const TemporaryFolder folder;
    const fs::path bin = folder.path() / "my bin";
    fs::create_directory(bin);
    std::ofstream(bin / "tool") << "#!/bin/sh\n";
    const EnvironmentVariable path("PATH", "/nonexistent::" + bin.string() + ":/bin");
    EXPECT_EQ(find_program("tool"), "") << "not executable";
    fs::permissions(bin / "tool", fs::perms::owner_all);
    EXPECT_EQ(find_program("tool"), (bin / "tool").string());
    EXPECT_EQ(find_program((bin / "tool").string()), (bin / "tool").string());
    EXPECT_EQ(find_program("no-such-tool"), "");
    EXPECT_EQ(find_program(""), "");
    EXPECT_EQ(find_program(bin.string()), "") << "a folder is no program";
    const EnvironmentVariable empty("PATH", "");
    EXPECT_EQ(find_program("sh"), "");
}

}  // namespace
}  // namespace hone
