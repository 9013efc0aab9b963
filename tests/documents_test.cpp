// Rules for every document: prose of at most 100 columns, links that lead somewhere, and decisions
// of one page each. Comments have 100 columns, too.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/places.hpp"

namespace hone::documents_test {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::size_t columns = 100, page = 60;

std::string text_in(const fs::path& relative) {
    std::ostringstream text;
    text << std::ifstream(test::source_path(relative)).rdbuf();
    return text.str();
}

// All documents of the source tree, by their paths from its top. Builds and hidden folders are not
// part of it.
std::vector<fs::path> documents() {
    std::vector<fs::path> found;
    const fs::path top = test::source_path("");
    for (auto entry = fs::recursive_directory_iterator(top); entry != fs::recursive_directory_iterator(); ++entry) {
        const std::string name = entry->path().filename().string();
        if (entry->is_directory() && (name.starts_with(".") || name.starts_with("build") || fs::exists(entry->path() / ".git")))
            entry.disable_recursion_pending();
        else if (entry->path().extension() == ".md")
            found.push_back(entry->path().lexically_relative(top));
    }
    return found;
}

std::size_t width(const std::string& line) {
    return static_cast<std::size_t>(std::count_if(line.begin(), line.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

struct Line {
    std::size_t number = 0;
    std::string text;
};

// The lines of a text that are neither code nor a table nor a heading.
std::vector<Line> prose(const std::string& text) {
    std::vector<Line> lines;
    std::istringstream stream(text);
    std::string line;
    bool code = false;
    for (std::size_t number = 1; std::getline(stream, line); ++number) {
        const std::string start = line.substr(std::min(line.find_first_not_of(' '), line.size()));
        const bool fence = start.starts_with("```");
        if (!code && !fence && !start.starts_with("|") && !start.starts_with("#")) lines.push_back({number, line});
        code = code != fence;
    }
    return lines;
}

// The numbers of the lines of prose that are too long without the targets of their links.
std::vector<std::size_t> long_lines(const std::string& text) {
    static const std::regex target(R"(\]\([^)]*\))");
    std::vector<std::size_t> numbers;
    for (const Line& line : prose(text))
        if (width(line.text) > columns && width(std::regex_replace(line.text, target, "]")) > columns) numbers.push_back(line.number);
    return numbers;
}

// A source without the contents of its raw strings, which are other texts: their lines are empty.
std::string without_raw_strings(const std::string& text) {
    std::string rest;
    std::size_t at = 0;
    for (std::size_t found = text.find("R\"", at); found != std::string::npos; found = text.find("R\"", at)) {
        const std::size_t open = text.find('(', found);
        const std::string close = ")" + text.substr(found + 2, open - found - 2) + "\"";
        const std::size_t end = open == std::string::npos || open > found + 18 ? std::string::npos : text.find(close, open);
        rest += text.substr(at, found + 2 - at);
        at = found + 2;
        if (end == std::string::npos) continue;
        rest += std::string(static_cast<std::size_t>(std::count(text.begin() + std::ptrdiff_t(at), text.begin() + std::ptrdiff_t(end), '\n')), '\n');
        at = end;
    }
    return rest + text.substr(at);
}

// The numbers of the lines of a source that hold a comment alone and are too long. Samples and
// tables, which have gaps, may be longer.
std::vector<std::size_t> long_comments(const std::string& text) {
    std::vector<std::size_t> numbers;
    std::istringstream stream(without_raw_strings(text));
    std::string line;
    for (std::size_t number = 1; std::getline(stream, line); ++number) {
        const std::string start = line.substr(std::min(line.find_first_not_of(' '), line.size()));
        const std::string words = start.substr(std::min(start.find_first_not_of('/'), start.size()));
        const bool table = words.starts_with(" | ") || words.find("  ") != std::string::npos, of_the_line_before = words.starts_with("<");
        if (start.starts_with("//") && !table && !of_the_line_before && width(line) > columns) numbers.push_back(number);
    }
    return numbers;
}

// Files that a document's links name, from its own folder. Indented lines are code or formulas,
// where brackets mean something else.
std::vector<std::string> linked_files(const std::string& text) {
    static const std::regex link(R"(\]\(([^)#:\s]+)(#[^)]*)?\))");
    std::vector<std::string> files;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) {
        if (line.starts_with("    ") || line.find("](") == std::string::npos) continue;
        for (auto found = std::sregex_iterator(line.begin(), line.end(), link); found != std::sregex_iterator(); ++found)
            files.push_back((*found)[1]);
    }
    return files;
}

TEST(Documents, ProseHasAtMostAHundredColumns) {
    const std::vector<fs::path> files = documents();
    ASSERT_GE(files.size(), 40U) << "documents were not found under " << test::source_path("");
    for (const fs::path& file : files) {
        EXPECT_THAT(long_lines(text_in(file)), IsEmpty()) << file << ": these lines have more than " << columns << " columns";
    }
}

TEST(Documents, TheRuleExceptsCodeTablesHeadingsAndTargetsOfLinks) {
    const std::string words = std::string(60, 'a') + " " + std::string(60, 'b');
    EXPECT_THAT(long_lines("short\n" + words + "\n"), ElementsAre(2));
    EXPECT_THAT(long_lines("- " + words + "\n"), ElementsAre(1));
    EXPECT_THAT(long_lines("```\n" + words + "\n```\n| " + words + " |\n## " + words + "\n"), IsEmpty());
    EXPECT_THAT(long_lines("```\ncode\n```\n" + words), ElementsAre(4));
    EXPECT_THAT(long_lines("[here](" + std::string(120, 'x') + ")"), IsEmpty());
    std::string accents;
    for (int n = 0; n < 100; ++n) accents += "é";
    EXPECT_THAT(long_lines(accents), IsEmpty());
}

TEST(Documents, CommentsHaveAtMostAHundredColumns) {
    const std::string words = std::string(60, 'a') + " " + std::string(60, 'b');
    EXPECT_THAT(long_comments("int a;  // " + words + "\n    /// " + words + "\n//   " + words + "\n"), ElementsAre(2));
    EXPECT_THAT(long_comments("f(R\"x(\n// " + words + "\n)x\");\n// " + words), ElementsAre(4));
    std::size_t sources = 0;
    for (const char* folder :
         {"benchmarks", "examples", "foundation", "generator", "include", "interfaces", "runtime", "solvers", "tests", "tools", "tuner", "tuning_db"})
        for (const auto& entry : fs::recursive_directory_iterator(test::source_path(folder))) {
            const std::string path = entry.path().string();
            if (entry.path().extension() != ".cpp" && entry.path().extension() != ".hpp") continue;
            // Texts that are compiled as kernels, whose hashes tests know.
            if (path.find("tests/golden/") != std::string::npos || path.find("examples/kernels/") != std::string::npos) continue;
            if (entry.path().filename() == "cuda_on_host.hpp") continue;
            ++sources;
            EXPECT_THAT(long_comments(text_in(entry.path())), IsEmpty())
                << entry.path() << ": these comments have more than " << columns << " columns";
        }
    EXPECT_GT(sources, 500U);
}

TEST(Documents, TheHeaderForOtherLanguagesHasAHundredColumns) {
    std::istringstream header(text_in("interfaces/c/hone.h"));
    std::size_t number = 0;
    for (std::string line; std::getline(header, line);) {
        ++number;
        EXPECT_LE(width(line), columns) << "hone.h:" << number << ": " << line;
    }
    EXPECT_GT(number, 200U);
}

TEST(Documents, LinksLeadToFilesOfTheTree) {
    EXPECT_THAT(linked_files("    w = m[i](x)\n"), IsEmpty());
    EXPECT_THAT(linked_files("[a](b.md#c), [d](https://e.f), [g](#h), ![i](../j.svg)"), ElementsAre("b.md", "../j.svg"));
    for (const fs::path& file : documents())
        for (const std::string& target : linked_files(text_in(file)))
            EXPECT_TRUE(fs::exists(test::source_path(file.parent_path() / target))) << file << " links to " << target << ", which is not there";
}

TEST(Documents, ADecisionFitsAPageAndEveryNumberStandsInTheIndex) {
    const std::string index = text_in("docs/adr/README.md");
    int last = 0;
    for (const auto& entry : fs::directory_iterator(test::source_path("docs/adr"))) {
        const std::string name = entry.path().filename().string();
        if (name == "README.md") continue;
        const std::string text = text_in(fs::path("docs/adr") / name);
        EXPECT_LE(static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')), page)
            << name << ": measurements belong to benchmarks/results";
        EXPECT_THAT(index, HasSubstr("](" + name + ")"));
        last = std::max(last, std::stoi(name.substr(0, 4)));
    }
    ASSERT_GE(last, 36);
    for (int number = 1; number <= last; ++number) EXPECT_THAT(index, HasSubstr(fmt::format("{:04}", number)));
}

}  // namespace
}  // namespace hone::documents_test
