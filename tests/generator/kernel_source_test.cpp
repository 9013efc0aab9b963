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

}  // namespace
}  // namespace hone::kernel_source_test
