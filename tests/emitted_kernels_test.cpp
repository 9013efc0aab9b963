// What a reader of emitted kernels may rely on, of those of tests/golden/cases.txt: a configuration
// of every form of every family and target.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "foundation/error.hpp"
#include "foundation/temporary_folder.hpp"
#include "generator/families/built_in_families.hpp"
#include "generator/tidy.hpp"
#include "tests/generator/families/corner_force/zones.hpp"
#include "tests/generator/families/on_host.hpp"
#include "tests/support/coverage.hpp"
#include "tests/support/drawn.hpp"
#include "tests/support/emulator.hpp"
#include "tests/support/fresh_random.hpp"
#include "tests/support/golden_cases.hpp"
#include "tests/support/layout.hpp"
#include "tests/support/statements.hpp"

namespace hone::emitted_kernels_test {
namespace {

using test::GoldenCase;

std::string test_name(const ::testing::TestParamInfo<GoldenCase>& info) {
    return info.param.name + "_" + to_string(info.param.target);
}

// A case's problem with other extents, if it has them: all kernels of a case are one text.
using Extents = std::map<std::string, std::string>;
std::string with_extents(const std::string& problem, const Extents& extents) {
    std::istringstream stream(problem);
    std::string result;
    for (std::string word; stream >> word;) {
        const std::string name = word.substr(0, word.find('='));
        if (extents.contains(name)) word = name + "=" + extents.at(name);
        result += (result.empty() ? "" : " ") + word;
    }
    return result;
}

// Those that one processor has done at once, and are no multiples of anything, and others that are.
std::vector<Problem> small_problems(const std::string& problem) {
    const bool large_matrices = problem.find(" m=3 ") == std::string::npos;
    std::vector<Extents> extents{
        {{"nx", "133"},
         {"ny", "37"},
         {"nz", "19"},
         {"elements", "45"},
         {"zones", "45"},
         {"rows", "777"},
         {"entries", "20979"},
         {"batch", large_matrices ? "5" : "133"}},
        {{"nx", "32"}, {"ny", "24"}, {"nz", "12"}, {"elements", "3"}, {"zones", "3"}, {"rows", "40"}, {"entries", "1080"}, {"batch", "2"}}};
    if (problem.starts_with("corner_force"))  // zones of high orders are large: odd numbers of them, below and above those of a block
        for (Extents& some : extents) some["zones"] = some["zones"] == "45" ? (problem.find("dimension=3") == std::string::npos ? "19" : "5") : "1";
    if (problem.starts_with("dg_") && std::stoi(problem.substr(problem.find("order=") + 6)) >= 6)
        extents[0]["elements"] = "19";                       // they are large, too
    if (problem.find(" n=502 k=452 ") != std::string::npos)  // the same text but for numbers, in a fiftieth of the time: full tiles and cut ones, too
        for (Extents& some : extents) some["n"] = "134", some["k"] = "52";
    if (problem.starts_with("fe_mass")) {  // meshes of equal numbers of elements along all axes
        const Problem whole = built_in_families().parse_problem(problem);
        const std::int64_t dimension = whole.integer("dimension"), order = whole.integer("order");
        extents.clear();
        for (const std::int64_t along : {4, 3}) {
            std::int64_t elements = 1, nodes = 1;
            for (std::int64_t axis = 0; axis < dimension; ++axis) elements *= along, nodes *= along * order + 1;
            extents.push_back({{"elements", std::to_string(elements)}, {"nodes", std::to_string(nodes)}});
        }
    }
    std::vector<Problem> problems;
    for (const Extents& some : extents) problems.push_back(built_in_families().parse_problem(with_extents(problem, some)));
    return problems;
}

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    return lines;
}

std::string_view trimmed(std::string_view line) {
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    return line;
}

// Whether a block stands on its own below the line, rather than being opened by it.
bool ends_something(std::string_view line) {
    const std::string_view text = trimmed(line);
    return text.empty() || text[0] == '#' || text.starts_with("//") || std::string_view(";{},:").find(text.back()) != std::string_view::npos;
}

// A place in shared memory by a number, as in "here + 1112".
bool has_unnamed_offset(std::string_view line) {
    for (const std::string_view memory : {"buffer + ", "here + ", "memory + ", "ring + ", "stage + "}) {
        const std::size_t at = line.find(memory);
        const std::string_view offset = at == std::string_view::npos ? "" : line.substr(at + memory.size());
        if (offset.size() > 1 && std::isdigit(offset[0]) != 0 && std::isdigit(offset[1]) != 0) return true;
    }
    return false;
}

TEST(Statements, BeginBehindStatementsBlocksAndHeads) {
    const std::string text = R"(int f(int a)
{
    // a; comment
    const int b[] = {1, 2}, c = a;
    for (int i = 0; i < 3; ++i) a += "x;"[i];
    if (a > 0) return [&](int d) { return d; }(a);
    else a = 1;
    return a;
}
)";
    std::vector<std::string> beginnings;
    for (const test::Statement& statement : test::statements_of(text)) beginnings.push_back(text.substr(statement.offset, 5));
    EXPECT_EQ(beginnings, (std::vector<std::string>{"int f", "const", "for (", "a += ", "if (a", "retur", "retur", "else ", "a = 1", "retur"}));
}

// What is wrong with the layout of a text, by line.
std::vector<std::string> faults_of_layout(const std::string& text) {
    const std::vector<std::string> lines = lines_of(text);
    std::vector<std::string> faults;
    for (std::size_t i = 0; i < lines.size(); ++i) {
        const std::string& line = lines[i];
        const std::string where = fmt::format("line {}: {}", i + 1, line);
        if (line.size() > 120) faults.push_back(where + ": it is too long");
        if (line.ends_with(' ')) faults.push_back(where + ": a space ends it");
        if (trimmed(line) == ";") faults.push_back(where + ": an empty statement");
        if (has_unnamed_offset(line)) faults.push_back(where + ": a number without a name");
        if (trimmed(line) == "{" && i > 0 && !ends_something(lines[i - 1])) faults.push_back(where + ": the brace belongs to the line before");
    }
    for (const std::string& fault : test::broken_bodies(text)) faults.push_back(fault);
    for (const std::string& fault : test::broken_rows(text)) faults.push_back(fault);
    for (const std::string& fault : test::broken_assembler(text)) faults.push_back(fault);
    return faults;
}

TEST(Layout, FaultsAreFound) {
    EXPECT_THAT(faults_of_layout("int a = 1;\n;\n"), testing::SizeIs(1));
    EXPECT_THAT(faults_of_layout("void f(int a,\n    int b) { g(a); }\n"), testing::SizeIs(1));
    EXPECT_THAT(faults_of_layout("void f(int a) { g(a,\n    b);\n}\n"), testing::SizeIs(1));
    EXPECT_THAT(faults_of_layout("int a[2][3] = {\n    {1, 2,\n     3},\n    {1, 2, 3}};\n"), testing::IsEmpty());
    EXPECT_THAT(faults_of_layout("int a[2][5] = {\n    {1, 2, 3, 4,\n    5},\n    {1, 2, 3, 4, 5}};\n"), testing::SizeIs(1));
    EXPECT_THAT(faults_of_layout("asm(\"a {%0}\" : \"=r\"(a),\n    \"=r\"(b));\n"), testing::SizeIs(1));
    EXPECT_THAT(faults_of_layout("asm(\"a\"\n    : \"=r\"(a)\n    : \"r\"(b));\nvoid f(int a,\n    int b) {\n    g([&](int c) { return c; });\n}\n"),
                testing::IsEmpty());
}

// Names of constants that a text declares and never uses, told by its words alone.
std::vector<std::string> constants_that_stand_once(const std::string& text) {
    const std::string code = code_of(text);
    const auto is_of_a_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
    std::map<std::string, int> words;
    for (std::size_t i = 0, end = 0; i < code.size(); i = end + 1) {
        for (end = i; end < code.size() && is_of_a_word(code[end]);) ++end;
        if (end > i) ++words[code.substr(i, end - i)];
    }
    std::vector<std::string> once;
    for (const std::string_view kind : {"constexpr ", "const "})
        for (std::size_t at = code.find(kind); at != std::string::npos; at = code.find(kind, at + 1)) {
            if (at > 0 && is_of_a_word(code[at - 1])) continue;
            // A name stands before its value.
            const std::size_t end = code.find_first_of(";(", at);
            for (std::size_t equals = code.find(" = ", at); equals < end; equals = code.find(" = ", equals + 1)) {
                std::size_t last = equals;
                while (code[last - 1] == ']') last = code.rfind('[', last - 1);
                std::size_t first = last;
                while (is_of_a_word(code[first - 1])) --first;
                const std::string name = code.substr(first, last - first);
                if (words[name] == 1 && std::find(once.begin(), once.end(), name) == once.end()) once.push_back(name);
            }
        }
    return once;
}

TEST(Constants, ThatStandOnceAreFound) {
    EXPECT_THAT(constants_that_stand_once("constexpr int a = 1, b[2] = {1, 2};  // b\nconst int c = a, d = 3;\nint e = d;\n"),
                testing::UnorderedElementsAre("b", "c"));
}

bool is_number(std::string_view word) {
    return !word.empty() && std::all_of(word.begin(), word.end(), [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; });
}

std::vector<std::string_view> split(std::string_view text, std::string_view by) {
    std::vector<std::string_view> parts;
    for (std::size_t end = 0; end != std::string_view::npos; text.remove_prefix(std::min(text.size(), end + by.size()))) {
        end = text.find(by);
        parts.push_back(text.substr(0, end));
    }
    return parts;
}

// Constants that a text gives a number or a truth value.
std::set<std::string_view> known_constants(std::string_view code) {
    std::set<std::string_view> known{"true", "false"};
    for (const std::string_view kind : {"constexpr int ", "constexpr bool "})
        for (std::size_t at = code.find(kind); at != std::string_view::npos; at = code.find(kind, at + 1))
            for (const std::string_view one : split(code.substr(at + kind.size(), code.find(';', at) - at - kind.size()), ", ")) {
                const auto sides = split(one, " = ");
                if (sides.size() == 2 && (is_number(sides[1]) || sides[1] == "true" || sides[1] == "false")) known.insert(sides[0]);
            }
    return known;
}

// Conditions of statements that constants alone decide: one of the branches is ruled out.
std::vector<std::string> decided_conditions(const std::string& text) {
    const std::string code = code_of(text);
    const std::set<std::string_view> known = known_constants(code);
    const auto is_known = [&](std::string_view word) { return is_number(word) || known.contains(word); };
    std::vector<std::string> decided;
    for (const std::string_view head : {"if (", "if constexpr (", "while ("})
        for (std::size_t at = code.find(head); at != std::string::npos; at = code.find(head, at + 1)) {
            const std::size_t begin = at + head.size();
            std::string_view condition = std::string_view(code).substr(begin, code.find(')', begin) - begin);
            if (condition.starts_with('!')) condition.remove_prefix(1);
            const auto words = split(condition, " ");
            const bool compares = words.size() == 3 && is_known(words[0]) && is_known(words[2]);
            if (compares || (words.size() == 1 && is_known(words[0]))) decided.emplace_back(condition);
        }
    return decided;
}

TEST(Conditions, ThatConstantsDecideAreFound) {
    EXPECT_THAT(decided_conditions("constexpr int a = 1, b = a, c[2] = {1, 2};\nconstexpr bool d = false;\nif (a > 0) f();\nif (a == n) f();\n"
                                   "if constexpr (!d) f();\nif (b < 2) f();\nif (g(a)) f();\nwhile (true) f();\n"),
                testing::UnorderedElementsAre("a > 0", "d", "true"));
}

class EmittedKernels : public ::testing::TestWithParam<GoldenCase> {};

TEST_P(EmittedKernels, AreLaidOutForReaders) {
    EXPECT_THAT(faults_of_layout(test::emit_golden(GetParam()).source.text), testing::IsEmpty());
}

TEST_P(EmittedKernels, HaveNoConstantThatTheyDoNotUse) {
    EXPECT_THAT(constants_that_stand_once(test::emit_golden(GetParam()).source.text), testing::IsEmpty());
}

TEST_P(EmittedKernels, HaveNoConditionThatTheirConfigurationDecides) {
    EXPECT_THAT(decided_conditions(test::emit_golden(GetParam()).source.text), testing::IsEmpty());
}

// A member of the space, each of whose forms is as likely; nothing where the draw is none.
std::optional<Config> drawn_member(const SearchSpace& space, test::FreshRandom& random) {
    const FormSpace& form = space.forms()[random() % space.forms().size()];
    std::vector<Assignment> assignments{{std::string(form_tunable), form.name}};
    for (const Tunable& tunable : form.tunables) assignments.push_back({tunable.name, tunable.values[random() % tunable.values.size()]});
    Config config(std::move(assignments));
    if (space.check(config)) return std::nullopt;
    return config;
}

TEST_P(EmittedKernels, OfOtherMembersAreAsTidy) {
    constexpr int most_draws = 5000;
    test::FreshRandom random;
    const Problem problem = built_in_families().parse_problem(GetParam().problem);
    const Family& family = built_in_families().of(problem);
    const Limits limits = test::golden_limits(GetParam().target);
    const SearchSpace space = family.space(problem, limits);
    const int wanted = test::tries(20, 3);
    int members = 0;
    for (int draw = 0; draw < most_draws && members < wanted; ++draw) {
        const auto config = drawn_member(space, random);
        if (!config) continue;
        ++members;
        const std::string text = family.kernel(problem, *config, limits).text;
        EXPECT_THAT(faults_of_layout(text), testing::IsEmpty()) << problem.key() << " " << config->key();
        EXPECT_THAT(constants_that_stand_once(text), testing::IsEmpty()) << problem.key() << " " << config->key();
        EXPECT_THAT(decided_conditions(text), testing::IsEmpty()) << problem.key() << " " << config->key();
    }
    EXPECT_EQ(members, wanted);
}

INSTANTIATE_TEST_SUITE_P(All, EmittedKernels, ::testing::ValuesIn(test::read_golden_cases()), test_name);

TEST(EmittedKernel, OfAWholeAcousticStepIn2DIsShort) {
    const GoldenCase safe{"", Target::cuda, "acoustics_staggered kernel=step dimension=2 order=8 precision=f32 nx=512 ny=512", "", ""};
    EXPECT_LT(lines_of(test::emit_golden(safe).source.text).size(), 160U);
}

TEST(EmittedKernel, IsKeptOfEveryFormOfEveryFamily) {
    std::set<std::string> all, kept;
    for (const GoldenCase& golden : test::read_golden_cases()) {
        const Problem problem = built_in_families().parse_problem(golden.problem);
        const SearchSpace space = built_in_families().of(problem).space(problem, test::golden_limits(golden.target));
        const std::string of = fmt::format("{} on {}: ", problem.family(), to_string(golden.target));
        for (const FormSpace& form : space.forms()) all.insert(of + form.name);
        kept.insert(of + space.form_of(space.parse(golden.config))->name);
    }
    EXPECT_EQ(all, kept) << "tests/golden/cases.txt needs a line for each";
}

// Statements for what no test brings about: a solver that breaks down, a team without processors, a
// grid that ends with a block. In short texts they are more than 2 %.
constexpr std::size_t rare_statements = 3;

constexpr double least_share = 0.98;

class SlowEmittedKernels : public ::testing::TestWithParam<GoldenCase> {};

TEST_P(SlowEmittedKernels, HaveNoStatementThatTheirConfigurationRulesOut) {
    if (const std::string missing = test::missing_for_coverage(); !missing.empty()) GTEST_SKIP() << missing;
    const TemporaryFolder folder;
    const Families& families = built_in_families();
    const std::vector<Problem> problems = small_problems(GetParam().problem);
    const Problem& problem = problems[0];
    const Limits limits = test::golden_limits(GetParam().target);
    Family family = families.of(problem);
    const Config config = family.space(problem, limits).parse(GetParam().config);
    const std::string text = family.kernel(problem, config, limits).text;
    if (family.name == "corner_force") family = test::with_zones_of_all_kinds(family);
    if (GetParam().target == Target::cuda) family = test::emulated(test::on_host(family), limits);
    const test::Coverage coverage = test::coverage_of(family, problems, config, text, folder.path());
    std::string left;
    for (const auto& line : coverage.left) left += "\n" + line;
    fmt::print("{}: {} of {} statements executed{}\n", GetParam().file(), coverage.executed, coverage.statements, left);
    EXPECT_GT(coverage.statements, 5);
    EXPECT_TRUE(coverage.share() >= least_share || coverage.left.size() <= rare_statements) << coverage.share() << " of all; never executed:" << left;
}

INSTANTIATE_TEST_SUITE_P(All, SlowEmittedKernels, ::testing::ValuesIn(test::read_golden_cases()), test_name);

}  // namespace
}  // namespace hone::emitted_kernels_test
