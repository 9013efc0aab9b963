#include "foundation/process.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

#include "foundation/file_store.hpp"
#include "tests/support/descendants.hpp"
#include "tests/support/environment.hpp"
#include "tests/support/temporary_folder.hpp"

namespace hone::process_test {
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

// Half a second in all, a little at a time: as on a machine that gives it little.
constexpr const char* slow_work = "for i in 1 2 3 4 5 6; do timeout 0.1 sh -c 'while :; do :; done'; sleep 0.3; done; echo done";

TEST(Process, ABusyMachineIsNoReasonToEndAProgram) {
    EXPECT_TRUE(shell(slow_work, 1).timed_out);
    EXPECT_EQ(run_process_by_its_work({"/bin/sh", "-c", slow_work}, 1).output, "done\n");
}

TEST(Process, WhatDoesNothingOrWorksWithoutEndIsEnded) {
    for (const char* script : {"sleep 1000", "while :; do :; done", "sleep 1000 & wait"}) {
        const ProcessResult result = run_process_by_its_work({"/bin/sh", "-c", script}, 0.5);
        EXPECT_TRUE(result.timed_out) << script;
    }
}

TEST(Process, EndsWithWhoWaitsForIt) {
    static std::atomic<bool> interrupted;
    interrupted = false;
    end_programs_when([] { return interrupted.load(); });
    EXPECT_TRUE(shell("exit 0").ok());
    std::jthread user([] {
        std::this_thread::sleep_for(std::chrono::milliseconds(200));
        interrupted = true;
    });
    EXPECT_THROW(shell("sleep 1000", 1000), InterruptedError);
    EXPECT_THROW(run_process_by_its_work({"/bin/sh", "-c", "sleep 1000"}, 1000), InterruptedError);
    end_programs_when(nullptr);
    EXPECT_TRUE(shell("sleep 0.05").ok());
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
    test::Descendants descendants;
    const ProcessResult result = shell("sleep 100 & sleep 100", 0.2);
    EXPECT_TRUE(result.timed_out);
    EXPECT_FALSE(result.ok());
    EXPECT_EQ(result.failure().substr(0, 12), "killed after");
    EXPECT_LT(result.seconds, 50);
    EXPECT_TRUE(descendants.gone()) << "a child of the program outlived it";
}

TEST(Process, ABackgroundChildThatHoldsTheOutputDelaysNothingAndEndsWithTheRun) {
    test::Descendants descendants;
    const ProcessResult result = shell("echo one; sleep 1000 & echo two", 100);
    EXPECT_TRUE(result.ok()) << result.failure();
    EXPECT_EQ(result.output, "one\ntwo\n");
    EXPECT_TRUE(descendants.gone());
}

TEST(Process, ATimeOutEndsAlsoWhatLeftTheGroup) {
    test::Descendants descendants;
    EXPECT_TRUE(shell("setsid sleep 1000 & sleep 1000", 0.5).timed_out);
    EXPECT_TRUE(descendants.gone());
}

TEST(Process, NothingIsOpenedInPlaceOfAStandardStreamThatIsClosed) {
    const TemporaryFolder folder;
    const auto check = [&] {
        for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) close(descriptor);
        const FolderLock lock(folder.path());
        const ProcessResult result = shell("echo heard; read line || echo nothing");
        const bool lands_nowhere = write(STDOUT_FILENO, "stray", 5) < 0 && write(STDERR_FILENO, "stray", 5) < 0;
        const bool comes_from_nowhere = read(STDIN_FILENO, std::array<char, 1>().data(), 1) < 0;
        _exit(lands_nowhere && comes_from_nowhere && result.output == "heard\nnothing\n" ? 0 : 1);
    };
    EXPECT_EXIT(check(), testing::ExitedWithCode(0), "");
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

// Address space that costs nothing: not set aside, never used.
bool claims(std::size_t bytes) {
    void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return false;
    munmap(memory, bytes);
    return true;
}

TEST(Process, FurtherMemoryIsLimitedAndTheLimitCanBeSetAnew) {
    constexpr std::size_t gibibyte = std::size_t{1} << 30;
    const pid_t child = fork();
    if (child == 0) {
        if (!claims(100 * gibibyte)) _exit(1);
        limit_further_memory(10 * std::int64_t{gibibyte});
        if (!claims(9 * gibibyte)) _exit(2);
        if (claims(100 * gibibyte)) _exit(3);
        limit_further_memory(200 * std::int64_t{gibibyte});
        _exit(claims(100 * gibibyte) ? 0 : 4);
    }
    int status = 0;
    waitpid(child, &status, 0);
    ASSERT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace hone::process_test
