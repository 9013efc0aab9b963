// Emitted kernels, word for word, for the problems and configurations of tests/golden/cases.txt.
// One of each template is kept whole, to be read; of the others the SHA-256 is kept.
//
//     golden_test                  compares; the slow tests also compile every CUDA kernel for several architectures, with no GPU
//     golden_test --show NAME.cu   prints the text of a case as it is emitted now
//     golden_test --update         writes files and SHA-256s anew, and deletes files without a case
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "foundation/error.hpp"
#include "foundation/sha256.hpp"
#include "generator/families/built_in_families.hpp"
#include "runtime/compiler.hpp"
#include "tests/support/golden_cases.hpp"
#include "tests/support/places.hpp"

namespace hone::golden_test {
namespace {

namespace fs = std::filesystem;

const fs::path folder = hone::test::source_path("tests/golden");

using Case = test::GoldenCase;
using Emitted = test::EmittedCase;
using test::emit_golden;
using test::golden_architecture;
using test::read_golden_cases;

std::string read_file(const fs::path& path) {
    std::ostringstream text;
    text << std::ifstream(path, std::ios::binary).rdbuf();
    return text.str();
}

// The first line that differs, so that a failure does not print two whole kernels.
std::string first_difference(const std::string& golden, const std::string& emitted) {
    std::istringstream a(golden);
    std::istringstream b(emitted);
    for (int number = 1;; ++number) {
        std::string line_a;
        std::string line_b;
        const bool more_a = static_cast<bool>(std::getline(a, line_a));
        const bool more_b = static_cast<bool>(std::getline(b, line_b));
        if (!more_a && !more_b) return "";
        if (line_a != line_b || more_a != more_b) return fmt::format("line {}\n  golden:  {}\n  emitted: {}", number, line_a, line_b);
    }
}

std::string test_name(const ::testing::TestParamInfo<Case>& info) {
    return info.param.name + "_" + to_string(info.param.target);
}

class Golden : public ::testing::TestWithParam<Case> {};

TEST_P(Golden, TheEmittedKernelIsTheGoldenOne) {
    const Emitted kernel = emit_golden(GetParam());
    ASSERT_FALSE(kernel.rejection) << kernel.rejection->constraint << ": " << kernel.rejection->reason;
    const std::string file = GetParam().file();
    if (!GetParam().whole()) {
        EXPECT_EQ(GetParam().kept, sha256(kernel.source.text))
            << file << "; golden_test --show " << file
            << " prints the text, here and at the revision before; if the change is wanted, run golden_test --update";
        return;
    }
    const fs::path path = folder / file;
    ASSERT_TRUE(fs::exists(path)) << "run golden_test --update to write it";
    EXPECT_EQ(first_difference(read_file(path), kernel.source.text), "") << path << "; if the change is wanted, run golden_test --update";
}

TEST_P(Golden, EmittingTwiceGivesTheSameText) {
    EXPECT_EQ(emit_golden(GetParam()).source.text, emit_golden(GetParam()).source.text);
}

// A line per entry point: what the compiler gave it.
void report(const Case& golden, int architecture, const CompiledCode& code) {
    for (const auto& entry : code.resources)
        fmt::print("{} sm_{} {}: {} registers, {} bytes shared, {} bytes local, spills {} stored {} loaded\n", golden.name, architecture, entry.entry,
                   entry.registers, entry.shared_bytes, entry.local_bytes, entry.spill_store_bytes, entry.spill_load_bytes);
}

class SlowGoldenCuda : public ::testing::TestWithParam<Case> {
  protected:
    void SetUp() override { fs::create_directories(cache_folder_); }
    void TearDown() override { fs::remove_all(cache_folder_); }

    const fs::path cache_folder_ = fs::path(::testing::TempDir()) / fmt::format("hone_golden_{}", ::getpid());
};

TEST_P(SlowGoldenCuda, CompilesForEveryArchitectureThatItFits) {
    DiskCache cache(cache_folder_);
    for (const int architecture : {80, 90, 100}) {
        const Emitted kernel = emit_golden(GetParam(), architecture);
        if (kernel.rejection) {
            ASSERT_NE(architecture, golden_architecture);
            fmt::print("{} is not for sm_{}: {}\n", GetParam().name, architecture, kernel.rejection->reason);
            continue;
        }
        std::unique_ptr<Compiler> compiler;
        try {
            compiler = make_nvrtc_compiler(fmt::format("sm_{}", architecture), cache);
        } catch (const Error& error) {
            GTEST_SKIP() << error.what();
        }
        const CompileOutcome outcome = compiler->compile(kernel.source);
        ASSERT_TRUE(outcome.ok) << "sm_" << architecture << ": " << outcome.failure << "\n" << outcome.code.log;
        EXPECT_EQ(outcome.code.resources.size(), kernel.source.entries.size());
        report(GetParam(), architecture, outcome.code);
    }
}

TEST(GoldenFiles, EveryFileHasItsCaseAndEveryNameIsUnique) {
    std::set<std::string> names;
    std::set<std::string> expected{"cases.txt"};
    for (const auto& golden : read_golden_cases()) {
        EXPECT_TRUE(names.insert(golden.file()).second) << golden.file() << " stands twice in cases.txt";
        if (golden.whole()) expected.insert(golden.file());
    }
    std::set<std::string> found;
    for (const auto& entry : fs::directory_iterator(folder)) found.insert(entry.path().filename().string());
    EXPECT_EQ(found, expected) << "golden_test --update deletes what has no case";
}

TEST(GoldenFiles, CasesAreWrittenAsTheyAreRead) {
    for (const auto& line : test::read_golden_lines()) {
        if (!line.golden) continue;
        EXPECT_EQ(line.golden->line(), line.text);
    }
}

TEST(GoldenFiles, EveryFamilyHasWholeOnesForBothTargets) {
    std::set<std::string> covered;
    for (const auto& golden : read_golden_cases())
        if (golden.whole()) covered.insert(golden.problem.substr(0, golden.problem.find(' ')) + " " + to_string(golden.target));
    for (const auto& family : built_in_families())
        for (const Target target : {Target::cpu, Target::cuda}) EXPECT_TRUE(covered.contains(family.name + " " + to_string(target))) << family.name;
}

bool is_kernels(const fs::path& file) {
    const std::string parent = file.parent_path().filename().string();
    return file.extension() == ".in" && parent != "kernel_folder" && parent != "runtime";
}

// By template the lines that only it has: whatever its holes are filled with, they say where a
// kernel's text is from.
std::map<std::string, std::set<std::string>> own_lines() {
    constexpr std::size_t telling = 25;  // columns; shorter ones stand in many
    std::map<std::string, std::set<std::string>> lines;
    std::map<std::string, int> templates;
    const fs::path all = hone::test::source_path("templates");
    for (const auto& entry : fs::recursive_directory_iterator(all)) {
        if (!is_kernels(entry.path())) continue;
        std::set<std::string>& own = lines[fs::relative(entry.path(), all).string()];
        std::istringstream text(read_file(entry.path()));
        for (std::string line; std::getline(text, line);) {
            line.erase(0, line.find_first_not_of(' '));
            if (line.size() >= telling && line.find("//@") == std::string::npos) own.insert(line);
        }
        for (const std::string& line : own) ++templates[line];
    }
    for (auto& [name, own] : lines) std::erase_if(own, [&](const std::string& line) { return templates[line] > 1; });
    std::erase_if(lines, [](const auto& of_template) { return of_template.second.empty(); });
    return lines;
}

// A template is shown by what has a fifth of the lines that any case shows of it. One that has no
// lines of its own only puts pieces of others together.
TEST(GoldenFiles, EveryTemplateHasOneWholeTextAndNoneHasMoreThanItTakes) {
    constexpr std::size_t fifth = 5;
    const auto lines = own_lines();
    std::map<std::string, std::map<std::string, std::size_t>> shown;  // by template and file
    std::set<std::string> whole;
    for (const auto& golden : read_golden_cases()) {
        if (golden.whole()) whole.insert(golden.file());
        std::istringstream text(emit_golden(golden).source.text);
        std::set<std::string> all;
        for (std::string line; std::getline(text, line);) all.insert(line.erase(0, line.find_first_not_of(' ')));
        for (const auto& [name, own] : lines)
            shown[name][golden.file()] =
                static_cast<std::size_t>(std::count_if(own.begin(), own.end(), [&](const std::string& line) { return all.contains(line); }));
    }
    ASSERT_GT(shown.size(), 40U);
    for (const auto& [name, files] : shown) {
        const auto best = std::max_element(files.begin(), files.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
        ASSERT_GT(best->second, 0U) << "no line of cases.txt shows templates/" << name;
        EXPECT_TRUE(std::any_of(files.begin(), files.end(),
                                [&](const auto& file) { return whole.contains(file.first) && fifth * file.second >= best->second; }))
            << "no whole text shows templates/" << name << "; " << best->first << " shows most of it";
    }
    EXPECT_LE(whole.size(), shown.size()) << "keep the hash of those that show nothing new";
}

std::vector<Case> cuda_cases() {
    std::vector<Case> cases = read_golden_cases();
    std::erase_if(cases, [](const Case& golden) { return golden.target != Target::cuda; });
    return cases;
}

INSTANTIATE_TEST_SUITE_P(All, Golden, ::testing::ValuesIn(read_golden_cases()), test_name);
INSTANTIATE_TEST_SUITE_P(All, SlowGoldenCuda, ::testing::ValuesIn(cuda_cases()), test_name);

std::string golden_text(const Case& golden) {
    const Emitted kernel = emit_golden(golden);
    if (kernel.rejection)
        throw Error("tests/golden/cases.txt, " + golden.name, kernel.rejection->constraint + ": " + kernel.rejection->reason,
                    "choose another configuration");
    return kernel.source.text;
}

void show(const std::string& file) {
    for (const auto& golden : read_golden_cases())
        if (golden.file() == file) {
            std::cout << golden_text(golden);
            return;
        }
    throw Error("golden_test --show", "there is no case " + file, "use a name of tests/golden/cases.txt, with .cu or .cpp behind it");
}

// All kernels are made before any file is touched: a case that cannot be made leaves the folder as
// it was.
void update() {
    std::vector<std::pair<fs::path, std::string>> files;
    std::string cases;
    for (auto& line : test::read_golden_lines()) {
        if (line.golden) {
            const std::string text = golden_text(*line.golden);
            if (line.golden->whole())
                files.emplace_back(folder / line.golden->file(), text);
            else
                line.golden->kept = sha256(text);
            line.text = line.golden->line();
        }
        cases += line.text + "\n";
    }
    files.emplace_back(folder / "cases.txt", cases);
    for (const auto& entry : fs::directory_iterator(folder))
        if (entry.path().filename() != "cases.txt") fs::remove(entry.path());
    for (const auto& [path, text] : files) std::ofstream(path, std::ios::binary) << text;
}

}  // namespace
}  // namespace hone::golden_test

int main(int argc, char** argv) {
    ::testing::InitGoogleTest(&argc, argv);
    const std::vector<std::string> arguments(argv + 1, argv + argc);
    const bool update = arguments == std::vector<std::string>{"--update"};
    const bool show = arguments.size() == 2 && arguments[0] == "--show";
    if (!update && !show) return RUN_ALL_TESTS();
    try {
        if (update)
            hone::golden_test::update();
        else
            hone::golden_test::show(arguments[1]);
    } catch (const hone::Error& error) {
        std::cerr << error.what() << "\n";
        return 1;
    }
    return 0;
}
