#include "generator/members.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "generator/member_tree.hpp"
#include "tests/support/fresh_random.hpp"

namespace hone::members_test {
namespace {

/// The assignments of two tunables whose levels add up to an even number.
class Even : public EarlyRule {
  public:
    const std::vector<std::size_t>& reads() const override { return reads_; }
    EarlyAnswer ask(std::span<const std::uint16_t> levels) override {
        if (levels.size() < 2) return {EarlyAnswer::Verdict::open, levels[0] % 2 == 0 ? "even" : "odd"};
        return {(levels[0] + levels[1]) % 2 == 0 ? EarlyAnswer::Verdict::holds : EarlyAnswer::Verdict::broken};
    }

  private:
    std::vector<std::size_t> reads_{0, 1};
};

std::shared_ptr<const MemberTree> even(std::size_t first, std::size_t second) {
    std::vector<std::unique_ptr<EarlyRule>> rules;
    rules.push_back(std::make_unique<Even>());
    const std::vector<std::size_t> sizes{first, second};
    return std::make_shared<const MemberTree>(*MemberTree::build(sizes, rules, {}));
}

// Forms of 4 x 3, of none and of 2 x 5 assignments, one after another.
Members trees() {
    std::vector<std::unique_ptr<EarlyRule>> never;
    class Never : public Even {
      public:
        EarlyAnswer ask(std::span<const std::uint16_t> /*levels*/) override { return {EarlyAnswer::Verdict::broken}; }
    };
    never.push_back(std::make_unique<Never>());
    const std::vector<std::size_t> sizes{1, 1};
    const auto none = std::make_shared<const MemberTree>(*MemberTree::build(sizes, never, {}));
    return Members({Members::Form{0, even(4, 3)}, Members::Form{12, none}, Members::Form{13, even(2, 5)}, Members::Form{23, none}});
}

const std::vector<std::int64_t> expected{0, 2, 4, 6, 8, 10, 13, 15, 17, 19, 21};

TEST(Members, TreesAndAListOfTheSameAreEqual) {
    const Members members = trees();
    const Members list = expected;
    EXPECT_EQ(members, list);
    EXPECT_EQ(std::vector<std::int64_t>(members.begin(), members.end()), expected);
    EXPECT_EQ(members.front(), 0);
    EXPECT_EQ(members.back(), 21);
    for (std::int64_t index = -1; index < 25; ++index) {
        EXPECT_EQ(members.find(index), list.find(index)) << index;
        EXPECT_EQ(members.contains(index), std::find(expected.begin(), expected.end(), index) != expected.end()) << index;
    }
    EXPECT_TRUE(Members().empty());
    EXPECT_NE(members, Members(std::vector<std::int64_t>{0, 2}));
    std::vector<std::int64_t> other = expected;
    ++other.back();
    EXPECT_NE(list, Members(other)) << "as many, but others";
    EXPECT_NE(members, Members(other));
    EXPECT_EQ(list, Members(std::vector<std::int64_t>(expected))) << "another list of the same";
}

TEST(Members, OneMoreStandsInItsPlace) {
    for (const Members& members : {trees(), Members(expected)})
        for (std::int64_t index = 0; index < 25; ++index) {
            std::vector<std::int64_t> more = expected;
            if (std::find(more.begin(), more.end(), index) == more.end()) more.insert(std::lower_bound(more.begin(), more.end(), index), index);
            const Members with = members.with(index);
            EXPECT_EQ(with, Members(more)) << index;
            for (std::size_t i = 0; i < more.size(); ++i) EXPECT_EQ(with.find(more[i]), i) << index;
            EXPECT_EQ(with.find(22), Members(more).find(22)) << index;
        }
}

TEST(Members, ValuesMayBeLimited) {
    const std::vector<bool> both{true, true, true, true};
    const Members limited = trees().limited(
        {{{false, true, false, true}, {true, true, false}}, {both, both}, {{true, false}, {true, true, true, true, false}}, {both, both}});
    EXPECT_EQ(limited, Members(std::vector<std::int64_t>{4, 10, 13, 15})) << "1,1 and 3,1 of the first form; 0,0 and 0,2 of the third";
}

TEST(Members, EqualSetsAreDescribedAlikeAndOthersApart) {
    const auto text = [](const Members& members) {
        std::string described;
        members.describe(described);
        return described;
    };
    EXPECT_EQ(text(trees()), text(trees()));
    EXPECT_NE(text(trees()), text(trees().with(1)));
    EXPECT_NE(text(Members({Members::Form{0, even(4, 3)}})), text(Members({Members::Form{0, even(4, 4)}})));
    EXPECT_EQ(text(Members(std::vector<std::int64_t>{1, 2})), "1 2 ") << "as journals of former versions have it";
}

}  // namespace
}  // namespace hone::members_test
