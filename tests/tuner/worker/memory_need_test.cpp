#include "tuner/worker/memory_need.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "foundation/error.hpp"
#include "tests/support/axpy_family.hpp"

namespace hone::memory_need_test {
namespace {

const std::vector<ArraySpec> arrays{{"a", Access::in, 100, "", ""}, {"b", Access::inout, 20, "", ""}, {"c", Access::out, 3, "", ""}};

TEST(MemoryNeed, CountsEveryCopyOfEveryArray) {
    // 123 words of workload, 23 of answers; 123 to work on, 120 to start from, 23 of answers.
    EXPECT_EQ(bench_memory(arrays, Precision::f64, Target::cuda), (MemoryBytes{8 * (123 + 23), 8 * (123 + 120 + 23)}));
    EXPECT_EQ(bench_memory(arrays, Precision::f32, Target::cpu), (MemoryBytes{4 * (123 + 23 + 123 + 120 + 23), 0}));
    EXPECT_EQ(balance_memory(arrays, Precision::f64), (MemoryBytes{8 * (123 + 23 + 23), 8 * 123}));
}

TEST(MemoryNeed, AnErrorSaysHowMuchIsNeededHowMuchThereIsAndWhatToDo) {
    const Families families = test::axpy_families();
    const Problem problem = families.parse_problem("axpy precision=f32 n=1000");
    constexpr double gibibyte = 1 << 30;
    EXPECT_NO_THROW(require_memory(problem, {3 * gibibyte, gibibyte}, {3 * gibibyte, gibibyte}));
    const auto message = [&](const MemoryBytes& needed) {
        try {
            require_memory(problem, needed, {3 * gibibyte, gibibyte});
            return std::string("no error");
        } catch (const Error& error) {
            return std::string(error.what());
        }
    };
    using testing::AllOf;
    using testing::HasSubstr;
    EXPECT_THAT(message({4.5 * gibibyte, 0}),
                AllOf(HasSubstr("axpy"), HasSubstr("need 4.5 GiB of memory on the host, and 3 GiB are there"), HasSubstr("use a smaller problem")));
    EXPECT_THAT(message({0, 2 * gibibyte}), HasSubstr("need 2 GiB on the device, and 1 GiB are there"));
}

}  // namespace
}  // namespace hone::memory_need_test
