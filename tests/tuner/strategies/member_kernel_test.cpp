#include "tuner/strategies/member_kernel.hpp"

#include <gtest/gtest.h>

#include <numeric>

namespace hone::member_kernel_test {
namespace {

// A space of one tunable, all of whose values are members, with the covariance of the first value and each other.
std::vector<double> covariances(const std::vector<Value>& values) {
    const SearchSpace space({{"t", "", values}}, {}, {{"t", values.front()}});
    std::vector<std::int64_t> members(values.size());
    std::iota(members.begin(), members.end(), std::int64_t{0});
    const MemberGeometry geometry(space, members);
    const MemberKernel kernel(space, geometry);
    std::vector<double> found;
    for (std::size_t i = 0; i < values.size(); ++i) found.push_back(kernel(0, i));
    return found;
}

TEST(MemberKernel, NumbersWithAPointAreOrderedAsWholeOnesAre) {
    EXPECT_EQ(covariances(words({"0.5", "1.5", "2.5", "7.5"})), covariances(numbers({1, 3, 5, 7}))) << "the place in the list counts";
    EXPECT_EQ(covariances(words({"0.5", "1e-05", "2.25", "1"})), covariances(numbers({3, 1, 7, 5}))) << "in whatever order it is";
    const std::vector<double> found = covariances(words({"0.5", "1", "2.25"}));
    EXPECT_GT(found[1], found[2]);
}

TEST(MemberKernel, WordsAndTruthAreTheSameOrNot) {
    for (const auto& values :
         {words({"a", "b", "c"}), words({"true", "false", "0.5"}), words({"1.5", "2.5", "nan"}), words({"1.5", "2.5x", "3.5"})}) {
        const std::vector<double> found = covariances(values);
        EXPECT_EQ(found[0], 1);
        EXPECT_EQ(found[1], found[2]);
        EXPECT_LT(found[1], 1);
    }
}

}  // namespace
}  // namespace hone::member_kernel_test
