// What a tunable was called once stands where it is translated and tested, and nowhere else.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "foundation/file_store.hpp"
#include "generator/families/built_in_families.hpp"
#include "tests/support/golden_cases.hpp"
#include "tests/support/places.hpp"

namespace hone::former_names_test {
namespace {

namespace fs = std::filesystem;

// Names that no tunable or parameter of any family has today: of others a text does not say which
// it means.
std::set<std::string> former_names() {
    std::set<std::string> former, today;
    for (const test::GoldenCase& golden : test::read_golden_cases()) {
        const Problem problem = built_in_families().parse_problem(golden.problem);
        const Family& family = built_in_families().of(problem);
        for (const ProblemParameter& parameter : family.parameters) today.insert(parameter.name);
        const SearchSpace space = family.space(problem, test::golden_limits(golden.target));
        for (const FormSpace& form : space.forms())
            for (const Tunable& tunable : form.tunables) {
                today.insert(tunable.name);
                if (!tunable.former_name.empty()) former.insert(tunable.former_name);
            }
    }
    for (const std::string& name : today) former.erase(name);
    return former;
}

// The text without tests of former names, which say so: TEST(Poisson7, FormerNames...) { ... }.
std::string without_their_tests(std::string text) {
    for (std::size_t begin = text.find("\nTEST"); begin != std::string::npos; begin = text.find("\nTEST", begin + 1)) {
        const std::string head = text.substr(begin, text.find('\n', begin + 1) - begin);
        const std::size_t name = head.find(", ");
        if (name != std::string::npos && head.find("Former", name) != std::string::npos)
            text.erase(begin, std::min(text.find("\n}\n", begin), text.size()) - begin);
    }
    return text;
}

bool is_part_of_a_word(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-';
}

// "NAME=value" of these names, as in configurations; no options such as "--steps=20".
std::vector<std::string> uses(const std::string& text, const std::set<std::string>& names) {
    std::vector<std::string> found;
    for (const std::string& name : names)
        for (std::size_t at = text.find(name + "="); at != std::string::npos; at = text.find(name + "=", at + 1)) {
            const std::size_t value = at + name.size() + 1;
            if (at > 0 && is_part_of_a_word(text[at - 1])) continue;
            if (value < text.size() && (is_part_of_a_word(text[value]) || text[value] == '{'))
                found.push_back(
                    fmt::format("{} in line {}", name, 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n')));
        }
    return found;
}

TEST(FormerNames, AFormerNameIsFoundInATextButNotInItsOwnTest) {
    const std::set<std::string> names{"march", "steps"};
    EXPECT_THAT(uses("\n\"march=4,unroll=1\" --steps=3 -march=native", names), testing::ElementsAre("march in line 2"));
    EXPECT_THAT(uses("steps={}", names), testing::ElementsAre("steps in line 1"));
    const std::string before = "\nTEST(A, B) {\n    c;\n}\n", behind = "\nTEST_F(A, C) {\n}\n";
    EXPECT_EQ(without_their_tests(before + "\nTEST_F(A, TheFormerNames) {\n    march=4;\n}\n" + behind), before + "\n}\n" + behind);
}

TEST(FormerNames, StandInNoTestAndNoDocument) {
    const std::set<std::string> names = former_names();
    ASSERT_TRUE(names.contains("planes_ahead")) << "poisson7's prefetch";
    int files = 0;
    for (const char* folder : {"tests", "docs", "examples", "tools", "templates"})
        for (const auto& entry : fs::recursive_directory_iterator(test::source_path(folder))) {
            const std::string path = entry.path().string(), kind = entry.path().extension().string();
            if (kind != ".cpp" && kind != ".hpp" && kind != ".md" && kind != ".txt" && kind != ".py" && kind != ".sh" && kind != ".in") continue;
            if (path.find("/tests/spaces/") != std::string::npos) continue;  // measured with the names of their time
            ++files;
            EXPECT_THAT(uses(without_their_tests(read_file(path, 1 << 24)), names), testing::IsEmpty()) << path;
        }
    EXPECT_GT(files, 500);
}

}  // namespace
}  // namespace hone::former_names_test
