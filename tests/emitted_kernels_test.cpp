// What a reader of emitted kernels may rely on, of those of tests/golden/cases.txt: a configuration
// of every form of every family and target.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "foundation/error.hpp"
#include "foundation/temporary_folder.hpp"
#include "generator/families/built_in_families.hpp"
#include "tests/generator/families/corner_force/zones.hpp"
#include "tests/generator/families/on_host.hpp"
#include "tests/support/coverage.hpp"
#include "tests/support/emulator.hpp"
#include "tests/support/golden_cases.hpp"
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

class EmittedKernels : public ::testing::TestWithParam<GoldenCase> {};

TEST_P(EmittedKernels, AreLaidOutForReaders) {
    const std::vector<std::string> lines = lines_of(test::emit_golden(GetParam()).source.text);
    for (std::size_t i = 0; i < lines.size(); ++i) {
        const std::string& line = lines[i];
        const bool right = line.size() <= 120 && !line.ends_with(' ') && trimmed(line) != ";" && !has_unnamed_offset(line);
        EXPECT_TRUE(right) << "line " << i + 1 << ": " << line;
        const bool own_brace = trimmed(line) != "{" || i == 0 || ends_something(lines[i - 1]);
        EXPECT_TRUE(own_brace) << "line " << i + 1 << ": its brace belongs to the line before";
    }
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
