// What every family of the table promises (generator/family.hpp), whatever it computes.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstring>
#include <map>
#include <ostream>
#include <set>

#include "foundation/error.hpp"
#include "generator/families.hpp"
#include "generator/families/built_in_families.hpp"
#include "generator/tidy.hpp"
#include "tests/support/drawn.hpp"
#include "tests/support/fresh_random.hpp"

namespace hone::family_contract_test {
// For googletest, which would name tests by the bytes of a family.
void PrintTo(const Family& family, std::ostream* out) {
    *out << family.name;
}

namespace {

bool refused(const Family& family, const Problem& problem) {
    try {
        family.arrays(problem);
        return false;
    } catch (const Error&) {
        return true;
    }
}

// Problems of a family that one run takes where each costs much.
constexpr std::size_t few = 12;

// The family's example, and every combination of its words with the smallest, the example's and the
// largest order, at small sizes, but for those that the family refuses.
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
    std::erase_if(problems, [&](const Problem& problem) { return refused(family, problem); });
    problems.push_back(example);
    return problems;
}

std::vector<Limits> sample_limits() {
    return {cpu_limits(), cuda_limits(80), cuda_limits(90), cuda_limits(100), cuda_limits(120)};
}

// Of `all`, those that the family has kernels of this problem for: some are for processors alone. A
// target has them on all devices or on none.
std::vector<Limits> limits_for(const Family& family, const Problem& problem, std::vector<Limits> all) {
    std::map<Target, bool> has_kernels;
    for (const Target target : {Target::cpu, Target::cuda}) {
        try {
            family.space(problem, target == Target::cpu ? cpu_limits() : cuda_limits(90));
            has_kernels[target] = true;
        } catch (const Error&) {
            has_kernels[target] = false;
        }
    }
    EXPECT_TRUE(has_kernels[Target::cpu] || has_kernels[Target::cuda]) << problem.key();
    std::erase_if(all, [&](const Limits& limits) { return !has_kernels[limits.target]; });
    return all;
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

TEST_P(FamilyContract, SaysOfAnyExtentsHowLargeTheyAre) {
    // Also of those that it would refuse: they may stand in a file.
    const Family& family = GetParam();
    const Problem example = built_in_families().parse_problem(family.example);
    const auto scale = [&](bool largest) {
        std::vector<Assignment> values = example.parameters();
        for (const ProblemParameter& parameter : family.parameters)
            for (Assignment& value : values)
                if (parameter.extent && value.name == parameter.name) value.value = largest ? parameter.high : parameter.low;
        return scale_of(family, built_in_families().make_problem(family.name, values));
    };
    const Scale small = scale(false), large = scale(true), usual = scale_of(family, example);
    EXPECT_FALSE(usual.sizes.empty());
    for (const Scale* one : {&small, &large, &usual}) {
        EXPECT_EQ(scale_distance(*one, *one).total(), 0);
        for (const Scale* other : {&small, &large, &usual}) {
            const ScaleDistance apart = scale_distance(*one, *other);
            EXPECT_TRUE(std::isfinite(apart.total()));
            EXPECT_DOUBLE_EQ(apart.total(), scale_distance(*other, *one).total());
            EXPECT_EQ(apart.proportions > 0, !apart.differing.empty());
        }
    }
    EXPECT_GT(scale_distance(small, large).sizes, 0);
}

TEST_P(FamilyContract, EverySafeConfigurationGivesAKernel) {
    test::FreshRandom random;
    for (const auto& problem : test::drawn(sample_problems(GetParam()), 2 * few, random))
        for (const auto& limits : limits_for(GetParam(), problem, sample_limits())) {
            SCOPED_TRACE(place(problem, limits));
            const SearchSpace space = GetParam().space(problem, limits);
            ASSERT_FALSE(space.check(space.safe()).has_value());
            const KernelSource source = GetParam().kernel(problem, space.safe(), limits);
            EXPECT_EQ(source.target, limits.target);
            EXPECT_EQ(source.precision, problem.precision());
            EXPECT_FALSE(source.step.empty());
        }
}

// The problem, and with each of its sizes as large as it may be.
std::vector<Problem> up_to_the_largest(const Family& family, const Problem& problem) {
    std::vector<Problem> problems{problem};
    for (const auto& parameter : family.parameters) {
        if (!parameter.extent || !parameter.fallback.empty()) continue;
        std::vector<Assignment> assignments = problem.parameters();
        for (auto& assignment : assignments)
            if (assignment.name == parameter.name) assignment.value = parameter.high;
        Problem large = built_in_families().make_problem(family.name, assignments);
        if (!refused(family, large)) problems.push_back(std::move(large));
    }
    return problems;
}

// Whatever `--arch` takes, down to the smallest device of the table of limits; problems of the
// highest orders and largest matrices among them.
TEST_P(FamilyContract, EveryDeviceHasASafeConfigurationOfTheLargestProblem) {
    constexpr std::array architectures{70, 75, 80, 86, 89, 90, 100, 103, 120, 121};
    test::FreshRandom random;
    for (const auto& sample : test::drawn(sample_problems(GetParam()), 40, random))
        for (const Problem& problem : up_to_the_largest(GetParam(), sample)) {
            std::vector<Limits> all;
            for (const int architecture : architectures) all.push_back(cuda_limits(architecture));
            for (const auto& limits : limits_for(GetParam(), problem, all)) {
                SCOPED_TRACE(place(problem, limits));
                try {
                    const SearchSpace space = GetParam().space(problem, limits);
                    EXPECT_FALSE(space.check(space.safe()).has_value());
                } catch (const Error& error) {
                    // One problem is too large for one device, by design.
                    const std::string what = error.what();
                    EXPECT_TRUE(GetParam().name == "corner_force" && limits.architecture == 75 && problem.integer("order") == 8) << what;
                    EXPECT_NE(what.find("shared memory, of which a block of sm_75 has 65536; use precision=f32"), std::string::npos) << what;
                }
            }
        }
}

TEST_P(FamilyContract, EveryTunableIsDocumentedAndHasDistinctValues) {
    test::FreshRandom random;
    for (const auto& problem : test::drawn(sample_problems(GetParam()), 2 * few, random))
        for (const auto& limits : limits_for(GetParam(), problem, sample_limits())) {
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
    EXPECT_TRUE(command_of(source.text).starts_with("hone emit " + family.name)) << "and with the command that made it";
    EXPECT_EQ(source.text.find("//@"), std::string::npos) << "a hole is left";
}

// Enumerations skip what a rule does not read. So it must not look at more: here it is given
// nothing else, and must say the same.
TEST_P(FamilyContract, RulesReadWhatTheySay) {
    test::FreshRandom random;
    for (const auto& problem : test::drawn(sample_problems(GetParam()), few, random))
        for (const auto& limits : limits_for(GetParam(), problem, sample_limits())) {
            const SearchSpace space = GetParam().space(problem, limits);
            for (int draw = 0; draw < 20; ++draw) {
                const Config config = space.at(static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(space.product())));
                for (const Constraint& rule : space.form_of(config)->constraints) {
                    if (rule.reads.empty()) continue;
                    std::vector<Assignment> read;
                    for (const Assignment& one : config.assignments())
                        if (one.name == form_tunable || std::find(rule.reads.begin(), rule.reads.end(), one.name) != rule.reads.end())
                            read.push_back(one);
                    EXPECT_EQ(rule.violation(Config(std::move(read))), rule.violation(config)) << place(problem, limits) << ": " << rule.name;
                }
            }
        }
}

// Where a search enters a form: on a large device and at common sizes that is a member.
TEST_P(FamilyContract, EveryFormHasAConfigurationToBeginWith) {
    const Problem example = built_in_families().parse_problem(GetParam().example);
    for (const auto& limits : sample_limits()) {
        const SearchSpace space = GetParam().space(example, limits);
        for (const FormSpace& form : space.forms()) {
            const auto rejection = space.check(space.entry(form));
            EXPECT_FALSE(rejection) << place(example, limits) << ": " << space.entry(form).key() << ": " << rejection->reason;
            EXPECT_TRUE(form.name.empty() || !form.help.empty()) << form.name;
        }
    }
}

TEST_P(FamilyContract, RandomMembersGiveConsistentAndReproducibleKernels) {
    test::FreshRandom random;
    for (const auto& problem : test::drawn(sample_problems(GetParam()), few, random))
        for (const auto& limits : limits_for(GetParam(), problem, {cpu_limits(), cuda_limits(90)})) {
            const SearchSpace space = GetParam().space(problem, limits);
            Config config = space.safe();
            for (int attempt = 0; attempt < 200; ++attempt) {
                const Config candidate = space.at(static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(space.product())));
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

// The problem and the configuration of the command in a kernel's header.
Problem problem_of_header(const std::string& text) {
    const std::string command = command_of(text), mark = "hone emit ";
    return built_in_families().parse_problem(command.substr(mark.size(), command.find(" --target ") - mark.size()));
}

// The problem with other numbers for the sizes that must always be given.
Problem with_other_sizes(const Family& family, const Problem& problem, std::int64_t times, std::int64_t plus) {
    std::vector<Assignment> assignments = problem.parameters();
    for (auto& assignment : assignments)
        for (const auto& parameter : family.parameters)
            if (parameter.name == assignment.name && parameter.extent && parameter.fallback.empty())
                assignment.value = std::clamp(times * problem.integer(parameter.name) + plus, parameter.low, parameter.high);
    return built_in_families().make_problem(family.name, assignments);
}

// Otherwise a compiler's cache and the source hash of a result would take every size for a kernel
// of its own.
TEST_P(FamilyContract, TheTextIsOfAllSizesAndOfTheCommandInItsHeader) {
    const Family& family = GetParam();
    test::FreshRandom random;
    for (const auto& problem : test::drawn(sample_problems(family), few, random))
        for (const auto& limits : limits_for(family, problem, {cpu_limits(), cuda_limits(90)})) {
            const SearchSpace space = family.space(problem, limits);
            std::vector<Config> configs{space.safe()};
            for (int i = 0; i < 4; ++i)
                configs.push_back(space.at(static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(space.product()))));
            for (const auto& config : configs) {
                if (space.check(config)) continue;
                const std::string text = family.kernel(problem, config, limits).text;
                for (const auto& other : {problem_of_header(text), with_other_sizes(family, problem, 7, 100)}) {
                    SCOPED_TRACE(place(problem, limits) + " and " + other.key() + ", " + config.key());
                    ASSERT_EQ(other.class_key(), problem.class_key());
                    if (refused(family, other) || family.space(other, limits).check(config)) continue;  // the space may depend on the size
                    ASSERT_TRUE(family.kernel(other, config, limits).text == text);
                }
            }
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

// Samples that a reference is quick with: the examples are for people, and some are large.
std::vector<Problem> small_problems(const Family& family) {
    std::vector<Problem> problems = sample_problems(family);
    std::erase_if(problems, [&](const Problem& problem) { return family.counts(problem).operations > 1e7 || family.counts(problem).bytes > 1e6; });
    return problems;
}

TEST_P(FamilyContract, TheReferenceGivesTheWorkloadsAnswer) {
    const std::vector<Problem> small = small_problems(GetParam());
    EXPECT_FALSE(small.empty());
    test::FreshRandom random;
    for (const auto& problem : test::drawn(small, few, random)) {
        SCOPED_TRACE(problem.key());
        Workload workload = GetParam().workload(problem, random());
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

// Arrays of a step that two owners share, each with copies of its own.
struct Sharing {
    const Family& family;
    const Problem& problem;
    Partition partition;
    std::vector<ArraySpec> specs = family.arrays(problem);
    std::int64_t range = family.range(problem);

    std::vector<HostArray> copies(const std::vector<HostArray>& arrays) const {
        std::vector<HostArray> all;
        for (const auto& array : arrays) all.push_back(array.copy());
        return all;
    }
    std::vector<void*> pointers(std::vector<HostArray>& arrays) const {
        std::vector<void*> all;
        for (auto& array : arrays) all.push_back(array.data());
        return all;
    }
    void step(std::vector<HostArray>& arrays, std::int64_t first, std::int64_t last) const {
        family.reference(problem, pointers(arrays), std::max<std::int64_t>(0, first), std::min(range, last));
    }
    // Calls visit(array, first word, words) for every piece of units [first, last), cut to the
    // range.
    template <typename Visit>
    void pieces(std::int64_t first, std::int64_t last, const Visit& visit) const {
        first = std::max<std::int64_t>(0, first);
        last = std::min(range, last);
        for (std::size_t i = 0; i < specs.size() && first < last; ++i)
            for (std::int64_t block = 0; block < specs[i].slices.blocks; ++block) {
                const Slices& slices = specs[i].slices;
                const std::int64_t words = (last - first) * slices.words_per_unit;
                if (words > 0) visit(i, slices.offset + block * slices.block_stride + first * slices.words_per_unit, words);
            }
    }
    void poison(std::vector<HostArray>& arrays, std::int64_t first, std::int64_t last) const {
        const int word = bytes_per_word(problem.precision());
        pieces(first, last, [&](std::size_t i, std::int64_t from, std::int64_t words) {
            std::memset(static_cast<char*>(arrays[i].data()) + from * word, 0xff, static_cast<std::size_t>(words * word));
        });
    }
    // Of arrays that a step writes: what owners exchange.
    void copy(std::vector<HostArray>& to, const std::vector<HostArray>& from, std::int64_t first, std::int64_t last) const {
        const int word = bytes_per_word(problem.precision());
        pieces(first, last, [&](std::size_t i, std::int64_t begin, std::int64_t words) {
            if (specs[i].access == Access::in) return;
            std::memcpy(static_cast<char*>(to[i].data()) + begin * word, static_cast<const char*>(from[i].data()) + begin * word,
                        static_cast<std::size_t>(words * word));
        });
    }

    // Largest difference from the whole after some steps shared at `split`, by owners that know
    // nothing but what the partition states.
    double error(const Workload& workload, std::int64_t split, int steps) const {
        std::vector<HostArray> whole = copies(workload.arrays);
        std::vector<HostArray> low = copies(workload.arrays);
        std::vector<HostArray> high = copies(workload.arrays);
        const auto forget = [&] {
            poison(low, split + partition.halo_above, range);
            poison(high, 0, split - partition.halo_below);
        };
        forget();
        for (int i = 0; i < steps; ++i) {
            step(whole, 0, range);
            step(low, 0, split + partition.extra_above);
            step(high, split - partition.extra_below, range);
            copy(low, high, split, split + partition.halo_above);
            copy(high, low, split - partition.halo_below, split);
            forget();
        }
        std::vector<HostArray> joined = copies(low);
        copy(joined, high, split, range);
        double largest = 0;
        for (std::size_t i = 0; i < specs.size(); ++i)
            if (specs[i].access != Access::in) largest = std::max(largest, largest_difference(joined[i], whole[i]));
        return largest;
    }
};

// A step that writes what its neighbours read is one device's.
bool can_be_shared(const Problem& problem) {
    return problem.family() != "acoustics_staggered" || problem.word("update") != "in_place";
}

// Samples with a border to put somewhere: an extent of 1, which a family may have as its fallback,
// becomes 13 there.
std::vector<Problem> shared_problems(const Family& family) {
    std::vector<Problem> problems;
    for (const auto& sample : small_problems(family)) {
        if (!can_be_shared(sample)) continue;
        std::vector<Assignment> assignments = sample.parameters();
        if (family.range(sample) <= family.partition(sample).granularity)
            for (auto& assignment : assignments)
                for (const auto& parameter : family.parameters)
                    if (parameter.extent && parameter.name == assignment.name && assignment.value == Value(std::int64_t{1}))
                        assignment.value = std::int64_t{13};
        problems.push_back(built_in_families().make_problem(family.name, assignments));
    }
    return problems;
}

TEST_P(FamilyContract, TwoOwnersThatExchangeWhatItStatesShareAStep) {
    const Family& family = GetParam();
    if (!family.partition) GTEST_SKIP() << "a step of " << family.name << " cannot be shared";
    test::FreshRandom random;
    for (const auto& problem : test::drawn(shared_problems(family), few / 2, random)) {
        SCOPED_TRACE(problem.key());
        const Workload workload = family.workload(problem, random());
        const Sharing sharing{family, problem, family.partition(problem)};
        const Partition& stated = sharing.partition;
        ASSERT_GE(stated.granularity, 1);
        ASSERT_TRUE(0 <= stated.extra_below && stated.extra_below <= stated.halo_below);
        ASSERT_TRUE(0 <= stated.extra_above && stated.extra_above <= stated.halo_above);
        const std::int64_t splits = (sharing.range - 1) / stated.granularity;
        ASSERT_GT(splits, 0) << "too small a sample";
        const std::int64_t split = (1 + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(splits))) * stated.granularity;
        EXPECT_EQ(sharing.error(workload, split, 3), 0) << "shared at " << split;
        // What is stated is needed too: with a unit less on either side a result is lost. In the
        // middle, where there are units to miss.
        const std::int64_t middle = (splits + 1) / 2 * stated.granularity;
        for (const auto less : {&Partition::halo_below, &Partition::halo_above, &Partition::extra_below, &Partition::extra_above}) {
            const bool below = less == &Partition::halo_below || less == &Partition::extra_below;
            if (stated.*less == 0 || stated.*less > (below ? middle : sharing.range - middle)) continue;
            Sharing wanting{family, problem, stated};
            --(wanting.partition.*less);
            EXPECT_GT(wanting.error(workload, middle, 2), 0) << "more is stated than needed, shared at " << middle;
        }
    }
}

TEST_P(FamilyContract, ArraysSayWhereTheirValuesLie) {
    for (const auto& problem : sample_problems(GetParam()))
        for (const auto& array : GetParam().arrays(problem)) {
            SCOPED_TRACE(problem.key() + ", " + array.name);
            ASSERT_EQ(std::ssize(array.strides), std::count(array.shape.begin(), array.shape.end(), '[')) << array.shape;
            EXPECT_TRUE(std::is_sorted(array.strides.rbegin(), array.strides.rend()));
            EXPECT_EQ(array.strides.back(), 1);
            const bool integers = array.shape.find("int") != std::string::npos;
            if (!integers) EXPECT_EQ(array.words % array.strides.front(), 0) << "whole slices along the slowest index";
            EXPECT_TRUE(0 <= array.origin && array.origin < std::max<std::int64_t>(array.words, 1));
            EXPECT_TRUE(array.alignment == 0 || array.alignment == vector_alignment);
            // A unit of the range is one place along some index.
            if (array.slices.words_per_unit > 0)
                EXPECT_NE(std::find(array.strides.begin(), array.strides.end(), array.slices.words_per_unit), array.strides.end());
        }
}

TEST_P(FamilyContract, SlicesAreDisjointAndWithinTheirArray) {
    if (!GetParam().partition) GTEST_SKIP() << "a step of " << GetParam().name << " cannot be shared";
    for (const auto& problem : shared_problems(GetParam())) {
        const Sharing sharing{GetParam(), problem, GetParam().partition(problem)};
        std::vector<std::vector<int>> owners;
        for (const auto& spec : sharing.specs) {
            EXPECT_TRUE(spec.access == Access::in || spec.slices.words_per_unit > 0) << spec.name << " is written by nobody in particular";
            owners.emplace_back(static_cast<std::size_t>(spec.words));
        }
        sharing.pieces(0, sharing.range, [&](std::size_t i, std::int64_t from, std::int64_t words) {
            ASSERT_TRUE(from >= 0 && from + words <= sharing.specs[i].words) << sharing.specs[i].name;
            for (std::int64_t word = from; word < from + words; ++word) EXPECT_EQ(owners[i][static_cast<std::size_t>(word)]++, 0);
        });
    }
}

INSTANTIATE_TEST_SUITE_P(All, FamilyContract, ::testing::ValuesIn(built_in_families().begin(), built_in_families().end()),
                         [](const auto& row) { return row.param.name; });

TEST(BuiltInFamilies, AreThere) {
    EXPECT_EQ(built_in_families().find("gauss_seidel_27").name, "gauss_seidel_27");
    EXPECT_EQ(built_in_families().find("dg_volume").name, "dg_volume");
    EXPECT_THROW(built_in_families().find("dg_volum"), Error);
}

// A number that is what the fallback stands for says nothing new: results of both are one.
TEST(FamilyContract, AParametersFallbackAndItsMeaningAreTheSameProblem) {
    int parameters = 0;
    for (const Family& family : built_in_families()) {
        for (const ProblemParameter& parameter : family.parameters) {
            if (!parameter.meaning) continue;
            ++parameters;
            SCOPED_TRACE(family.name + " " + parameter.name);
            const Problem plain = built_in_families().parse_problem(family.example);
            const auto with = [&](std::int64_t value) {
                std::vector<Assignment> values = plain.parameters();
                for (Assignment& one : values)
                    if (one.name == parameter.name) one.value = value;
                return built_in_families().make_problem(family.name, values);
            };
            const Problem left_out = with(std::get<std::int64_t>(parse_value(parameter.fallback)));
            const std::int64_t meant = parameter.meaning(left_out);
            EXPECT_GT(meant, 0);
            EXPECT_EQ(with(meant), left_out);
            EXPECT_EQ(with(meant).class_key(), left_out.class_key());
            EXPECT_NE(with(meant + 1), left_out);
            EXPECT_EQ(with(meant + 1).integer(parameter.name), meant + 1);
            // Where the fallback is a number to be worked out, the family says which.
            EXPECT_NE(parameter.help.find("0: "), std::string::npos) << "it is said";
        }
        for (const ProblemParameter& parameter : family.parameters) {
            EXPECT_EQ(parameter.help.find("0: ") != std::string::npos, static_cast<bool>(parameter.meaning)) << family.name << " " << parameter.name;
        }
    }
    EXPECT_GE(parameters, 5);
    EXPECT_EQ(built_in_families().parse_problem("fe_mass kernel=apply_dot dimension=3 order=2 points=4 elements=4096 nodes=35937"),
              built_in_families().parse_problem("fe_mass kernel=apply_dot dimension=3 order=2 elements=4096 nodes=35937"));
    // What no grid can be stays as it was written: whoever asks for its arrays is told why.
    EXPECT_EQ(built_in_families().parse_problem("gauss_seidel_27 stencil=variable precision=f64 nx=9 ny=9 nz=9 pitch=3").integer("pitch"), 3);
}

}  // namespace
}  // namespace hone::family_contract_test
