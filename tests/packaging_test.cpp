// The recipes of packaging/ ask for what hone's build looks for: its version, its tools and
// libraries, in no older versions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <regex>
#include <sstream>
#include <string>

#include "foundation/process.hpp"
#include "tests/support/places.hpp"

namespace hone::packaging_test {
namespace {

using testing::HasSubstr;

std::string text_in(const std::string& file) {
    std::ostringstream text;
    text << std::ifstream(test::source_path(file)).rdbuf();
    EXPECT_FALSE(text.str().empty()) << file;
    return text.str();
}

// What the pattern's group matches first.
std::string found(const std::string& text, const std::string& pattern) {
    std::smatch match;
    EXPECT_TRUE(std::regex_search(text, match, std::regex(pattern))) << pattern;
    return match[1];
}

TEST(Packaging, RecipesAskForWhatTheBuildLooksFor) {
    const std::string build = text_in("CMakeLists.txt");
    const std::string version = found(build, R"(project\(hone VERSION ([0-9.]+))");
    const std::string cmake = found(build, R"(cmake_minimum_required\(VERSION ([0-9.]+)\))");
    const std::string json = found(build, R"(find_package\(nlohmann_json ([0-9.]+))");
    const std::string compilers = text_in("cmake/CompilerVersion.cmake");
    const int gcc = std::stoi(found(compilers, "hone_oldest_GNU ([0-9]+)")), clang = std::stoi(found(compilers, "hone_oldest_Clang ([0-9]+)"));

    const std::string spack = text_in("packaging/spack/package.py");
    EXPECT_THAT(spack, HasSubstr("version(\"" + version + "\""));
    EXPECT_THAT(spack, HasSubstr("cmake@" + cmake + ":"));
    EXPECT_THAT(spack, HasSubstr("nlohmann-json@" + json + ":"));
    EXPECT_THAT(spack, HasSubstr("%gcc@:" + std::to_string(gcc - 1)));
    EXPECT_THAT(spack, HasSubstr("%clang@:" + std::to_string(clang - 1)));
    for (const char* library : {"\"fmt@", "\"cli11@", "\"zlib-api\"", "\"ninja\"", "\"mpi\""}) EXPECT_THAT(spack, HasSubstr(library));

    const std::string conda = text_in("packaging/conda/meta.yaml");
    EXPECT_THAT(conda, HasSubstr("version: " + version + "\n"));
    EXPECT_THAT(conda, HasSubstr("cmake >=" + cmake + "\n"));
    EXPECT_THAT(conda, HasSubstr("nlohmann_json >=" + json + "\n"));
    for (const char* library : {"- fmt ", "- cli11 ", "- zlib\n", "- ninja\n"}) EXPECT_THAT(conda, HasSubstr(library));

    const std::string packages = found(text_in("tools/packages.sh"), R"(build_packages=\(([^)]*)\))");
    EXPECT_THAT(text_in("packaging/Containerfile"), HasSubstr(packages));
    // The options that recipes set are the build's.
    const std::regex name("HONE_[A-Z_]+");
    for (const std::string& recipe : {spack, conda})
        for (auto option = std::sregex_iterator(recipe.begin(), recipe.end(), name); option != std::sregex_iterator(); ++option)
            EXPECT_THAT(build, HasSubstr("option(" + option->str() + " "));
}

TEST(Packaging, TheRecipeOfSpackIsPython) {
    const std::string python = find_program("python3");
    if (python.empty()) GTEST_SKIP() << "there is no python3";
    const ProcessResult result =
        run_process({python, "-c", "import ast, sys; ast.parse(open(sys.argv[1]).read())", test::source_path("packaging/spack/package.py")}, 60);
    EXPECT_TRUE(result.ok()) << result.output;
}

}  // namespace
}  // namespace hone::packaging_test
