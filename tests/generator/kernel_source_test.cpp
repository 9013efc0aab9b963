#include "generator/kernel_source.hpp"

#include <gtest/gtest.h>

namespace hone::kernel_source_test {
namespace {

TEST(KernelSource, AnArrayIsLaidOutWithItsLastIndexFastest) {
    const ArraySpec array = laid_out({"u", Access::in, 4 * 5 * 32, "[nz+2][ny+2][pitch]", "unknown"}, {4, 5, 32}, 193);
    EXPECT_EQ(array.strides, (std::vector<std::int64_t>{160, 32, 1}));
    EXPECT_EQ(array.origin, 193);
    EXPECT_EQ(array.name, "u");
}

TEST(KernelSource, AddressesAreMultiplesOfVectorsOnCudaAndOfValuesOnProcessors) {
    const ArraySpec field = laid_out({"u", Access::in, 32, "[n]", ""}, {32});
    const ArraySpec scalar{"dt", Access::in, 1, "[1]", "", {}, {1}};
    for (const auto precision : {Precision::f32, Precision::f64}) {
        KernelSource source;
        source.precision = precision;
        source.target = Target::cuda;
        EXPECT_EQ(address_multiple(source, field), vector_alignment);
        EXPECT_EQ(address_multiple(source, scalar), bytes_per_word(precision));
        source.target = Target::cpu;
        EXPECT_EQ(address_multiple(source, field), bytes_per_word(precision));
    }
}

TEST(KernelSource, AnArrayMayHaveValuesOfAnotherTypeThanTheProblem) {
    const ArraySpec plain = laid_out({"u", Access::in, 21, "[rows][3]", ""}, {7, 3});
    EXPECT_EQ(value_type_of(plain, Precision::f32), ValueType::f32);
    EXPECT_EQ(value_type_of(plain, Precision::f64), ValueType::f64);
    EXPECT_EQ(value_count(plain, Precision::f64), 21);
    EXPECT_EQ(bytes_of(plain, Precision::f64), 168);
    // Seven integers fill four words of eight bytes, and nobody need have the eighth.
    const ArraySpec counts = laid_out({"counts", Access::out, 4, "[rows] int32", ""}, {7});
    EXPECT_EQ(value_type_of(counts, Precision::f64), ValueType::i32);
    EXPECT_EQ(value_count(counts, Precision::f64), 7);
    EXPECT_EQ(bytes_of(counts, Precision::f64), 28);
    const ArraySpec sums = laid_out({"sums", Access::out, 14, "[rows] float64", ""}, {7});
    EXPECT_EQ(value_type_of(sums, Precision::f32), ValueType::f64);
    EXPECT_EQ(value_count(sums, Precision::f32), 7);
    EXPECT_EQ(bytes_of(sums, Precision::f32), 56);
    const ArraySpec coarse = laid_out({"coarse", Access::in, 4, "[rows] float32", ""}, {7});
    EXPECT_EQ(value_type_of(coarse, Precision::f64), ValueType::f32);
    EXPECT_EQ(bytes_of(coarse, Precision::f64), 28);
    const ArraySpec unstated{"indices", Access::in, 4, "[rows] int32", ""};
    EXPECT_EQ(value_count(unstated, Precision::f64), 8) << "as many as the words hold";
}

}  // namespace
}  // namespace hone::kernel_source_test
