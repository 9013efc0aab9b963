// The parts of tools/test: how steps end and what is written down of them, and which commands a
// reader finds.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "foundation/process.hpp"
#include "tests/support/places.hpp"
#include "tests/support/temporary_folder.hpp"

namespace hone::tools::stages_test {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::MatchesRegex;
using testing::Not;

std::string text_in(const fs::path& file) {
    std::ostringstream text;
    text << std::ifstream(file).rdbuf();
    return text.str();
}

std::vector<std::string> lines_of(const std::string& text) {
    std::istringstream stream(text);
    std::vector<std::string> lines;
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    return lines;
}

class Stages : public testing::Test {
  protected:
    Stages() {
        fs::create_directories(folder.path() / "build/steps");
        fs::create_directories(folder.path() / "tests");
        std::ofstream(folder.path() / "build/steps/times.csv");
    }

    // Runs words of bash in a folder of their own, after the parts of tools/test.
    ProcessResult bash(const std::string& words) const {
        std::string before = "set -uo pipefail; cd " + folder.path().string() +
                             "; jobs=2; install=yes; stages=(one two); caches=" + (folder.path() / "caches").string() + "; unset HONE_COMMIT;";
        for (const char* part : {"packages", "stages/steps", "stages/packages", "stages/libraries", "stages/commands"})
            before += "source " + test::source_path("tools/" + std::string(part) + ".sh") + ";";
        return run_process({"/bin/bash", "-c", before + words}, 60);
    }

    std::string ledger() const { return text_in(folder.path() / "tests/deep_runs.csv"); }

    test::TemporaryFolder folder;
};

// Three steps, one of which cannot be done here and one only in part.
constexpr const char* some_steps = R"(
    able() { echo "skipped: a part of it: no gfortran"; echo "figures: 12 tests passed"; }
    unable() { skipped 'there is no "thing", nor another'; return; }
    failing() { echo "error: it broke"; return 1; }
    run_stage() { step "the step, $1" "$1"; };)";

TEST_F(Stages, WhatCannotBeDoneHereIsSkippedWithTheReasonAndNotPassed) {
    const ProcessResult run = bash(std::string(some_steps) + "run_stage able; run_stage unable; (summary)");
    EXPECT_EQ(run.exit_code, 0);
    EXPECT_THAT(run.output, HasSubstr("  the step, able                           passed "));
    EXPECT_THAT(run.output, HasSubstr("  the step, unable                         skipped"));
    EXPECT_THAT(run.output, HasSubstr("Not run, and why:\n  the step, able: a part of it: no gfortran\n"
                                      "  the step, unable: there is no \"thing\", nor another\n"));
    EXPECT_THAT(lines_of(run.output).back(), MatchesRegex("All that ran is well, after [0-9]+ s; skipped: \"the step, unable\"\\."));
}

TEST_F(Stages, WhatFailsIsToldLastAndWhatAllPassedIsWell) {
    const ProcessResult failed = bash(std::string(some_steps) + "run_stage unable; run_stage failing; (summary)");
    EXPECT_EQ(failed.exit_code, 1);
    EXPECT_THAT(failed.output, HasSubstr("=== the step, failing FAILED; its last lines:\nerror: it broke\n"));
    EXPECT_EQ(lines_of(failed.output).back(), "Failed: \"the step, failing\"; skipped: \"the step, unable\"");
    const ProcessResult passed = bash(std::string(some_steps) + "rm build/steps/*; step plain true; (summary)");
    EXPECT_THAT(lines_of(passed.output).back(), MatchesRegex("All is well, after [0-9]+ s\\."));
}

TEST_F(Stages, AStepThatWasSkippedIsNoGroundForTheNext) {
    EXPECT_THAT(bash(std::string(some_steps) + "run_stage unable && echo went on").output, Not(HasSubstr("went on")));
    EXPECT_THAT(bash(std::string(some_steps) + "run_stage unable; run_stage unable && echo went on").output, Not(HasSubstr("went on")));
    EXPECT_THAT(bash(std::string(some_steps) + "run_stage able && echo went on").output, HasSubstr("went on"));
}

TEST_F(Stages, DeepStagesAddALineToTheLedger) {
    const ProcessResult run = bash(std::string(some_steps) + "HONE_COMMIT=1a2b3c4d; deep able; deep unable; deep failing");
    const std::vector<std::string> lines = lines_of(ledger());
    ASSERT_EQ(lines.size(), 3U) << run.output;
    const std::string start = ",20[0-9-]+,1a2b3c4d,[^,]*; 2 cores;[^,]*,[0-9]+,";
    EXPECT_THAT(lines[0], MatchesRegex("able" + start + "passed,\"12 tests passed\""));
    EXPECT_THAT(lines[1], MatchesRegex("unable" + start + "skipped,\"there is no 'thing', nor another\""));
    EXPECT_THAT(lines[2], MatchesRegex("failing" + start + "failed,\"\""));
}

TEST_F(Stages, ARunWritesItsTimesIntoItsColumnOfTheTable) {
    std::ofstream(folder.path() / "CONTRIBUTING.md")
        << "before\n<!-- times -->\n\n| step | empty caches, a day, 1a | full caches, another, 2b |\n|---|---|---|\n"
           "| plain | 300 s, 500 s | 7 s, 9 s |\n| gone | | 3 s, 3 s |\n| all | 400 s | 10 s |\n<!-- end of times -->\nafter\n";
    bash(std::string(some_steps) + "HONE_COMMIT=3c; times=full; step plain true; run_stage unable; (summary)");
    const std::vector<std::string> lines = lines_of(text_in(folder.path() / "CONTRIBUTING.md"));
    EXPECT_EQ(lines.front(), "before");
    EXPECT_EQ(lines.back(), "after");
    EXPECT_THAT(lines, testing::Contains(MatchesRegex("\\| step \\| empty caches, a day, 1a \\| full caches, 20[0-9-]*, 3c \\|")));
    EXPECT_THAT(lines, testing::Contains(MatchesRegex("\\| plain \\| 300 s, 500 s \\| [0-9]+ s, [0-9]+ s \\|")));
    EXPECT_THAT(lines, testing::Contains("| the step, unable |  | skipped |"));
    EXPECT_THAT(lines, testing::Contains(MatchesRegex("\\| all \\| 400 s \\| [0-9]+ s \\|")));
    EXPECT_THAT(lines, Not(testing::Contains(HasSubstr("gone"))));
}

// A hook of those who work on hone reads the stage, the date and the sixth column.
TEST_F(Stages, TheLedgerOfTheTreeHasTheseColumns) {
    const std::vector<std::string> lines = lines_of(text_in(test::source_path("tests/deep_runs.csv")));
    ASSERT_FALSE(lines.empty());
    EXPECT_EQ(lines.front(), "stage,date,commit,machine,seconds,outcome,figures");
    for (std::size_t i = 1; i < lines.size(); ++i)
        EXPECT_THAT(lines[i], MatchesRegex("[a-z_]+,20[0-9][0-9]-[01][0-9]-[0-3][0-9],[^,]+,[^,]+,[0-9]+,(passed|failed|skipped),\"[^\"]*\""));
}

TEST_F(Stages, TheReasonOfAFailureIsTheLineThatSaysSo) {
    const auto reason_in = [&](const std::string& text) {
        std::ofstream(folder.path() / "log") << text;
        return bash("reason_in log").output;
    };
    EXPECT_EQ(reason_in("collecting\nWARNING: connection broken by SSLError(1)\nERROR: no such release\n[notice] a new pip is available\n\n"),
              "WARNING: connection broken by SSLError(1)\n");
    EXPECT_EQ(reason_in("it was refused\n\n   \n"), "it was refused\n");
    EXPECT_THAT(reason_in("\n\n"), HasSubstr("it printed nothing"));
}

TEST_F(Stages, WithoutWhatMakesEnvironmentsPythonSaysWhatIsMissing) {
    std::ofstream(folder.path() / "python3") << "#!/bin/sh\nexit 1\n";
    fs::permissions(folder.path() / "python3", fs::perms::owner_all);
    const ProcessResult run = bash("export PATH=$PWD:$PATH; step \"Python module\" python_environment; (summary)");
    EXPECT_THAT(run.output, HasSubstr("Python module: python3 cannot make virtual environments: its ensurepip is not here (Debian, Ubuntu: apt "
                                      "install python3-venv)"));
}

TEST_F(Stages, CommandsAreFoundInADocument) {
    std::ofstream(folder.path() / "some.md") << "Run `tools/start --fast` or `hone tune`, not `hone::Session`.\n\n"
                                                "```\nhone doctor        # says all\npoisson 3 4\n```\n\n"
                                                "```cmake\nfind_package(hone)     # after: cmake --install build --prefix <prefix>\n```\n"
                                                "```cpp\nhone ::x();\n```\n";
    EXPECT_THAT(lines_of(bash("commands_in some.md").output),
                ElementsAre("tools/start --fast", "hone doctor", "cmake --install build --prefix <prefix>", "hone tune --help"));
}

TEST_F(Stages, CommandsRunInTheStateThatTheLineBeforeLeft) {
    const ProcessResult run =
        bash("shorten=s/30m/3s/; run_commands . $PWD <<< 'echo text >made\ncat made\necho --budget 30m >budget\nfalse\npip install .\ncat <prefix>'");
    EXPECT_EQ(run.exit_code, 1);
    EXPECT_EQ(text_in(folder.path() / "budget"), "--budget 3s\n");
    EXPECT_THAT(run.output, HasSubstr("--- cat made: "));
    EXPECT_THAT(run.output, HasSubstr("--- false: FAILED with 1\n"));
    EXPECT_THAT(run.output, HasSubstr("--- pip install .: not run here: the stage wheel runs it\n"));
    EXPECT_THAT(run.output, HasSubstr("/prefix: No such file"));
}

TEST_F(Stages, CommandsAreFoundInTheHelpOfAProgram) {
    std::ofstream(folder.path() / "waves")
        << "#!/bin/sh\ncat <<'END'\nUsage: waves [OPTIONS]\n  --size N    waves of this size\nExamples:\n"
           "  waves                    plain ones\n  waves --kind 'a b'  others\n  mpirun -n 4 waves   on four ranks\n"
           "  wavelets are no command\nEND\n";
    fs::permissions(folder.path() / "waves", fs::perms::owner_all);
    EXPECT_THAT(lines_of(bash("commands_in_help ./waves").output), ElementsAre("waves", "waves --kind 'a b'", "mpirun -n 4 waves"));
}

// So that what is run is what the documents name.
TEST_F(Stages, ReadmeAndHelpNameCommands) {
    const auto found = [&](const std::string& words) { return lines_of(bash("cd " + test::source_path("") + "; " + words).output); };
    const std::vector<std::string> readme = found("commands_in README.md");
    ASSERT_GE(readme.size(), 12U);
    EXPECT_EQ(readme.front(), "tools/quickstart");
    EXPECT_THAT(readme, testing::Contains(EndsWith("--install build/release --prefix <prefix>")));
    EXPECT_THAT(found("commands_in_help tools/quickstart"), testing::Contains("tools/quickstart --budget 10m"));
    EXPECT_THAT(found("commands_in_help tools/test"), testing::Contains("ctest --preset quick"));
}

// `tools/quickstart` has a budget of its own, and takes another.
TEST_F(Stages, QuickstartPassesEachOptionOnce) {
    fs::create_directories(folder.path() / "tools");
    fs::create_directories(folder.path() / "build/release/bin");
    for (const char* file : {"tools/quickstart", "tools/packages.sh"}) fs::copy_file(test::source_path(file), folder.path() / file);
    std::ofstream(folder.path() / "cmake") << "#!/bin/sh\n";
    std::ofstream(folder.path() / "build/release/bin/hone") << "#!/bin/sh\necho \"got: $*\"\n";
    for (const char* file : {"cmake", "build/release/bin/hone"}) fs::permissions(folder.path() / file, fs::perms::owner_all);
    const auto passed = [&](const std::string& words) {
        return lines_of(bash("export PATH=$PWD:$PATH CXX=true; unset HONE_QUICKSTART; tools/quickstart --no-install " + words).output).back();
    };
    EXPECT_EQ(passed(""), "got: tune --budget 90s");
    EXPECT_EQ(passed("--budget 10m"), "got: tune --budget 10m");
    EXPECT_EQ(passed("--force --budget=10m"), "got: tune --force --budget=10m");
    EXPECT_EQ(passed("--device cpu"), "got: tune --budget 90s --device cpu");
    EXPECT_EQ(passed("--evaluations 3"), "got: tune --evaluations 3");
}

}  // namespace
}  // namespace hone::tools::stages_test
