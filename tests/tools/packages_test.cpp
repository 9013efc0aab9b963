// What tools/quickstart and tools/test look for before they build: programs that work and headers,
// not packages.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "foundation/process.hpp"
#include "tests/support/places.hpp"
#include "tests/support/temporary_folder.hpp"

namespace hone::tools::packages_test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

class Packages : public testing::Test {
  protected:
    // Runs words of bash beside the functions of packages.sh.
    static ProcessResult bash(const std::string& words, const std::string& variables = "") {
        return run_process({"/bin/bash", "-c", variables + " set -eu; source " + test::source_path("tools/packages.sh") + "; " + words}, 60);
    }
    // A program of that name, in a folder of its own that stands first on the path.
    void script(const std::string& name, const std::string& text) const {
        std::ofstream(folder.path() / name) << "#!/bin/sh\n" << text << "\n";
        fs::permissions(folder.path() / name, fs::perms::owner_all);
    }
    std::string first_on_path() const { return "export PATH=" + folder.path().string() + ":$PATH;"; }

    // What the functions themselves need, where the folder is all that is on the path.
    void put_tools() const {
        for (const char* tool : {"mktemp", "rm", "sed", "sort", "head", "tr"})
            if (const std::string program = find_program(tool); !program.empty()) fs::create_symlink(program, folder.path() / tool);
    }

    test::TemporaryFolder folder;
};

TEST_F(Packages, ACompilerHasToCompile) {
    script("old", "[ \"$1\" = --version ] || exit 1");
    const std::string old = "export CXX=" + (folder.path() / "old").string() + ";";
    EXPECT_EQ(bash("missing_packages g++", old).output, "g++\n");
    if (bash("working_compiler").output.empty()) GTEST_SKIP() << "there is no C++ compiler with OpenMP";
    EXPECT_EQ(bash("missing_packages g++").output, "");
    script("c++", "exit 1");
    EXPECT_THAT(bash("working_compiler", first_on_path()).output, Not(HasSubstr("c++\n"))) << "the next one is taken";
}

TEST_F(Packages, CMakeHasToReadThePresets) {
    script("cmake", "echo cmake version 3.22.1");
    EXPECT_EQ(bash("missing_packages cmake", first_on_path()).output, "cmake\n");
    script("cmake", "echo cmake version 3.25.1");
    EXPECT_EQ(bash("missing_packages cmake", first_on_path()).output, "");
    script("cmake", "echo cmake version 4.0.2-rc1");
    EXPECT_EQ(bash("missing_packages cmake", first_on_path()).output, "");
}

TEST_F(Packages, HeadersAreFoundWhereverTheyCameFrom) {
    EXPECT_NE(bash("has_header made_up/header.h").exit_code, 0);
    fs::create_directories(folder.path() / "include/made_up");
    std::ofstream(folder.path() / "include/made_up/header.h") << "\n";
    const std::string prefix = "export CMAKE_PREFIX_PATH=/absent:" + folder.path().string() + ";";
    EXPECT_EQ(bash("has_header made_up/header.h", prefix).exit_code, 0);
}

TEST_F(Packages, WhereNothingCanBeInstalledItSaysWhatToDo) {
    put_tools();
    const ProcessResult result = bash("install_missing g++ cmake", "unset LMOD_CMD MODULESHOME; PATH=" + folder.path().string() + "; CXX=absent;");
    EXPECT_EQ(result.exit_code, 1);
    for (const char* part : {"Not found", "g++ cmake", "this system's own means", "--no-install"}) EXPECT_THAT(result.output, HasSubstr(part));
}

TEST_F(Packages, WhatIsMissingIsToldInTheWordsOfTheSystem) {
    put_tools();
    const std::string all = "install_missing g++ cmake ninja-build libfmt-dev nlohmann-json3-dev libcli11-dev zlib1g-dev";
    const auto told = [&](const std::string& more = "") {
        return bash("has_header() { return 1; }; " + all, "unset LMOD_CMD MODULESHOME; " + more + "PATH=" + folder.path().string() + "; CXX=absent;")
            .output;
    };
    script("dnf", "exit 1");
    EXPECT_THAT(told(), HasSubstr("as root: dnf install gcc-c++ cmake ninja-build fmt-devel json-devel cli11-devel zlib-devel\n"));
    script("brew", "exit 1");
    EXPECT_THAT(told(), HasSubstr("brew install gcc cmake ninja fmt nlohmann-json cli11 zlib\n"));
    script("conda", "exit 1");
    EXPECT_THAT(told(), HasSubstr("conda install -c conda-forge cxx-compiler cmake ninja fmt nlohmann_json cli11 zlib\n"));
    script("spack", "exit 1");
    EXPECT_THAT(told(), HasSubstr("spack install gcc cmake ninja fmt nlohmann-json cli11 zlib; spack load gcc"));
    EXPECT_THAT(told("MODULESHOME=/usr/share/modules; "), HasSubstr("module load gcc cmake ninja"));
    EXPECT_THAT(told(), Not(HasSubstr("module load")));
}

}  // namespace
}  // namespace hone::tools::packages_test
