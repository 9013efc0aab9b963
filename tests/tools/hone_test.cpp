// The hone command as a user meets it: processes, exit codes, standard output and standard error, a
// terminal, Ctrl-C.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <sstream>
#include <thread>

#include "foundation/environment.hpp"
#include "foundation/process.hpp"
#include "generator/families/built_in_families.hpp"
#include "runtime/backend.hpp"
#include "runtime/power.hpp"
#include "tests/support/running_time.hpp"
#include "tests/tools/hone_process.hpp"
#include "tools/console/json.hpp"
#include "tools/searches/default_problems.hpp"

namespace hone::test::hone_test {
namespace {

using testing::HasSubstr;
using testing::Not;
using tools::Json;

const std::vector<std::string> problem{"gauss_seidel_27", "stencil=constant", "precision=f32", "nx=20", "ny=18", "nz=16"};

std::vector<std::string> with(std::vector<std::string> first, const std::vector<std::string>& rest) {
    first.insert(first.end(), rest.begin(), rest.end());
    return first;
}

std::vector<std::string> tune(const std::vector<std::string>& rest) {
    return with(with({"tune"}, problem), with({"--device", "cpu"}, rest));
}

TEST(Hone, ExitCodesTellWhatHappened) {
    const OwnFolders own;
    EXPECT_EQ(HoneRun({"families"}).code, 0);
    EXPECT_EQ(HoneRun({"show", "--db", own.folder.path().string()}).code, 1);
    EXPECT_EQ(HoneRun({"familes"}).code, 2);
    EXPECT_EQ(HoneRun(with({"space", "--device", "cuda:977"}, problem)).code, 3);
}

TEST(Hone, JsonStandsAloneOnStandardOutput) {
    const OwnFolders own;
    for (const auto& arguments : std::vector<std::vector<std::string>>{{"devices", "--json"},
                                                                       {"doctor", "--json"},
                                                                       {"families", "--json"},
                                                                       {"show", "--json"},
                                                                       with({"space", "--device", "cpu", "--json"}, problem),
                                                                       with({"lookup", "--device", "cpu", "--json"}, problem)}) {
        const HoneRun run(arguments);
        EXPECT_TRUE(Json::accept(run.out)) << arguments.front() << run.out;
    }
}

TEST(Hone, SaysThatItsOutputCannotBeWritten) {
    const OwnFolders own;
    const ProcessResult run = run_process({"/bin/sh", "-c", "\"$0\" version > /dev/full", HoneProcess::program()}, 60);
    EXPECT_EQ(run.exit_code, 5);
    EXPECT_THAT(run.output, HasSubstr("standard output cannot be written"));
}

TEST(Hone, SaysWhatToInstallWhereThereIsNoCompiler) {
    const OwnFolders own;
    const EnvironmentVariable compiler("HONE_CXX", "/nonexistent/compiler");
    const HoneRun compile(with({"compile", "--target", "cpu"}, problem));
    EXPECT_EQ(compile.code, 3) << compile.error;
    EXPECT_EQ(HoneRun(tune({"--evaluations", "1"})).code, 3);
    const HoneRun doctor({"doctor"});
    if (Json::parse(HoneRun({"doctor", "--json"}).out)["devices"].empty()) {
        EXPECT_EQ(doctor.code, 3);
        EXPECT_THAT(doctor.out, HasSubstr("not ready"));
    }
    EXPECT_THAT(doctor.out, Not(HasSubstr("--device cpu")));
}

TEST(SlowHone, CompilesAndKeepsTheCode) {
    const OwnFolders own;
    const auto file = own.folder.path() / "kernel.so";
    const HoneRun first(with({"compile", "--target", "cpu", "--json", "--output", file.string()}, problem));
    ASSERT_EQ(first.code, 0) << first.error;
    EXPECT_EQ(Json::parse(first.out)["kernels"][0]["from_cache"], false);
    const HoneRun nowhere(with({"compile", "--target", "cpu", "--json", "--output", (own.folder.path() / "absent" / "kernel.so").string()}, problem));
    EXPECT_EQ(nowhere.code, 2);
    EXPECT_EQ(nowhere.out, "");
    EXPECT_THAT(nowhere.error, HasSubstr("No such file or directory (ENOENT)"));
    EXPECT_EQ(std::filesystem::file_size(file), Json::parse(first.out)["kernels"][0]["code_bytes"]);
    EXPECT_EQ(Json::parse(HoneRun(with({"compile", "--target", "cpu", "--json"}, problem)).out)["kernels"][0]["from_cache"], true);
}

TEST(SlowHone, CompilesAheadWhatATuningRunChoosesAmong) {
    const OwnFolders own;
    const std::vector<std::string> draw{"--among", "3", "--seed", "5", "--only", "vector_bytes=16"};
    const HoneRun first(with(with({"compile", "--device", "cpu", "--json"}, draw), problem));
    ASSERT_EQ(first.code, 0) << first.error;
    const Json ahead = Json::parse(first.out)["problems"][0];
    EXPECT_GE(ahead["members"], 3);
    // Configurations whose kernels have the same text are compiled once.
    EXPECT_GE(ahead["compiled"], 1);
    EXPECT_EQ(ahead["compiled"].get<int>() + ahead["cached"].get<int>(), ahead["members"]);
    EXPECT_GT(ahead["compile_seconds"], 0);
    const Json again = Json::parse(HoneRun(with(with({"compile", "--device", "cpu", "--json"}, draw), problem)).out)["problems"][0];
    EXPECT_EQ(again["cached"], ahead["members"]);
    EXPECT_EQ(again["compile_seconds"], 0);
    const HoneRun tuning(tune(with(draw, {"--samples", "10", "--json"})));
    ASSERT_EQ(tuning.code, 0) << tuning.error;
    const Json search = Json::parse(tuning.out)["results"][0]["search"];
    EXPECT_EQ(search["evaluations"], ahead["members"]) << "all that were drawn, and no others";
    EXPECT_EQ(search["compile_seconds"], 0) << tuning.out;
}

TEST(Hone, WhatIsCompiledAheadIsDrawnNotNamed) {
    const OwnFolders own;
    for (const auto& options : std::vector<std::vector<std::string>>{
             {"--among", "3", "--report"}, {"--among", "3", "--config", "vector_bytes=16"}, {"--among", "0"}, {"--only", "vector_bytes=16"}}) {
        const HoneRun run(with(with({"compile", "--device", "cpu"}, problem), options));
        EXPECT_EQ(run.code, 2) << run.error;
    }
}

TEST(SlowHone, ReportsWhatNvrtcMadeOfAKernel) {
    const OwnFolders own;
    const HoneRun run({"compile", "dg_volume", "equation=maxwell_3d", "order=3", "precision=f64", "elements=100000", "--target", "cuda", "--arch",
                       "sm_90", "--report", "--json"});
    if (run.code == 3) GTEST_SKIP() << run.error;
    ASSERT_EQ(run.code, 0) << run.error;
    const Json entry = Json::parse(run.out)["kernels"][0]["entries"][0];
    EXPECT_GT(entry["registers"], 0);
    EXPECT_TRUE(entry.contains("spill_store_bytes"));
}

TEST(SlowHone, TunesShowsAndLooksUp) {
    const OwnFolders own;
    const HoneRun tuned(tune({"--evaluations", "3", "--samples", "6", "--seed", "5", "--json"}));
    ASSERT_EQ(tuned.code, 0) << tuned.error;
    const Json result = Json::parse(tuned.out)["results"][0];
    EXPECT_EQ(result["search"]["evaluations"], 3);
    EXPECT_THAT(tuned.error, Not(HasSubstr("\x1b")));  // plain lines where there is no terminal

    const HoneRun shown({"show", "--json", "--db", (own.folder.path() / "db").string()});
    ASSERT_EQ(shown.code, 0) << shown.error;
    EXPECT_EQ(Json::parse(shown.out)["devices"][0]["records"][0], result["record"]);
    EXPECT_THAT(HoneRun({"show", "--db", (own.folder.path() / "db").string()}).out,
                HasSubstr("gauss_seidel_27 stencil=constant precision=f32 nx=20 ny=18 nz=16"));

    EXPECT_EQ(Json::parse(HoneRun(with({"lookup", "--device", "cpu", "--json"}, problem)).out)["matches"][0]["grade"], "exact");
    const HoneRun nearest({"lookup", "gauss_seidel_27", "stencil=constant", "precision=f32", "nx=40", "ny=36", "nz=30", "--device", "cpu", "--json"});
    EXPECT_EQ(nearest.code, 0);
    EXPECT_EQ(Json::parse(nearest.out)["matches"][0]["grade"], "nearest_size");
    EXPECT_EQ(HoneRun({"db", "validate", (own.folder.path() / "db").string()}).code, 0);
}

TEST(SlowHone, MeasuresWhatIsSuggestedForAProblemThatNobodyTuned) {
    const TemporaryFolder folder;
    const std::string db = folder.path().string();
    ASSERT_EQ(HoneRun(tune({"--evaluations", "12", "--samples", "6", "--db", db})).code, 0);
    const std::vector<std::string> other{
        "lookup", "gauss_seidel_27", "stencil=constant", "precision=f32", "nx=24", "ny=18", "nz=16", "--device", "cpu", "--db", db, "--json"};
    EXPECT_EQ(Json::parse(HoneRun(other).out)["matches"][0]["grade"], "nearest_size");
    const HoneRun measured(with(other, {"--measure", "--budget", "60s"}));
    if (measured.error.find("no result suggests") != std::string::npos) GTEST_SKIP() << "the safe configuration was the best";
    EXPECT_EQ(Json::parse(measured.out)["matches"][0]["grade"], "measured") << measured.error;
    EXPECT_EQ(Json::parse(HoneRun(other).out)["matches"][0]["grade"], "measured") << "it was kept";
    EXPECT_NE(HoneRun(with(other, {"--measure", "--budget", "0s"})).code, 0);
}

TEST(SlowHone, DrawsAPictureWithGnuplotOrSaysThatThereIsNone) {
    const OwnFolders own;
    ASSERT_EQ(HoneRun(tune({"--evaluations", "2", "--samples", "6"})).code, 0);
    const auto picture = own.folder.path() / "a_picture.png";
    const HoneRun drawn({"show", "--plot", picture.string(), "--db", (own.folder.path() / "db").string()});
    EXPECT_EQ(drawn.code, find_program("gnuplot").empty() ? 3 : 0) << drawn.error;
    EXPECT_EQ(std::filesystem::exists(picture), drawn.code == 0);
}

TEST(SlowHone, RedrawsOneLineOnATerminal) {
    const OwnFolders own;
    HoneProcess process(tune({"--evaluations", "2", "--samples", "6"}), HoneProcess::Terminal::yes);
    ASSERT_EQ(process.wait(), 0) << process.error();
    EXPECT_THAT(process.error(), HasSubstr("\r1/1 ["));
    EXPECT_THAT(process.error(), HasSubstr("\x1b[K"));
    EXPECT_THAT(process.out(), Not(HasSubstr("\x1b")));
}

/// Waits until the journals hold so many measurements; false after two minutes.
bool measured_in(const OwnFolders& own, std::size_t fewest) {
    const auto measured = [&] {
        std::size_t found = 0;
        std::error_code error;
        for (std::filesystem::directory_iterator file(own.folder.path() / "db" / "journals", error), end; !error && file != end;
             file.increment(error)) {
            std::ifstream lines(file->path());
            for (std::string line; std::getline(lines, line);) found += line.find(R"("status": "measured")") != std::string::npos ? 1 : 0;
        }
        return found;
    };
    const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(2);
    for (; std::chrono::steady_clock::now() < end; std::this_thread::sleep_for(std::chrono::milliseconds(10)))
        if (measured() >= fewest) return true;
    return false;
}

// Ctrl-C ends a long run early: what was found is stored, and --resume goes on without repeating
// what is done.
TEST(SlowHone, KeepsEverythingWhenInterrupted) {
    const OwnFolders own;
    HoneProcess process(tune({"--budget", "10m", "--samples", "6"}));
    ASSERT_TRUE(measured_in(own, 2)) << process.error();
    process.send(SIGINT);
    ASSERT_EQ(process.wait(120), 4) << process.error();
    EXPECT_THAT(process.error(), HasSubstr("--resume"));
    EXPECT_EQ(Json::parse(HoneRun({"show", "--json", "--db", (own.folder.path() / "db").string()}).out)["devices"][0]["records"].size(), 1U);

    const HoneRun resumed(tune({"--evaluations", "4", "--samples", "6", "--resume", "--json"}));
    ASSERT_EQ(resumed.code, 0) << resumed.error;
    EXPECT_GE(Json::parse(resumed.out)["results"][0]["search"]["replayed"], 1);
}

TEST(SlowHone, ResumingWithOtherOptionsIsWrongInput) {
    const OwnFolders own;
    ASSERT_EQ(HoneRun(tune({"--evaluations", "1", "--samples", "6", "--seed", "5", "--strategy", "random"})).code, 0);
    for (const auto& other : std::vector<std::vector<std::string>>{{"--strategy", "exhaustive"}, {"--seed", "6"}, {"--only", "z_block=8"}}) {
        const HoneRun run(tune(with({"--evaluations", "1", "--samples", "6", "--resume"}, other)));
        EXPECT_EQ(run.code, 2) << other[0] << run.out << run.error;
        EXPECT_THAT(run.error, HasSubstr("another run")) << other[0];
    }
    EXPECT_EQ(HoneRun(tune({"--evaluations", "1", "--samples", "6", "--resume"})).code, 0);
}

TEST(Hone, SaysWhyEnergyCannotBeTunedFor) {
    const OwnFolders own;
    std::string missing;
    if (find_power_source(backends().back().devices(missing).front(), missing)) GTEST_SKIP() << "this processor's energy can be measured";
    const HoneRun run(tune({"--evaluations", "1", "--objective", "energy"}));
    EXPECT_EQ(run.code, 3) << run.out;
    EXPECT_THAT(run.error, HasSubstr("energy cannot be measured on this device: " + missing));
    EXPECT_EQ(HoneRun(tune({"--objective", "speed"})).code, 2);
    EXPECT_EQ(HoneRun(tune({"--only", "no_such=1"})).code, 2);
}

TEST(SlowHone, QuitsAtOnceWhenInterruptedTwice) {
    const OwnFolders own;
    HoneProcess process(tune({"--budget", "10m"}));
    ASSERT_TRUE(process.wait_for("problem 1 of 1", 120)) << process.error();
    process.send(SIGINT);
    process.wait_for("stopping", 60);  // two signals sent at once may arrive as one
    process.send(SIGINT);
    EXPECT_EQ(process.wait(60), 4) << process.error();
}

/// A compiler of a few lines of shell, in HONE_CXX.
class CompilerScript {
  public:
    explicit CompilerScript(const std::string& lines) {
        std::ofstream(path_) << "#!/bin/sh\n" << lines;
        std::filesystem::permissions(path_, std::filesystem::perms::owner_all);
    }

  private:
    TemporaryFolder folder_;
    std::filesystem::path path_ = folder_.path() / "c++";
    EnvironmentVariable variable_{"HONE_CXX", path_.string()};
};

/// One that tells its version and compiles what it is tried with, and then sleeps.
struct HangingCompiler : CompilerScript {
    HangingCompiler()
        : CompilerScript(
              "[ \"$1\" = --version ] && echo sleeper 1.0 && exit\n"
              "for word; do case $word in *.cpp) grep -q hone_probe \"$word\" && exec c++ \"$@\";; esac; done\nexec sleep 600\n") {}
};

TEST(Hone, EndsAtOnceWithACompilerThatHangsWhileItIsTried) {
    const OwnFolders own;
    const CompilerScript hangs("[ \"$1\" = --version ] && echo hanging 1.0 && exit\necho $$ > \"$0.pid\"\nexec sleep 600\n");
    for (const std::string command : {"devices", "tune"}) {
        std::filesystem::remove(environment_variable("HONE_CXX") + ".pid");
        HoneProcess process(command == "devices" ? std::vector<std::string>{"devices"} : tune({"--budget", "10m"}));
        const auto pid = [] {
            pid_t number = 0;
            std::ifstream(environment_variable("HONE_CXX") + ".pid") >> number;
            return number;
        };
        for (int i = 0; i < 6000 && pid() == 0; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
        ASSERT_GT(pid(), 0) << process.error();
        process.send(SIGINT);
        test::RunningTime answer;
        const int code = process.wait(60);
        EXPECT_TRUE(code == 4 || code == -SIGINT) << code;
        EXPECT_LT(answer.seconds(), 2) << command;
        const auto gone = [&] {  // or a zombie, where nobody reaps orphans
            std::string stat;
            std::ifstream file("/proc/" + std::to_string(pid()) + "/stat");
            std::getline(file, stat);
            return stat.empty() || stat.find(") Z ") != std::string::npos;
        };
        for (int i = 0; i < 500 && !gone(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
        EXPECT_TRUE(gone()) << command << ": it left its compiler behind";
    }
}

// A warm cache knows the compiler, so that the first who misses the folder is one that compiles.
TEST(Hone, CompilesNothingWithoutATemporaryFolderAndSaysSo) {
    const OwnFolders own;
    const std::vector<std::string> words{"compile", "gauss_seidel_27", "stencil=constant", "precision=f32", "nx=20", "ny=18", "nz=8", "--target",
                                         "cpu"};
    if (const HoneRun warm(words); warm.code != 0) GTEST_SKIP() << warm.error;
    const auto without_folder = [](std::vector<std::string> arguments) {
        arguments.insert(arguments.begin(), HoneProcess::program());
        return run_process(arguments, 120, {{"TMPDIR", "/proc"}});  // nobody can make a folder there
    };
    EXPECT_TRUE(without_folder(words).ok()) << "from the cache";
    std::vector<std::string> other = words;
    other[3] = "precision=f64";
    const ProcessResult run = without_folder(other);
    EXPECT_EQ(run.exit_code, 2) << run.failure() << run.output;
    EXPECT_THAT(run.output, HasSubstr("temporary folder /proc"));
    EXPECT_THAT(run.output, HasSubstr("set TMPDIR"));
}

// A search that had time for nothing else has no result: it would hide what is known of neighbours.
TEST(SlowHone, TheSafeConfigurationAloneIsNotStored) {
    const OwnFolders own;
    const auto stored = [&] { return HoneRun({"show", "--db", (own.folder.path() / "db").string()}).code == 0; };
    const HoneRun hurried = [] {
        const CompilerScript slow("sleep 1\nexec c++ \"$@\"\n");
        return HoneRun(tune({"--budget", "0.1s", "--samples", "6", "--json"}));
    }();
    EXPECT_EQ(hurried.code, 1) << hurried.error;
    const Json result = Json::parse(hurried.out)["results"][0];
    EXPECT_THAT(result["not_stored"].get<std::string>(), HasSubstr("with a longer budget --resume goes on"));
    EXPECT_GT(result["record"]["step_seconds"]["median"], 0) << "it is told all the same";
    EXPECT_FALSE(stored());
    const HoneRun asked(tune({"--evaluations", "1", "--samples", "6"}));
    EXPECT_EQ(asked.code, 0) << asked.error;
    EXPECT_THAT(asked.out, HasSubstr("not stored: gauss_seidel_27"));
    EXPECT_FALSE(stored());
    const HoneRun resumed(tune({"--evaluations", "3", "--resume", "--samples", "6", "--json"}));
    ASSERT_EQ(resumed.code, 0) << resumed.error;
    EXPECT_EQ(Json::parse(resumed.out)["results"][0]["search"]["replayed"], 1);
    EXPECT_TRUE(stored());
}

TEST(SlowHone, ACompilerThatHangsCostsNoMoreThanTheBudget) {
    const OwnFolders own;
    const HangingCompiler compiler;
    HoneProcess process(
        {"tune", "gauss_seidel_27", "stencil=constant", "precision=f32", "nx=20", "ny=18", "nz=8,16", "--device", "cpu", "--budget", "2s"});
    EXPECT_EQ(process.wait(60), 1) << process.error();
    EXPECT_THAT(process.out(), HasSubstr("the budget was spent before the safe configuration"));
    EXPECT_THAT(process.out(), HasSubstr("the budget was spent before its turn"));
}

TEST(SlowHone, AnswersCtrlCWhileTheCompilerHangs) {
    const OwnFolders own;
    const HangingCompiler compiler;
    for (const std::string phase : {"tuning one problem", "problem 1 of 1"}) {
        HoneProcess process(tune({"--budget", phase == "problem 1 of 1" ? "8s" : "10m"}));
        ASSERT_TRUE(process.wait_for(phase, 60)) << process.error();
        process.send(SIGINT);
        test::RunningTime answer;
        EXPECT_TRUE(process.wait_for("stopping: waiting for", 60)) << phase << process.error();
        EXPECT_LT(answer.seconds(), 1) << phase;
        EXPECT_EQ(process.wait(30), 4) << process.error();
    }
}

TEST(SlowHone, AnInterruptedRunLeavesNoTemporaryFolder) {
    const OwnFolders own;
    const HangingCompiler compiler;
    const TemporaryFolder place;
    HoneProcess process = [&] {
        const EnvironmentVariable variable("TMPDIR", place.path().string());
        return HoneProcess(tune({"--budget", "10m"}));
    }();
    ASSERT_TRUE(process.wait_for("tuning one problem", 60)) << process.error();
    const auto folders = [&] { return std::distance(std::filesystem::directory_iterator(place.path()), {}); };  // one is the test's own
    for (int i = 0; i < 1000 && folders() < 2; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    EXPECT_EQ(folders(), 2) << "one for the whole run";
    process.send(SIGINT);
    ASSERT_EQ(process.wait(60), 4) << process.error();
    EXPECT_EQ(folders(), 1);
}

TEST(SlowHone, TheFolderOfAKilledRunGoesWithTheNextOne) {
    const OwnFolders own;
    const TemporaryFolder place;
    const auto folders = [&] { return std::distance(std::filesystem::directory_iterator(place.path()), {}); };
    HoneProcess killed = [&] {
        const EnvironmentVariable variable("TMPDIR", place.path().string());
        return HoneProcess(tune({"--budget", "10m", "--samples", "6"}));
    }();
    ASSERT_TRUE(killed.wait_for("x safe", 120)) << killed.error();
    killed.send(SIGKILL);
    EXPECT_EQ(killed.wait(), -SIGKILL);
    EXPECT_EQ(folders(), 2) << "one is the test's own";
    const EnvironmentVariable variable("TMPDIR", place.path().string());
    EXPECT_EQ(HoneRun(tune({"--evaluations", "1", "--samples", "6"})).code, 0);
    EXPECT_EQ(folders(), 1);
}

TEST(SlowHone, AHangUpKeepsTheBestSoFar) {
    const OwnFolders own;
    HoneProcess process(tune({"--budget", "10m", "--samples", "6"}));
    ASSERT_TRUE(measured_in(own, 2)) << process.error();
    process.send(SIGHUP);
    ASSERT_EQ(process.wait(120), 4) << process.error();
    const HoneRun shown({"show", "--json", "--db", (own.folder.path() / "db").string()});
    EXPECT_EQ(Json::parse(shown.out)["devices"][0]["records"].size(), 1U);
}

TEST(SlowHone, AResultThatCannotBeStoredFailsForItself) {
    const OwnFolders own;
    std::string missing;
    const Device cpu = backends().back().devices(missing).front();
    std::filesystem::create_directories(own.folder.path() / "db");
    std::ofstream(own.folder.path() / "db" / (device_key(cpu.fingerprint) + ".json")) << "{";
    const HoneRun run({"tune", "gauss_seidel_27", "stencil=constant", "precision=f32", "nx=20", "ny=18", "nz=8,16", "--device", "cpu",
                       "--evaluations", "2", "--samples", "6", "--no-prior"});
    EXPECT_EQ(run.code, 1) << run.error;
    EXPECT_THAT(run.out, HasSubstr("not stored: gauss_seidel_27 stencil=constant precision=f32 nx=20 ny=18 nz=8"));
    EXPECT_THAT(run.out, HasSubstr("not stored: gauss_seidel_27 stencil=constant precision=f32 nx=20 ny=18 nz=16"));
}

TEST(Hone, ADatabaseThatCannotBeReadFailsForEachProblem) {
    const OwnFolders own;
    std::filesystem::create_directories(own.folder.path() / "db");
    std::ofstream(own.folder.path() / "db" / "broken.json") << "{";
    const HoneRun run({"tune", "--device", "cpu"});
    EXPECT_EQ(run.code, 1) << run.error;
    std::size_t failed = 0;
    for (std::size_t at = run.out.find("no result for "); at != std::string::npos; at = run.out.find("no result for ", at + 1)) ++failed;
    std::string missing;
    EXPECT_EQ(failed, tools::default_problems(backends().back().devices(missing).front(), built_in_families()).size()) << run.out;
    EXPECT_THAT(run.out, HasSubstr("broken.json"));
}

TEST(Hone, AFolderOfResultsThatCannotBeMadeIsAMistake) {
    const OwnFolders own;
    const std::filesystem::path file = own.folder.path() / "file";
    std::ofstream(file) << "no folder";
    for (const std::filesystem::path& place : {file, file / "db"}) {
        const HoneRun run(tune({"--db", place.string()}));
        EXPECT_EQ(run.code, 2) << run.error;
        EXPECT_THAT(run.error, HasSubstr(file.string() + ": the folder cannot be made"));
        EXPECT_EQ(run.out, "");
    }
}

TEST(Hone, NoEvaluationsAtAllIsAMistake) {
    const OwnFolders own;
    EXPECT_EQ(HoneRun(tune({"--evaluations", "0"})).code, 2);
}

// Set for the whole process: OpenMP reads them when the hone command starts.
TEST(HoneProcessors, AreTheSameUnderABindingOfOpenMp) {
    // Where something limits them, as a launcher's binding does, that follows.
    const auto seen = [] {
        const Json document = Json::parse(HoneRun({"doctor", "--json"}).out);
        for (const auto& finding : document["findings"])
            if (const auto detail = finding["detail"].get<std::string>(); finding["what"] == "processors")
                return detail.substr(0, detail.find("; limited by"));
        return std::string("nothing");
    };
    const std::string unbound = seen();
    EXPECT_NE(unbound, "nothing");
    {
        const test::EnvironmentVariable close("OMP_PROC_BIND", "close");
        EXPECT_EQ(seen(), unbound + ", bound by OMP_PROC_BIND: close");
    }
    const test::EnvironmentVariable spread("OMP_PROC_BIND", "spread");
    const test::EnvironmentVariable places("OMP_PLACES", "cores");
    EXPECT_EQ(seen(), unbound + ", bound by OMP_PROC_BIND: spread");
}

}  // namespace
}  // namespace hone::test::hone_test
