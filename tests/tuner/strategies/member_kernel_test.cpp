#include "tuner/strategies/member_kernel.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <numeric>

#include "generator/value_lists.hpp"

namespace hone::member_kernel_test {
namespace {

// A space of one tunable, all of whose values are members, with the covariance of the first value
// and each other.
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

TEST(MemberKernel, TellsPowersOfTwoFromOtherSizes) {
    const SearchSpace space({{"tile", "", numbers({1, 2, 3, 4, 6})}, {"steps", "", numbers({2, 4, 8})}}, {}, {{"tile", 1}, {"steps", 2}});
    const MemberGeometry geometry(space, space.members());
    MemberKernel kernel(space, geometry);
    const auto member = [&](std::int64_t tile) { return geometry.find(space.index_of(Config({{"tile", tile}, {"steps", 2}}))); };
    // Alone, the other two rates of `tile` being as good as none.
    kernel.set_rate(0, 1e-9);
    kernel.set_rate(1, 1e-9);
    kernel.set_rate(2, 0.5);
    EXPECT_NEAR(kernel(member(2), member(4)), 1, 1e-6);
    EXPECT_NEAR(kernel(member(3), member(6)), 1, 1e-6);
    EXPECT_LT(kernel(member(2), member(3)), 0.95);
    EXPECT_EQ(kernel.rates()[5], 0) << "all of a list are: its order says as much";
}

// Costs that only depend on whether the tile is a power of two, of a space where its size and
// alignment say something else.
TEST(MemberKernel, LearnsThatPowersOfTwoMatter) {
    const SearchSpace space({{"tile", "", numbers({1, 2, 3, 4, 5, 6, 7, 8})}, {"block", "", numbers({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13})}},
                            {}, {{"tile", 1}, {"block", 1}});
    const MemberGeometry geometry(space, space.members());
    MemberKernel kernel(space, geometry);
    std::vector<std::size_t> members(60);
    std::iota(members.begin(), members.end(), std::size_t{0});
    std::vector<double> costs;
    for (const std::size_t one : members) costs.push_back(std::has_single_bit(geometry.coordinate(one, 0) + 1) ? 0 : 4);
    fit(kernel, members, costs);
    EXPECT_GT(kernel.rates()[2], 2 * kernel.usual_rates()[2]);
    EXPECT_LT(kernel.rates()[5], kernel.rates()[2] / 10);
    const std::vector<double> learnt = kernel.rates();
    fit(kernel, members, costs);
    EXPECT_EQ(kernel.rates(), learnt) << "what it had learnt before does not count";
}

TEST(MemberKernel, OneValueSaysNothingOfTheRates) {
    const SearchSpace space({{"tile", "", numbers({1, 2, 3, 4, 6})}, {"steps", "", numbers({2, 4, 8})}}, {}, {{"tile", 1}, {"steps", 2}});
    const MemberGeometry geometry(space, space.members());
    MemberKernel kernel(space, geometry);
    kernel.set_rate(0, 40);
    fit(kernel, std::vector<std::size_t>{3}, std::vector<double>{1.5});
    // They are in the middle of the prior, which grows from 1 to 8 times the usual rates over 80
    // values.
    for (std::size_t which = 0; which < kernel.rates().size(); ++which)
        EXPECT_DOUBLE_EQ(kernel.rates()[which], (1 + 7.0 / 80) * kernel.usual_rates()[which]) << which;
}

TEST(KernelColumns, GiveTheCovariancesOfEachMember) {
    const SearchSpace space({{"tile", "", numbers({1, 2, 3, 4, 6})}, {"order", "", words({"a", "b", "c"})}, {"on", "", numbers({0, 1})}}, {},
                            {{"tile", 1}, {"order", "a"}, {"on", 0}});
    const MemberGeometry geometry(space, space.members());
    const MemberKernel kernel(space, geometry);
    KernelColumns columns(kernel);
    EXPECT_TRUE(columns.covariances(0).empty());
    for (std::size_t member = 0; member < geometry.size(); ++member) columns.add(member);
    for (std::size_t a = 0; a < geometry.size(); ++a) {
        const std::vector<float> found = columns.covariances(a);
        ASSERT_EQ(found.size(), geometry.size());
        for (std::size_t b = 0; b < geometry.size(); ++b) EXPECT_NEAR(found[b], kernel(a, b), 1e-6) << "three roundings of a float below 1";
    }
}

}  // namespace
}  // namespace hone::member_kernel_test
