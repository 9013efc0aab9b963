// The folder rule: generator <- tuning_db <- runtime <- tuner <- tools, examples, benchmarks, tests. A folder includes itself and what stands to its
// left.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/places.hpp"

namespace hone::layering_test {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 4> ordered_folders{"generator", "tuning_db", "runtime", "tuner"};

// Position in the order; whatever is not a library stands to the right of all.
std::size_t rank(std::string_view folder) {
    return static_cast<std::size_t>(std::find(ordered_folders.begin(), ordered_folders.end(), folder) - ordered_folders.begin());
}

struct Include {
    std::string header;
    bool quoted = false;
};

std::vector<Include> includes_of(std::istream& source) {
    static const std::regex pattern(R"(^\s*#\s*include\s*([<"])([^>"]+)[>"])");
    std::vector<Include> includes;
    std::smatch match;
    for (std::string line; std::getline(source, line);)
        if (std::regex_search(line, match, pattern)) includes.push_back({match[2], match[1] == "\""});
    return includes;
}

// Why a file of `folder` may not have this include, or an empty string.
std::string violation(std::string_view folder, bool is_header, const Include& include) {
    const std::string first = include.header.substr(0, include.header.find('/'));
    if (include.quoted && first != folder && rank(folder) < ordered_folders.size() && rank(first) >= rank(folder))
        return fmt::format("{} may include only itself and what stands to its left", folder);
    if (include.quoted && !include.header.starts_with(first + "/"))
        return "an include starts at the root of the project, as in \"generator/value.hpp\"";
    const bool library_header = is_header && rank(folder) < ordered_folders.size();
    if (library_header && (first == "nlohmann" || first == "CLI")) return "headers are light: this belongs in the .cpp";
    const bool measures = folder == "tests" || folder == "benchmarks";  // may compare with the toolkit where there is one
    if (measures) return "";
    if (include.header == "cuda.h" || include.header == "cuda_runtime.h" || include.header == "nvrtc.h" || include.header == "nvml.h")
        return "hone builds where there is no toolkit: it declares what it uses of the driver itself";
    return "";
}

std::vector<fs::path> sources() {
    std::vector<fs::path> files;
    for (const std::string_view top : {"generator", "tuning_db", "runtime", "tuner", "tools", "examples", "benchmarks", "tests"}) {
        const fs::path folder = test::source_path(top);
        if (!fs::exists(folder)) continue;
        for (const auto& entry : fs::recursive_directory_iterator(folder))
            if (entry.path().extension() == ".cpp" || entry.path().extension() == ".hpp")
                files.push_back(entry.path().lexically_relative(test::source_path("")));
    }
    return files;
}

TEST(Layering, EveryIncludeFollowsTheFolderOrder) {
    const auto files = sources();
    ASSERT_GE(files.size(), 20U) << "the sources were not found under " << test::source_path("");
    for (const auto& file : files) {
        if (file.string().starts_with("tests/consumer")) continue;  // sees hone as another project does
        std::ifstream source(test::source_path(file));
        for (const auto& include : includes_of(source)) {
            const std::string reason = violation(file.begin()->string(), file.extension() == ".hpp", include);
            EXPECT_EQ(reason, "") << file << " includes " << include.header;
        }
    }
}

TEST(Layering, TheRuleRejectsAStepToTheRight) {
    EXPECT_NE(violation("generator", false, {"tuning_db/record.hpp", true}), "");
    EXPECT_NE(violation("runtime", false, {"tuner/tuner.hpp", true}), "");
    EXPECT_NE(violation("tuner", true, {"tools/command.hpp", true}), "");
    EXPECT_NE(violation("runtime", true, {"nlohmann/json.hpp", false}), "");
    EXPECT_NE(violation("runtime", false, {"cuda.h", false}), "");
    EXPECT_EQ(violation("tests", false, {"cuda.h", false}), "");
    EXPECT_NE(violation("runtime", false, {"backend.hpp", true}), "");
    EXPECT_EQ(violation("runtime", false, {"nlohmann/json.hpp", false}), "");
    EXPECT_EQ(violation("tuner", true, {"generator/value.hpp", true}), "");
    EXPECT_EQ(violation("tools", false, {"tuner/tuner.hpp", true}), "");
}

TEST(Layering, NoFileNamesTheDetailsOfAnotherLayersLibraries) {
    // One place per foreign library: dlopen and its relatives belong to the runtime.
    for (const auto& file : sources()) {
        const std::string folder = file.begin()->string();
        if (folder != "generator" && folder != "tuning_db" && folder != "tuner") continue;
        std::ifstream source(test::source_path(file));
        for (const auto& include : includes_of(source)) EXPECT_NE(include.header, "dlfcn.h") << file;
    }
}

}  // namespace
}  // namespace hone::layering_test
