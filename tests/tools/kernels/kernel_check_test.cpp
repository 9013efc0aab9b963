// hone new, hone check, and what other commands make of a kernel folder.
#include "tools/kernels/kernel_check.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "foundation/error.hpp"
#include "tests/support/environment.hpp"
#include "tests/support/places.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/tools/ask.hpp"
#include "tests/tools/hone_process.hpp"
#include "tools/console/json.hpp"

namespace hone::kernel_check_test {
namespace {

namespace fs = std::filesystem;
using test::ask;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using tools::Exit;

std::string text_in(const fs::path& file) {
    std::ostringstream text;
    text << std::ifstream(file).rdbuf();
    return text.str();
}

// A folder that `hone new` wrote; compiled code lies where that of all tests does.
class NewKernel : public ::testing::Test {
  protected:
    void SetUp() override { ASSERT_EQ(ask({"new", path().string()}).code, Exit::ok); }
    fs::path path() const { return folder_.path() / "jacobi"; }
    void replace(const std::string& file, const std::string& piece, const std::string& other) const {
        std::string text = text_in(path() / file);
        const std::size_t at = text.find(piece);
        ASSERT_NE(at, std::string::npos) << piece;
        std::ofstream(path() / file) << text.replace(at, piece.size(), other);
    }
    // Without CUDA: most of what is looked for is the same, and the processor is always here.
    void leave_out_cuda() const {
        std::string text = text_in(path() / "family.json");
        const std::size_t begin = text.find("  \"cuda\""), end = text.find("  \"counts\"");
        std::ofstream(path() / "family.json") << text.erase(begin, end - begin);
    }
    std::string checked(const std::string& problem = "size=20") const {
        const test::Answer answer = ask({"check", path().string(), problem});
        EXPECT_EQ(answer.code == Exit::ok, answer.out.find("mistake: ") == std::string::npos) << answer.out << answer.error;
        return answer.out + answer.error;
    }

  private:
    TemporaryFolder folder_;
    test::EnvironmentVariable cache_{"HONE_CACHE", test::kernel_cache_folder()};
};

TEST_F(NewKernel, IsTheExampleOfTheTree) {
    for (const std::string file : {"family.json", "kernel.cpp", "kernel.cu", "reference.cpp"})
        EXPECT_EQ(text_in(path() / file), text_in(test::source_path("examples/kernels/jacobi/" + file))) << file;
    EXPECT_EQ(ask({"new", path().string()}).code, Exit::wrong_input) << "a folder with something in it is not written over";
    for (const char* name : {"2d", "poisson7", "class"})
        EXPECT_EQ(ask({"new", (path().parent_path() / name).string()}).code, Exit::wrong_input) << name;
}

TEST_F(NewKernel, HasAtMostFortyLinesForTheProcessor) {
    leave_out_cuda();
    std::ptrdiff_t lines = 0;
    for (const std::string file : {"family.json", "kernel.cpp", "reference.cpp"}) {
        const std::string text = text_in(path() / file);
        lines += std::count(text.begin(), text.end(), '\n');
    }
    EXPECT_LE(lines, 40);
}

TEST_F(NewKernel, IsFoundSound) {
    EXPECT_THAT(checked(), AllOf(HasSubstr("no mistake found"), HasSubstr("configurations run on"), Not(HasSubstr("remark: cpu"))));
    const auto document = tools::Json::parse(ask({"check", path().string(), "size=20", "--json"}).out);
    EXPECT_TRUE(document["sound"].get<bool>());
    EXPECT_GE(document["configurations_verified"].get<int>(), 2);
}

TEST_F(NewKernel, OutputsThatAreNotWrittenAreFound) {
    leave_out_cuda();
    replace("kernel.cpp", "next[i] =", "const real gone =");
    EXPECT_THAT(checked(), HasSubstr("it writes nothing to next"));
}

TEST_F(NewKernel, ValuesThatAreLeftOutAreFoundWithTheirPlace) {
    leave_out_cuda();
    replace("kernel.cpp", "y0 = 1;", "y0 = 2;");
    EXPECT_THAT(checked(), HasSubstr("it leaves out 20 of 400 values of next, the first at next[1][1]"));
}

TEST_F(NewKernel, ValuesThatNobodyAskedForAreFound) {
    leave_out_cuda();
    replace("kernel.cpp", "#pragma omp parallel", "next[0] = 0;\n    #pragma omp parallel");
    EXPECT_THAT(checked(), HasSubstr("it writes 1 values of next that the reference does not write, the first at next[0][0]"));
}

TEST_F(NewKernel, WhatDependsOnMemoryThatNobodyWroteIsFound) {
    leave_out_cuda();
    replace("kernel.cpp", "next[i] = (", "next[i] = 0 * next[i] + (");
    EXPECT_THAT(checked(), HasSubstr("depend on what was in its memory before the step"));
}

TEST_F(NewKernel, WrongValuesAreFound) {
    leave_out_cuda();
    replace("kernel.cpp", "u[i + pitch] + f[i]", "u[i + pitch] - f[i]");
    EXPECT_THAT(checked(), HasSubstr("values of next are wrong, the first at next[1][1]"));
}

TEST_F(NewKernel, AWritePastAnEndIsFound) {
    leave_out_cuda();
    replace("kernel.cpp", "#pragma omp parallel", "next[pitch * pitch + 3] = 0;\n    #pragma omp parallel");
    EXPECT_THAT(checked(), HasSubstr("it wrote past the end of array next"));
}

TEST_F(NewKernel, ThatGoesWrongAfterSomeCallsIsFound) {
    leave_out_cuda();
    replace("kernel.cpp", "#pragma omp parallel", "static int calls = 0;\n    const bool late = ++calls >= 10;\n    #pragma omp parallel");
    replace("kernel.cpp", "next[i] = (", "next[i] = (late ? 1 : 0) + (");
    EXPECT_THAT(checked(), HasSubstr("next differs from the reference by 1"));
}

TEST_F(NewKernel, ThatIsWrongAtOtherParitiesIsFound) {
    leave_out_cuda();
    replace("kernel.cpp", "next[i] = (", "next[i] = (size % 2 == 1 ? 1 : 0) + (");
    EXPECT_THAT(checked("size=20"), AllOf(HasSubstr("size=19 on"), HasSubstr("values of next are wrong")));
}

TEST_F(NewKernel, InfinitiesAndNanOfTheReferenceAreAskedOfTheKernel) {
    leave_out_cuda();
    replace("reference.cpp", "next[i] =", "next[i] = (i % 3 == 0 ? __builtin_inf() : i % 3 == 1 ? -__builtin_inf() : __builtin_nan(\"\")) +");
    EXPECT_THAT(checked(), HasSubstr("values of next that the reference does not write"));
    replace("kernel.cpp", "next[i] = (", "next[i] = (i % 3 == 0 ? __builtin_inf() : i % 3 == 1 ? -__builtin_inf() : __builtin_nan(\"\")) + (");
    EXPECT_THAT(checked(), HasSubstr("no mistake found"));
}

TEST_F(NewKernel, ATunableThatNothingUsesIsFound) {
    leave_out_cuda();
    replace("kernel.cpp", "y0 += tile_y", "y0 += 4 /* tile_y */");
    replace("kernel.cpp", "y0 + tile_y", "y0 + 4");
    EXPECT_THAT(checked(), HasSubstr("nor a launch uses the tunable tile_y"));
}

TEST_F(NewKernel, ATunableThatMakesNoDifferenceIsFound) {
    leave_out_cuda();
    replace("kernel.cpp", "y0 += tile_y", "y0 += (tile_y > 0 ? 4 : tile_y)");
    replace("kernel.cpp", "y0 + tile_y", "y0 + 4");
    EXPECT_THAT(checked(), AllOf(HasSubstr("cpu: the tunable tile_y makes no difference"), Not(HasSubstr("the tunable tile_x"))));
}

TEST_F(NewKernel, ATunableThatTheSourceDefinesItselfIsFound) {
    replace("kernel.cpp", "#include", "#define tile_y 16\n#include");
    replace("kernel.cu", "__global__", "#undef rows\nconstexpr int rows = 2;\n__global__");
    leave_out_cuda();
    EXPECT_THAT(checked(), HasSubstr("the source defines tile_y itself, and not as 4"));
}

TEST_F(NewKernel, ConstraintsThatLeaveNothingAreFound) {
    leave_out_cuda();
    replace("family.json", "\"safe\"", R"("constraints": [{"rule": "tile_y * tile_x == 4 * 32768", "why": "no"}], "safe")");
    EXPECT_THAT(checked(), HasSubstr("the constraints leave no configuration with tile_y=1"));
    replace("family.json", "tile_y * tile_x == 4 * 32768", "tile_y > 64");
    EXPECT_THAT(checked(), HasSubstr("safe"));
}

TEST_F(NewKernel, AReferenceThatWritesNothingIsFound) {
    leave_out_cuda();
    replace("reference.cpp", "next[i] =", "const real gone =");
    EXPECT_THAT(checked(), HasSubstr("the reference writes nothing to next"));
}

TEST_F(NewKernel, WhatDoesNotCompileIsToldByTheUsersLineAndTheSignature) {
    leave_out_cuda();
    replace("kernel.cpp", "f[i]) / 4", "g[i]) / 4");
    EXPECT_THAT(checked(), AllOf(HasSubstr("jacobi/kernel.cpp:11:"), HasSubstr("void jacobi(const real* u, const real* f, real* next, int size)")));
}

TEST_F(NewKernel, StandsForAFamilyInOtherCommands) {
    const test::OwnFolders own;
    const std::string folder = path().string();
    EXPECT_THAT(ask({"families", folder}).out, HasSubstr("five points"));
    EXPECT_THAT(ask({"emit", folder, "size=9", "--target", "cuda"}).out, HasSubstr("#define block_x 64"));
    EXPECT_THAT(ask({"space", folder, "size=9", "--target", "cuda"}).out, HasSubstr("56 of 64"));
    EXPECT_THAT(ask({"emit", folder + " size=9", "--target", "cpu"}).out, HasSubstr("void jacobi"));
    EXPECT_EQ(ask({"emit", (path() / "absent").string(), "size=9"}).code, Exit::wrong_input);
    EXPECT_EQ(ask({"emit", folder, "size=0"}).code, Exit::wrong_input);
    // Under a processor's sanitizer compilers start slowly: two candidates.
    const test::HoneRun tuned({"tune", folder, "size=40", "--device", "cpu", "--evaluations", "2", "--db", own.folder.path() / "results"});
    EXPECT_EQ(tuned.code, 0) << tuned.error;
    EXPECT_THAT(ask({"show", folder, "--db", own.folder.path() / "results"}).out, HasSubstr("size=40"));
}

// What docs/your-own-kernel.md promises: a folder is a program, and few commands run it.
TEST_F(NewKernel, IsRunByNoCommandThatOnlySpeaksOfIt) {
    leave_out_cuda();
    const auto marker = [&](const std::string& name) { return path().parent_path() / name; };
    for (const char* file : {"kernel.cpp", "reference.cpp"}) {
        const std::string text = text_in(path() / file);
        std::ofstream(path() / file) << "#include <cstdio>\nstatic const int ran = std::fclose(std::fopen(\"" << marker(file).string()
                                     << "\", \"w\"));\n"
                                     << text;
    }
    const std::string folder = path().string();
    const std::vector<std::vector<std::string>> speaking{{"families", folder},
                                                         {"space", folder, "size=9", "--device", "cpu"},
                                                         {"emit", folder, "size=9", "--device", "cpu"},
                                                         {"compile", folder, "size=9", "--device", "cpu"},
                                                         {"compile", folder, "size=9", "--device", "cpu", "--report"},
                                                         {"lookup", folder, "size=9", "--device", "cpu"},
                                                         {"show", folder},
                                                         {"explain", folder, "size=9", "--device", "cpu"}};
    for (const auto& command : speaking) {
        ask(command);
        EXPECT_FALSE(fs::exists(marker("kernel.cpp")) || fs::exists(marker("reference.cpp"))) << command.front();
    }
    checked();
    EXPECT_TRUE(fs::exists(marker("kernel.cpp")) && fs::exists(marker("reference.cpp")));
}

TEST_F(NewKernel, ThatCrashesIsToldWithItsConfiguration) {
    leave_out_cuda();
    replace("kernel.cpp", "const long pitch", "__builtin_trap();\n    const long pitch");
    const test::HoneRun run({"check", path().string(), "size=20"});
    EXPECT_EQ(run.code, 1);
    EXPECT_THAT(run.error, AllOf(HasSubstr("size=20"), HasSubstr("tile_y=4"), HasSubstr("it crashes")));
}

TEST(NewKernelInAFolder, WhosePathHasSpacesStandsForAFamily) {
    const test::TemporaryFolder own;
    const std::string folder = (own.path() / "my own" / "jacobi").string();
    EXPECT_THAT(ask({"new", folder}).out, HasSubstr("hone check '" + folder + "'"));
    EXPECT_THAT(ask({"emit", folder, "size=9", "--target", "cpu"}).out, HasSubstr("void jacobi"));
    EXPECT_THAT(ask({"emit", folder + " size=9", "--target", "cpu"}).out, HasSubstr("void jacobi"));
}

}  // namespace
}  // namespace hone::kernel_check_test
