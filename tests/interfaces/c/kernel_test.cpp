// Kernels through the C interface: described, bound, launched, and their answers compared with the
// plain loops'.
#include <regex>
#include <thread>

#include "tests/interfaces/c/c_session.hpp"

namespace hone::kernel_test {
namespace {

using test::CWorkload;
using test::small_problem;
using testing::HasSubstr;

using CKernel = test::CSession;

TEST_F(CKernel, StepsOnTheCallersArrays) {
    const CWorkload workload(small_problem, seed_);
    hone_bound* const sweep = bind(kernel(small_problem), workload);
    EXPECT_EQ(hone_bound_launch(sweep, nullptr), HONE_OK) << hone_last_error();
    EXPECT_EQ(hone_session_synchronise(session_, nullptr), HONE_OK);
    workload.expect_stepped();
    EXPECT_EQ(hone_bound_close(sweep), HONE_OK);
}

TEST_F(CKernel, StepsAPartOfTheRangeAfterAnother) {
    const char* const problem = "acoustics_staggered kernel=pressure dimension=2 order=4 precision=f64 nx=40 ny=31";
    const CWorkload workload(problem, seed_);
    hone_bound* const bound = bind(kernel(problem), workload);
    const auto middle = static_cast<std::int64_t>(seed_ % 32);
    EXPECT_EQ(hone_bound_launch_range(bound, 0, middle, nullptr), HONE_OK) << hone_last_error();
    EXPECT_EQ(hone_bound_launch_range(bound, middle, 31, nullptr), HONE_OK) << hone_last_error();
    workload.expect_stepped();
    EXPECT_EQ(hone_bound_close(bound), HONE_OK);
}

TEST_F(CKernel, RunsSeveralSteps) {
    const CWorkload once(small_problem, seed_), several(small_problem, seed_);
    hone_bound *one = bind(kernel(small_problem), once), *run = bind(kernel(small_problem), several);
    for (int step = 0; step < 3; ++step) EXPECT_EQ(hone_bound_launch(one, nullptr), HONE_OK);
    EXPECT_EQ(hone_bound_run(run, 3, nullptr), HONE_OK) << hone_last_error();
    for (std::size_t i = 0; i < once.data.arrays.size(); ++i) EXPECT_EQ(largest_difference(once.data.arrays[i], several.data.arrays[i]), 0) << i;
    expect_refused(hone_bound_run(run, -1, nullptr), HONE_BAD_ARGUMENT, {"hone_bound_run", "-1 steps"});
    hone_bound_close(one);
    hone_bound_close(run);
}

TEST_F(CKernel, MakesItsTablesAgainWhenAnArrayChanged) {
    const char* const problem = "gauss_seidel_27 stencil=variable precision=f64 nx=12 ny=10 nz=9";
    const CWorkload first(problem, seed_), second(problem, seed_ + 1);
    hone_bound* const sweep = bind(kernel(problem), first);
    for (std::size_t i = 0; i < first.arrays.size(); ++i)
        std::memcpy(first.arrays[i].data, second.arrays[i].data, static_cast<std::size_t>(second.data.arrays[i].bytes()));
    EXPECT_EQ(hone_bound_prepare(sweep, nullptr), HONE_OK) << hone_last_error();
    EXPECT_EQ(hone_bound_launch(sweep, nullptr), HONE_OK) << hone_last_error();
    for (std::size_t i = 0; i < first.arrays.size(); ++i) {
        if (second.data.expected[i].words() == 0) continue;
        EXPECT_LE(largest_difference(first.data.arrays[i], second.data.expected[i]), second.data.tolerance) << i;
    }
    hone_bound_close(sweep);
}

TEST_F(CKernel, TakesIntegersAsIntegers) {
    const char* const problem = "csr_spmv precision=f64 rows=100 entries=1000";
    const CWorkload workload(problem, seed_);
    hone_kernel* const product = kernel(problem);
    ASSERT_NE(product, nullptr);
    hone_kernel_info info{};
    info.size = sizeof info;
    ASSERT_EQ(hone_kernel_describe(product, &info), HONE_OK);
    ASSERT_EQ(info.arguments, workload.count());
    int integers = 0;
    for (std::int32_t i = 0; i < info.arguments; ++i) {
        hone_argument argument{};
        argument.size = sizeof argument;
        ASSERT_EQ(hone_kernel_argument(product, i, &argument), HONE_OK);
        const bool counts = std::string(argument.name) == "column_indices" || std::string(argument.name) == "row_starts";
        EXPECT_EQ(argument.type, counts ? HONE_I32 : HONE_F64) << argument.name;
        if (counts) EXPECT_EQ(argument.count, std::string(argument.name) == "row_starts" ? 101 : 1000);
        integers += counts ? 1 : 0;
    }
    EXPECT_EQ(integers, 2);
    hone_bound* const bound = bind(product, workload);
    EXPECT_EQ(hone_bound_launch(bound, nullptr), HONE_OK) << hone_last_error();
    workload.expect_stepped();
    hone_bound_close(bound);
}

// What the C interface takes for integers is a matter of how shapes are written.
TEST_F(CKernel, KnowsTheIntegersOfAllFamilies) {
    for (const Family& family : built_in_families())
        for (const ArraySpec& array : family.arrays(built_in_families().parse_problem(family.example))) {
            const bool whole_numbers = std::regex_search(array.shape, std::regex("\\bu?int[0-9]*\\b"));
            EXPECT_EQ(array.shape.ends_with(" int32") || array.shape.ends_with(" of int"), whole_numbers) << family.name << " " << array.name;
        }
}

TEST_F(CKernel, DescribesItselfAndItsArguments) {
    hone_kernel_info info{};
    info.size = sizeof info;
    hone_kernel* const sweep = kernel(small_problem);
    ASSERT_EQ(hone_kernel_describe(sweep, &info), HONE_OK) << hone_last_error();
    const Problem problem = built_in_families().parse_problem(small_problem);
    const Family& family = built_in_families().of(problem);
    EXPECT_EQ(info.problem, problem.key());
    EXPECT_EQ(info.range, family.range(problem));
    EXPECT_EQ(info.range_unit, family.range_unit);
    EXPECT_EQ(info.bytes, family.counts(problem).bytes);
    EXPECT_EQ(info.place, HONE_HOST);
    EXPECT_GE(info.grade, HONE_EXACT);
    EXPECT_LE(info.grade, HONE_UNTUNED);
    EXPECT_THAT(info.source, HasSubstr("extern \"C\""));
    EXPECT_THAT(info.configuration, HasSubstr("vector_bytes="));
    const auto arrays = family.arrays(problem);
    ASSERT_EQ(info.arguments, std::ssize(arrays));
    for (std::int32_t i = 0; i < info.arguments; ++i) {
        const ArraySpec& expected = arrays[static_cast<std::size_t>(i)];
        hone_argument argument{};
        argument.size = sizeof argument;
        ASSERT_EQ(hone_kernel_argument(sweep, i, &argument), HONE_OK) << hone_last_error();
        EXPECT_EQ(argument.name, expected.name);
        EXPECT_EQ(argument.shape, expected.shape);
        EXPECT_EQ(argument.count, expected.words);
        EXPECT_EQ(argument.origin, expected.origin);
        EXPECT_EQ(std::vector<std::int64_t>(argument.strides, argument.strides + argument.indices), expected.strides);
        EXPECT_EQ(argument.access, expected.access == Access::in ? HONE_IN : expected.access == Access::out ? HONE_OUT : HONE_INOUT);
        EXPECT_EQ(argument.alignment, 4);
    }
    hone_argument argument{};
    argument.size = sizeof argument;
    expect_refused(hone_kernel_argument(sweep, info.arguments, &argument), HONE_BAD_ARGUMENT, {"hone_kernel_argument", "this kernel has 0 to"});
    expect_refused(hone_kernel_argument(sweep, -1, &argument), HONE_BAD_ARGUMENT, {"argument -1"});
}

TEST_F(CKernel, FillsAsMuchOfAStructureAsTheCallerKnows) {
    hone_kernel* const sweep = kernel(small_problem);
    hone_kernel_info info{};
    std::memset(&info, 0x55, sizeof info);
    info.size = offsetof(hone_kernel_info, configuration);
    EXPECT_EQ(hone_kernel_describe(sweep, &info), HONE_OK) << hone_last_error();
    EXPECT_EQ(info.size, offsetof(hone_kernel_info, configuration));
    EXPECT_THAT(info.problem, HasSubstr("nx=20"));
    hone_kernel_info untouched{};
    std::memset(&untouched, 0x55, sizeof untouched);
    EXPECT_EQ(std::memcmp(&info.configuration, &untouched.configuration, sizeof info - info.size), 0);
    info.size = 0;
    expect_refused(hone_kernel_describe(sweep, &info), HONE_BAD_ARGUMENT, {"info->size is 0", "sizeof"});
    // A later version's, with members that this library does not know.
    struct {
        hone_kernel_info known;
        double further = 7;
    } later{};
    later.known.size = sizeof later;
    EXPECT_EQ(hone_kernel_describe(sweep, &later.known), HONE_OK);
    EXPECT_EQ(later.known.size, sizeof later);
    EXPECT_EQ(later.further, 7);
}

TEST_F(CKernel, RefusesRangesOutsideTheWhole) {
    const CWorkload workload(small_problem, seed_);
    hone_bound* const sweep = bind(kernel(small_problem), workload);
    for (const auto& [first, last] : {std::pair{-1, 3}, {2, 1}, {0, 1000000}})
        expect_refused(hone_bound_launch_range(sweep, first, last, nullptr), HONE_ERROR, {"range [", "stay within"});
    hone_bound_close(sweep);
}

TEST_F(CKernel, OutlivesItsClosedSession) {
    const CWorkload workload(small_problem, seed_);
    hone_bound* const sweep = bind(kernel(small_problem), workload);
    EXPECT_EQ(hone_session_close(session_), HONE_OK);
    session_ = nullptr;
    EXPECT_EQ(hone_bound_launch(sweep, nullptr), HONE_OK) << hone_last_error();
    workload.expect_stepped();
    EXPECT_EQ(hone_bound_close(sweep), HONE_OK);
}

TEST_F(CKernel, IsTheSameForTheSameProblemInOtherWords) {
    hone_kernel* const sweep = kernel(small_problem);
    EXPECT_EQ(kernel(small_problem), sweep);
    EXPECT_EQ(kernel("gauss_seidel_27 nz=11 ny=9 nx=20 precision=f32 stencil=constant"), sweep);
    EXPECT_NE(kernel("gauss_seidel_27 stencil=constant precision=f32 nx=20 ny=9 nz=10"), sweep);
}

TEST_F(CKernel, SaysWhatIsWrongWithAProblem) {
    hone_kernel* found = nullptr;
    for (const auto& [text, part] : {std::pair{"gauss_seidel_28", "did you mean gauss_seidel_27"},
                                     {"gauss_seidel_27 stencil=constant precision=f32 nx=0 ny=9 nz=11", "nx"},
                                     {"", "family"},
                                     {"dg_volume equation=maxwell_3d order=\n\x01", "order"}})
        expect_refused(hone_session_kernel(session_, text, &found), HONE_ERROR, {part});
    EXPECT_EQ(found, nullptr) << "results are written on success only";
}

using CKernelOfManyThreads = test::CSession;

TEST_F(CKernelOfManyThreads, IsLookedUpByAllOfThem) {
    const std::vector<std::string> texts{small_problem, "gauss_seidel_27 nz=11 ny=9 nx=20 precision=f32 stencil=constant", "no_such_family"};
    std::vector<std::thread> threads;
    std::vector<hone_kernel*> found(16);
    for (std::size_t thread = 0; thread < found.size(); ++thread)
        threads.emplace_back([&, thread] {
            for (std::size_t i = 0; i < 300; ++i) {
                hone_kernel* kernel = nullptr;
                const std::string& text = texts[(i + thread) % texts.size()];
                const hone_status status = hone_session_kernel(session_, text.c_str(), &kernel);
                if (text == texts[2]) {
                    EXPECT_EQ(status, HONE_ERROR);
                    EXPECT_THAT(hone_last_error(), HasSubstr("no_such_family")) << "each thread has its own error";
                    continue;
                }
                EXPECT_EQ(status, HONE_OK) << hone_last_error();
                EXPECT_TRUE(found[thread] == nullptr || found[thread] == kernel);
                found[thread] = kernel;
            }
        });
    for (auto& thread : threads) thread.join();
    EXPECT_THAT(found, testing::Each(found.front()));
}

}  // namespace
}  // namespace hone::kernel_test
