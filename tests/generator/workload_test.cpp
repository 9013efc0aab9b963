#include "generator/workload.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>

#include "foundation/error.hpp"

namespace hone::workload_test {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

template <typename Real>
HostArray array_of(const std::vector<double>& values) {
    HostArray array(sizeof(Real) == 4 ? Precision::f32 : Precision::f64, std::ssize(values));
    std::transform(values.begin(), values.end(), array.values<Real>().begin(), [](double value) { return static_cast<Real>(value); });
    return array;
}

template <typename Real>
class WorkloadOf : public ::testing::Test {};
using Reals = ::testing::Types<float, double>;
TYPED_TEST_SUITE(WorkloadOf, Reals);

TYPED_TEST(WorkloadOf, DifferenceIsTheLargestOverAllWords) {
    const auto a = array_of<TypeParam>({1, -2, 3, nan});
    EXPECT_EQ(largest_difference(a, a), 0);
    EXPECT_EQ(largest_difference(a, array_of<TypeParam>({1, -2.5, 3.25, nan})), 0.5);
    EXPECT_EQ(largest_difference(array_of<TypeParam>({}), array_of<TypeParam>({})), 0);
}

// A reference may overflow or divide by zero: then a kernel has to, too.
TYPED_TEST(WorkloadOf, ANanOrAnInfinityOnOneSideIsInfinitelyWrong) {
    const auto good = array_of<TypeParam>({1, 2});
    EXPECT_EQ(largest_difference(good, array_of<TypeParam>({1, nan})), infinity);
    EXPECT_EQ(largest_difference(array_of<TypeParam>({nan, 2}), good), infinity);
    EXPECT_EQ(largest_difference(good, array_of<TypeParam>({infinity, 2})), infinity);
    EXPECT_EQ(largest_difference(array_of<TypeParam>({infinity, 2}), array_of<TypeParam>({-infinity, 2})), infinity);
    EXPECT_EQ(largest_difference(array_of<TypeParam>({nan, 2}), array_of<TypeParam>({infinity, 2})), infinity);
    for (const double sign : {1.0, -1.0}) {
        const auto endless = array_of<TypeParam>({1, sign * infinity});
        EXPECT_EQ(largest_difference(endless, endless), 0);
        EXPECT_EQ(largest_difference(endless, array_of<TypeParam>({1.5, sign * infinity})), 0.5) << "beside other values";
    }
    EXPECT_EQ(largest_difference(array_of<TypeParam>({nan, 0.0}), array_of<TypeParam>({-nan, -0.0})), 0) << "whatever their bits";
}

TYPED_TEST(WorkloadOf, OneWrongWordAnywhereIsFound) {
    const auto seed = std::random_device{}();
    std::mt19937_64 generator(seed);
    std::vector<double> values(100003);
    std::uniform_real_distribution<double> uniform(-1, 1);
    for (auto& value : values) value = uniform(generator);
    const auto a = array_of<TypeParam>(values);
    auto b = a.copy();
    const std::size_t position = generator() % values.size();
    EXPECT_EQ(largest_difference(a, b), 0) << "seed " << seed;
    b.template values<TypeParam>()[position] += TypeParam{4};
    EXPECT_NEAR(largest_difference(a, b), 4, 1e-5) << "seed " << seed << ", word " << position;
    for (const std::size_t last : {values.size() - 1, std::size_t{0}}) {
        auto c = a.copy();
        c.template values<TypeParam>()[last] += TypeParam{8};
        EXPECT_NEAR(largest_difference(a, c), 8, 1e-5) << "seed " << seed;
    }
}

TEST(Workload, IntegersDifferExactlyAndHaveNoNan) {
    const std::vector<std::int32_t> a{3, -1, std::numeric_limits<std::int32_t>::min(), 0x7fc00000};
    EXPECT_EQ(largest_difference(a.data(), a.data(), 4, ValueType::i32), 0);
    std::vector<std::int32_t> b = a;
    b[3] = 0x7fc00001;  // both are NaN to who takes them for floats
    EXPECT_EQ(largest_difference(a.data(), b.data(), 4, ValueType::i32), 1);
    b[2] = std::numeric_limits<std::int32_t>::max();
    EXPECT_EQ(largest_difference(a.data(), b.data(), 4, ValueType::i32), 4294967295.0);
}

TEST(Workload, AnArrayIsComparedByTheTypeOfItsValues) {
    const ArraySpec counts = laid_out({"counts", Access::out, 2, "[rows] int32", ""}, {3});
    HostArray a(Precision::f64, 2);
    a.poison(ValueType::i32);
    HostArray b = a.copy();
    auto* const values = static_cast<std::int32_t*>(b.data());
    EXPECT_EQ(values[0], static_cast<std::int32_t>(0x80808080));
    EXPECT_EQ(largest_difference(counts, a, b), 0);
    values[3] = 5;  // behind the last
    EXPECT_EQ(largest_difference(counts, a, b), 0);
    values[2] += 7;
    EXPECT_EQ(largest_difference(counts, a, b), 7);
    EXPECT_THROW(largest_difference(counts, a, HostArray(Precision::f64, 3)), Error);
}

TEST(Workload, ArraysOfAnotherShapeCannotBeCompared) {
    EXPECT_THROW(largest_difference(array_of<float>({1}), array_of<float>({1, 2})), Error);
    EXPECT_THROW(largest_difference(array_of<float>({1}), array_of<double>({1})), Error);
}

TEST(Workload, ArraysAreAlignedAndCopiesAreTheirOwn) {
    for (const std::int64_t words : {1, 3, 17, 1000}) {
        HostArray array(Precision::f64, words);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(array.data()) % 64, 0U);
        EXPECT_EQ(array.bytes(), 8 * words);
        std::fill(array.values<double>().begin(), array.values<double>().end(), 1.0);
        HostArray copy = array.copy();
        EXPECT_NE(copy.data(), array.data());
        copy.values<double>()[0] = 2;
        EXPECT_EQ(array.values<double>()[0], 1);
    }
    EXPECT_EQ(HostArray(Precision::f32, 0).copy().words(), 0);
}

TEST(Workload, ASizeThatCannotBeIsAnErrorWithTheSize) {
    EXPECT_THROW(HostArray(Precision::f32, -1), Error);
}

}  // namespace
}  // namespace hone::workload_test
