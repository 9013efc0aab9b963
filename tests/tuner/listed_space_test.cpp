#include "tuner/listed_space.hpp"

#include <gtest/gtest.h>

#include "generator/value_lists.hpp"

namespace hone::listed_space_test {
namespace {

TEST(ListedSpace, HasTheMembersOfTheSpaceAndAsksNoConstraintAgain) {
    int asked = 0;
    const Constraint odd_sum{"odd sum", [&](const Config& config) -> std::optional<std::string> {
                                 ++asked;
                                 return (config.integer("a") + config.integer("b")) % 2 == 1 ? std::nullopt : std::optional<std::string>("even");
                             }};
    const SearchSpace space({{"a", "", numbers({1, 2, 3})}, {"b", "", numbers({4, 5, 6, 7})}}, {odd_sum}, {{"a", 2}, {"b", 5}});
    const SearchSpace listed = listed_space(space);
    asked = 0;
    const auto members = listed.members();
    EXPECT_EQ(asked, 0);
    EXPECT_EQ(members, space.members());
    EXPECT_EQ(listed.safe(), space.safe());
    EXPECT_EQ(listed.product(), space.product());
    for (std::int64_t index = 0; index < space.product(); ++index) {
        EXPECT_EQ(listed.at(index), space.at(index));
        EXPECT_EQ(listed.check(listed.at(index)).has_value(), space.check(space.at(index)).has_value()) << index;
    }
}

}  // namespace
}  // namespace hone::listed_space_test
