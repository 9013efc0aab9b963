// What hone publishes of a family's arrays (strides, origin, shape) is where its kernels find them:
// an application that knows nothing else fills the inputs and reads the results.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <ostream>
#include <set>
#include <variant>

#include "foundation/error.hpp"
#include "foundation/python_expression.hpp"
#include "generator/families/built_in_families.hpp"
#include "tests/generator/families/kernel_test.hpp"
#include "tests/generator/families/logical_step.hpp"
#include "tests/generator/families/on_host.hpp"
#include "tests/support/digits.hpp"
#include "tests/support/drawn.hpp"
#include "tests/support/emulator.hpp"

namespace hone::published_layout_test {

using test::LogicalStep;
using test::PublishedArray;
using test::PublishedArrays;

// For googletest, which would name tests by the bytes of a step.
void PrintTo(const LogicalStep& step, std::ostream* out) {
    *out << step.family;
}

namespace {

std::vector<LogicalStep> logical_steps() {
    return {test::acoustics_staggered_by_index(),
            test::batched_gemm_by_index(),
            test::batched_gemv_by_index(),
            test::corner_force_by_index(),
            test::csr_spmv_by_index(),
            test::dg_volume_by_index(),
            test::dg_surface_by_index(),
            test::dg_rk_by_index(),
            test::dg_stage_by_index(),
            test::fe_mass_by_index(),
            test::gauss_seidel_27_by_index(),
            test::poisson7_by_index(),
            test::staggered_flow_by_index()};
}

std::vector<Problem> problems_of(const LogicalStep& step) {
    std::vector<Problem> problems;
    for (const std::string& set : step.problems)
        for (const Problem& problem : built_in_families().parse_problems(step.family + " " + set + " precision=f32,f64")) problems.push_back(problem);
    return problems;
}

// Values of one size that are computed in another order differ by far less than by their size; a
// word of another place does not.
double allowed(Precision precision, double expected) {
    return (precision == Precision::f32 ? 3e-4 : 1e-11) * std::max(1.0, std::abs(expected));
}

class PublishedLayout : public test::KernelTest, public ::testing::WithParamInterface<LogicalStep> {
  protected:
    const Family& family() const { return built_in_families().find(GetParam().family); }

    // Compares what `run` makes of the inputs with the step by index, wherever that writes.
    void expect_read_and_written_as_published(const Problem& problem, const std::function<std::vector<HostArray>(const Workload&)>& run) {
        PublishedArrays arrays(family().arrays(problem), problem.precision());
        GetParam().fill(problem, arrays, test::Draw(random_));
        Workload data;
        for (const std::string& name : arrays.names()) {
            arrays[name].round();
            data.arrays.push_back(arrays[name].in_memory());
        }
        PublishedArrays before = arrays;
        GetParam().step(problem, arrays);
        const std::vector<HostArray> computed = run(data);
        for (std::size_t n = 0; n < computed.size(); ++n) {
            PublishedArray& array = arrays[arrays.names()[n]];
            if (array.spec().access == Access::in) continue;
            const std::vector<double>&old = before[array.spec().name].values(), &expected = array.values();
            std::size_t written = 0, wrong = 0, first_wrong = 0;
            for (std::size_t i = 0; i < expected.size(); ++i) {
                if (std::isnan(expected[i]) || expected[i] == old[i]) continue;
                ++written;
                const double found = array.value_in(computed[n], i);
                if (std::abs(found - expected[i]) <= allowed(problem.precision(), expected[i])) continue;
                if (wrong++ == 0) first_wrong = i;
            }
            EXPECT_GT(written, 0U) << array.spec().name;
            EXPECT_EQ(wrong, 0U) << problem.key() << ": " << array.spec().name << " has other values than by index, first word " << first_wrong
                                 << ": " << array.value_in(computed[n], first_wrong) << " for " << expected[first_wrong];
        }
    }

    void expect_kernel_reads_as_published(const Family& which, const Problem& problem, const Config& config) {
        SCOPED_TRACE(fmt::format("{} --config {}", problem.key(), config.key()));
        expect_read_and_written_as_published(problem,
                                             [&](const Workload& data) { return test::stepped(*backend_, which, problem, config, data, 1); });
    }
    // The safe configuration and random members of the space.
    void expect_kernels_read_as_published(const Family& which, const Problem& problem, int members) {
        for (const Config& config : test::sample_members(*backend_, which, problem, members, random_()))
            expect_kernel_reads_as_published(which, problem, config);
    }
    Family emulated() const { return test::emulated(test::on_host(family()), cuda_limits(90)); }
    // Some problems are for processors alone.
    bool has_kernels(const Family& which, const Problem& problem) const {
        try {
            which.space(problem, backend_->device().limits);
            return true;
        } catch (const Error&) {
            return false;
        }
    }
};

// Every problem: no compiler is needed. What kernels compute is compared with the reference
// elsewhere.
TEST_P(PublishedLayout, IsTheReferences) {
    for (const Problem& problem : problems_of(GetParam())) {
        expect_read_and_written_as_published(problem, [&](const Workload& data) {
            std::vector<HostArray> arrays;
            std::vector<void*> pointers;
            for (const HostArray& array : data.arrays) pointers.push_back(arrays.emplace_back(array.copy()).data());
            family().reference(problem, pointers, 0, family().range(problem));
            return arrays;
        });
    }
}

TEST_P(PublishedLayout, IsThatOfAKernelOfEachTarget) {
    for (const Problem& problem : test::drawn(problems_of(GetParam()), 1, random_)) {
        const SearchSpace space = family().space(problem, backend_->device().limits);
        expect_kernel_reads_as_published(family(), problem, space.safe());
        if (const Family cuda = emulated(); has_kernels(cuda, problem))
            expect_kernel_reads_as_published(cuda, problem, cuda.space(problem, {}).safe());
    }
}

using SlowPublishedLayout = PublishedLayout;
TEST_P(SlowPublishedLayout, IsThatOfAllKernels) {
    const Family cuda = emulated();
    for (const Problem& problem : problems_of(GetParam())) {
        expect_kernels_read_as_published(family(), problem, 1);
        if (has_kernels(cuda, problem)) expect_kernels_read_as_published(cuda, problem, 1);
    }
}

const auto step_name = [](const auto& info) { return info.param.family; };
INSTANTIATE_TEST_SUITE_P(Families, PublishedLayout, ::testing::ValuesIn(logical_steps()), step_name);
INSTANTIATE_TEST_SUITE_P(Families, SlowPublishedLayout, ::testing::ValuesIn(logical_steps()), step_name);

// The extents that a shape names, slowest first; 0 where it names what the problem leaves to hone,
// as pitch=0 does: strides have it.
std::vector<std::int64_t> extents_of(const std::string& shape, const Problem& problem) {
    std::vector<std::int64_t> extents;
    for (std::size_t begin = shape.find('['); begin != std::string::npos; begin = shape.find('[', begin + 1)) {
        std::string text = shape.substr(begin + 1, shape.find(']', begin) - begin - 1);
        if (const std::size_t power = text.find('^'); power != std::string::npos) text.replace(power, 1, "**");
        bool known = true;
        const PythonValue value = PythonExpression(text, shape).evaluate([&](const std::string& name) {
            std::int64_t number = 0;
            for (const Assignment& parameter : problem.parameters())
                if (parameter.name == (name == "d" ? "dimension" : name) && std::holds_alternative<std::int64_t>(parameter.value))
                    number = std::get<std::int64_t>(parameter.value);
            known = known && number != 0;
            return PythonValue{number};
        });
        extents.push_back(known ? std::get<std::int64_t>(value.held) : 0);
    }
    return extents;
}

TEST(PublishedLayouts, HaveTheExtentsThatTheirShapesName) {
    for (const LogicalStep& step : logical_steps())
        for (const Problem& problem : problems_of(step))
            for (const ArraySpec& array : built_in_families().of(problem).arrays(problem)) {
                SCOPED_TRACE(fmt::format("{}: {} {}", problem.key(), array.name, array.shape));
                const std::vector<std::int64_t> extents = extents_of(array.shape, problem);
                ASSERT_EQ(extents.size(), array.strides.size());
                for (std::size_t i = 0; i < extents.size(); ++i) {
                    const std::int64_t whole = i == 0 ? value_count(array, problem.precision()) : array.strides[i - 1];
                    if (extents[i] != 0) EXPECT_EQ(extents[i] * array.strides[i], whole) << "index " << i;
                }
            }
}

TEST(PublishedLayouts, AreTestedOfEveryFamily) {
    std::set<std::string> all, tested;
    for (const Family& family : built_in_families()) all.insert(family.name);
    for (const LogicalStep& step : logical_steps()) tested.insert(step.family);
    EXPECT_EQ(all, tested) << "a step by index of each is in its tests' folder, by_index.cpp";
}

}  // namespace
}  // namespace hone::published_layout_test
