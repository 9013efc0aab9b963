#include "tuner/worker/compile_pool.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <fstream>
#include <stdexcept>
#include <thread>

#include "foundation/error.hpp"
#include "runtime/backend.hpp"
#include "runtime/cpu/host_compiler.hpp"
#include "tests/support/axpy_family.hpp"
#include "tests/support/environment.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/tuner/worker/full_disk.hpp"

namespace hone::compile_pool_test {
namespace {

using testing::HasSubstr;

class CompilePoolTest : public testing::Test {
  protected:
    CompilePoolTest() {
        std::string missing;
        const Device device = backends().back().devices(missing).front();
        settings.command = {"/proc/self/exe", "worker"};
        settings.limits = device.limits;
        settings.cache = folder.path() / "cache";
        settings.processes = 2;
    }

    static Config config(const std::string& text) {
        const Family family = test::axpy_family({"none", "wrong", "crash", "hang", "launch_failure", "compile_failure"});
        return family.space(Problem(), Limits()).parse(text);
    }

    static CompilePool::Result wait_for(CompilePool& pool, const Config& config) {
        pool.add(config);
        while (!pool.result(config)) {
            pool.start();
            ChildProcess::wait(pool.children(), 0.05);
            pool.collect();
        }
        return *pool.result(config);
    }

    test::TemporaryFolder folder;
    CompilePoolSettings settings;
};

TEST_F(CompilePoolTest, WhatACompilerLeavesRunningEndsWithIt) {
    const std::string compiler = (folder.path() / "compiler").string();
    const std::string child = (folder.path() / "child").string();
    std::ofstream(compiler) << "#!/bin/sh\n[ \"$1\" = --version ] || setsid sh -c 'echo $$ > " << child
                            << "; exec sleep 1000' &\n[ \"$1\" = --version ] || while ! [ -s " << child
                            << " ]; do sleep 0.01; done\nexec c++ \"$@\"\n";
    std::filesystem::permissions(compiler, std::filesystem::perms::owner_all);
    const test::EnvironmentVariable named("HONE_CXX", compiler);
    CompilePool pool(settings);
    pool.set_problem("axpy precision=f32 n=100");
    EXPECT_TRUE(wait_for(pool, config("")).ok);
    pid_t process = 0;
    std::ifstream(child) >> process;
    ASSERT_GT(process, 0);
    EXPECT_NE(kill(process, 0), 0) << "process " << process << " still runs";
}

TEST_F(CompilePoolTest, CompilesIntoTheCache) {
    CompilePool pool(settings);
    pool.set_problem("axpy precision=f32 n=100");
    pool.add(config("storage=table"));
    const CompilePool::Result first = wait_for(pool, config(""));
    EXPECT_TRUE(first.ok) << first.failure;
    EXPECT_GT(first.seconds, 0);
    EXPECT_TRUE(wait_for(pool, config("storage=table")).ok);
    EXPECT_EQ(pool.busy(), 0);
    pool.set_problem("axpy precision=f32 n=100");
    EXPECT_FALSE(pool.result(config("")).has_value()) << "forgotten";
    EXPECT_EQ(wait_for(pool, config("")).seconds, 0) << "from the cache";
}

TEST_F(CompilePoolTest, WhatIsSpareIsCompiledByProcessesThatWouldIdle) {
    settings.processes = 1;
    CompilePool pool(settings);
    pool.set_problem("axpy precision=f32 n=100");
    pool.add_spare(config("storage=table"));
    pool.add_spare(config("storage=prepared"));
    pool.add(config(""));
    pool.start();
    EXPECT_EQ(pool.wanted(), 1) << "what was added comes first";
    EXPECT_TRUE(wait_for(pool, config("")).ok);
    pool.start();
    EXPECT_EQ(pool.busy(), 1);
    EXPECT_EQ(pool.wanted(), 0);
    pool.add(config("storage=table"));
    EXPECT_EQ(pool.wanted(), 1) << "it is being compiled, and now wanted";
    EXPECT_TRUE(wait_for(pool, config("storage=table")).ok);
    while (!pool.result(config("storage=prepared"))) {
        pool.start();
        ChildProcess::wait(pool.children(), 0.05);
        pool.collect();
    }
    pool.add_spare(config("fault=hang"));
    pool.cancel(false);
    pool.start();
    EXPECT_EQ(pool.busy(), 0) << "what was spare is forgotten";
}

TEST_F(CompilePoolTest, GivesTheCompilersReasonAndGoesOn) {
    CompilePool pool(settings);
    pool.set_problem("axpy precision=f32 n=100");
    const CompilePool::Result result = wait_for(pool, config("fault=compile_failure"));
    EXPECT_FALSE(result.ok);
    EXPECT_THAT(result.failure, HasSubstr("this candidate does not compile"));
    EXPECT_TRUE(wait_for(pool, config("")).ok);
}

// Nobody may take it for a verdict: candidates would be given up, and results pruned.
TEST_F(CompilePoolTest, AFullDiskIsNoConfigurationsFault) {
    const test::FullDisk disk(folder.path());
    CompilePool pool(settings);
    pool.set_problem("axpy precision=f32 n=100");
    ASSERT_TRUE(wait_for(pool, config("")).ok);
    disk.fill();
    try {
        wait_for(pool, config("storage=table"));
        ADD_FAILURE() << "it compiled on a full disk";
    } catch (const MachineError& error) {
        EXPECT_THAT(error.what(), HasSubstr("No space left on device; make room there, or set TMPDIR"));
    }
    EXPECT_FALSE(pool.result(config("storage=table")).has_value());
    disk.make_room();
    const CompilePool::Result result = wait_for(pool, config("storage=table"));
    EXPECT_TRUE(result.ok) << result.failure;
}

TEST_F(CompilePoolTest, ACompilerThatCannotBeOpenedIsNoConfigurationsFault) {
    std::ofstream(folder.path() / "file") << "no folder";
    settings.cache = folder.path() / "file";
    CompilePool pool(settings);
    pool.set_problem("axpy precision=f32 n=100");
    EXPECT_THROW(wait_for(pool, config("")), Error);
    EXPECT_FALSE(pool.result(config("")).has_value());
}

TEST_F(CompilePoolTest, AProcessThatIsNeverReadyIsNoConfigurationsFault) {
    settings.timeout = 0.01;
    settings.grace = 0.5;
    for (const auto& [command, end] :
         {std::pair<std::vector<std::string>, const char*>{{"/bin/false"}, "it ended before it was ready, 3 times in a row: exit code 1"},
          {{"/bin/sleep", "1000"}, "it did not answer before it was ready, 3 times in a row: killed after"}}) {
        settings.command = command;
        CompilePool pool(settings);
        pool.set_problem("axpy precision=f32 n=100");
        try {
            wait_for(pool, config(""));
            ADD_FAILURE() << command.front();
        } catch (const Error& error) {
            EXPECT_THAT(error.what(), HasSubstr(end));
        }
        EXPECT_FALSE(pool.result(config("")).has_value());
    }
}

// What a process says first: its compiler is open, and it knows the problem.
constexpr const char* gets_ready = "read open; echo '{}'; read problem; echo '{}'; read compile; ";

TEST_F(CompilePoolTest, AnotherProcessGetsReadyInPlaceOfOneThatIsNot) {
    const std::filesystem::path once = folder.path() / "once";
    const std::string first_one_ends = "test -e " + once.string() + " || { touch " + once.string() + "; exit 1; }; ";
    settings.command = {"/bin/sh", "-c", first_one_ends + gets_ready + R"(echo '{"ok": 1, "failure": "", "seconds": 1}'; read end)"};
    CompilePool pool(settings);
    pool.set_problem("axpy precision=f32 n=100");
    EXPECT_TRUE(wait_for(pool, config("")).ok);
}

TEST_F(CompilePoolTest, ACompilerThatHangsIsKilled) {
    settings.command = {"/bin/sh", "-c", std::string(gets_ready) + "exec sleep 1000"};
    settings.timeout = 0.01;
    CompilePool pool(settings);
    pool.set_problem("axpy precision=f32 n=100");
    const CompilePool::Result result = wait_for(pool, config(""));
    EXPECT_FALSE(result.ok);
    EXPECT_THAT(result.failure, HasSubstr("the compiler was killed after"));
}

TEST_F(CompilePoolTest, ACompilerThatCrashesIsAFailure) {
    settings.command = {"/bin/sh", "-c", std::string(gets_ready) + "exit 1"};
    CompilePool pool(settings);
    pool.set_problem("axpy precision=f32 n=100");
    EXPECT_THAT(wait_for(pool, config("")).failure, HasSubstr("the compiler crashed: exit code 1"));
}

TEST_F(CompilePoolTest, CancellingEmptiesTheQueueAndGivesUpWhatRuns) {
    settings.command = {"/bin/sleep", "1000"};
    CompilePool pool(settings);
    pool.set_problem("axpy precision=f32 n=100");
    for (const char* storage : {"literal", "table", "prepared"}) pool.add(config(std::string("storage=") + storage));
    pool.start(1);
    EXPECT_EQ(pool.children().size(), 1U) << "no more than are wanted";
    pool.start(1);
    EXPECT_EQ(pool.children().size(), 1U);
    pool.start();
    EXPECT_EQ(pool.children().size(), 2U) << "as many as there are processes";
    pool.cancel(false);
    EXPECT_GT(pool.busy(), 0);
    pool.cancel(true);
    EXPECT_EQ(pool.busy(), 0);
    pool.start();
    EXPECT_EQ(pool.busy(), 0) << "nothing is queued";
}

// 'T' in /proc: stopped.
char state_of(pid_t process) {
    std::ifstream file("/proc/" + std::to_string(process) + "/stat");
    std::string text;
    std::getline(file, text);
    const std::size_t name_ends = text.rfind(')');
    return name_ends == std::string::npos ? '?' : text.at(name_ends + 2);
}

// Signals are delivered in their own time.
bool comes_to(pid_t process, bool stopped) {
    for (int looks = 0; looks < 1000; ++looks) {
        if ((state_of(process) == 'T') == stopped) return true;
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return false;
}

TEST_F(CompilePoolTest, WhatIsHeldStandsStillUntilTheNextStart) {
    settings.command = {"/bin/sleep", "1000"};
    CompilePool pool(settings);
    pool.set_problem("axpy precision=f32 n=100");
    pool.add(config(""));
    pool.start();
    ASSERT_EQ(pool.children().size(), 1U);
    const pid_t process = pool.children().front()->pid();
    EXPECT_FALSE(pool.held());
    EXPECT_TRUE(pool.hold());
    EXPECT_TRUE(pool.held());
    EXPECT_TRUE(comes_to(process, true));
    EXPECT_TRUE(pool.hold()) << "again";
    EXPECT_EQ(pool.busy(), 1);
    pool.start();
    EXPECT_FALSE(pool.held());
    EXPECT_TRUE(comes_to(process, false));
    pool.hold();
    pool.cancel(true);
    EXPECT_EQ(state_of(process), '?') << "ended, though it was held";
}

TEST_F(CompilePoolTest, WhatWasHeldIsCompiledAllTheSame) {
    CompilePool pool(settings);
    pool.set_problem("axpy precision=f32 n=100");
    pool.add(config(""));
    pool.start();
    pool.hold();
    EXPECT_TRUE(wait_for(pool, config("")).ok);
}

TEST_F(CompilePoolTest, CompilersOfFurtherCommandsAreNotHeld) {
    settings.processes = 1;
    settings.further = {[] { return std::vector<std::string>{"/bin/sleep", "1000"}; }};
    settings.command = {"/bin/sleep", "1000"};
    CompilePool pool(settings);
    pool.set_problem("axpy precision=f32 n=100");
    pool.add(config("storage=table"));
    pool.add(config("storage=literal"));
    pool.start();
    ASSERT_EQ(pool.children().size(), 2U);
    EXPECT_FALSE(pool.hold());
    EXPECT_TRUE(comes_to(pool.children()[0]->pid(), true));
    EXPECT_NE(state_of(pool.children()[1]->pid()), 'T');
}

/// A compiler that never ends but for the probe (runtime/cpu/host_compiler.cpp), and neither does
/// the program that it starts; both leave their numbers in a folder.
class EndlessCompiler {
  public:
    /// Asks for the compiler that serves the probe before it takes its place.
    explicit EndlessCompiler(const std::filesystem::path& folder)
        : numbers_(folder / "numbers"), real_(find_host_compiler(nullptr).path), chosen_("HONE_CXX", (folder / "c++").string()) {
        std::ofstream(folder / "c++") << "#!/bin/sh\nif [ \"$1\" = --version ]; then echo endless 1; exit; fi\n"
                                      << "for file; do grep -qs hone_probe \"$file\" && exec '" << real_ << "' \"$@\"; done\n"
                                      << "sleep 1000 &\n"
                                      << "echo $$ $! end > '" << numbers_.string() << "'\nwait\n";
        std::filesystem::permissions(folder / "c++", std::filesystem::perms::owner_all);
    }

    /// The two, once they run.
    std::vector<int> processes() const {
        int compiler = 0;
        int pass = 0;
        std::string end;
        for (int patience = 0; patience < 12000; ++patience) {
            if (std::ifstream(numbers_) >> compiler >> pass >> end) return {compiler, pass};
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        }
        throw std::runtime_error("the compiler was never asked to compile a kernel");
    }

    /// Waits for their end; false when one outlives ten seconds.
    static bool gone(const std::vector<int>& processes) {
        const auto runs = [](int process) {
            std::ifstream file("/proc/" + std::to_string(process) + "/stat");
            std::string number;
            std::string name;
            std::string state;
            return (file >> number >> name >> state) && state != "Z" && state != "X";
        };
        for (int patience = 0; patience < 1000; ++patience) {
            if (std::none_of(processes.begin(), processes.end(), runs)) return true;
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        }
        return false;
    }

  private:
    std::filesystem::path numbers_;
    std::string real_;
    test::EnvironmentVariable chosen_;
};

TEST_F(CompilePoolTest, ACompilationThatIsGivenUpLeavesNoCompilerBehind) {
    const EndlessCompiler compiler(folder.path());
    CompilePool pool(settings);
    pool.set_problem("axpy precision=f32 n=100");
    pool.add(config(""));
    pool.start();
    const auto processes = compiler.processes();
    pool.cancel(true);
    EXPECT_TRUE(EndlessCompiler::gone(processes));
}

TEST_F(CompilePoolTest, AWorkerThatIsKilledTakesItsCompilerAlong) {
    const EndlessCompiler compiler(folder.path());
    CompilePool pool(settings);
    pool.set_problem("axpy precision=f32 n=100");
    pool.add(config(""));
    pool.start();
    const auto processes = compiler.processes();
    kill(pool.children().front()->pid(), SIGKILL);
    EXPECT_THAT(wait_for(pool, config("")).failure, HasSubstr("signal 9")) << "noticed at once, not at the time-out";
    EXPECT_TRUE(EndlessCompiler::gone(processes));
}

TEST_F(CompilePoolTest, ACompilerThatTakesTooLongIsKilledWithAllItStartedAndItsWorkerGoesOn) {
    const EndlessCompiler compiler(folder.path());
    settings.timeout = 5;  // long enough for both to leave their numbers, also on a busy machine
    settings.grace = 60;   // so is this for the worker to say that it ended them
    settings.processes = 1;
    CompilePool pool(settings);
    pool.set_problem("axpy precision=f32 n=100");
    pool.add(config(""));
    pool.start();
    const auto processes = compiler.processes();
    const auto worker = pool.children().front()->pid();
    EXPECT_THAT(wait_for(pool, config("")).failure, HasSubstr("killed after"));
    EXPECT_TRUE(EndlessCompiler::gone(processes));
    pool.add(config("storage=table"));
    pool.start();
    EXPECT_EQ(pool.children().front()->pid(), worker);
}

TEST_F(CompilePoolTest, AProcessThatIsStuckIsEndedAndItsStartIsNoCompilersTime) {
    settings.command = {"/bin/sh", "-c", "sleep 0.5; read open; echo '{}'; read problem; echo '{}'; exec sleep 1000"};
    settings.timeout = 0.1;
    settings.grace = 3;  // its start may take as long
    CompilePool pool(settings);
    pool.set_problem("axpy precision=f32 n=100");
    const auto begin = std::chrono::steady_clock::now();
    const CompilePool::Result result = wait_for(pool, config(""));
    const std::chrono::duration<double> all = std::chrono::steady_clock::now() - begin;
    EXPECT_THAT(result.failure, HasSubstr("killed after"));
    EXPECT_GE(result.seconds, 3.1);
    EXPECT_LE(result.seconds, all.count() - 0.5);
}

}  // namespace
}  // namespace hone::compile_pool_test
