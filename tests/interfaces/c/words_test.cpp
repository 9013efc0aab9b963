// Statuses and grades have one word each, whoever says it.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "foundation/file_store.hpp"
#include "interfaces/c/grades.hpp"
#include "tests/interfaces/c/c_session.hpp"
#include "tuning_db/database.hpp"

namespace hone::words_test {
namespace {

using testing::ElementsAreArray;
using testing::Not;

std::string source(const char* file) {
    return read_file(test::source_path(file), 1 << 22);
}

// The constants of a source, `NAME = number`, by name.
std::map<std::string, int> constants_of(const std::string& text) {
    static const std::regex constant(R"(\b(HONE_[A-Z0-9_]+) = ([0-9]+))");
    std::map<std::string, int> found;
    for (std::sregex_iterator at(text.begin(), text.end(), constant), end; at != end; ++at) found[(*at)[1]] = std::stoi((*at)[2]);
    return found;
}

// The constants of an enumeration of hone.h, in their order.
std::vector<std::pair<int, std::string>> enumeration(const std::string& name) {
    const std::string header = source("interfaces/c/hone.h");
    const std::size_t begin = header.find("typedef enum " + name + " {"), end = header.find("} " + name + ";");
    std::vector<std::pair<int, std::string>> found;
    for (const auto& [constant, value] : constants_of(header.substr(begin, end - begin))) found.emplace_back(value, constant);
    std::sort(found.begin(), found.end());
    return found;
}

// "nearest_size" of HONE_NEAREST_SIZE.
std::string word_of(const std::string& constant) {
    std::string word = constant.substr(std::string("HONE_").size());
    std::transform(word.begin(), word.end(), word.begin(), [](unsigned char c) { return std::tolower(c); });
    return word;
}

TEST(CWords, SayEveryStatusByItsName) {
    const auto statuses = enumeration("hone_status");
    ASSERT_GE(statuses.size(), 6U);
    for (const auto& [value, constant] : statuses) {
        std::string words = word_of(constant);
        std::replace(words.begin(), words.end(), '_', ' ');
        EXPECT_EQ(hone_status_text(static_cast<hone_status>(value)), words);
    }
    // As a language without enumerations passes them.
    const auto text = reinterpret_cast<const char* (*)(int)>(&hone_status_text);
    for (const int none : {statuses.back().first + 1, 1000, -1}) EXPECT_STREQ(text(none), "unknown status") << none;
}

TEST(CWords, SayEveryGradeByItsName) {
    const auto grades = enumeration("hone_grade");
    ASSERT_EQ(grades.size(), grade_words.size());
    std::set<std::string> words;
    for (const auto& [value, constant] : grades) {
        EXPECT_EQ(hone_grade_text(value), word_of(constant));
        words.insert(word_of(constant));
    }
    EXPECT_THAT(words, testing::UnorderedElementsAreArray(grade_words));
    for (std::size_t i = 0; i < grade_words.size(); ++i) EXPECT_STREQ(hone_grade_text(languages::grade_of(static_cast<Grade>(i))), grade_words.at(i));
    for (const std::int32_t none : {0, -1, 1000, std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max()})
        EXPECT_STREQ(hone_grade_text(none), "unknown grade") << none;
    EXPECT_EQ(HONE_UNTUNED, HONE_NONE) << "for programs of version 1.2";
}

TEST(CWords, HaveTheSameNumbersInFortran) {
    const auto c = constants_of(source("interfaces/c/hone.h"));
    const std::string fortran = source("interfaces/fortran/hone_c.f90");
    EXPECT_EQ(constants_of(fortran), c);
    EXPECT_THAT(fortran, testing::HasSubstr("HONE_UNTUNED = HONE_NONE")) << "for programs of version 1.2";
    const std::string module = source("interfaces/fortran/hone.f90");
    for (const auto& [constant, value] : c) EXPECT_THAT(module, testing::ContainsRegex("public ::.*" + constant)) << "value " << value;
}

// All lists of words that a member named "grade" may have.
void collect_grades(const nlohmann::json& schema, std::vector<std::vector<std::string>>& found) {
    if (schema.is_object() && schema.contains("properties") && schema["properties"].contains("grade"))
        found.push_back(schema["properties"]["grade"].value("enum", std::vector<std::string>{}));
    for (const auto& part : schema)
        if (part.is_structured()) collect_grades(part, found);
}

TEST(CWords, AreThoseOfTheSchemaOfCommands) {
    std::vector<std::vector<std::string>> lists;
    collect_grades(nlohmann::json::parse(source("tools/schema/output-1.schema.json")), lists);
    EXPECT_GE(lists.size(), 2U);
    for (const auto& list : lists) EXPECT_THAT(list, ElementsAreArray(grade_words));
}

TEST(CWords, AreThoseOfTheDocumentsAndOfHelp) {
    static const std::regex row(R"(\n\| `(\w+)` \|)");
    const std::string page = source("docs/look-up-a-kernel.md");
    const std::size_t begin = page.find("\n| grade |");
    ASSERT_NE(begin, std::string::npos);
    const std::string table = page.substr(begin, page.find("\n\n", begin) - begin);
    std::vector<std::string> listed;
    for (std::sregex_iterator at(table.begin(), table.end(), row), end; at != end; ++at) listed.push_back((*at)[1]);
    EXPECT_THAT(listed, ElementsAreArray(grade_words));
    const std::string plain = fmt::format("{}", fmt::join(grade_words, ", ")), quoted = fmt::format("\"{}\"", fmt::join(grade_words, "\", \""));
    for (const char* file : {"README.md", "docs/use-from-python.md", "tools/commands/lookup.cpp"})
        EXPECT_THAT(source(file), testing::HasSubstr(plain)) << file;
    // Comments break lines.
    EXPECT_THAT(std::regex_replace(source("interfaces/c/hone.h"), std::regex(R"(\n \* )"), " "), testing::HasSubstr(quoted));
    // Python has no words of its own.
    const std::string python = source("interfaces/python/bindings.cpp");
    EXPECT_THAT(python, testing::HasSubstr("hone_grade_text(info().grade)"));
    EXPECT_THAT(python, Not(testing::HasSubstr("\"nearest_size\"")));
}

}  // namespace
}  // namespace hone::words_test
