#include "generator/problem.hpp"

#include <gtest/gtest.h>

#include <set>
#include <unordered_set>

#include "foundation/error.hpp"
#include "tests/generator/sample_family.hpp"

namespace hone::problem_test {
namespace {

Problem blur(const std::string& parameters) {
    return testing::sample_families().parse_problem("blur_2d " + parameters);
}

TEST(Problem, KeyIsWhatOneTypesAndClassKeyLeavesTheExtentsOut) {
    const Problem problem = blur("ny=32 nx=64 order=2 kind=box");
    EXPECT_EQ(problem.family(), "blur_2d");
    EXPECT_EQ(problem.key(), "blur_2d kind=box order=2 precision=f32 nx=64 ny=32");
    EXPECT_EQ(problem.class_key(), "blur_2d kind=box order=2 precision=f32");
    EXPECT_EQ(problem.extents(), (std::vector<std::string>{"nx", "ny"}));
    EXPECT_EQ(testing::sample_families().parse_problem(problem.key()), problem);
}

TEST(Problem, ValuesAreReadByNameAndType) {
    const Problem problem = blur("kind=gauss order=3 precision=f64 nx=5 ny=7");
    EXPECT_EQ(problem.integer("order"), 3);
    EXPECT_EQ(problem.word("kind"), "gauss");
    EXPECT_EQ(problem.precision(), Precision::f64);
    EXPECT_EQ(blur("kind=box order=1 nx=1 ny=1").precision(), Precision::f32);
    EXPECT_THROW(problem.integer("kind"), Error);
    EXPECT_THROW(problem.word("order"), Error);
    EXPECT_THROW(problem.integer("nz"), Error);
}

TEST(Problem, EqualKeysAreEqualProblems) {
    const Problem a = blur("kind=box order=2 nx=64 ny=64");
    const Problem same = blur("ny=64 nx=64 precision=f32 order=2 kind=box");
    const Problem other = blur("kind=box order=2 nx=64 ny=65");
    EXPECT_EQ(a, same);
    EXPECT_EQ(a.hash(), same.hash());
    EXPECT_NE(a, other);
    EXPECT_TRUE(a < other || other < a);
    EXPECT_EQ((std::unordered_set<Problem>{a, same, other}).size(), 2U);
    EXPECT_EQ((std::set<Problem>{a, same, other}).size(), 2U);
}

}  // namespace
}  // namespace hone::problem_test
