// What every family of the table promises (generator/family.hpp), whatever it computes.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <random>
#include <set>

#include "generator/error.hpp"
#include "generator/families.hpp"

namespace hone {
namespace {

// The family's example, and every combination of its words with the smallest, the example's and the largest order, at small sizes.
std::vector<Problem> sample_problems(const Family& family) {
    const Families& families = built_in_families();
    const Problem example = families.parse_problem(family.example);
    std::string text = family.name;
    for (const auto& parameter : family.parameters) {
        text += " " + parameter.name + "=";
        if (!parameter.words.empty())
            for (std::size_t i = 0; i < parameter.words.size(); ++i) text += (i == 0 ? "" : ",") + parameter.words[i];
        else if (parameter.extent)
            text += parameter.fallback.empty() ? std::to_string(std::clamp<std::int64_t>(13, parameter.low, parameter.high)) : parameter.fallback;
        else
            text += std::to_string(parameter.low) + "," + std::to_string(parameter.high);
    }
    std::vector<Problem> problems = families.parse_problems(text);
    problems.push_back(example);
    return problems;
}

std::vector<Limits> sample_limits() {
    return {cpu_limits(), cuda_limits(80), cuda_limits(90), cuda_limits(100), cuda_limits(120)};
}

std::string place(const Problem& problem, const Limits& limits) {
    return problem.key() + " on " + to_string(limits.target) + " " + std::to_string(limits.architecture);
}

class FamilyContract : public ::testing::TestWithParam<Family> {};

TEST_P(FamilyContract, DescribesItself) {
    const Family& family = GetParam();
    EXPECT_FALSE(family.name.empty());
    EXPECT_TRUE(std::all_of(family.name.begin(), family.name.end(), [](char c) { return std::islower(c) != 0 || std::isdigit(c) != 0 || c == '_'; }));
    EXPECT_FALSE(family.summary.empty());
    EXPECT_EQ(family.summary.find('\n'), std::string::npos);
    EXPECT_FALSE(family.source.empty()) << "where do the mathematics come from?";
    EXPECT_FALSE(family.range_unit.empty());
    std::set<std::string> names;
    for (const auto& parameter : family.parameters) {
        EXPECT_TRUE(names.insert(parameter.name).second) << parameter.name << " is declared twice";
        EXPECT_FALSE(parameter.help.empty()) << parameter.name;
        EXPECT_LE(parameter.low, parameter.high) << parameter.name;
    }
    EXPECT_TRUE(names.contains("precision"));
    EXPECT_TRUE(std::any_of(family.parameters.begin(), family.parameters.end(), [](const auto& parameter) { return parameter.extent; }));
    EXPECT_EQ(built_in_families().parse_problem(family.example).family(), family.name);
}

TEST_P(FamilyContract, EverySafeConfigurationGivesAKernel) {
    for (const auto& problem : sample_problems(GetParam()))
        for (const auto& limits : sample_limits()) {
            SCOPED_TRACE(place(problem, limits));
            const SearchSpace space = GetParam().space(problem, limits);
            ASSERT_FALSE(space.check(space.safe()).has_value());
            const KernelSource source = GetParam().kernel(problem, space.safe(), limits);
            EXPECT_EQ(source.target, limits.target);
            EXPECT_EQ(source.precision, problem.precision());
            EXPECT_FALSE(source.step.empty());
        }
}

TEST_P(FamilyContract, EveryTunableIsDocumentedAndHasDistinctValues) {
    for (const auto& problem : sample_problems(GetParam()))
        for (const auto& limits : sample_limits()) {
            const SearchSpace space = GetParam().space(problem, limits);
            for (const auto& tunable : space.tunables()) {
                EXPECT_FALSE(tunable.help.empty()) << place(problem, limits) << ": " << tunable.name;
                const std::set<Value> distinct(tunable.values.begin(), tunable.values.end());
                EXPECT_EQ(distinct.size(), tunable.values.size()) << place(problem, limits) << ": " << tunable.name;
            }
        }
}

void expect_consistent(const Family& family, const Problem& problem, const KernelSource& source) {
    for (const auto& entry : source.entries) EXPECT_NE(source.text.find(entry), std::string::npos) << entry;
    for (const auto* plan : {&source.prepare, &source.step})
        for (const auto& launch : *plan) {
            EXPECT_NE(std::find(source.entries.begin(), source.entries.end(), launch.entry), source.entries.end()) << launch.entry;
            EXPECT_GE(launch.range_per_block, 1);
            EXPECT_LT(launch.range_axis, 3);
        }
    const auto declared = family.arrays(problem);
    ASSERT_EQ(source.arrays.size(), declared.size());
    for (std::size_t i = 0; i < declared.size(); ++i) {
        EXPECT_EQ(source.arrays[i].name, declared[i].name);
        EXPECT_EQ(source.arrays[i].words, declared[i].words);
    }
    for (const auto& table : source.tables) {
        EXPECT_GT(table.words, 0) << table.name;
        EXPECT_TRUE(table.contents.empty() || std::ssize(table.contents) == table.words) << table.name;
        EXPECT_FALSE(table.contents.empty() && source.prepare.empty() && !table.scratch) << table.name << " is filled by nothing";
    }
    for (const int array : source.by_value) {
        ASSERT_GE(array, 0);
        ASSERT_LT(array, std::ssize(source.arrays));
        EXPECT_EQ(source.arrays[static_cast<std::size_t>(array)].access, Access::in) << "a copy does not see what a step writes";
    }
    EXPECT_GT(source.executed_operations, 0);
    EXPECT_TRUE(source.text.starts_with("// " + family.name)) << "a kernel opens with what it is";
    EXPECT_NE(source.text.find("// hone emit " + family.name), std::string::npos) << "and with the command that made it";
    EXPECT_EQ(source.text.find("//@"), std::string::npos) << "a hole is left";
}

TEST_P(FamilyContract, RandomMembersGiveConsistentAndReproducibleKernels) {
    const auto seed = std::random_device{}();
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 generator(seed);
    for (const auto& problem : sample_problems(GetParam()))
        for (const auto& limits : {cpu_limits(), cuda_limits(90)}) {
            const SearchSpace space = GetParam().space(problem, limits);
            Config config = space.safe();
            for (int attempt = 0; attempt < 200; ++attempt) {
                const Config candidate = space.at(static_cast<std::int64_t>(generator() % static_cast<std::uint64_t>(space.product())));
                if (space.check(candidate)) continue;
                config = candidate;
                break;
            }
            SCOPED_TRACE(place(problem, limits) + " " + config.key());
            const KernelSource source = GetParam().kernel(problem, config, limits);
            expect_consistent(GetParam(), problem, source);
            EXPECT_EQ(GetParam().kernel(problem, config, limits).text, source.text);
        }
}

TEST_P(FamilyContract, CountsAreOfCompulsoryWork) {
    for (const auto& problem : sample_problems(GetParam())) {
        SCOPED_TRACE(problem.key());
        const Counts counts = GetParam().counts(problem);
        EXPECT_GT(counts.updates, 0);
        EXPECT_FALSE(counts.unit.empty());
        EXPECT_GT(counts.operations, 0);
        double bytes = 0;
        for (const auto& array : GetParam().arrays(problem))
            bytes += static_cast<double>(array.words * bytes_per_word(problem.precision())) * (array.access == Access::inout ? 2 : 1);
        EXPECT_GT(counts.bytes, 0);
        EXPECT_LE(counts.bytes, bytes) << "no array need be moved more than once each way";
        EXPECT_GT(GetParam().range(problem), 0);
    }
}

TEST_P(FamilyContract, TheReferenceGivesTheWorkloadsAnswer) {
    for (const auto& problem : sample_problems(GetParam())) {
        if (GetParam().counts(problem).operations > 1e8) continue;  // the examples are for people, and some are large
        const auto seed = std::random_device{}();
        SCOPED_TRACE(problem.key() + ", seed " + std::to_string(seed));
        Workload workload = GetParam().workload(problem, seed);
        const auto declared = GetParam().arrays(problem);
        ASSERT_EQ(workload.arrays.size(), declared.size());
        ASSERT_EQ(workload.expected.size(), declared.size());
        EXPECT_GE(workload.tolerance, 0);
        EXPECT_FALSE(workload.tolerance_reason.empty());
        std::vector<void*> arrays;
        for (std::size_t i = 0; i < declared.size(); ++i) {
            EXPECT_EQ(workload.arrays[i].words(), declared[i].words) << declared[i].name;
            arrays.push_back(workload.arrays[i].data());
        }
        GetParam().reference(problem, arrays, 0, GetParam().range(problem));
        for (std::size_t i = 0; i < declared.size(); ++i)
            if (declared[i].access != Access::in) {
                EXPECT_LE(largest_difference(workload.arrays[i], workload.expected[i]), workload.tolerance) << declared[i].name;
            }
    }
}

INSTANTIATE_TEST_SUITE_P(All, FamilyContract, ::testing::ValuesIn(built_in_families().begin(), built_in_families().end()),
                         [](const auto& row) { return row.param.name; });

TEST(BuiltInFamilies, AreThere) {
    EXPECT_EQ(built_in_families().find("gauss_seidel_27").name, "gauss_seidel_27");
    EXPECT_EQ(built_in_families().find("dg_volume").name, "dg_volume");
    EXPECT_THROW(built_in_families().find("dg_volum"), Error);
}

}  // namespace
}  // namespace hone
