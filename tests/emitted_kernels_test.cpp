// What a reader of emitted kernels may rely on, of those of tests/golden/cases.txt: a configuration of every form of every family and target.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "generator/error.hpp"
#include "generator/families/built_in_families.hpp"
#include "runtime/temporary_folder.hpp"
#include "tests/generator/families/acoustics_staggered/on_host.hpp"
#include "tests/generator/families/batched_gemm/on_host.hpp"
#include "tests/generator/families/dg/volume/on_host.hpp"
#include "tests/support/coverage.hpp"
#include "tests/support/emulator.hpp"
#include "tests/support/golden_cases.hpp"

namespace hone::emitted_kernels_test {
namespace {

using test::GoldenCase;

std::string test_name(const ::testing::TestParamInfo<GoldenCase>& info) {
    return info.param.name + "_" + to_string(info.param.target);
}

// A case's problem with extents that one processor has done at once, and that are no multiples of anything.
std::string small(const std::string& problem) {
    static const std::map<std::string, std::string> extents{{"nx", "133"},    {"ny", "37"},      {"nz", "19"},    {"elements", "45"},
                                                            {"batch", "45"}, {"zones", "45"}, {"rows", "777"}, {"entries", "20979"}};
    const bool masses = problem.starts_with("fe_mass");
    std::istringstream stream(problem);
    std::string result;
    for (std::string word; stream >> word;) {
        const std::string name = word.substr(0, word.find('='));
        if (!masses && extents.contains(name)) word = name + "=" + extents.at(name);
        result += (result.empty() ? "" : " ") + word;
    }
    return result;
}

Family on_host(const Family& family) {
    if (family.name == "acoustics_staggered") return test::copies_on_host(family);
    if (family.name == "gauss_seidel_27") return test::bulk_copies_on_host(family);
    if (family.name == "batched_gemm") return test::without_batched_assembly(family);
    return test::without_assembly(family);
}

class SlowEmittedKernels : public ::testing::TestWithParam<GoldenCase> {};

TEST_P(SlowEmittedKernels, HaveNoStatementThatTheirConfigurationRulesOut) {
    if (const std::string missing = test::missing_for_coverage(); !missing.empty()) GTEST_SKIP() << missing;
    const TemporaryFolder folder;
    const Families& families = built_in_families();
    const Problem problem = families.parse_problem(small(GetParam().problem));
    const Limits limits = test::golden_limits(GetParam().target);
    Family family = families.of(problem);
    const Config config = family.space(problem, limits).parse(GetParam().config);
    const std::string text = family.kernel(problem, config, limits).text;
    if (GetParam().target == Target::cuda) family = test::emulated(on_host(family), limits);
    const test::Coverage coverage = test::coverage_of(family, problem, config, text, folder.path());
    std::string left;
    for (const auto& line : coverage.left) left += "\n" + line;
    fmt::print("{}: {} of {} statements executed\n", GetParam().file(), coverage.executed, coverage.statements);
    EXPECT_GT(coverage.statements, 5);
    EXPECT_GE(coverage.share(), 0.98) << "never executed:" << left;
}

INSTANTIATE_TEST_SUITE_P(All, SlowEmittedKernels, ::testing::ValuesIn(test::read_golden_cases()), test_name);

}  // namespace
}  // namespace hone::emitted_kernels_test
