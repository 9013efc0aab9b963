#include "runtime/cpu/host_compiler.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <optional>

#include "foundation/error.hpp"
#include "foundation/process.hpp"
#include "runtime/cpu/host_object.hpp"
#include "tests/support/environment.hpp"
#include "tests/support/temporary_folder.hpp"

namespace hone::host_compiler_test {
namespace {

namespace fs = std::filesystem;
using test::EnvironmentVariable;
using test::TemporaryFolder;

// y[i] = value of an expression in x[i], for i in [first, last); no launch constants.
KernelSource map_source(const std::string& expression) {
    KernelSource source;
    source.text =
        "extern \"C\" void map(const double* x, double* y, int first, int last) {\n    for (int i = first; i < last; ++i) y[i] = " + expression +
        ";\n}\n";
    source.precision = Precision::f64;
    source.entries = {"map"};
    source.arrays = {{"x", Access::in, 4, "[4]", ""}, {"y", Access::out, 4, "[4]", ""}};
    source.step.resize(1);
    source.step[0].entry = "map";
    return source;
}

std::string contents_of(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

void write_script(const fs::path& path, const std::string& script) {
    fs::create_directories(path.parent_path());
    std::ofstream(path) << "#!/bin/sh\n" << script << "\n";
    fs::permissions(path, fs::perms::owner_all);
}

// Quotes for the scripts of these tests.
std::string shell_word(const fs::path& path) {
    std::string text = "'";
    for (const char c : path.string()) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return text + "'";
}

// Tests of compilation itself mean nothing without a compiler.
class HostCompilerTest : public ::testing::Test {
  protected:
    void SetUp() override {
        const HostCompiler found = find_host_compiler(nullptr);
        if (found.path.empty()) GTEST_SKIP() << found.missing;
        real_ = found.path;
    }
    TemporaryFolder folder_;
    DiskCache cache_{folder_.path() / "cache"};
    std::string real_;
};

TEST_F(HostCompilerTest, CompilesOnceAndThenReadsTheCache) {
    const auto compiler = make_host_compiler(cache_);
    EXPECT_EQ(compiler->missing(), "");
    const CompileOutcome first = compiler->compile(map_source("x[i]"));
    ASSERT_TRUE(first.ok) << first.failure << first.code.log;
    EXPECT_FALSE(first.code.from_cache);
    EXPECT_GT(first.code.seconds, 0);
    EXPECT_EQ(first.code.binary.substr(1, 3), "ELF");
    EXPECT_EQ(contents_of(first.code.file).substr(0, first.code.binary.size()), first.code.binary);
    const CompileOutcome second = make_host_compiler(cache_)->compile(map_source("x[i]"));
    ASSERT_TRUE(second.ok);
    EXPECT_TRUE(second.code.from_cache);
    EXPECT_EQ(second.code.binary, first.code.binary);
    EXPECT_NEAR(second.code.seconds, first.code.seconds, 1e-5);
    EXPECT_FALSE(compiler->compile(map_source("2 * x[i]")).code.from_cache);
}

TEST_F(HostCompilerTest, TextsThatDifferInTheCommentAtTheirHeadAreCompiledOnce) {
    const auto compiler = make_host_compiler(cache_);
    const auto headed = [](const std::string& head) {
        KernelSource source = map_source("x[i]");
        source.text = head + source.text;
        return source;
    };
    const CompileOutcome plain = compiler->compile(map_source("x[i]"));
    ASSERT_TRUE(plain.ok) << plain.failure;
    const CompileOutcome headed_one = compiler->compile(headed("// step: f32\n//     --config x_block=128\n"));
    EXPECT_TRUE(headed_one.code.from_cache);
    EXPECT_EQ(headed_one.code.file, plain.code.file);
    // Another program: the comment goes on in the next line.
    EXPECT_FALSE(compiler->compile(headed("// step \\\nint of_the_comment;\n")).code.from_cache);
    EXPECT_FALSE(compiler->compile(headed("int of_the_program;\n")).code.from_cache);
}

TEST_F(HostCompilerTest, WhatReadsAHeaderThatChangedIsCompiledAnew) {
    const auto compiler = make_host_compiler(cache_, 120, HeaderUse::makes_compiled);
    const fs::path place = folder_.path() / "headers";
    fs::create_directory(place);
    const EnvironmentVariable path("CPATH", place.string());
    const auto value = [&](const std::string& include, const fs::path& file, const std::string& number) {
        std::ofstream(file) << "#define VALUE " << number << "\n";
        KernelSource source = map_source("VALUE");
        source.text = "#include " + include + "\n#include <cmath>\n" + source.text;
        const CompileOutcome outcome = compiler->compile(source);
        EXPECT_TRUE(outcome.ok) << outcome.failure << outcome.code.log;
        std::string reason;
        const HostObject object(outcome.code.file.string(), reason);
        double x = 0, y = 0;
        double *from = &x, *to = &y;
        int first = 0, last = 1;
        std::array<void*, 4> arguments{&from, &to, &first, &last};
        object.launch(0, arguments.data());
        return std::pair(y, outcome.code.from_cache);
    };
    const fs::path far = folder_.path() / "far.h";
    for (const auto& [include, file] :
         {std::pair<std::string, fs::path>{"<mine.h>", place / "mine.h"}, {"\"" + far.string() + "\"", far}, {"<latch>", place / "latch"}}) {
        EXPECT_EQ(value(include, file, "1"), std::pair(1.0, false)) << include;
        EXPECT_EQ(value(include, file, "1"), std::pair(1.0, true)) << include;
        EXPECT_EQ(value(include, file, "2"), std::pair(2.0, false)) << include;
        EXPECT_EQ(value(include, file, "1"), std::pair(1.0, true)) << include;
    }
}

TEST_F(HostCompilerTest, ACorruptedEntryIsBuiltAgain) {
    const auto compiler = make_host_compiler(cache_);
    const CompileOutcome whole = compiler->compile(map_source("x[i]"));
    ASSERT_TRUE(whole.ok) << whole.failure;
    std::string damaged = contents_of(whole.code.file);
    damaged[damaged.size() / 2] = static_cast<char>(damaged[damaged.size() / 2] ^ 1);
    std::ofstream(whole.code.file, std::ios::binary) << damaged;
    const CompileOutcome rebuilt = compiler->compile(map_source("x[i]"));
    ASSERT_TRUE(rebuilt.ok);
    EXPECT_FALSE(rebuilt.code.from_cache);
    EXPECT_TRUE(compiler->compile(map_source("x[i]")).code.from_cache);
}

TEST_F(HostCompilerTest, KeepsTheLogOfASuccess) {
    KernelSource source = map_source("x[i]");
    source.text += "#warning told by the test\n";
    const CompileOutcome built = make_host_compiler(cache_)->compile(source);
    ASSERT_TRUE(built.ok) << built.failure;
    EXPECT_NE(built.code.log.find("told by the test"), std::string::npos) << built.code.log;
    EXPECT_EQ(built.code.log.find(fs::temp_directory_path().string() + "/hone-"), std::string::npos) << "paths of temporary files say nothing";
    EXPECT_EQ(make_host_compiler(cache_)->compile(source).code.log, built.code.log);
}

TEST_F(HostCompilerTest, AFailureHasItsReasonInOneLine) {
    KernelSource source = map_source("x[i]");
    source.text += "#error told by the test\n";
    const CompileOutcome outcome = make_host_compiler(cache_)->compile(source);
    EXPECT_FALSE(outcome.ok);
    EXPECT_NE(outcome.failure.find("told by the test"), std::string::npos) << outcome.failure;
    EXPECT_EQ(outcome.failure.find('\n'), std::string::npos);
    EXPECT_NE(outcome.code.log.find(outcome.failure), std::string::npos);
    source.target = Target::cuda;
    EXPECT_NE(make_host_compiler(cache_)->compile(source).failure.find("cuda"), std::string::npos);
}

TEST_F(HostCompilerTest, AnEntryPointMustTakeWhatItsSourceDeclares) {
    KernelSource source = map_source("x[i]");
    source.scalars = {{"n", 4}};
    const CompileOutcome outcome = make_host_compiler(cache_)->compile(source);
    EXPECT_FALSE(outcome.ok);
    EXPECT_NE(outcome.failure.find("another number of parameters"), std::string::npos) << outcome.failure;
    KernelSource absent = map_source("x[i]");
    absent.step[0].entry = "no_such_entry";
    EXPECT_NE(make_host_compiler(cache_)->compile(absent).failure.find("no_such_entry"), std::string::npos);
    KernelSource inconsistent = map_source("x[i]");
    inconsistent.step.push_back(inconsistent.step[0]);
    inconsistent.step[1].constants = {1};
    EXPECT_THROW(with_entry_table(inconsistent), Error);
}

// Never the loader: what it says comes when a kernel is launched, and has no remedy.
TEST_F(HostCompilerTest, FunctionsThatAreNowhereAreAFailureThatNamesThem) {
    const auto compiler = make_host_compiler(cache_);
    KernelSource absent = map_source("x[i]");
    absent.text =
        "extern \"C\" void map(const double* x, double* y, int first, int last);\n"
        "extern \"C\" void mapped(const double*, double* y, int, int) { y[0] = 1; }\n"
        "namespace inner { void twice(double* y) { y[0] *= 2; } }\n";
    const CompileOutcome outcome = compiler->compile(absent);
    EXPECT_FALSE(outcome.ok);
    EXPECT_EQ(outcome.failure, "the source has no function of the name map; it has inner::twice, mapped");
    EXPECT_EQ(compiler->compile(absent).failure, outcome.failure);
    KernelSource helper = map_source("helper(x[i])");
    helper.text = "double helper(double);\n" + helper.text;
    EXPECT_EQ(compiler->compile(helper).failure, "the source has no function of the name helper; it has map");
    KernelSource unlisted = map_source("x[i]");
    unlisted.entries.push_back("finish");
    EXPECT_EQ(compiler->compile(unlisted).failure, "the source has no function of the name finish; it has map");
}

// Includes itself twice to a depth of 60: about 2^60 lines.
TEST_F(HostCompilerTest, ACompilationWithoutEndIsKilled) {
    KernelSource source = map_source("x[i]");
    source.text = "#if __INCLUDE_LEVEL__ < 60\n#include __FILE__\n#include __FILE__\n#endif\n";
    const CompileOutcome outcome = make_host_compiler(cache_, 0.5)->compile(source);
    EXPECT_FALSE(outcome.ok);
    EXPECT_NE(outcome.failure.find("killed after"), std::string::npos) << outcome.failure;
    EXPECT_LT(outcome.code.seconds, 30);
}

// NaN marks words that must not be read: the options must not let the compiler assume that there
// are none.
TEST_F(HostCompilerTest, NaNComesThrough) {
    const CompileOutcome outcome = make_host_compiler(cache_)->compile(map_source("x[i] != x[i] ? 1.0 : (x[i] - x[i]) * 0.0"));
    ASSERT_TRUE(outcome.ok) << outcome.failure;
    void* library = dlopen(outcome.code.file.c_str(), RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(library, nullptr) << dlerror();
    const auto* entries = static_cast<const HostEntry*>(dlsym(library, "hone_entries"));
    ASSERT_NE(entries, nullptr);
    EXPECT_STREQ(entries[0].name, "map");
    EXPECT_EQ(entries[1].name, nullptr);
    const double x[4] = {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(), 1, 0};
    double y[4] = {};
    const double* x_pointer = x;
    double* y_pointer = y;
    int first = 0;
    int last = 4;
    void* arguments[] = {&x_pointer, &y_pointer, &first, &last};
    entries[0].launch(arguments);
    EXPECT_EQ(y[0], 1);
    EXPECT_NE(y[1], y[1]);  // infinity less infinity
    EXPECT_EQ(y[2], 0);
    dlclose(library);
}

TEST_F(HostCompilerTest, PathsAreNeverInterpreted) {
    const fs::path odd = folder_.path() / "a b'c\"d $(touch canary) `touch canary`;touch canary";
    write_script(odd / "my c++", "exec " + shell_word(real_) + " \"$@\"");
    const fs::path temporary = odd / "temporary *";
    fs::create_directory(temporary);
    const EnvironmentVariable chosen("HONE_CXX", (odd / "my c++").string());
    const EnvironmentVariable folder("TMPDIR", temporary.string());
    DiskCache cache(odd / "cache");
    const CompileOutcome outcome = make_host_compiler(cache)->compile(map_source("x[i]"));
    EXPECT_TRUE(outcome.ok) << outcome.failure << outcome.code.log;
    EXPECT_TRUE(fs::is_empty(temporary)) << "temporary files were left";
    for (const auto& item : fs::recursive_directory_iterator(folder_.path())) EXPECT_NE(item.path().filename(), "canary") << item.path();
    EXPECT_FALSE(fs::exists("canary"));
}

TEST_F(HostCompilerTest, ArgumentsInHoneCxxAreNotSplitOff) {
    const EnvironmentVariable chosen("HONE_CXX", real_ + " -O0; touch canary");
    EXPECT_NE(find_host_compiler(nullptr).missing, "");
    EXPECT_FALSE(fs::exists("canary"));
}

TEST_F(HostCompilerTest, IsAskedForItsVersionOncePerVersion) {
    const fs::path script = folder_.path() / "c++";
    const fs::path count = folder_.path() / "count";
    // Starts that are not for the version go to the real compiler.
    const auto write_version = [&](const std::string& version) {
        write_script(script, "[ \"$1\" = --version ] || exec " + shell_word(real_) + " \"$@\"; echo x >> " + shell_word(count) + "; echo " + version);
    };
    write_version("fake 1");
    const EnvironmentVariable chosen("HONE_CXX", script.string());
    for (int i = 0; i < 3; ++i) EXPECT_EQ(find_host_compiler(&cache_).version, "fake 1");
    EXPECT_EQ(contents_of(count), "x\n");
    write_version("fake 1.2");
    EXPECT_EQ(find_host_compiler(&cache_).version, "fake 1.2");
    EXPECT_EQ(contents_of(count), "x\nx\n");
}

TEST_F(HostCompilerTest, ANewerCompilerBuildsAgain) {
    const fs::path script = folder_.path() / "c++";
    const auto compile_as = [&](const std::string& version) {
        write_script(script, "if [ \"$1\" = --version ]; then echo " + version + "; else exec " + shell_word(real_) + " \"$@\"; fi");
        const EnvironmentVariable chosen("HONE_CXX", script.string());
        return make_host_compiler(cache_)->compile(map_source("x[i]"));
    };
    EXPECT_FALSE(compile_as("fake-1").code.from_cache);
    EXPECT_FALSE(compile_as("fake-1.1").code.from_cache);
    EXPECT_TRUE(compile_as("fake-1").code.from_cache);
}

// GCC 8.5 tells its version and knows no -std=c++20.
void write_old_compiler(const fs::path& path) {
    write_script(
        path,
        "if [ \"$1\" = --version ]; then echo 'g++ (GCC) 8.5.0'; else echo \"g++: error: unrecognized command line option '-std=c++20'\" >&2; "
        "exit 1; fi");
}

TEST_F(HostCompilerTest, OneThatCannotCompileIsPassedOverWithItsReason) {
    write_old_compiler(folder_.path() / "old");
    const EnvironmentVariable unset("HONE_CXX", std::nullopt);
    const EnvironmentVariable preferred("CXX", (folder_.path() / "old").string());
    for (int i = 0; i < 2; ++i) {  // the second time from memory
        const HostCompiler found = find_host_compiler(&cache_, real_);
        EXPECT_EQ(found.path, real_);
        ASSERT_EQ(found.passed_over.size(), 1U);
        EXPECT_NE(found.passed_over[0].find("CXX=" + (folder_.path() / "old").string() + ": g++ (GCC) 8.5.0"), std::string::npos)
            << found.passed_over[0];
        EXPECT_NE(found.passed_over[0].find("unrecognized command line option '-std=c++20'"), std::string::npos) << found.passed_over[0];
    }
}

TEST_F(HostCompilerTest, TheChosenOneIsNeverPassedOver) {
    write_old_compiler(folder_.path() / "old");
    const EnvironmentVariable chosen("HONE_CXX", (folder_.path() / "old").string());
    const HostCompiler found = find_host_compiler(nullptr, real_);
    EXPECT_EQ(found.path, "");
    EXPECT_NE(found.missing.find("8.5.0"), std::string::npos) << found.missing;
    EXPECT_NE(found.missing.find("-std=c++20"), std::string::npos) << found.missing;
    EXPECT_NE(found.missing.find("unset it"), std::string::npos) << found.missing;
}

TEST_F(HostCompilerTest, OneThatFailsIsTriedOnceByAProcess) {
    const fs::path script = folder_.path() / "c++";
    const fs::path count = folder_.path() / "count";
    write_script(script, "echo x >> " + shell_word(count) + "; exit 1");
    const EnvironmentVariable chosen("HONE_CXX", script.string());
    const std::string missing = find_host_compiler(&cache_).missing;
    EXPECT_EQ(find_host_compiler(nullptr).missing, missing);
    EXPECT_EQ(contents_of(count), "x\n");
    // Another program of that name is another compiler.
    write_script(script, "exec " + shell_word(real_) + " \"$@\"");
    EXPECT_EQ(find_host_compiler(&cache_).missing, "");
}

TEST_F(HostCompilerTest, WhatItCompilesMustLoadAndComputeWhatItShould) {
    const fs::path script = folder_.path() / "c++";
    const EnvironmentVariable chosen("HONE_CXX", script.string());
    const std::string compile = "[ \"$1\" = --version ] && { echo fake 1; exit; }\n";
    write_script(script, compile + "for last; do :; done; echo no object > \"$last\"");
    EXPECT_NE(find_host_compiler(nullptr).missing.find("cannot be loaded"), std::string::npos) << find_host_compiler(nullptr).missing;
    write_script(script, compile + "for file; do case $file in *.cpp) sed -i 's/2 [*] value/3 * value/' \"$file\"; esac; done\nexec " +
                             shell_word(real_) + " \"$@\"");
    EXPECT_NE(find_host_compiler(nullptr).missing.find("wrong values: 4 in place of 3"), std::string::npos) << find_host_compiler(nullptr).missing;
}

// As compilers end where TMPDIR is full: they are not to blame, and are asked again.
TEST_F(HostCompilerTest, FullTemporaryFolderIsToldAsSuch) {
    const fs::path places = folder_.path() / "programs", script = places / "c++";
    const std::string version = "[ \"$1\" = --version ] && { echo fake 2; exit; }\n";
    const EnvironmentVariable path("PATH", places.string() + ":" + std::getenv("PATH"));
    const EnvironmentVariable preferred("CXX", std::nullopt);
    for (const std::optional<std::string>& chosen : {std::optional(script.string()), std::optional<std::string>()}) {
        const EnvironmentVariable variable("HONE_CXX", chosen);
        write_script(script, version + "echo 'kernel.s: error: No space left on device'; exit 1");
        const HostCompiler full = find_host_compiler(nullptr, script.string());
        EXPECT_EQ(full.path, "");
        EXPECT_EQ(full.missing.find("temporary folder " + fs::temp_directory_path().string()), 0U) << full.missing;
        EXPECT_NE(full.missing.find("No space left on device; make room there, or set TMPDIR"), std::string::npos) << full.missing;
        write_script(script, "[ \"$1\" = --version ] && { echo fake 2; exit; }\nexec " + shell_word(real_) + " \"$@\"");
        EXPECT_EQ(find_host_compiler(nullptr, script.string()).path, script.string());
    }
    write_script(script, "[ \"$1\" = --version ] && { echo fake 3; exit; }\nexec " + shell_word(real_) + " \"$@\"");
    const EnvironmentVariable variable("HONE_CXX", script.string());
    DiskCache cache(folder_.path() / "cache of a full disk");
    const auto compiler = make_host_compiler(cache);
    ASSERT_EQ(compiler->missing(), "");
    write_script(script, version + "echo 'kernel.s: error: No space left on device'; exit 1");
    EXPECT_THROW(compiler->compile(map_source("x[i]")), MachineError);
    DiskCache empty(folder_.path() / "empty cache");
    write_script(script, "[ \"$1\" = --version ] && { echo fake 4; exit; }\necho 'kernel.s: error: No space left on device'; exit 1");
    EXPECT_THROW(make_host_compiler(empty)->compile(map_source("x[i]")), MachineError) << "already where compilers are tried";
}

// A compiler of which a part is gone in the middle of a run, in ways that it ends then.
TEST_F(HostCompilerTest, OneThatIsGoneIsNoSourcesFault) {
    const fs::path script = folder_.path() / "c++";
    const std::string version = "[ \"$1\" = --version ] && { echo gone 1; exit; }\n", real = "exec " + shell_word(real_) + " \"$@\"";
    const EnvironmentVariable variable("HONE_CXX", script.string());
    write_script(script, version + real);
    const auto compiler = make_host_compiler(cache_);
    ASSERT_EQ(compiler->missing(), "");
    for (const char* end : {"echo \"c++: fatal error: cannot execute 'cc1plus': execvp: No such file or directory\"; exit 1", "kill -9 $$",
                            "echo 'cc1plus: error while loading shared libraries: libmpc.so.3'; exit 127"}) {
        write_script(script, version + end);
        EXPECT_THROW(compiler->compile(map_source("x[i]")), MachineError) << end;
    }
    fs::remove(script);
    EXPECT_THROW(compiler->compile(map_source("x[i]")), MachineError);
    write_script(script, version + real);
    EXPECT_TRUE(compiler->compile(map_source("x[i]")).ok);
    EXPECT_FALSE(compiler->compile(map_source("no_such_name")).ok);
    // One that only this source brings down is the source's fault.
    write_script(script, version + "for f; do case $f in *.cpp) grep -q hone_probe \"$f\" || kill -9 $$;; esac; done\n" + real);
    const CompileOutcome crash = compiler->compile(map_source("3 * x[i]"));
    EXPECT_FALSE(crash.ok);
    EXPECT_NE(crash.failure.find("signal 9"), std::string::npos) << crash.failure;
}

TEST(HostCompiler, NoneAtAllIsAnAnswerWithARemedy) {
    const TemporaryFolder folder;
    DiskCache cache(folder.path() / "cache");
    {
        const EnvironmentVariable chosen("HONE_CXX", "/nonexistent/c++");
        const auto compiler = make_host_compiler(cache);
        EXPECT_NE(compiler->missing().find("/nonexistent/c++"), std::string::npos);
        const CompileOutcome outcome = compiler->compile(map_source("x[i]"));
        EXPECT_FALSE(outcome.ok);
        EXPECT_EQ(outcome.failure, compiler->missing());
    }
    const EnvironmentVariable unset("HONE_CXX", std::nullopt);
    const EnvironmentVariable preferred("CXX", std::nullopt);
    const EnvironmentVariable path("PATH", "");
    EXPECT_NE(find_host_compiler(&cache, "/nonexistent/c++").missing.find("install g++"), std::string::npos);
}

TEST_F(HostCompilerTest, IsTheFirstInTheOrderThatWorks) {
    const fs::path places = folder_.path() / "programs";
    const EnvironmentVariable unset("HONE_CXX", std::nullopt);
    const EnvironmentVariable path("PATH", places.string() + ":" + std::getenv("PATH"));
    const auto write = [&](const std::string& name, const std::string& version) {
        write_script(places / name, "[ \"$1\" = --version ] || exec " + shell_word(real_) + " \"$@\"; echo " + version);
    };
    const auto version = [&](const std::optional<std::string>& preferred = std::nullopt) {
        const EnvironmentVariable variable("CXX", preferred);
        return find_host_compiler(nullptr, (places / "builder").string()).version;
    };
    write_script(places / "c++", "exit 1");
    write_script(places / "g++", "exit 1");
    write("clang++", "clang");
    EXPECT_EQ(version(), "clang");
    write("g++", "gcc");
    EXPECT_EQ(version(), "gcc");
    write("c++", "default");
    EXPECT_EQ(version(), "default");
    write("builder", "builder");
    EXPECT_EQ(version(), "builder");
    write("mine", "mine");
    EXPECT_EQ(version("mine"), "mine");
    EXPECT_EQ(version("absent"), "builder");
    EXPECT_EQ(version(""), "builder");
}

}  // namespace
}  // namespace hone::host_compiler_test
