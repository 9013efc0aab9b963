#include "generator/scale.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "foundation/error.hpp"
#include "generator/families/built_in_families.hpp"
#include "tests/generator/sample_family.hpp"

namespace hone::scale_test {
namespace {

using ::testing::HasSubstr;

// Between two problems of one class.
ScaleDistance between(const Families& families, const std::string& of, const std::string& known, const std::string& asked) {
    const Problem a = families.parse_problem(of + " " + known), b = families.parse_problem(of + " " + asked);
    EXPECT_EQ(a.class_key(), b.class_key());
    return scale_distance(scale_of(families.of(a), a), scale_of(families.of(b), b));
}

ScaleDistance between(const std::string& of, const std::string& known, const std::string& asked) {
    return between(built_in_families(), of, known, asked);
}

TEST(Scale, WithoutAWordOfTheFamilyExtentsAreSizesAxisByAxis) {
    const auto distance = [](const std::string& known, const std::string& asked) {
        return between(hone::testing::sample_families(), "blur_2d kind=box order=2", known, asked);
    };
    EXPECT_EQ(distance("nx=64 ny=64", "nx=64 ny=64").total(), 0);
    EXPECT_NEAR(distance("nx=64 ny=64", "nx=128 ny=32").sizes, 2, 1e-12) << "as many points, in another shape";
    EXPECT_NEAR(distance("nx=64 ny=64", "nx=64 ny=96").sizes, std::log2(1.5), 1e-12);
    EXPECT_NEAR(distance("nx=64 ny=64", "nx=1 ny=4096").sizes, distance("nx=1 ny=4096", "nx=64 ny=64").sizes, 1e-12);
    EXPECT_EQ(distance("nx=64 ny=64", "nx=1 ny=4096").proportions, 0);
    EXPECT_TRUE(distance("nx=64 ny=64", "nx=120 ny=120").near());
    EXPECT_FALSE(distance("nx=64 ny=64", "nx=512 ny=128").near());
}

TEST(Scale, EntriesARowDecideAndColumnsMayBeLeftOut) {
    const std::string matrix = "csr_spmv kernel=apply";
    EXPECT_TRUE(between(matrix, "rows=274625 entries=16974593", "rows=2146689 entries=135005697").near()) << "the same elements, eight times as many";
    const ScaleDistance other = between(matrix, "rows=912673 entries=192100033", "rows=2146689 entries=57066625");
    EXPECT_FALSE(other.near()) << "on an H100 its configuration has half of the best rate";
    EXPECT_EQ(other.differing, "210 entries a row, not 26.6");
    EXPECT_EQ(between(matrix, "rows=1000 entries=27000", "rows=1000 columns=1000 entries=27000").total(), 0);
    EXPECT_FALSE(between(matrix, "rows=1000 entries=27000", "rows=1000 columns=125 entries=27000").near()) << "a prolongation";
}

TEST(Scale, APitchDecidesByHowRowsAreAligned) {
    for (const std::string grid :
         {"gauss_seidel_27 stencil=constant precision=f64", "poisson7 kernel=apply coefficients=axis boundary=periodic precision=f64"}) {
        SCOPED_TRACE(grid);
        EXPECT_EQ(between(grid, "nx=160 ny=160 nz=160", "nx=160 ny=160 nz=160 pitch=164").total(), 0) << "rows of whole 16 bytes";
        const ScaleDistance odd = between(grid, "nx=160 ny=160 nz=160", "nx=160 ny=160 nz=160 pitch=165");
        EXPECT_FALSE(odd.near());
        EXPECT_THAT(odd.differing, HasSubstr("16 bytes that rows are aligned by, not 8"));
    }
}

TEST(Scale, GapsDecideByHowMatricesAreAligned) {
    const std::string product = "batched_gemm m=3 n=4 k=2 precision=f64";
    EXPECT_TRUE(between(product, "batch=1000", "batch=4000 gap_a=2").near());
    EXPECT_FALSE(between(product, "batch=1000", "batch=1000 gap_a=1").near());
    EXPECT_TRUE(between("batched_gemv m=3 n=4 precision=f32", "batch=1000 gap_x=1", "batch=1000 gap_x=3").near());
}

TEST(Scale, OfAnotherKindIsAnError) {
    EXPECT_THROW(scale_distance({{{"elements", 1}}, {}}, {{{"rows", 1}, {"columns", 1}}, {}}), Error);
}

}  // namespace
}  // namespace hone::scale_test
